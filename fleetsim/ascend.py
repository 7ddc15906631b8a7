"""Huawei's Ascend chips by MindCluster: Volcano chooses chips, the device plugin writes which ones the pod really got.

What the kubelet picked is another list: its ids are stand-ins. Format: Ascend/mind-cluster, component/ascend-device-plugin.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleetsim.ledger import Ledger, Parts
from fleetsim.systems import Ids, Place, Pod, pod_total

CHIPS = "huawei.com/Ascend910"
_TAKEN = "18446744073709551615"


def names(numbers: list[int]) -> str:
    """Chips as the plugin lists them."""
    return ",".join(f"Ascend910-{number}" for number in numbers)


@dataclass(frozen=True)
class Ascend:
    """Whole chips of the generation 910."""

    resource: str = CHIPS
    refusal: str = "NodeUnfitPod"
    ids: Ids | None = None

    def pick(self, ledger: Ledger, pod: Pod) -> Parts | None:
        return ledger.choose(1, pod_total(pod, CHIPS))

    def reserve(self, pod: Pod, place: Place, now: float) -> None:
        pod["spec"]["schedulerName"] = "volcano"
        annotations = pod["metadata"].setdefault("annotations", {})
        annotations.update({CHIPS: names(sorted(place.parts)), "predicate-time": str(int(now * 1e9))})

    def assign(self, pod: Pod, now: float) -> None:
        annotations = pod["metadata"].setdefault("annotations", {})
        chosen = annotations[CHIPS].split(",")
        # The kubelet fills from the first chip on, whatever the scheduler chose.
        picked = names(list(range(len(chosen))))
        annotations.update({"huawei.com/AscendReal": annotations[CHIPS], "huawei.com/kltDev": picked})
        annotations["predicate-time"] = _TAKEN
