"""What one `nvidia.com/gpu` is on a node of GKE: a card, a share of one, or a slice, by labels of the node alone.

Google's plugin offers cards × slices of a card × clients, always under the same name. Labels of GPU Feature Discovery, where it
runs as well, know nothing of this. Source: GoogleCloudPlatform/container-engine-accelerators 992db812, pkg/gpu/nvidia.
"""

from __future__ import annotations

import msgspec

from stacks.engine.labels import number
from stacks.engine.stack import Labels
from stacks.nvidia.mig import GKE_SLICES

PARTITION = "cloud.google.com/gke-gpu-partition-size"
STRATEGY = "cloud.google.com/gke-gpu-sharing-strategy"
CLIENTS = "cloud.google.com/gke-max-shared-clients-per-gpu"
#: With the value "true" Google's plugin does not run.
OTHER_PLUGIN = "gke-no-default-nvidia-gpu-device-plugin"
KEPT = ("cloud.google.com/gke-gpu-", CLIENTS, OTHER_PLUGIN)
MPS, TIME_SHARING = "mps", "time-sharing"


class Unit(msgspec.Struct, frozen=True):
    """What a card is divided into. partition: profile of its slices, "" for none. strategy: "" when it is not shared.

    slices, clients: of a card, of each that is given out (1: not divided); None when the labels do not say.
    """

    partition: str
    slices: int | None
    strategy: str
    clients: int | None

    def cards(self, slots: int) -> int | None:
        """Of how many cards so many slots are; None when they cannot be of whole cards, or it is not known."""
        each = self.slices * self.clients if self.slices and self.clients else None
        return slots // each if each and slots % each == 0 else None

    def __str__(self) -> str:
        said = {
            PARTITION: self.partition or None,
            STRATEGY: self.strategy or None,
            CLIENTS: self.clients if self.strategy else None,
        }
        return ", ".join(f"{name}={value}" for name, value in said.items() if value is not None)


def unit_of(labels: Labels) -> Unit | None:
    """How Google's plugin divides the cards; None when it does not, or is not the one that runs."""
    partition, strategy = labels.get(PARTITION, ""), _strategy(labels)
    if not (partition or strategy) or labels.get(OTHER_PLUGIN) == "true":
        return None
    clients = number(labels.get(CLIENTS, "")) if strategy else 1
    return Unit(partition, GKE_SLICES.get(partition) if partition else 1, strategy, clients)


def _strategy(labels: Labels) -> str:
    """The strategy as the documentation spells it; a number of clients without one is taken for time-sharing."""
    said = labels.get(STRATEGY, "").lower().replace("_", "-")
    return said or (TIME_SHARING if (number(labels.get(CLIENTS, "")) or 0) > 1 else "")
