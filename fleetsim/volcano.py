"""Volcano's virtual GPUs: its scheduler chooses the card and writes the record, its device plugin says when it has been given.

Format: volcano-sh/volcano, pkg/scheduler/api/devices/nvidia/vgpu; Project-HAMi/volcano-vgpu-device-plugin.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleetsim.ledger import Ledger, Parts
from fleetsim.systems import Ids, Place, Pod, asked

NUMBER, MEMORY, CORES = "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory", "volcano.sh/vgpu-cores"
REGISTER = "volcano.sh/node-vgpu-register"
_TAKEN = "18446744073709551615"


@dataclass(frozen=True)
class VolcanoVgpu:
    """vgpu-number counts cards, vgpu-memory is MiB and vgpu-cores percent of each."""

    resource: str = NUMBER
    refusal: str = "NodeUnfitPod"
    ids: Ids | None = None

    def pick(self, ledger: Ledger, pod: Pod) -> Parts | None:
        container = pod["spec"]["containers"][0]
        whole = max(room.units for room in ledger.cards)
        return ledger.choose(asked(container, MEMORY) or whole, asked(container, NUMBER), asked(container, CORES))

    def reserve(self, pod: Pod, place: Place, now: float) -> None:
        cards = sorted(place.parts.items())
        devices = "".join(f"{place.uuids[card]},NVIDIA,{units},{core}:" for card, (units, core) in cards)
        pod["spec"]["schedulerName"] = "volcano"
        pod["metadata"].setdefault("annotations", {}).update(
            {
                "volcano.sh/vgpu-ids-new": devices,
                "volcano.sh/devices-to-allocate": devices,
                "volcano.sh/vgpu-node": place.node,
                "volcano.sh/vgpu-time": str(int(now)),
                "volcano.sh/bind-time": str(int(now)),
                "volcano.sh/bind-phase": "allocating",
            }
        )

    def assign(self, pod: Pod, now: float) -> None:
        pod["metadata"].setdefault("annotations", {}).update(
            {"volcano.sh/bind-phase": "success", "volcano.sh/devices-to-allocate": "", "volcano.sh/vgpu-time": _TAKEN}
        )


def register(uuids: list[str], units: int, name: str, shares: int) -> str:
    """The cards of a node, as its plugin writes them on it: six fields each."""
    return "".join(f"{uuid},{shares},{units},NVIDIA-{name},true,hami-core:" for uuid in uuids)
