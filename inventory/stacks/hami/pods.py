"""What one pod holds of the cards of HAMi, by its own record: which container got what of which card.

The record has a slot per container. Init containers have slots from 2.9 on; a sidecar is an init container and holds what it has
for as long as the app containers do. Source: Project-HAMi/HAMi v2.10.0, pkg/device (devices.go, initContainer.go).
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from inventory.stacks.engine.base import ANNOTATION, ERROR, MEMORY, SHARES, WARNING, WHOLE, Allocation, Context, Finding
from inventory.stacks.engine.names import annotations_of
from inventory.stacks.engine.requests import Need, allocation, asked, devices, holds, name_of
from inventory.stacks.hami.records import MIG_ALLOCATIONS, Device, Registered, allocated, parents, slots_of
from inventory.stacks.hami.vendors import Vendor
from kube.objects import Container, Pod

NAME = "hami"
GPU_MEMORY = "nvidia.com/gpumem"
PHASE, TIME = "hami.io/bind-phase", "hami.io/bind-time"


class Place(msgspec.Struct, frozen=True):
    """What is known of the node's cards of one vendor. cards: by UUID; registered: whether their register could be read."""

    vendor: Vendor
    cards: Mapping[str, Registered]
    registered: bool


class Holding(msgspec.Struct):
    """What one pod holds, and what is wrong with it."""

    allocations: list[Allocation]
    findings: list[Finding]
    due: list[float]


class _Asks(msgspec.Struct):
    """The containers of a pod, and how many devices each asks for."""

    resource: str
    init: list[Container]
    app: list[Container]

    def counts(self, containers: list[Container]) -> list[int]:
        return [_number(container, self.resource) for container in containers]

    def __bool__(self) -> bool:
        return any(self.counts(self.app)) or any(self.counts(self.init))


class _Got(msgspec.Struct):
    """What a container holds of one card (uuid None: not known which)."""

    container: str
    uuid: str | None
    quantity: int
    memory: int | None
    core: int | None
    mode: str = MEMORY


def holding(pod: Pod, place: Place, context: Context) -> Holding | None:
    """The holding of a pod that holds devices; None when it asks for none and none of this node is recorded on it."""
    if not holds(pod):
        return None
    asks, findings = _asks(pod, place.vendor.resource), list[Finding]()
    text = annotations_of(pod).get(place.vendor.record)
    slots = allocated(text) if text is not None else None
    if not asks and not any(item.uuid in place.cards for slot in slots or () for item in slot):
        return None
    if text is not None and slots is None:
        findings.append(
            _finding(
                "annotation-unreadable",
                WARNING,
                pod,
                f"The annotation {place.vendor.record} of {{pod}} cannot be read.",
            )
        )
    if text is None:
        said = "{pod} holds a slot of HAMi, but no card is recorded on it. Look whether HAMi's scheduler has placed it."
        findings.append(_finding("bound-without-card", WARNING, pod, said))
    got = _got(pod, asks, place, slots or [], findings if slots is not None and asks else [])
    cut = parents(annotations_of(pod).get(MIG_ALLOCATIONS))
    for item in got:
        if item.uuid is not None and item.uuid not in place.cards:
            item.uuid = cut.get(item.uuid, item.uuid)
    strange = sorted({item.uuid for item in got if item.uuid is not None and item.uuid not in place.cards})
    if strange and place.registered:
        said = f"{{pod}} is recorded on {', '.join(strange[:5])}, which is not in the register of this node."
        findings.append(_finding("index-out-of-range", ERROR, pod, said))
    due = _binding(pod, context, findings)
    return Holding(_allocations(pod, got, place), findings, due)


def _number(container: Container, resource: str) -> int:
    return next((devices(value) or 0 for name, value in asked(container) if name == resource), 0)


def _asks(pod: Pod, resource: str) -> _Asks:
    spec = pod.spec
    return _Asks(
        resource, list((spec.initContainers if spec else None) or ()), list((spec.containers if spec else None) or ())
    )


def _got(pod: Pod, asks: _Asks, place_: Place, slots: list[list[Device]], findings: list[Finding]) -> list[_Got]:
    """What every container holds; what is asked for and not recorded has no card."""
    init, app = slots_of(slots, asks.counts(asks.init), asks.counts(asks.app))
    sidecars = [(place, item) for place, item in enumerate(asks.init) if _is_sidecar(item)]
    running = [(item, app[place] if place < len(app) else []) for place, item in enumerate(asks.app)]
    running += [(item, init[place] if place < len(init) else []) for place, item in sidecars]
    got: list[_Got] = []
    for container, mine in running:
        got += [_recorded(container, item, place_) for item in mine]
        missing = _number(container, asks.resource) - len(mine)
        if missing > 0:
            got.append(_unrecorded(container, place_, missing))
    recorded, expected = sum(len(mine) for _, mine in running), sum(_number(item, asks.resource) for item, _ in running)
    if recorded != expected:
        said = f"{{pod}} asks for {expected} of {asks.resource}, but {recorded} devices are recorded on it."
        findings.append(_finding("request-annotation-mismatch", WARNING, pod, said))
    if pod.status is None or pod.status.phase != "Running":
        got += _excess(asks, init, got, place_)
    return got


def _is_sidecar(container: Container) -> bool:
    return container.restartPolicy == "Always"


def _recorded(container: Container, device: Device, place: Place) -> _Got:
    """By the record; where it has no amounts, a card that has one holder is held as a whole."""
    card, vendor = place.cards.get(device.uuid), place.vendor
    if not vendor.memory:
        mode = vendor.mode(card) if card is not None else SHARES
        memory = vendor.memory_of(card) if card is not None and mode == WHOLE else None
        return _Got(container.name, device.uuid, 1, memory, None, mode)
    core = device.core
    if vendor.cores and core is not None:
        core = core * 100 // card.cores if card is not None and card.cores else None
    return _Got(container.name, device.uuid, 1, device.memory, core)


def _unrecorded(container: Container, place: Place, missing: int) -> _Got:
    if not place.vendor.memory:
        whole = bool(place.cards) and all(place.vendor.mode(card) == WHOLE for card in place.cards.values())
        return _Got(container.name, None, missing, None, None, WHOLE if whole else SHARES)
    each = _number(container, place.vendor.memory)
    # Without a stated amount HAMi gives the whole card, whose size is not known where the card is not.
    return _Got(container.name, None, missing, each * place.vendor.unit * missing if each else None, None)


def _excess(asks: _Asks, init: list[list[Device]], got: list[_Got], place: Place) -> list[_Got]:
    """Until they are done, init containers keep what they, with the sidecars before them, have more of a card than the pod will."""
    more: list[_Got] = []
    before: list[Device] = []
    peaks: dict[str, tuple[int, int, str]] = {}
    for container, slot in zip(asks.init, init, strict=False):
        if _is_sidecar(container):
            before += slot
            continue
        for uuid in {item.uuid for item in slot}:
            mine = [item for item in (*before, *slot) if item.uuid == uuid]
            peak = (sum(item.memory for item in mine), len(mine), container.name)
            peaks[uuid] = max(peaks.get(uuid, (0, 0, "")), peak)
    for uuid, (memory, number, name) in peaks.items():
        held = [item for item in got if item.uuid == uuid]
        extra = memory - sum(item.memory or 0 for item in held)
        if len(held) < number:
            more.append(_more(name, uuid, number - len(held), max(extra, 0), place))
        elif extra > 0 and place.vendor.memory:
            held[0].memory = (held[0].memory or 0) + extra
    return more


def _more(container: str, uuid: str, number: int, memory: int, place: Place) -> _Got:
    if place.vendor.memory:
        return _Got(container, uuid, number, memory, None)
    card = place.cards.get(uuid)
    mode = place.vendor.mode(card) if card is not None else SHARES
    whole = place.vendor.memory_of(card) if card is not None and mode == WHOLE else None
    return _Got(container, uuid, number, whole, None, mode)


def _allocations(pod: Pod, got: list[_Got], place: Place) -> list[Allocation]:
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
    said = (
        f"{{pod}} was given a card more than {context.assume_timeout_s // 60} minutes ago and HAMi's device plugin has not "
        "confirmed it. Look at the pod's events and the plugin's log."
    )
    findings.append(_finding("assumed-not-assigned", WARNING, pod, said))
    return []


def _seconds(text: str | None) -> float | None:
    """Unix seconds as text; None when missing or of another form."""
    return float(text) if text is not None and len(text) <= 12 and text.isascii() and text.isdigit() else None


def _finding(code: str, severity: str, pod: Pod, text: str) -> Finding:
    name = name_of(pod)
    return Finding(code=code, severity=severity, text=text.replace("{pod}", name), pod=name)
