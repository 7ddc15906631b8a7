"""The reconciler of one cluster: takes the dirty nodes, has a report of each made anew, writes the differences.

Level-triggered: a dirty-node row says only "look at this node again". Rows are deleted in the transaction that writes what came of
them, so a reconciler that dies repeats its chunk and loses nothing.
"""

from __future__ import annotations

import threading
import time
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import DateTimeField, Value
from django.db.models.functions import Coalesce, Now

from inventory import bulk
from inventory.clock import database_now
from inventory.connections import give_back
from inventory.models import Allocation, Card, DirtyNode, Finding, NodeTotals, Watch
from inventory.models import Node as NodeRow
from inventory.models import Pod as PodRow
from inventory.models.cluster import DONE_WITHOUT, OPTIONAL_KINDS, Kind, WatchState
from inventory.reconcile import ahead, dirty
from inventory.reconcile.chunk import Chunk, read
from inventory.reconcile.difference import unit_changed, write
from inventory.reconcile.outage import find_outages
from inventory.stack_context import stack_context
from inventory.stacks.engine.base import ERROR
from inventory.stacks.engine.findings import units_mixed
from leases.lease import Lease
from wording.said import sentence, stored

POLL_S = 0.25
#: The same where a keeper looks for dirty nodes and wakes the reconciler.
IDLE_S = 5.0
#: The same there, before the first lists are complete. Another process may read them, so that no keeper here can wake it.
FIRST_LISTS_S = 2.0
#: How often it looks whether the cluster gives no word, and which reports change with time alone.
LOOK_S = 5.0
NOT_ACCOUNTED_TEXT = sentence(
    "The figures of this node could not be made anew; they are as they were the last time. "
    "The log of the reconciler has the reason: please report it."
)


class NodeReconciler:
    """Runs under the lease of (cluster, cards)."""

    def __init__(self, lease: Lease, stopped: threading.Event, woken: threading.Event | None = None) -> None:
        self.lease, self.stopped = lease, stopped
        self.woken = woken or threading.Event()
        self.cluster_id = lease.cluster_id
        self._context = stack_context()
        self._ahead: ahead.ReadAhead[Chunk] = ahead.ReadAhead()
        self._rechecked = self._looked = 0.0
        self._complete = self._caught_up = self._first = False
        self.written = 0

    def run(self, once: bool = False) -> None:
        """Until stopped (or, with once, until no node is dirty). Raises LeaseLost and DatabaseError."""
        try:
            while not self.stopped.is_set():
                done = self.step()
                if once and not done:
                    return
                if not done:
                    give_back()
                    self.woken.wait(self._pause_s)
                    self.woken.clear()
        finally:
            self._ahead.close()

    @property
    def _pause_s(self) -> float:
        if not self.lease.kept:
            return POLL_S
        return IDLE_S if self._complete else FIRST_LISTS_S

    def step(self) -> int:
        """One chunk of work. Returns how many nodes were looked at; 1 when dirty-node rows for many became those of each."""
        self.lease.tick()
        self._look_for_outages()
        if not self._mirror_is_complete():
            return 0
        self._recheck()
        rows = dirty.dirty_nodes(self.cluster_id)
        if not rows.exists():
            return 0
        if rows.filter(node_name="").exists():
            self._expand()
            return 1
        chunk = self._next()
        self._write(chunk)
        return len(chunk.names)

    def _look_for_outages(self) -> None:
        """Also before the first list: a cluster that was never reached is one."""
        if time.monotonic() - self._looked > LOOK_S:
            find_outages(self.cluster_id)
            self._looked = time.monotonic()

    def _mirror_is_complete(self) -> bool:
        """Whether nodes and pods were listed once, and optional kinds unless they cannot be. Before, sums would be wrong."""
        if self._complete:
            return True
        watches = {watch.kind: watch for watch in Watch.objects.filter(cluster_id=self.cluster_id)}
        needed = all(kind in watches and watches[kind].synced_at for kind in (Kind.NODES, Kind.PODS))
        optional = [watches[kind] for kind in OPTIONAL_KINDS if kind in watches]
        ready = needed and all(watch.synced_at or watch.state in DONE_WITHOUT for watch in optional)
        if not ready:
            return False
        self._complete = True
        self._first = watches[Kind.CARDS].synced_at is None
        # Once at the start, all nodes: after an upgrade the same mirror may give other reports. Equal ones are not written.
        DirtyNode.objects.create(cluster_id=self.cluster_id)
        return True

    def _recheck(self) -> None:
        """Some answers change with time alone (a pod that was assumed long ago)."""
        if time.monotonic() - self._rechecked < LOOK_S:
            return
        self._rechecked = time.monotonic()
        due = NodeTotals.objects.filter(cluster_id=self.cluster_id, recheck_at__lte=Now())
        names = list(due.values_list("node_name", flat=True))
        if names:
            with transaction.atomic():
                self.lease.update()
                due.update(recheck_at=None, digest=-1)
                bulk.insert(DirtyNode, ("cluster_id", "node_name"), [(self.cluster_id, name) for name in names])

    def _expand(self) -> None:
        with transaction.atomic():
            self.lease.update()
            if not dirty.expand(self.cluster_id):
                self._first_time_done()

    def _next(self) -> Chunk:
        """The next chunk, read. The first time the one after it is read while this one is written."""
        first = self._first and not self._caught_up
        chunk = self._ahead.take()
        if chunk is None or not chunk.names:
            chunk = self._read(first)
        if first and len(chunk.names) == dirty.FIRST_CHUNK and ahead.helps():
            self._ahead.start(partial(self._read, first, frozenset(chunk.names)))
        return chunk

    def _read(self, first: bool, without: frozenset[str] = frozenset()) -> Chunk:
        return read(self.cluster_id, dirty.next_chunk(self.cluster_id, first, without), self._context)

    def _write(self, chunk: Chunk) -> None:
        with transaction.atomic():
            self.lease.update(last_event_at=chunk.now)
            DirtyNode.objects.filter(id__in=chunk.seen).delete()
            self.written += write(chunk)
            for name in chunk.failed:
                self._not_accounted(name, chunk.now)
            # The first time it is looked for at the end: each look reads the units of all nodes.
            if (self._caught_up or not self._first) and unit_changed(chunk):
                self._units_mixed(chunk.now)
            self._first_time_done()

    def _first_time_done(self) -> None:
        """The first time that no node is dirty, the cards are in sync with the mirror."""
        if self._caught_up or dirty.dirty_nodes(self.cluster_id).exists():
            return
        now = database_now()
        since = Coalesce("synced_at", Value(now, output_field=DateTimeField()))
        self.lease.update(
            state=WatchState.WATCHING,
            reason="",
            state_since=now,
            synced_at=since,
            relist_reason="",
            relist_asked_at=None,
        )
        self._units_mixed(now)  # its finding may be of a database that was put back
        self._caught_up = True
        if self._first:
            bulk.analyze(NodeRow, PodRow, Card, Allocation, NodeTotals, Finding)

    def _not_accounted(self, node: str, now: datetime) -> None:
        """What is stored of the node stays, and a finding says so, which ends with its next report."""
        Finding.objects.get_or_create(
            cluster_id=self.cluster_id,
            code=dirty.NOT_ACCOUNTED,
            node_name=node,
            card_key="",
            pod="",
            ended_at=None,
            defaults={
                "severity": ERROR,
                "text": NOT_ACCOUNTED_TEXT,
                "wording": stored(NOT_ACCOUNTED_TEXT),
                "first_seen_at": now,
            },
        )

    def _units_mixed(self, now: datetime) -> None:
        mine = NodeTotals.objects.filter(cluster_id=self.cluster_id).exclude(unit="")
        finding = units_mixed(mine.values_list("node_name", "unit").iterator())
        rows = Finding.objects.filter(cluster_id=self.cluster_id, code="units-mixed", ended_at=None)
        if finding is None:
            rows.update(ended_at=now)
        elif not rows.update(text=finding.text, wording=stored(finding.text)):
            Finding.objects.create(
                cluster_id=self.cluster_id,
                code=finding.code,
                severity=finding.severity,
                text=finding.text,
                wording=stored(finding.text),
                first_seen_at=now,
            )
