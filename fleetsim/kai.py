"""KAI's fractions of cards: what a pod asks for, and what its scheduler writes on it. Their cards are taken in `reservations.py`.

Format: kai-scheduler/KAI-Scheduler, pkg/common/constants.
"""

from __future__ import annotations

from dataclasses import dataclass

from fleetsim.ledger import Ledger, Parts
from fleetsim.systems import Ids, Place, Pod, pod_total

FRACTION = "gpu-fraction"


def percent(pod: Pod) -> int:
    """The part of a card that a pod asks for by its annotation; 0 when it asks for none."""
    text = (pod["metadata"].get("annotations") or {}).get(FRACTION, "0")
    return round(float(text) * 100)


@dataclass(frozen=True)
class Kai:
    """Whole cards by the plugin's resource, and parts of cards by an annotation, in percent."""

    resource: str
    ids: Ids | None = None
    refusal: str = ""

    def pick(self, ledger: Ledger, pod: Pod) -> Parts | None:
        part = percent(pod)
        return ledger.choose(part) if part else ledger.choose(100, pod_total(pod, self.resource))

    def reserve(self, pod: Pod, place: Place, now: float) -> None:
        pod["spec"]["schedulerName"] = "kai-scheduler"
        annotations = pod["metadata"].setdefault("annotations", {})
        annotations["received-resource-type"] = "Fraction" if percent(pod) else "Regular"

    def assign(self, pod: Pod, now: float) -> None:
        return None
