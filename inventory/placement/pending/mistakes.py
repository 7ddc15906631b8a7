"""What is probably a mistake of the request: a unit, a name, more than there is anywhere. Reported only where it is certain."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Max

from inventory.models import Card, Node, Pod
from inventory.placement.pending.asked import Ask, asks_of
from inventory.placement.pending.closest import Near
from stacks import STACKS
from stacks.engine.labels import GIB, MIB
from wording.close_names import close_names

MIB_MEANT, GIB_MEANT, LARGER_THAN_ANY, MORE_THAN_ANY, NOBODY_OFFERS, NOT_TOGETHER = (
    "mib-meant",
    "gib-meant",
    "larger-than-any-card",
    "more-than-any-node",
    "nobody-offers",
    "not-together",
)
#: A pod that wants less than this of a card has mistaken the unit.
_TOO_LITTLE = 256 * MIB


@dataclass(frozen=True)
class Mistake:
    """wanted: as it is asked for. most: what there is at most: bytes of a card, or the resource's unit. other: another resource."""

    code: str
    resource: str
    wanted: int
    most: int = 0
    other: str = ""


def mistakes(pod: Pod, looked_at: list[Near]) -> list[Mistake]:
    """looked_at: as `nearest` gives it. Three queries at most."""
    asks = asks_of(pod)
    offered = {name for one in looked_at for name in one.offers}
    found = [*_missing(pod, asks, offered, {name for one in looked_at for name in one.totals.stacks})]
    for ask in asks:
        found += _of_memory(pod, ask, looked_at) if ask.memory else _of_count(ask, looked_at)
    return found or _apart(asks, looked_at, offered)


def _missing(pod: Pod, asks: list[Ask], offered: set[str], known: set[str]) -> Iterable[Mistake]:
    """Resources that no node states. One of a system that some node has may be counted by its scheduler alone."""
    unseen = [ask for ask in asks if ask.resource not in offered]
    for ask in unseen:
        if ask.stack in known or _some_node_says(pod.cluster_id, ask.resource):
            continue
        yield Mistake(NOBODY_OFFERS, ask.resource, ask.quantity, other=_close(ask.resource, offered))


def _some_node_says(cluster_id: int, resource: str) -> bool:
    named = f"{json.dumps(resource, ensure_ascii=False)}:"
    return Node.objects.filter(cluster_id=cluster_id, facts__contains=named).exists()


def _close(resource: str, offered: set[str]) -> str:
    names = offered | {name for stack in STACKS for name in stack.resources}
    return next(iter(close_names(resource, names - {resource}, 1, 0.8)), "")


def _of_memory(pod: Pod, ask: Ask, looked_at: list[Near]) -> Iterable[Mistake]:
    largest = _largest_card(pod.cluster_id, ask.stack)
    units = {one.totals.unit for one in looked_at if ask.resource in one.offers or ask.units.get("")}
    sizes = {ask.bytes_by(unit) for unit in units}
    if largest is None or len(sizes) != 1:
        return
    [size] = sizes
    if size is None:
        return
    each = size // ask.quantity if ask.quantity else 0
    if size > largest:
        meant = each == GIB and _TOO_LITTLE <= ask.quantity * MIB <= largest
        yield Mistake(MIB_MEANT if meant else LARGER_THAN_ANY, ask.resource, ask.quantity if meant else size, largest)
    elif each == MIB and size < _TOO_LITTLE and ask.quantity * GIB <= largest:
        yield Mistake(GIB_MEANT, ask.resource, ask.quantity, largest)


def _largest_card(cluster_id: int, stack: str) -> int | None:
    rows = Card.objects.filter(cluster_id=cluster_id, removed_at=None, stack=stack)
    most: int | None = rows.aggregate(most=Max("memory_total_bytes"))["most"]
    return most


def _of_count(ask: Ask, looked_at: list[Near]) -> Iterable[Mistake]:
    most = max((one.offers[ask.resource] for one in looked_at if ask.resource in one.offers), default=None)
    if most and ask.quantity > most:
        yield Mistake(MORE_THAN_ANY, ask.resource, ask.quantity, most)


def _apart(asks: list[Ask], looked_at: list[Near], offered: set[str]) -> list[Mistake]:
    """Two resources that are offered, by no node both."""
    there = [ask for ask in asks if ask.resource in offered]
    pairs = ((one, other) for place, one in enumerate(there) for other in there[place + 1 :])
    return [
        Mistake(NOT_TOGETHER, one.resource, one.quantity, other=other.resource)
        for one, other in pairs
        if not any({one.resource, other.resource} <= near.offers.keys() for near in looked_at)
    ]
