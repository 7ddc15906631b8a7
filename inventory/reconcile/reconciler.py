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

from inventory import stated
from inventory.mirror.first_lists import complete
from inventory.mirror.keeper import Bell
from inventory.mirror.outage import find_outages
from inventory.models import Allocation, Card, DirtyNode, Finding, NodeTotals, Watch
from inventory.models import Node as NodeRow
from inventory.models import Pod as PodRow
from inventory.models.cluster import Kind, WatchState
from inventory.models.software import CLUSTER_SOFTWARE
from inventory.reconcile import ahead, dirty
from inventory.reconcile.chunk import Chunk, read
from inventory.reconcile.difference import unit_changed, write
from inventory.reconcile.software import node_key, read_software, write_cluster_software
from inventory.stack_context import stack_context
from runtime import bulk
from runtime.clock import database_now
from runtime.connections import give_back
from runtime.leases.lease import Lease
from stacks.engine.base import ERROR
from stacks.engine.findings import units_mixed
from wording.said import sentence

POLL_S = 0.25
#: Where a keeper looks for all reconcilers of the process, it wakes this one; so often it shows that it lives.
IDLE_S = 5.0
#: How often it looks, where there is no keeper, whether the cluster gives no word, and which reports change with time alone.
LOOK_S = 5.0
#: How often the components that the cluster has once are judged: during a roll-out something of them changes all the time.
SOFTWARE_S = 2.0
NOT_ACCOUNTED_TEXT = sentence(
    "gpudash could not recalculate this node. Showing last known data. Check the log of the reconciler and report a bug."
)


class NodeReconciler:
    """Runs under the lease of (cluster, cards)."""

    def __init__(self, lease: Lease, stopped: threading.Event, woken: Bell | None = None) -> None:
        self.lease, self.stopped = lease, stopped
        self.woken = woken or Bell()
        self.cluster_id = lease.cluster_id
        self._context = stack_context()
        self._ahead: ahead.ReadAhead[Chunk] = ahead.ReadAhead()
        self._rechecked = self._looked = self._judged = 0.0
        #: What of the cluster's software decides on nodes, as it was judged last.
        self._software_key = 0
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
                    self._wait()
        finally:
            self._ahead.close()

    def _wait(self) -> None:
        """For work; with a keeper until it says that there is some."""
        while not self.woken.wait(IDLE_S if self.lease.kept else POLL_S):
            if self.stopped.is_set() or not self.lease.kept:
                break
            self.lease.tick()
        self.woken.clear()

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
        for_many = set(rows.filter(node_name="").values_list("stack", flat=True))
        if for_many - {CLUSTER_SOFTWARE}:
            self._expand()
            return 1
        if for_many and time.monotonic() - self._judged > SOFTWARE_S:
            self._judge_software()
            return 1
        if for_many and not rows.exclude(node_name="").exists():
            return 0  # the cluster's software waits for its turn
        chunk = self._next()
        self._write(chunk)
        return len(chunk.names)

    def _look_for_outages(self) -> None:
        """Also before the first list: a cluster that was never reached is one. With a keeper that looks at all."""
        if not self.lease.kept and time.monotonic() - self._looked > LOOK_S:
            find_outages((self.cluster_id,))
            self._looked = time.monotonic()

    def _mirror_is_complete(self) -> bool:
        if self._complete:
            return True
        watches = list(Watch.objects.filter(cluster_id=self.cluster_id))
        self._complete = complete(watches)
        self.woken.incomplete = not self._complete
        if not self._complete:
            return False
        self._software_key = node_key(read_software(self.cluster_id, database_now()))
        self._first = any(watch.synced_at is None for watch in watches if watch.kind == Kind.CARDS)
        # Once at the start, all nodes: after an upgrade the same mirror may give other reports. Equal ones are not written.
        DirtyNode.objects.create(cluster_id=self.cluster_id)
        DirtyNode.objects.create(cluster_id=self.cluster_id, stack=CLUSTER_SOFTWARE)
        return True

    def _recheck(self) -> None:
        """Some answers change with time alone (a pod that was assumed long ago)."""
        if self.lease.kept:
            if not self.woken.due:
                return
            self.woken.due = False
        elif time.monotonic() - self._rechecked < LOOK_S:
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

    def _judge_software(self) -> None:
        """Components that the cluster has once; where they decide on nodes, all nodes are to be looked at again."""
        seen = list(dirty.software_is_dirty(self.cluster_id).values_list("id", flat=True))
        now = database_now()
        software = read_software(self.cluster_id, now)
        key = node_key(software)
        with transaction.atomic():
            self.lease.update()
            DirtyNode.objects.filter(id__in=seen).delete()
            write_cluster_software(self.cluster_id, software, now)
            if self._software_key != key:
                DirtyNode.objects.create(cluster_id=self.cluster_id)
            self._first_time_done()
        self._software_key, self._judged = key, time.monotonic()

    def _next(self) -> Chunk:
        """The next chunk, read. The first time the one after it is read while this one is written."""
        first = self._first and not self._caught_up
        chunk = self._ahead.take()
        if chunk is None or not chunk.names:
            chunk = self._read()
        if first and len(chunk.names) == dirty.CHUNK and ahead.helps():
            self._ahead.start(partial(self._read, frozenset(chunk.names)))
        return chunk

    def _read(self, without: frozenset[str] = frozenset()) -> Chunk:
        return read(self.cluster_id, dirty.next_chunk(self.cluster_id, without), self._context)

    def _write(self, chunk: Chunk) -> None:
        with transaction.atomic():
            self.lease.update(last_event_at=chunk.now)
            DirtyNode.objects.filter(id__in=chunk.seen).delete()
            self.written += write(chunk, self._first and not self._caught_up)
            for name in chunk.failed:
                self._not_accounted(name, chunk.now)
            # The first time it is looked for at the end: each look reads the units of all nodes.
            if (self._caught_up or not self._first) and unit_changed(chunk):
                self._units_mixed(chunk.now)
            self._first_time_done()

    def _first_time_done(self) -> None:
        """The first time that no node is dirty, the cards are in sync with the mirror."""
        if self._caught_up or dirty.dirty_nodes(self.cluster_id).exclude(stack=CLUSTER_SOFTWARE).exists():
            return
        now = database_now()
        since = Coalesce("synced_at", Value(now, output_field=DateTimeField()))
        self.lease.update(
            state=WatchState.WATCHING,
            reason="",
            state_since=now,
            synced_at=since,
            relist_reason="",
            relist_requested_at=None,
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
                "first_seen_at": now,
                **stated.columns(NOT_ACCOUNTED_TEXT),
            },
        )

    def _units_mixed(self, now: datetime) -> None:
        mine = NodeTotals.objects.filter(cluster_id=self.cluster_id).exclude(unit="")
        finding = units_mixed(mine.values_list("node_name", "unit").iterator())
        rows = Finding.objects.filter(cluster_id=self.cluster_id, code="units-mixed", ended_at=None)
        if finding is None:
            rows.update(ended_at=now)
        elif not rows.update(**stated.columns(finding.text)):
            Finding.objects.create(
                cluster_id=self.cluster_id,
                code=finding.code,
                severity=finding.severity,
                first_seen_at=now,
                **stated.columns(finding.text),
            )
