"""Nodes that would fit a request of the finder if pods moved: the closest first, and which pods these are.

Of nodes whose cards are large enough and too few of them free: whole cards that are allocated, and memory of cards that several pods
share. Cards of one stack and one profile count together, since a pod requests one resource; slices only where one card is wanted.
What the rule of a stack asks for besides (slots, cores) is not looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from inventory.models import Allocation, Card, Cluster
from inventory.models.choices import CardState
from inventory.placement.finder.finder import Found, Refusing, in_slices
from inventory.placement.pending.blockers import Blocked, held_on, missing_of, on_cards
from inventory.placement.pending.closest import BLOCK, SHORT, Lack
from stacks.engine import fitting
from stacks.engine.base import MEMORY, UNHEALTHY, WHOLE

#: Nodes whose cards are read, and that are told of.
LOOKED, TOLD = 40, 5
_FEW, _NO_BLOCK = fitting.TOO_FEW_FREE, fitting.NO_BLOCK
_COLUMNS = ("id", "stack", "profile", "mode", "memory_total_bytes", "memory_free_bytes", "state")


@dataclass(frozen=True)
class Nearly:
    """A node. missing: cards that it lacks; blocked: the pods that would have to move, where cards are shared of each card."""

    cluster: str
    node: str
    missing: int
    blocked: tuple[Blocked, ...]

    @property
    def moving(self) -> int:
        """Pods that would have to move."""
        return len({pod.row.pod_uid for one in self.blocked for pod in one.pods})


@dataclass(frozen=True)
class _Card:
    id: int
    stack: str
    profile: str
    mode: str
    total: int | None
    free: int | None
    state: str


def nearly(found: Found) -> list[Nearly]:
    """At most TOLD; none where a node fits now, unless by slices alone where several cards are wanted.

    Three queries, none where no node comes close.
    """
    fits = any(not in_slices(one, found.request) for one in found.taking)
    chosen = [] if fits else _chosen(found)
    if not chosen:
        return []
    ids = dict(Cluster.objects.filter(name__in={one.cluster for one in chosen}).values_list("name", "pk"))
    nodes = {one.node for one in chosen}
    cards, held = _cards(ids.values(), nodes), held_on(ids.values(), nodes)
    made = [
        _nearly(found, one, cards.get((ids[one.cluster], one.node), []), held[ids[one.cluster], one.node])
        for one in chosen
        if one.cluster in ids
    ]
    near = [one for one in made if one is not None]
    return sorted(near, key=_distance)[:TOLD]


def _distance(one: Nearly) -> tuple[int, int, str, str]:
    return one.missing, one.moving, one.cluster, one.node


def _chosen(found: Found) -> list[Refusing]:
    """Those that may come closest by the totals of their nodes."""
    wanted = found.request.cards
    few = [
        one for one in found.refusing if one.code == _FEW and one.figures and (one.figures.cards_total or 0) >= wanted
    ]
    none = [one for one in found.refusing if one.code == _NO_BLOCK and one.figures]
    few.sort(key=lambda one: (-(one.figures.cards_free or 0) if one.figures else 0, one.cluster, one.node))
    none.sort(key=lambda one: (-(one.figures.largest_gap or 0) if one.figures else 0, one.cluster, one.node))
    return [*few[:LOOKED], *none[:LOOKED]]


def _cards(clusters: Iterable[int], nodes: set[str]) -> Mapping[tuple[int, str], list[_Card]]:
    rows = Card.objects.filter(cluster__in=list(clusters), node_name__in=nodes, removed_at=None).exclude(
        health=UNHEALTHY
    )
    found: dict[tuple[int, str], list[_Card]] = defaultdict(list)
    for cluster, node, *values in rows.order_by("id").values_list("cluster_id", "node_name", *_COLUMNS):
        found[cluster, node].append(_Card(*values))
    return found


def _nearly(found: Found, one: Refusing, cards: list[_Card], held: list[Allocation]) -> Nearly | None:
    """By those of its cards that come closest."""
    alike: dict[tuple[str, str], list[_Card]] = defaultdict(list)
    for card in cards:
        if not card.profile or found.request.cards == 1:
            alike[card.stack, card.profile].append(card)
    near = (_of_cards(found, one, mine, held) for mine in alike.values())
    return min((each for each in near if each is not None), key=_distance, default=None)


def _of_cards(found: Found, one: Refusing, cards: list[_Card], held: list[Allocation]) -> Nearly | None:
    request, mode = found.request, MEMORY if one.code == _NO_BLOCK else WHOLE
    least = request.memory
    large = [card for card in cards if card.mode == mode and (least is None or (card.total or 0) >= least)]
    if len(large) < request.cards:
        return None
    if mode == WHOLE:
        taken = {card.id for card in large if card.state != CardState.FREE}
        missing = request.cards - (len(large) - len(taken))
        lack = Lack(SHORT, wanted=request.cards, there=request.cards - missing)
        blocked = [missing_of(lack, ((row, 1) for row in held if row.card_id in taken))]
    else:
        missing, blocked = _of_memory(large, held, request.cards, least)
    sound = missing > 0 and bool(blocked) and all(one.enough for one in blocked)
    return Nearly(one.cluster, one.node, missing, tuple(blocked)) if sound else None


def _of_memory(
    cards: list[_Card], held: list[Allocation], wanted: int, memory: int | None
) -> tuple[int, list[Blocked]]:
    """(cards that are missing, of so many the pods that would have to leave them); none where there are not so many."""
    room = [card for card in cards if card.free is not None and card.free >= (memory or card.total or 0)]
    rest = {card.id for card in cards} - {card.id for card in room}
    # Without an amount all of a card is asked for.
    sizes = {card.id: memory or card.total or 0 for card in cards}
    found = [
        blocked
        for card_id in rest
        for blocked in on_cards(Lack(BLOCK, wanted=sizes[card_id]), (row for row in held if row.card_id == card_id))
    ]
    found.sort(key=lambda one: (len(one.pods), sum(pod.amount for pod in one.pods), one.card.pk if one.card else 0))
    missing = max(0, wanted - len(room))
    return missing, found[:missing] if len(found) >= missing else []
