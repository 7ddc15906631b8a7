"""Records with a slot of devices for each container of a pod, and what its containers hold by them.

Schedulers that give out parts of cards write one; each device has an amount of memory and cores. Some versions give init
containers slots, which come first then, others do not. A sidecar is an init container and holds what it has for as long as the app
containers do.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from kube.objects import Container, Pod
from stacks.engine.base import WARNING, Finding
from stacks.engine.requests import asked, devices, name_of
from wording.said import sentence


class Device(msgspec.Struct, frozen=True):
    """What a container got of one card. memory: bytes; core: in the record's own unit, None for no limit."""

    uuid: str
    memory: int
    core: int | None


class Got(msgspec.Struct):
    """What a container holds of one card (uuid None: not known which). mode: as in `Allocation`."""

    container: str
    uuid: str | None
    quantity: int
    memory: int | None
    core: int | None
    mode: str


class Terms(msgspec.Struct, frozen=True):
    """How devices become what is held. resource: that asks for devices.

    recorded: of a device in the record. unrecorded: of so many that are asked for and not recorded. more: of so many devices of a
    card, with so much memory, that an init container has beyond what the running pod will. metered: whether devices have amounts.
    """

    resource: str
    recorded: Callable[[Container, Device], Got]
    unrecorded: Callable[[Container, int], Got]
    more: Callable[[str, str, int, int], Got]
    metered: bool = True

    def number(self, container: Container) -> int:
        """How many devices a container asks for."""
        return number(container, self.resource)


def number(container: Container, resource: str) -> int:
    """How many of a resource a container asks for; 0 where that is no number."""
    return next((devices(value) or 0 for name, value in asked(container) if name == resource), 0)


def asks(pod: Pod, resource: str) -> bool:
    """Whether a container asks for devices, init containers among them."""
    spec = pod.spec
    if spec is None:
        return False
    return any(number(item, resource) for items in (spec.containers, spec.initContainers) for item in items or ())


def got(pod: Pod, terms: Terms, slots: list[list[Device]], findings: list[Finding] | None) -> list[Got]:
    """What every container holds; what is asked for and not recorded has no card. findings: None where nothing is recorded."""
    spec = pod.spec
    init, app = list((spec.initContainers if spec else None) or ()), list((spec.containers if spec else None) or ())
    of_init, of_app = dealt(slots, [terms.number(item) for item in init], [terms.number(item) for item in app])
    running = [(item, _at(of_app, place)) for place, item in enumerate(app)]
    running += [(item, _at(of_init, place)) for place, item in enumerate(init) if _is_sidecar(item)]
    found: list[Got] = []
    for container, mine in running:
        found += [terms.recorded(container, item) for item in mine]
        missing = terms.number(container) - len(mine)
        if missing > 0:
            found.append(terms.unrecorded(container, missing))
    recorded, expected = sum(len(mine) for _, mine in running), sum(terms.number(item) for item, _ in running)
    if findings is not None and recorded != expected:
        said = sentence(
            "{pod} requests {expected} of {resource}, but its record has {recorded}.",
            pod=name_of(pod),
            expected=expected,
            resource=terms.resource,
            recorded=recorded,
        )
        findings.append(Finding(code="request-annotation-mismatch", severity=WARNING, text=said, pod=name_of(pod)))
    if pod.status is None or pod.status.phase != "Running":
        dealt_out = any(of_init) or any(of_app)
        found += _excess(init, of_init, found, terms) if dealt_out else _unrecorded(init, expected, terms)
    return found


def _at(slots: list[list[Device]], place: int) -> list[Device]:
    return slots[place] if place < len(slots) else []


def _is_sidecar(container: Container) -> bool:
    return container.restartPolicy == "Always"


def _excess(init: list[Container], slots: list[list[Device]], held: list[Got], terms: Terms) -> list[Got]:
    """Until they are done, init containers keep what they, with the sidecars before them, have more of a card than the pod will."""
    more: list[Got] = []
    before: list[Device] = []
    peaks: dict[str, tuple[int, int, str]] = {}
    for container, slot in zip(init, slots, strict=False):
        if _is_sidecar(container):
            before += slot
            continue
        for uuid in {item.uuid for item in slot}:
            mine = [item for item in (*before, *slot) if item.uuid == uuid]
            peak = (sum(item.memory for item in mine), len(mine), container.name)
            peaks[uuid] = max(peaks.get(uuid, (0, 0, "")), peak)
    for uuid, (memory, many, name) in peaks.items():
        mine_ = [item for item in held if item.uuid == uuid]
        extra = memory - sum(item.memory or 0 for item in mine_)
        if len(mine_) < many:
            more.append(terms.more(name, uuid, many - len(mine_), max(extra, 0)))
        elif extra > 0 and terms.metered:
            mine_[0].memory = (mine_[0].memory or 0) + extra
    return more


def _unrecorded(init: list[Container], running: int, terms: Terms) -> list[Got]:
    """Where nothing is recorded: what an init container, with the sidecars before it, asks for beyond what the running pod will."""
    before, more = 0, list[Got]()
    most = running
    for container in init:
        number = before + terms.number(container)
        if _is_sidecar(container):
            before = number
        elif number > most:
            most, more = number, [terms.unrecorded(container, number - running)]
    return more


def dealt(slots: list[list[Device]], init: list[int], app: list[int]) -> tuple[list[list[Device]], list[list[Device]]]:
    """The slots of the init containers, sidecars among them, and of the app containers. init, app: devices that each asks for.

    Where init containers have slots they come first, in the order of the specification; else they have none, and some versions drop
    empty ones: the reading is taken whose devices fit the requests. Where none fits, all devices are given to the app containers in
    order.
    """
    if len(slots) == len(init) + len(app):
        first, rest = slots[: len(init)], slots[len(init) :]
        if [len(slot) for slot in rest] == app or not init:
            return first, rest
    if len(slots) == len(app) and [len(slot) for slot in slots] == app:
        return [[] for _ in init], slots
    left = [device for slot in slots for device in slot]
    found: list[list[Device]] = []
    for wanted in app:
        found.append(left[:wanted])
        left = left[wanted:]
    if found and left:
        last = max((place for place, wanted in enumerate(app) if wanted), default=0)
        found[last] = found[last] + left
    return [[] for _ in init], found
