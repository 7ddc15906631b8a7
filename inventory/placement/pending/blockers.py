"""Which pods would have to end or move for a pod to fit on a node: the fewest that hold what is missing.

Of allocations in namespaces that are not seen the names are taken away as everywhere (`inventory.queries.holds`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from inventory.models import Allocation, Card
from inventory.placement.pending.closest import BLOCK, Lack, Near
from inventory.queries.holds import holds


@dataclass(frozen=True)
class Blocker:
    """A pod. amount: what it holds of what is missing: in the resource's unit, of one card bytes. row: one of its allocations."""

    row: Allocation
    amount: int

    @property
    def started_at(self) -> datetime:
        return self.row.started_at


@dataclass(frozen=True)
class Blocked:
    """What is held of one node. pods: the fewest that hold enough, card: of memory, the card on which they are.

    holders: pods that hold any of it. enough: whether what is held by pods that are known makes up for what is missing.
    """

    lack: Lack
    pods: tuple[Blocker, ...]
    holders: int
    enough: bool
    card: Card | None = None


def blocked(
    cluster_id: int, near: Sequence[Near], cards: Mapping[tuple[str, str], frozenset[int]]
) -> dict[str, list[Blocked]]:
    """Node → what pods hold of what it lacks. cards: (node, request of a claim) → ids of the cards that are meant. Two queries."""
    lacking = {one.node: [lack for lack in one.lacks if lack.is_held] for one in near}
    names = [node for node, lacks in lacking.items() if lacks]
    held = held_on([cluster_id], names)
    return {
        node: [_blocked(lack, held[cluster_id, node], cards.get((node, lack.what))) for lack in lacking[node]]
        for node in names
    }


def held_on(clusters: Iterable[int], nodes: Collection[str]) -> Mapping[tuple[int, str], list[Allocation]]:
    """(id of a cluster, node) → what is held there now. One query, none for no nodes."""
    found: dict[tuple[int, str], list[Allocation]] = defaultdict(list)
    if nodes:
        for row in holds().filter(cluster__in=list(clusters), node_name__in=nodes, ended_at=None).order_by("id"):
            found[row.cluster_id, row.node_name].append(row)
    return found


def _blocked(lack: Lack, held: list[Allocation], cards: frozenset[int] | None) -> Blocked:
    if lack.code == BLOCK:
        found = [one for one in on_cards(lack, held) if one.enough]
        return found[0] if found else Blocked(lack, (), 0, enough=False)
    mine = [row for row in held if (row.card_id in cards if cards is not None else row.resource == lack.what)]
    return missing_of(lack, ((row, 1 if cards is not None else row.quantity) for row in mine))


def on_cards(lack: Lack, held: Iterable[Allocation]) -> list[Blocked]:
    """Cards that are large enough for a block of memory, with the pods that would have to leave: first the card that the fewest
    would have to leave, of these the one that lacks least."""
    of_card: dict[int, list[Allocation]] = defaultdict(list)
    for row in held:
        if row.card is not None and (row.card.memory_total_bytes or 0) >= lack.wanted:
            of_card[row.card.pk].append(row)
    found = [_on_card(lack, rows) for rows in of_card.values()]
    return sorted(found, key=lambda one: (len(one.pods), sum(pod.amount for pod in one.pods), one.card and one.card.pk))


def _on_card(lack: Lack, rows: list[Allocation]) -> Blocked:
    card = rows[0].card
    assert card is not None
    free = max(0, (card.memory_free_bytes or 0) + (card.memory_unavailable_bytes or 0))
    own = Lack(lack.code, lack.what, lack.wanted, free)
    return replace(missing_of(own, ((row, row.memory_bytes or 0) for row in rows)), card=card)


def missing_of(lack: Lack, rows: Iterable[tuple[Allocation, int]]) -> Blocked:
    """rows: allocations of what is missing, with the amount of each."""
    found: dict[str, Blocker] = {}
    for row, amount in rows:
        before = found.get(row.pod_uid)
        found[row.pod_uid] = Blocker(row, amount + (before.amount if before else 0))
    holders = [one for one in found.values() if one.amount > 0]
    pods = fewest(holders, lack.missing)
    return Blocked(lack, tuple(pods), len(holders), sum(one.amount for one in pods) >= lack.missing)


def fewest(holders: Sequence[Blocker], missing: int) -> list[Blocker]:
    """The fewest that hold so much together; the last is the smallest that is enough, of equal ones the one that started last, which
    loses least. All of them where they do not hold so much."""
    left = sorted(holders, key=lambda one: (-one.amount, -one.started_at.timestamp(), one.row.pk))
    chosen: list[Blocker] = []
    while missing > 0 and left:
        enough = [one for one in left if one.amount >= missing]
        one = min(enough, key=lambda one: (one.amount, -one.started_at.timestamp(), one.row.pk)) if enough else left[0]
        chosen.append(one)
        left.remove(one)
        missing -= one.amount
    return chosen
