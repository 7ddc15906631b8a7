"""Writes what the entries of a chunk change, table by table: cards first, since allocations and tiles name their ids."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import models

from inventory import bulk
from inventory.mirror.kinds import Columns, digest
from inventory.models import Allocation, Card, Finding, NodeAccount
from inventory.reconcile import rows
from inventory.reconcile.entry import Entry

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


class Writer:
    """One chunk of one cluster; inside the caller's transaction."""

    def __init__(self, cluster_id: int, now: datetime) -> None:
        self.cluster_id, self.now, self.written = cluster_id, now, 0
        self.new_holds: list[Columns] = []
        self.changed_holds: list[Allocation] = []
        self.ended_holds: list[Allocation] = []
        self.new_findings: list[Columns] = []
        self.changed_findings: list[Finding] = []
        self.ended_findings: list[int] = []

    def write(self, entries: list[Entry]) -> int:
        """Returns the number of rows written."""
        self._cards(entries)
        for entry in entries:
            self._holds(entry)
            self._findings(entry)
        self._write_holds()
        self._write_findings()
        self._accounts(entries)
        return self.written

    def _insert(
        self, model: type[models.Model], new: list[Columns], unique: Sequence[str] = (), keep: Sequence[str] = ()
    ) -> None:
        if new:
            values = ((self.cluster_id, *columns.values()) for columns in new)
            names = ("cluster_id", *new[0])
            self.written += (
                bulk.upsert(model, names, values, unique, keep) if unique else bulk.insert(model, names, values)
            )

    def _cards(self, entries: list[Entry]) -> None:
        times = {"first_seen_at": self.now, "changed_at": self.now, "gone_at": None}
        changed = [
            ({"node_name": entry.node} | columns | times, entry)
            for entry in entries
            for columns in entry.changed_cards()
        ]
        new = [columns for columns, entry in changed if columns["key"] not in entry.cards]
        old = [columns for columns, entry in changed if columns["key"] in entry.cards]
        self._insert(Card, new)
        self._insert(Card, old, unique=("cluster_id", "node_name", "key"), keep=("first_seen_at",))
        by_name = {entry.node: entry for _, entry in changed}
        stored = (
            Card.objects.filter(cluster_id=self.cluster_id, node_name__in=by_name) if by_name else Card.objects.none()
        )
        for card_id, node, name in stored.values_list("id", "node_name", "key"):
            by_name[node].card_ids[name] = card_id
        gone = [card_id for entry in entries for card_id in entry.gone_cards()]
        if gone:
            self.written += Card.objects.filter(id__in=gone).update(gone_at=self.now, changed_at=self.now)

    def _holds(self, entry: Entry) -> None:
        """Same key: update in place. A hold whose card became known moves in place: it was there all the time.

        The rest begins or ends.
        """
        wanted = entry.wanted_holds()
        left: list[Allocation] = []
        for row in entry.holds:
            columns = wanted.pop((row.pod_uid, row.container, row.resource, row.card_key), None)
            if columns is None:
                left.append(row)
            elif row.digest != columns["digest"]:
                self._change(row, columns, entry)
        unplaced = {(row.pod_uid, row.container, row.resource): row for row in left if not row.card_key}
        was_elsewhere = {row.pod_uid for row in left if row.card_key}
        for key, columns in wanted.items():
            placed_now = unplaced.pop(key[:3], None)
            if placed_now is not None:
                left.remove(placed_now)
                self._change(placed_now, columns, entry)
            else:
                pod = None if columns["pod_uid"] in was_elsewhere else entry.pods.get(columns["pod_uid"])
                self._begin(columns, entry, rows.started_at(pod, self.now))
        for row in left:
            # A strange pod may say that it ended before it began.
            row.ended_at = max(rows.ended_at(entry.pods.get(row.pod_uid), self.now), row.started_at)
        self.ended_holds += left

    def _begin(self, columns: Columns, entry: Entry, since: datetime) -> None:
        place = {"node_name": entry.node, "card_id": entry.card_ids.get(columns["card_key"])}
        self.new_holds.append(columns | place | {"started_at": since, "ended_at": None})

    def _change(self, row: Allocation, columns: Columns, entry: Entry) -> None:
        for name, value in columns.items():
            setattr(row, name, value)
        row.card_id = entry.card_ids.get(columns["card_key"])
        self.changed_holds.append(row)

    def _write_holds(self) -> None:
        if self.ended_holds:
            self.written += Allocation.objects.bulk_update(self.ended_holds, ["ended_at"], batch_size=200)
        if self.changed_holds:
            self.written += Allocation.objects.bulk_update(self.changed_holds, _ALLOCATION_UPDATES, batch_size=200)
        self._insert(Allocation, self.new_holds)

    def _findings(self, entry: Entry) -> None:
        wanted = entry.wanted_findings()
        for row in entry.findings:
            columns = wanted.pop((row.code, row.card_key, row.pod), None)
            if columns is None:
                self.ended_findings.append(row.id)
            elif (row.text, row.severity) != (columns["text"], columns["severity"]):
                row.text, row.severity = columns["text"], columns["severity"]
                self.changed_findings.append(row)
        place = {"node_name": entry.node, "first_seen_at": self.now, "ended_at": None}
        self.new_findings += [columns | place for columns in wanted.values()]

    def _write_findings(self) -> None:
        if self.ended_findings:
            self.written += Finding.objects.filter(id__in=self.ended_findings).update(ended_at=self.now)
        if self.changed_findings:
            self.written += Finding.objects.bulk_update(self.changed_findings, ["text", "severity"], batch_size=200)
        self._insert(Finding, self.new_findings)

    def _accounts(self, entries: list[Entry]) -> None:
        changed: list[Columns] = []
        gone: list[int] = []
        for entry in entries:
            if entry.account is None:
                gone += [entry.stored.id] if entry.stored else []
                continue
            columns = rows.account_columns(entry.account, entry.card_columns)
            columns["tiles"] = [rows.tile(entry.card_ids[card["key"]], card) for card in entry.card_columns]
            columns["digest"] = digest(columns)
            if entry.stored is None or entry.stored.digest != columns["digest"]:
                changed.append({"node_name": entry.node} | columns | {"changed_at": self.now})
        stored = {entry.node for entry in entries if entry.stored is not None}
        self._insert(NodeAccount, [columns for columns in changed if columns["node_name"] not in stored])
        old = [columns for columns in changed if columns["node_name"] in stored]
        self._insert(NodeAccount, old, unique=("cluster_id", "node_name"))
        if gone:
            self.written += NodeAccount.objects.filter(id__in=gone).delete()[0]
