"""The difference between what is stored of some nodes and what their reports want, written table by table.

Cards come first, since allocations and the tiles of the map name their ids. Rows whose digest is the same are not written.
All inside the caller's transaction, in a number of statements that does not depend on how many nodes there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

from django.db import models

from inventory.health import judge
from inventory.mirror.values import Columns, digest
from inventory.models import Allocation, Card, Finding, NodeTotals
from inventory.pieces import packed
from inventory.reconcile.chunk import Chunk, NodeChunk, StoredAllocation
from inventory.reconcile.columns import (
    allocation_columns,
    card_columns,
    ended_at,
    finding_columns,
    started_at,
    tile,
    totals_columns,
)
from inventory.reconcile.software import Components, columns_of
from runtime import bulk
from stacks.engine.base import ALL_CARDS, EXPORTER, ONLY_CARD

#: (pod uid, container, resource, card key)
AllocationKey: TypeAlias = tuple[str, str, str, str]
#: Values of a row that changes, its id first.
Row: TypeAlias = tuple[Any, ...]

#: Columns that change while an allocation goes on, besides that of its card.
#: Columns of a finding that change while it lasts.
_SAID = ("text", "severity", "wording", "cause")
_ALLOCATION_UPDATES = (
    "card_key",
    "owner_kind",
    "owner_name",
    "quantity",
    "memory_bytes",
    "core_percent",
    "evidence",
    "terminating",
    "stack",
    "mode",
    "digest",
)

#: Evidence that is no record: the node's numbers left no other card, or an exporter's label said so and says so no more.
_DEDUCED = frozenset((ONLY_CARD, ALL_CARDS, EXPORTER))


def write(chunk: Chunk, first: bool = False) -> int:
    """Write what the reports of a chunk change. first: nodes are counted for the first time. Returns the number of rows."""
    return _Writer(chunk, first).write()


def unit_changed(chunk: Chunk) -> bool:
    """Whether some node's memory is now counted in another unit than is stored."""
    return any(
        ((node.report.unit or "") if node.report else "") != (node.totals.unit if node.totals else "")
        for node in chunk.nodes
    )


class _Writer:
    """One chunk. Of each node, cards, allocations: the columns that its report wants; ids: of its cards, by key."""

    def __init__(self, chunk: Chunk, first: bool) -> None:
        self.cluster_id, self.now, self.nodes, self.written = chunk.cluster_id, chunk.now, chunk.nodes, 0
        self.first = first
        self.cards = {node.name: _wanted_cards(node) for node in chunk.nodes}
        self.allocations = {node.name: _wanted_allocations(node) for node in chunk.nodes}
        self.ids = {node.name: {key: card.id for key, card in node.cards.items()} for node in chunk.nodes}

    def write(self) -> int:
        self._write_cards()
        self._write_allocations()
        self._write_findings()
        self._write_components()
        self._write_totals()
        return self.written

    # Cards: new, changed or back again; gone.

    def _write_cards(self) -> None:
        new: list[Columns] = []
        changed: list[Columns] = []
        gone: list[int] = []
        times = {"first_seen_at": self.now, "changed_at": self.now, "removed_at": None}
        for node in self.nodes:
            wanted = self.cards[node.name]
            for key, columns in wanted.items():
                stored = node.cards.get(key)
                if stored is None:
                    new.append({"node_name": node.name} | columns | times)
                elif stored.digest != columns["digest"] or stored.removed_at is not None:
                    changed.append({"node_name": node.name} | columns | times)
            gone += [card.id for key, card in node.cards.items() if key not in wanted and card.removed_at is None]
        self._insert(Card, new)
        self._upsert(Card, changed, unique=("cluster_id", "node_name", "key"), keep=("first_seen_at",))
        self._read_ids({columns["node_name"] for columns in (*new, *changed)})
        if gone:
            self.written += Card.objects.filter(id__in=gone).update(removed_at=self.now, changed_at=self.now)

    def _read_ids(self, nodes: set[str]) -> None:
        """Of the cards that were just written. One that was changed may have been deleted as too old in between."""
        stored = Card.objects.filter(cluster_id=self.cluster_id, node_name__in=nodes)
        for card_id, node, key in stored.values_list("id", "node_name", "key") if nodes else ():
            self.ids[node][key] = card_id

    # Allocations: new, changed, ended.

    def _write_allocations(self) -> None:
        new: list[Columns] = []
        changed: list[Row] = []
        ended: dict[int, datetime] = {}
        for node in self.nodes:
            self._compare_allocations(node, new, changed, ended)
        if ended:
            self.written += bulk.update(Allocation, ("id", "ended_at"), _not_before_start(ended))
        if changed:
            self.written += bulk.update(Allocation, ("id", "card_id", *_ALLOCATION_UPDATES), changed)
        self._insert(Allocation, new)

    def _compare_allocations(
        self, node: NodeChunk, new: list[Columns], changed: list[Row], ended: dict[int, datetime]
    ) -> None:
        """Same key: updated in place. An allocation whose card became known moves in place: it was there all the time.

        So does one whose card was only deduced, when its name is learned, or when there turn out to be more cards.

        The rest begins or ends.
        """
        wanted = dict(self.allocations[node.name])
        left: list[StoredAllocation] = []
        for row in node.allocations:
            columns = wanted.pop((row.pod_uid, row.container, row.resource, row.card_key), None)
            if columns is None:
                left.append(row)
            elif row.digest != columns["digest"]:
                changed.append(self._changed(row, columns, node))
        movable: dict[tuple[str, str, str], list[StoredAllocation]] = {}
        for row in left:
            if not row.card_key or row.evidence in _DEDUCED:
                movable.setdefault((row.pod_uid, row.container, row.resource), []).append(row)
        was_elsewhere = {row.pod_uid for row in left if row.card_key and row.evidence not in _DEDUCED}
        for key, columns in wanted.items():
            if rows := movable.get(key[:3]):
                placed_now = rows.pop(0)
                left.remove(placed_now)
                changed.append(self._changed(placed_now, columns, node))
                continue
            pod = None if columns["pod_uid"] in was_elsewhere else node.pods.get(columns["pod_uid"])
            place = {"node_name": node.name, "card_id": self.ids[node.name].get(columns["card_key"])}
            new.append(columns | place | {"started_at": started_at(pod, self.now), "ended_at": None})
        ended |= {row.id: ended_at(node.pods.get(row.pod_uid), self.now) for row in left}

    def _changed(self, row: StoredAllocation, columns: Columns, node: NodeChunk) -> Row:
        card_id = self.ids[node.name].get(columns["card_key"])
        return (row.id, card_id, *(columns[name] for name in _ALLOCATION_UPDATES))

    # Findings: new, changed, ended.

    def _write_findings(self) -> None:
        new: list[Columns] = []
        changed: list[Row] = []
        ended: list[int] = []
        for node in self.nodes:
            wanted = _wanted_findings(node)
            for row in node.findings:
                columns = wanted.pop((row.code, row.card_key, row.pod), None)
                if columns is None:
                    ended.append(row.id)
                elif (row.text, row.severity, row.wording, row.cause) != (
                    said := tuple(columns[name] for name in _SAID)
                ):
                    changed.append((row.id, *said))
            place = {"node_name": node.name, "first_seen_at": self.now, "ended_at": None}
            new += [columns | place for columns in wanted.values()]
        if ended:
            self.written += Finding.objects.filter(id__in=ended).update(ended_at=self.now)
        if changed:
            self.written += bulk.update(Finding, ("id", *_SAID), changed)
        self._insert(Finding, new)

    # Components: new, changed, gone, and what of it is kept as a change.

    def _write_components(self) -> None:
        difference = Components(self.cluster_id, self.now)
        for node in self.nodes:
            difference.compare(node.name, _wanted_components(node), node.stored_components)
        self.written += difference.write(first=self.first)

    # Totals of a node: new, changed, gone.

    def _write_totals(self) -> None:
        new: list[Columns] = []
        changed: list[Columns] = []
        gone: list[int] = []
        for node in self.nodes:
            if node.report is None:
                gone += [node.totals.id] if node.totals else []
                continue
            columns = self._totals(node)
            if node.totals is None:
                new.append(columns)
            elif node.totals.digest != columns["digest"]:
                changed.append(columns)
        self._insert(NodeTotals, new)
        self._upsert(NodeTotals, changed, unique=("cluster_id", "node_name"))
        if gone:
            self.written += NodeTotals.objects.filter(id__in=gone).delete()[0]

    def _totals(self, node: NodeChunk) -> Columns:
        assert node.report is not None
        cards, ids = self.cards[node.name], self.ids[node.name]
        health = node.health.node if node.health else judge.NOTHING
        columns = totals_columns(node.report, list(cards.values()), health, node.unavailable_reason) | node.offers
        columns["tiles"] = [tile(ids[key], card) for key, card in cards.items()]
        columns["pieces"] = packed(
            ((ids[key], card) for key, card in cards.items()),
            self.allocations[node.name].values(),
            ids,
            node.report.stacks,
        )
        columns["digest"] = digest(columns)
        return {"node_name": node.name} | columns | {"changed_at": self.now}

    # Rows.

    def _insert(self, model: type[models.Model], new: list[Columns]) -> None:
        if new:
            self.written += bulk.insert(model, _names(new), self._values(new))

    def _upsert(
        self, model: type[models.Model], changed: list[Columns], unique: Sequence[str], keep: Sequence[str] = ()
    ) -> None:
        if changed:
            self.written += bulk.upsert(model, _names(changed), self._values(changed), unique, keep)

    def _values(self, rows: list[Columns]) -> list[tuple[object, ...]]:
        return [(self.cluster_id, *columns.values()) for columns in rows]


def _names(rows: list[Columns]) -> tuple[str, ...]:
    return ("cluster_id", *rows[0])


def _wanted_cards(node: NodeChunk) -> dict[str, Columns]:
    """By key, in the order of the report."""
    if node.report is None:
        return {}
    found = node.health.cards if node.health else {}
    cards = [
        card_columns(card, node.report, found.get(card.card.key, judge.NOTHING), node.unavailable_reason)
        for card in node.report.cards
    ]
    return {columns["key"]: columns for columns in cards}


def _wanted_allocations(node: NodeChunk) -> dict[AllocationKey, Columns]:
    if node.report is None:
        return {}
    wanted: dict[AllocationKey, Columns] = {}
    placed = [held for card in node.report.cards for held in card.allocations]
    for held in (*placed, *node.report.unplaced):
        columns = allocation_columns(held, node.pods.get(held.pod_uid))
        while (
            key := _allocation_key(columns)
        ) in wanted:  # a strange pod with two containers of one name: lose neither
            columns["container"] += "+"
        wanted[key] = columns
    return wanted


def _allocation_key(columns: Columns) -> AllocationKey:
    return columns["pod_uid"], columns["container"], columns["resource"], columns["card_key"]


def _wanted_findings(node: NodeChunk) -> dict[tuple[str, str, str], Columns]:
    """By code, card and pod."""
    wanted = [finding_columns(finding) for finding in (node.report.findings if node.report else ())]
    return {(columns["code"], columns["card_key"], columns["pod"]): columns for columns in wanted}


def _wanted_components(node: NodeChunk) -> dict[str, Columns]:
    """By name, in the order of blame."""
    found = node.components
    made = (
        columns_of(name, found.stacks.get(name, ""), one, position, name == found.first_cause)
        for position, (name, one) in enumerate(found.statements.items())
    )
    return {columns["name"]: columns for columns in made}


def _not_before_start(ended: dict[int, datetime]) -> list[Row]:
    """(id, end). A strange pod may say that it ended before it began."""
    started = Allocation.objects.filter(id__in=ended).values_list("id", "started_at")
    return [(row, max(ended[row], at)) for row, at in started]
