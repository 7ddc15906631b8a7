"""Devices that claims request, beside the cards that there are: which cards fulfil the conditions of a request.

Conditions are judged by what cards are known by (`stacks.dra.selectors`); a card that cannot be judged may be one that is meant, so
of it nothing is said. A class of parts of cards is not judged at all: its devices are no cards.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Count, Max, Q

from inventory.models import Card
from inventory.models.choices import CardState
from inventory.placement.pending.board import Counted
from inventory.queries.claimed import Claimed
from runtime.cached import shared
from stacks.dra.asks import Ask as Request
from stacks.dra.asks import in_short
from stacks.dra.cards import STACK
from stacks.dra.drivers import DRIVERS
from stacks.dra.selectors import Device, matches
from stacks.engine.base import WHOLE

_OF_PARTS = frozenset(one.part_class for one in DRIVERS.values() if one.part_class)
_FREE = Count("id", filter=Q(state=CardState.FREE))


class Alike(NamedTuple):
    """Cards of a cluster that conditions cannot tell apart. free: of these, cards that a claim can have now."""

    device: Device
    cards: int
    free: int


@dataclass(frozen=True)
class Wanted:
    """One request of a pending claim. number: of devices, on one node. conditions: as people read them."""

    device_class: str
    number: int
    selectors: tuple[str, ...]

    @property
    def conditions(self) -> str:
        return ", ".join(in_short(one) for one in self.selectors)

    @property
    def name(self) -> str:
        """What is counted, in one word: the class with its conditions."""
        return ", ".join(filter(None, (self.device_class, self.conditions)))

    def takes(self, device: Device) -> bool | None:
        """Whether the device fulfils all conditions; None where one of them cannot be judged, and no other decides."""
        answers = [matches(one, device) for one in self.selectors]
        return False if False in answers else None if None in answers else True


def wanted_of(claims: Iterable[Claimed]) -> list[Wanted]:
    """Requests for whole cards of claims that have no devices yet. One of several ways to fulfil a request is not among them."""
    requests = [one for claim in claims if claim.state == "pending" for one in claim.requests or ()]
    return [Wanted(one.device_class, one.count or 1, one.selectors) for one in requests if _counts(one)]


def _counts(one: Request) -> bool:
    shared_out = bool(one.capacity) or one.admin or bool(one.alternative_to) or one.count is None
    return not shared_out and one.device_class not in _OF_PARTS


def device_of(model: str, memory: int | None, uuid: str = "") -> Device:
    """A card as conditions see it. What it may have besides is not known."""
    attributes = {name: model for name in ("productName", "model") if model} | ({"uuid": uuid} if uuid else {})
    return Device(attributes=attributes, capacity={} if memory is None else {"memory": memory})


def alike(clusters: Iterable[int]) -> Mapping[int, Sequence[Alike]]:
    """Id of a cluster → its cards that claims can have as a whole, by model and memory. One query."""
    ids = tuple(sorted(set(clusters)))
    return shared("cards of pending claims", ids, lambda: _read(ids)) if ids else {}


def _read(ids: tuple[int, ...]) -> dict[int, list[Alike]]:
    rows = Card.objects.filter(cluster_id__in=ids, removed_at=None, stack=STACK, mode=WHOLE).order_by()
    found: dict[int, list[Alike]] = defaultdict(list)
    grouped = rows.values_list("cluster_id", "model", "memory_total_bytes").annotate(
        cards=Count("id"), free=_FREE, one=Max("uuid")
    )
    for cluster, model, memory, number, free, uuid in grouped:
        found[cluster].append(Alike(device_of(model, memory, uuid if number == 1 else ""), number, free))
    return found


class Matching(NamedTuple):
    """Cards of one node that one request may have. ids: of all of them."""

    counted: Counted
    ids: frozenset[int]


def on_nodes(cluster_id: int, nodes: Iterable[str], wanted: Sequence[Wanted]) -> dict[str, dict[str, Matching]]:
    """Node → name of a request → its cards there. A card that cannot be judged counts as one that is meant. One query."""
    rows = Card.objects.filter(
        cluster_id=cluster_id, node_name__in=list(nodes), removed_at=None, stack=STACK, mode=WHOLE
    )
    columns = ("id", "node_name", "model", "memory_total_bytes", "uuid", "state")
    cards: dict[str, list[tuple[int, Device, bool]]] = defaultdict(list)
    for pk, node, model, memory, uuid, state in rows.order_by("id").values_list(*columns):
        cards[node].append((pk, device_of(model, memory, uuid), state == CardState.FREE))
    return {node: {one.name: _matching(one, found) for one in wanted} for node, found in cards.items()}


def _matching(wanted: Wanted, cards: list[tuple[int, Device, bool]]) -> Matching:
    mine = [(pk, free) for pk, device, free in cards if wanted.takes(device) is not False]
    return Matching(Counted(len(mine), sum(free for _, free in mine)), frozenset(pk for pk, _ in mine))
