"""Which cards of a node gcushare gives out in slices, by what it counts and writes on the node.

`gcu-drs-capacity` has index and minor number of each card, and the profiles of slices of the hardware, such as "3g.20gb": three
slices with 20 GB. `gcu-shared-capacity` has slices by minor number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from kube.objects import Node
from stacks.enflame.names import COUNT, DOMAIN, DRS, SHARED, mapping, small
from stacks.engine.base import WARNING, Finding
from stacks.engine.groups import believed
from stacks.engine.labels import GIB
from stacks.engine.names import MAX_CARDS, annotations_of
from stacks.engine.offers import offer
from wording.said import sentence

DRS_CARDS, SHARED_CARDS = f"{DOMAIN}gcu-drs-capacity", f"{DOMAIN}gcu-shared-capacity"
_PROFILE = re.compile(r"([1-9][0-9]?)g\.([1-9][0-9]{0,3})gb")


class Cut(msgspec.Struct, frozen=True):
    """The cards that are given out in slices. number, each: how many there are, and slices of one; None when not known.

    keys: of the cards, as many. minors: minor number → key. profiles: slices → bytes of such a part of the hardware.
    """

    number: int | None
    keys: tuple[str, ...]
    each: int | None
    minors: Mapping[str, str]
    profiles: Mapping[int, int]


def cut(node: Node, findings: list[Finding]) -> Cut:
    """What is known of the node's cards; what cannot be read is added to the findings."""
    drs, shared = _read(node, DRS_CARDS, findings), _read(node, SHARED_CARDS, findings)
    minors = _of_devices(drs.get("devices")) or _of_minors(shared)
    counted, slots = offer(node, COUNT).slots, offer(node, DRS).slots or offer(node, SHARED).slots
    # What has given up its last slice may count no card any more.
    number = believed(counted if counted is not None else 0 if slots == 0 else len(minors) or None)
    keys = sorted(set(minors.values()), key=int)
    ordinals = [str(index) for index in range(number or 0)]
    return Cut(
        number=number,
        keys=tuple(keys if len(keys) == number else ordinals),
        each=slots // number if slots and number and slots % number == 0 else None,
        minors=minors,
        profiles=_profiles(drs.get("profiles")),
    )


def _read(node: Node, name: str, findings: list[Finding]) -> dict[str, object]:
    value = annotations_of(node).get(name)
    found = mapping(value) if value is not None else {}
    if found is None:
        said = sentence("The annotation {name} of this node is invalid. Restart the device plugin.", name=name)
        findings.append(Finding(code="annotation-unreadable", severity=WARNING, text=said))
    return found or {}


def _of_devices(entries: object) -> dict[str, str]:
    """Minor number → index."""
    found: dict[str, str] = {}
    for item in entries if isinstance(entries, list) and len(entries) <= MAX_CARDS else ():
        index = small(item.get("index")) if isinstance(item, dict) else None
        if index is not None:
            found[small(item.get("minor")) or index] = index
    return found


def _profiles(names: object) -> dict[int, int]:
    """Slices → bytes, where one profile alone has so many."""
    matches = [_PROFILE.fullmatch(name) for name in names] if isinstance(names, dict) else []
    found = [(int(match[1]), int(match[2]) * GIB) for match in matches if match is not None]
    return {slices: memory for slices, memory in found if sum(1 for each, _ in found if each == slices) == 1}


def _of_minors(shared: dict[str, object]) -> dict[str, str]:
    """Nothing says the indices of these cards, so their minor numbers stand for them."""
    minors = [minor for name in shared if (minor := small(name)) is not None]
    return {minor: minor for minor in minors} if len(minors) <= MAX_CARDS else {}
