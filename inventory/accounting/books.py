"""The stored books of some nodes: what is there, and the difference that an account makes.

`Books` loads the rows of a chunk of nodes in a constant number of queries, takes one account per node, and writes only what changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from inventory.accounting import rows
from inventory.kube.objects import Pod
from inventory.mirror.kinds import Columns, digest
from inventory.models import Allocation, Card, Finding, NodeAccount
from inventory.stacks import base

BATCH = 1000
_CARD_UPDATES = [
    *(
        "index",
        "uuid",
        "model",
        "model_source",
        "stack",
        "mode",
        "health",
        "state",
        "shares",
        "holders_count",
        "worst_severity",
    ),
    *("memory_total_bytes", "memory_physical_bytes", "memory_source", "memory_allocated_bytes", "memory_free_bytes"),
    *("changed_at", "gone_at", "digest"),
]
_ALLOCATION_UPDATES = [
    *(
        "card",
        "card_key",
        "owner_kind",
        "owner_name",
        "quantity",
        "memory_bytes",
        "core_percent",
        "evidence",
        "terminating",
    ),
    *("stack", "mode", "digest"),
]

HoldKey = tuple[str, str, str, str]


class Books:
    """Rows of a chunk of nodes of one cluster. `enter` an account per node, then `write`."""

    def __init__(self, cluster_id: int, nodes: list[str], now: datetime) -> None:
        self.cluster_id, self.now = cluster_id, now
        chunk = {"cluster_id": cluster_id, "node_name__in": nodes}
        self.accounts = {row.node_name: row for row in NodeAccount.objects.filter(**chunk).defer("tiles")}
        self.cards = _by_node(Card.objects.filter(**chunk), "node_name")
        self.holds = _by_node(Allocation.objects.filter(**chunk, ended_at=None), "node_name")
        self.findings = _by_node(Finding.objects.filter(**chunk, ended_at=None), "node_name")
        self._entries: list[_Entry] = []
        self.units_changed = False

    def known_uuids(self, node: str) -> tuple[str, ...]:
        """UUIDs of the node's cards that are not gone, in the order in which they were first seen."""
        present = [card for card in self.cards[node] if card.uuid and card.gone_at is None]
        return tuple(card.uuid for card in sorted(present, key=lambda card: (card.first_seen_at, card.id)))

    def enter(self, node: str, account: base.NodeAccount | None, pods: dict[str, Pod]) -> None:
        """account: None when the node is gone or has nothing to do with GPUs. pods: by uid, ended ones too."""
        self._entries.append(_Entry(self, node, account, pods))

    def write(self) -> int:
        """Write the differences; inside the caller's transaction. Returns the number of rows written."""
        written = _Writer(self).write(self._entries)
        self.units_changed = any(entry.unit_changed for entry in self._entries)
        return written


def _by_node(queryset: Iterable[Any], attribute: str) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = defaultdict(list)
    for row in queryset:
        grouped[getattr(row, attribute)].append(row)
    return grouped


class _Entry:
    """One node: the columns that its account wants, beside the rows that are there."""

    def __init__(self, books: Books, node: str, account: base.NodeAccount | None, pods: dict[str, Pod]) -> None:
        self.books, self.node, self.account, self.pods = books, node, account, pods
        self.card_columns: list[Columns] = (
            [rows.card_columns(card, account) for card in account.cards] if account else []
        )
        self.stored = books.accounts.get(node)
        self.cards: dict[str, Card] = {card.key: card for card in books.cards[node]}
        unit = account.unit or "" if account else ""
        self.unit_changed = unit != (self.stored.unit if self.stored else "")

    def changed_cards(self) -> list[Card]:
        """Cards to be written: new, changed, or back again."""
        changed = []
        for columns in self.card_columns:
            old = self.cards.get(columns["key"])
            if old is not None and old.digest == columns["digest"] and old.gone_at is None:
                continue
            card = Card(cluster_id=self.books.cluster_id, node_name=self.node, changed_at=self.books.now, **columns)
            card.first_seen_at = old.first_seen_at if old else self.books.now
            changed.append(card)
        return changed

    def gone_cards(self) -> list[int]:
        wanted = {columns["key"] for columns in self.card_columns}
        return [card.id for card in self.cards.values() if card.key not in wanted and card.gone_at is None]

    def wanted_holds(self) -> dict[HoldKey, Columns]:
        if self.account is None:
            return {}
        wanted: dict[HoldKey, Columns] = {}
        placed = [held for card in self.account.cards for held in card.allocations]
        for held in (*placed, *self.account.unplaced):
            columns = rows.allocation_columns(held, self.pods.get(held.pod_uid))
            wanted[columns["pod_uid"], columns["container"], columns["resource"], columns["card_key"]] = columns
        return wanted

    def wanted_findings(self) -> dict[tuple[str, str, str], Columns]:
        wanted = {}
        for finding in self.account.findings if self.account else ():
            columns = rows.finding_columns(finding)
            wanted[columns["code"], columns["card_key"], columns["pod"]] = columns
        return wanted


class _Writer:
    """Writes the entries of a chunk, table by table: cards first, since allocations and tiles name their ids."""

    def __init__(self, books: Books) -> None:
        self.books, self.now, self.written = books, books.now, 0
        self.new_holds: list[Allocation] = []
        self.changed_holds: list[Allocation] = []
        self.ended_holds: dict[datetime, list[int]] = defaultdict(list)
        self.new_findings: list[Finding] = []
        self.ended_findings: list[int] = []

    def write(self, entries: list[_Entry]) -> int:
        self._cards(entries)
        for entry in entries:
            self._holds(entry)
            self._findings(entry)
        self._write_holds()
        self._write_findings()
        self._accounts(entries)
        return self.written

    def _cards(self, entries: list[_Entry]) -> None:
        changed = [card for entry in entries for card in entry.changed_cards()]
        if changed:
            Card.objects.bulk_create(
                changed,
                batch_size=BATCH,
                update_conflicts=True,
                unique_fields=["cluster", "node_name", "key"],
                update_fields=_CARD_UPDATES,
            )
        by_node = _by_node(changed, "node_name")
        for entry in entries:
            entry.cards.update((card.key, card) for card in by_node[entry.node])
        gone = [card_id for entry in entries for card_id in entry.gone_cards()]
        if gone:
            Card.objects.filter(id__in=gone).update(gone_at=self.now, changed_at=self.now)
        self.written += len(changed) + len(gone)

    def _holds(self, entry: _Entry) -> None:
        """Allocations: same key → update in place; a hold whose card became known moves in place; the rest begins or ends."""
        wanted = entry.wanted_holds()
        left: list[Allocation] = []
        for row in self.books.holds[entry.node]:
            columns = wanted.pop((row.pod_uid, row.container, row.resource, row.card_key), None)
            if columns is None:
                left.append(row)
            elif row.digest != columns["digest"]:
                self._change(row, columns, entry)
        moved = {(row.pod_uid, row.container, row.resource): row for row in left}
        for key, columns in wanted.items():
            row_or_none = moved.pop(key[:3], None)
            if row_or_none is not None:
                left.remove(row_or_none)
                self._change(row_or_none, columns, entry)
            else:
                self._begin(columns, entry)
        for row in left:
            self.ended_holds[rows.ended_at(entry.pods.get(row.pod_uid), self.now)].append(row.id)

    def _begin(self, columns: Columns, entry: _Entry) -> None:
        row = Allocation(cluster_id=self.books.cluster_id, node_name=entry.node, **columns)
        row.card = entry.cards.get(columns["card_key"])
        row.started_at = rows.started_at(entry.pods.get(columns["pod_uid"]), self.now)
        self.new_holds.append(row)

    def _change(self, row: Allocation, columns: Columns, entry: _Entry) -> None:
        for name, value in columns.items():
            setattr(row, name, value)
        row.card = entry.cards.get(columns["card_key"])
        self.changed_holds.append(row)

    def _write_holds(self) -> None:
        for moment, ids in self.ended_holds.items():
            Allocation.objects.filter(id__in=ids).update(ended_at=moment)
            self.written += len(ids)
        if self.changed_holds:
            Allocation.objects.bulk_update(self.changed_holds, _ALLOCATION_UPDATES, batch_size=200)
        Allocation.objects.bulk_create(self.new_holds, batch_size=BATCH)
        self.written += len(self.changed_holds) + len(self.new_holds)

    def _findings(self, entry: _Entry) -> None:
        wanted = entry.wanted_findings()
        for row in self.books.findings[entry.node]:
            columns = wanted.pop((row.code, row.card_key, row.pod), None)
            if columns is None:
                self.ended_findings.append(row.id)
            elif (row.text, row.severity) != (columns["text"], columns["severity"]):
                Finding.objects.filter(id=row.id).update(text=columns["text"], severity=columns["severity"])
                self.written += 1
        for columns in wanted.values():
            self.new_findings.append(
                Finding(cluster_id=self.books.cluster_id, node_name=entry.node, first_seen_at=self.now, **columns)
            )

    def _write_findings(self) -> None:
        if self.ended_findings:
            Finding.objects.filter(id__in=self.ended_findings).update(ended_at=self.now)
        Finding.objects.bulk_create(self.new_findings, batch_size=BATCH)
        self.written += len(self.ended_findings) + len(self.new_findings)

    def _accounts(self, entries: list[_Entry]) -> None:
        changed, gone = [], []
        for entry in entries:
            if entry.account is None:
                gone += [entry.stored.id] if entry.stored else []
                continue
            columns = rows.account_columns(entry.account, entry.card_columns)
            columns["tiles"] = [rows.tile(entry.cards[card["key"]].id, card) for card in entry.card_columns]
            mark = digest(columns)
            if entry.stored is None or entry.stored.digest != mark:
                row = NodeAccount(
                    cluster_id=self.books.cluster_id, node_name=entry.node, digest=mark, changed_at=self.now, **columns
                )
                changed.append(row)
        if changed:
            names = [field.name for field in NodeAccount._meta.concrete_fields]
            NodeAccount.objects.bulk_create(
                changed,
                batch_size=BATCH,
                update_conflicts=True,
                unique_fields=["cluster", "node_name"],
                update_fields=[name for name in names if name not in ("id", "cluster", "node_name")],
            )
        if gone:
            NodeAccount.objects.filter(id__in=gone).delete()
        self.written += len(changed) + len(gone)
