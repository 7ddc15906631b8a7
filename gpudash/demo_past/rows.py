"""What was allocated at a moment, read from allocations of now and those that ended: charts say what cards' pages say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime

import msgspec

from gpudash.demo_past.clock import Times, utc
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
    """Cards, nodes and holds of some nodes, as they are and were."""

    def __init__(self, cluster: Cluster, nodes: Iterable[str], times: Times) -> None:
        here = {"cluster": cluster, "node_name__in": list(nodes)}
        self._cards = list(Card.objects.filter(**here, removed_at=None).order_by("id"))
        self._nodes = list(NodeTotals.objects.filter(**here).order_by("node_name"))
        began = Allocation.objects.filter(**here, started_at__lt=utc(times.until)).order_by("id")
        self._holds: dict[str, list[_Hold]] = defaultdict(list)
        for row in began.values_list(*_COLUMNS):
            hold = _hold(*row)
            if hold.until > times.since:
                self._holds[hold.node].append(hold)
        self._struct = {
            card.pk: base.Card(
                key=card.key, stack=card.stack, mode=card.mode, memory_total_bytes=card.memory_total_bytes
            )
            for card in self._cards
        }

    def at(self, moment: float) -> tuple[list[CardRow], list[NodeRow], Held]:
        """What is kept of allocations then, by the rules by which the node reconciler adds up what is held now."""
        here = {node: [one for one in holds if one.since <= moment < one.until] for node, holds in self._holds.items()}
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
        nodes = [
            (row.node_name, row.pool, row.memory_total_bytes, _of_node(row, here.get(row.node_name, ())))
            for row in self._nodes
        ]
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
