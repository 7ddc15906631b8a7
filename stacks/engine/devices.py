"""Which devices the kubelet gave to a container, where it says so: `allocatedResourcesStatus` of plain device plugins.

Where a scheduler chooses the card its own record is read instead: the ids are stand-ins there. Must not know how many cards a node
has, nor what an id looks like; the stacks do. Source: KEP-4680 (ResourceHealthStatus).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kube.objects import Pod
from stacks.engine.base import ERROR, HEALTH_UNKNOWN, HEALTHY, UNHEALTHY, WARNING, Finding
from stacks.engine.requests import Need, name_of, requests
from wording.said import sentence

_HEALTH = {"Healthy": HEALTHY, "Unhealthy": UNHEALTHY}


class Device(NamedTuple):
    """One device of a container: the key of its card, and what its id says besides.

    number: of the card on the node, where the id carries one. parent: the card of a slice.
    record: by what its health is known, where that is a record of the system and not the kubelet.
    """

    key: str
    uuid: str | None = None
    number: int | None = None
    parent: str | None = None
    health: str = HEALTH_UNKNOWN
    record: str = ""


class Held(NamedTuple):
    """What a container needs of a resource, and the devices that its status names for it; none where it names none."""

    pod: Pod
    need: Need
    devices: list[Device]


#: The id of a device → what it says; None when it is of no known form.
Reader = Callable[[str], Device | None]


def devices(pod: Pod, wanted: Callable[[str], bool], read: Reader) -> dict[tuple[str, bool, str], list[Device]]:
    """(container, init, resource) → its devices, in the kubelet's order. IDs of unknown form are left out.

    A container whose IDs are left out has fewer devices than it asked for: its caller sees that something is missing.
    """
    status = pod.status
    if status is None:
        return {}
    found: dict[tuple[str, bool, str], list[Device]] = {}
    for init, statuses in ((False, status.containerStatuses), (True, status.initContainerStatuses)):
        for container in statuses or ():
            for item in container.allocatedResourcesStatus or ():
                if wanted(item.name):
                    known = [
                        made._replace(health=_HEALTH.get(entry.health or "", HEALTH_UNKNOWN))
                        for entry in item.resources or ()
                        if (made := read(entry.resourceID)) is not None
                    ]
                    found.setdefault((container.name, init, item.name), []).extend(known)
    return found


def held(pod: Pod, wanted: Callable[[str], bool], read: Reader) -> list[Held]:
    """The pod's needs with the devices that its status names for each."""
    needs = requests(pod, wanted)
    if not needs:
        return []
    named = devices(pod, wanted, read)
    taken = {
        entry.key for need in needs if not need.init for entry in named.get((need.container, False, need.resource), ())
    }
    found = []
    for need in needs:
        mine = named.get((need.container, need.init, need.resource), [])
        if need.init and len(mine) != need.quantity:
            # An init container's devices are reused by the app containers; its excess is what they did not take.
            mine = [entry for entry in mine if entry.key not in taken]
        found.append(Held(pod, need, mine))
    return found


def where(entry: Held, keys: set[str]) -> tuple[dict[str | None, int], list[Finding]]:
    """Card key (None: not known) → quantity, which add up to the need. keys: of the node's cards."""
    need, named = entry.need, entry.devices
    if not named:
        return {None: need.quantity}, []
    if len(named) != need.quantity:
        text = sentence(
            "The status of {pod} lists {number} devices of {resource} for the container {container}, which requests "
            "{quantity}. Its cards are shown as unidentified.",
            pod=name_of(entry.pod),
            number=len(named),
            resource=need.resource,
            container=need.container,
            quantity=need.quantity,
        )
        return {None: need.quantity}, [_finding("request-annotation-mismatch", WARNING, text, entry.pod)]
    found: dict[str | None, int] = {}
    strange: list[str] = []
    for item in named:
        key = item.key if item.key in keys else None
        found[key] = found.get(key, 0) + 1
        strange += [item.key] if key is None else []
    return found, [_unknown_card(entry, strange)] if strange else []


def with_ordinals(named: dict[str, Device], total: int, offset: int) -> list[tuple[Device, int | None]]:
    """(device, index of its card) of `total` cards: those that are named, and for the rest their ordinals, counted from `offset`."""
    nameless = sum(1 for key in named if not key.isdigit())
    # Ordinals are given from the end, so that learning one more name renames one card only.
    ordinals = [index for index in range(offset, offset + total) if str(index) not in named][nameless:]
    found = [(item, None if item.parent is not None else item.number) for item in named.values()]
    return [*found, *((Device(str(index)), index) for index in ordinals)]


def worse(before: Device | None, now: Device) -> Device:
    """Of two statuses of one device, that which calls it unhealthy."""
    return before if before is not None and before.health == UNHEALTHY else now


def _unknown_card(entry: Held, strange: Iterable[str]) -> Finding:
    text = sentence(
        "The status of {pod} lists {names}, but the node has no capacity for one more card. Compare the capacity of "
        "the node with the cards that its driver lists.",
        pod=name_of(entry.pod),
        names=", ".join(strange),
    )
    return _finding("index-out-of-range", ERROR, text, entry.pod)


def _finding(code: str, severity: str, text: str, pod: Pod) -> Finding:
    return Finding(code=code, severity=severity, text=text, pod=name_of(pod))
