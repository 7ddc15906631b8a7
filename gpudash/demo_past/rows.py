"""What was allocated at a moment, read from allocations of now and those that ended: charts say what cards' pages say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

import msgspec

from fleetsim.clock import DAY
from gpudash.demo_past.clock import Times
from inventory.history.moment import CardRow, Held, NodeRow
from inventory.models import Allocation, Card, Cluster, NodeTotals
from stacks.engine import base, sums

_COLUMNS = (
    *("node_name", "card_id", "namespace", "resource", "quantity", "evidence", "stack", "mode", "memory_bytes"),
    *("started_at", "ended_at"),
)


class _Hold(msgspec.Struct, frozen=True):
    """A hold from `since` to `until`, unix seconds. said: as the sums of a node take it."""

    node: str
    card: int | None
    namespace: str
    since: float
    until: float
    said: base.Allocation


class Rows:
    """Cards, nodes and holds of some nodes, as they are and were: of all that is held now and was before."""

    def __init__(self, cluster: Cluster, nodes: Iterable[str], times: Times) -> None:
        here = {"cluster": cluster, "node_name__in": list(nodes)}
        self._cards = list(Card.objects.filter(**here, removed_at=None).order_by("id"))
        self._nodes = list(NodeTotals.objects.filter(**here).order_by("node_name"))
        began = Allocation.objects.filter(**here).order_by("id")
        self._holds = [hold for row in began.values_list(*_COLUMNS) if (hold := _hold(*row)).until > times.first]
        self._day: tuple[float, list[_Hold]] | None = None
        self._struct = {
            card.pk: base.Card(
                key=card.key, stack=card.stack, mode=card.mode, memory_total_bytes=card.memory_total_bytes
            )
            for card in self._cards
        }

    def idle(self, moment: float, quiet: Collection[int]) -> dict[str, int]:
        """Namespace → bytes that it had on cards that did nothing."""
        found: dict[str, int] = defaultdict(int)
        for one in _all(self._here(moment)):
            if one.card in quiet:
                found[one.namespace] += one.said.memory_bytes or 0
        return dict(found)

    def _here(self, moment: float) -> dict[str, list[_Hold]]:
        """Node → holds then."""
        day = moment // DAY
        if self._day is None or self._day[0] != day:  # moments of one day are asked for together
            held = [one for one in self._holds if one.since < (day + 1) * DAY and one.until > day * DAY]
            self._day = day, held
        here: dict[str, list[_Hold]] = defaultdict(list)
        for one in self._day[1]:
            if one.since <= moment < one.until:
                here[one.node].append(one)
        return here

    def at(self, moment: float) -> tuple[list[CardRow], list[NodeRow], Held]:
        """What is kept of allocations then, by the rules by which the node reconciler adds up what is held now."""
        here = self._here(moment)
        by_card: dict[int, list[base.Allocation]] = defaultdict(list)
        for one in _all(here):
            if one.card is not None:
                by_card[one.card].append(one.said)
        modes = {node: {one.said.mode for one in holds if one.card is None} for node, holds in here.items()}
        cards = [
            (
                card.pk,
                card.node_name,
                sums.card_memory(self._struct[card.pk], by_card[card.pk], modes.get(card.node_name, set())),
            )
            for card in self._cards
        ]
        nodes = [_node_row(row, here.get(row.node_name, ())) for row in self._nodes]
        return cards, nodes, _held(list(_all(here)))


def _hold(
    node: str,
    card: int | None,
    namespace: str,
    resource: str,
    quantity: int,
    evidence: str,
    stack: str,
    mode: str,
    memory: int | None,
    started_at: datetime,
    ended_at: datetime | None,
) -> _Hold:
    said = base.Allocation(
        pod_uid="",
        namespace=namespace,
        pod="",
        container="",
        resource=resource,
        quantity=quantity,
        evidence=evidence,
        stack=stack,
        card=None if card is None else str(card),
        memory_bytes=memory,
        mode=mode,
    )
    until = ended_at.timestamp() if ended_at is not None else float("inf")
    return _Hold(node, card, namespace, started_at.timestamp(), until, said)


def _all(here: dict[str, list[_Hold]]) -> Iterator[_Hold]:
    return (one for holds in here.values() for one in holds)


def _node_row(row: NodeTotals, holds: Sequence[_Hold]) -> NodeRow:
    """A node of which something is not known, or is unavailable, now was so then."""
    total, allocated = row.memory_total_bytes, _of_node(row, holds)
    free = row.memory_free_bytes
    if free is not None and total is not None and allocated is not None and not row.unavailable_reason:
        free = total - allocated
    cards_free = row.cards_free
    if cards_free is not None and row.cards_total is not None and not row.unavailable_reason:
        named = {one.card for one in holds if one.card is not None}
        counted = sum(one.said.quantity for one in holds if one.card is None and one.said.mode == base.WHOLE)
        cards_free = max(0, row.cards_total - len(named) - counted)
    return row.node_name, row.pool, total, allocated, free, cards_free


def _of_node(row: NodeTotals, holds: Iterable[_Hold]) -> int | None:
    """A node of which it is not known now was not known then."""
    return None if row.memory_allocated_bytes is None else sums.total(one.said.memory_bytes for one in holds)


def _held(holds: list[_Hold]) -> Held:
    by_namespace: dict[str, list[int | None]] = defaultdict(list)
    loose: dict[str, set[str]] = defaultdict(set)
    for one in holds:
        by_namespace[one.namespace].append(one.said.memory_bytes)
        if one.card is None:
            loose[one.node].add(one.namespace)
    told = {}
    for namespace, sizes in by_namespace.items():
        metered = [size for size in sizes if size is not None]
        told[namespace] = (sum(metered) if metered else None, len(sizes), len(metered))
    placed = {(one.card, one.node, one.namespace) for one in holds if one.card is not None}
    return Held(told, placed, loose)
