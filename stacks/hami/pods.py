"""What one pod holds of the cards of HAMi, by its own record: which container got what of which card.

Init containers have slots in the record from 2.9 on. Source: Project-HAMi/HAMi v2.10.0, pkg/device (devices.go, initContainer.go).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kube.objects import Container, Pod
from stacks.engine.base import ANNOTATION, ERROR, MEMORY, SHARES, WARNING, WHOLE, Allocation, Context, Finding
from stacks.engine.names import annotations_of
from stacks.engine.requests import Need, allocation, holds, name_of
from stacks.hami.records import MIG_ALLOCATIONS, Registered, allocated, parents
from stacks.hami.vendors import Vendor
from stacks.shared import slots
from stacks.shared.slots import Device, Got, Terms
from wording.said import sentence

NAME = "hami"
GPU_MEMORY = "nvidia.com/gpumem"
PHASE, TIME = "hami.io/bind-phase", "hami.io/bind-time"


class Place(msgspec.Struct, frozen=True):
    """What is known of the node's cards of one vendor. cards: by UUID; registered: whether their register could be read."""

    vendor: Vendor
    cards: Mapping[str, Registered]
    registered: bool

    def terms(self) -> Terms:
        """How devices of the vendor's record become what is held."""
        return Terms(self.vendor.resource, self._recorded, self._unrecorded, self._more, bool(self.vendor.memory))

    def _recorded(self, container: Container, device: Device) -> Got:
        card = self.cards.get(device.uuid)
        if not self.vendor.memory:
            return self._unmetered(container.name, device.uuid, 1)
        core = device.core
        if self.vendor.cores and core is not None:
            core = core * 100 // card.cores if card is not None and card.cores else None
        return Got(container.name, device.uuid, 1, device.memory, core, MEMORY)

    def _unmetered(self, container: str, uuid: str, number: int) -> Got:
        """Where the record has no amounts, a card that has one holder is held as a whole."""
        card = self.cards.get(uuid)
        mode = self.vendor.mode(card) if card is not None else SHARES
        memory = self.vendor.memory_of(card) if card is not None and mode == WHOLE else None
        return Got(container, uuid, number, memory, None, mode)

    def _unrecorded(self, container: Container, missing: int) -> Got:
        vendor = self.vendor
        if not vendor.memory:
            whole = bool(self.cards) and all(vendor.mode(card) == WHOLE for card in self.cards.values())
            return Got(container.name, None, missing, None, None, WHOLE if whole else SHARES)
        each = slots.number(container, vendor.memory)
        # Without a stated amount HAMi gives the whole card, whose size is not known where the card is not.
        return Got(container.name, None, missing, each * vendor.unit * missing if each else None, None, MEMORY)

    def _more(self, container: str, uuid: str, number: int, memory: int) -> Got:
        if not self.vendor.memory:
            return self._unmetered(container, uuid, number)
        return Got(container, uuid, number, memory, None, MEMORY)


class Holding(msgspec.Struct):
    """What one pod holds, and what is wrong with it."""

    allocations: list[Allocation]
    findings: list[Finding]
    due: list[float]


def holding(pod: Pod, place: Place, context: Context) -> Holding | None:
    """The holding of a pod that holds devices; None when it asks for none and none of this node is recorded on it."""
    if not holds(pod):
        return None
    asks, findings = slots.asks(pod, place.vendor.resource), list[Finding]()
    text = annotations_of(pod).get(place.vendor.record)
    record = allocated(text) if text is not None else None
    if not asks and not any(item.uuid in place.cards for slot in record or () for item in slot):
        return None
    if text is not None and record is None:
        findings.append(
            _finding(
                "annotation-unreadable",
                WARNING,
                pod,
                sentence("The annotation {name} of {pod} is invalid.", pod=name_of(pod), name=place.vendor.record),
            )
        )
    if text is None:
        said = sentence(
            "{pod} has a HAMi slot, but no recorded card. Check that the HAMi scheduler placed the pod.",
            pod=name_of(pod),
        )
        findings.append(_finding("bound-without-card", WARNING, pod, said))
    got = slots.got(pod, place.terms(), record or [], findings if record is not None and asks else None)
    cut = parents(annotations_of(pod).get(MIG_ALLOCATIONS))
    for item in got:
        if item.uuid is not None and item.uuid not in place.cards:
            item.uuid = cut.get(item.uuid, item.uuid)
    strange = sorted({item.uuid for item in got if item.uuid is not None and item.uuid not in place.cards})
    if strange and place.registered:
        said = sentence(
            "{pod} is recorded on {names}, which this node has not registered.",
            pod=name_of(pod),
            names=", ".join(strange[:5]),
        )
        findings.append(_finding("index-out-of-range", ERROR, pod, said))
    due = _binding(pod, context, findings)
    return Holding(_allocations(pod, got, place), findings, due)


def _allocations(pod: Pod, got: list[Got], place: Place) -> list[Allocation]:
    return [
        allocation(
            pod,
            Need(item.container, place.vendor.resource, item.quantity, 0),
            NAME,
            item.mode,
            card=item.uuid if item.uuid in place.cards else None,
            evidence=ANNOTATION,
            memory_bytes=item.memory,
            core_percent=item.core,
        )
        for item in got
    ]


def _binding(pod: Pod, context: Context, findings: list[Finding]) -> list[float]:
    """`assumed-not-assigned` for a binding that is stuck; for a younger one the time at which it will be."""
    annotations = annotations_of(pod)
    since = _seconds(annotations.get(TIME))
    if annotations.get(PHASE) != "allocating" or since is None:
        return []
    due = since + context.assume_timeout_s
    if context.now < due:
        return [due]
    said = sentence(
        "{pod} was allocated a card more than {assume_timeout_s} min ago, but the HAMi device plugin did not confirm "
        "it. Check the events of the pod and the plugin log.",
        pod=name_of(pod),
        assume_timeout_s=context.assume_timeout_s // 60,
    )
    findings.append(_finding("assumed-not-assigned", WARNING, pod, said))
    return []


def _seconds(text: str | None) -> float | None:
    """Unix seconds as text; None when missing or of another form."""
    return float(text) if text is not None and len(text) <= 12 and text.isascii() and text.isdigit() else None


def _finding(code: str, severity: str, pod: Pod, text: str) -> Finding:
    name = name_of(pod)
    return Finding(code=code, severity=severity, text=text, pod=name)
