"""The reconciler of one cluster: takes the nodes whose objects changed, makes their accounts anew, writes the differences.

Level-triggered: a mark says only "look at this node again". Marks are taken away in the transaction that writes the account, so an
reconciler that dies repeats its chunk and loses nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from datetime import datetime

import msgspec
from django.db import transaction
from django.db.models import DateTimeField, Max, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Now

from inventory import bulk
from inventory.clock import database_now
from inventory.connections import give_back
from inventory.mirror.kinds import stack_context
from inventory.mirror.lease import Lease
from inventory.models import Allocation, Card, DirtyNode, Finding, NodeAccount, Watch
from inventory.models import DaemonSet as DaemonSetRow
from inventory.models import Node as NodeRow
from inventory.models import Pod as PodRow
from inventory.models.cluster import Kind, WatchState
from inventory.reconcile.books import Books
from inventory.reconcile.outage import find_outages
from inventory.reconcile.waiting import NOT_ACCOUNTED, chunk_of, expand
from inventory.stacks.engine.account import account
from inventory.stacks.engine.base import ERROR, Context
from inventory.stacks.engine.findings import units_mixed
from kube.objects import DaemonSet, Node, Pod

logger = logging.getLogger(__name__)

POLL_S = 0.25
#: The same where a keeper looks for marks and wakes the reconciler.
IDLE_S = 5.0
#: How often it looks whether the cluster gives no word, and which accounts change with time alone.
LOOK_S = 5.0
NOT_ACCOUNTED_TEXT = (
    "The figures of this node could not be made anew; they are as they were the last time. "
    "The log of the reconciler has the reason: please report it."
)

_node = msgspec.json.Decoder(Node)
_pod = msgspec.json.Decoder(Pod)
_daemonset = msgspec.json.Decoder(DaemonSet)


class NodeReconciler:
    """Runs under the lease of (cluster, cards)."""

    def __init__(self, lease: Lease, stopped: threading.Event, poked: threading.Event | None = None) -> None:
        self.lease, self.stopped = lease, stopped
        self.poked = poked or threading.Event()
        self.cluster_id = lease.cluster_id
        self._context = stack_context()
        self._rechecked = self._looked = 0.0
        self._complete = self._caught_up = self._first = False
        self.written = 0

    def run(self, once: bool = False) -> None:
        """Until stopped (or, with once, until no mark is left). Raises LeaseLost and DatabaseError."""
        while not self.stopped.is_set():
            done = self.step()
            if once and not done:
                return
            if not done:
                give_back()
                self.poked.wait(IDLE_S if self.lease.kept and self._complete else POLL_S)
                self.poked.clear()

    def step(self) -> int:
        """One chunk of work. Returns how many marks were taken."""
        self._renew()
        self._look_for_outages()
        if not self._mirror_is_complete():
            return 0
        self._recheck()
        last = self._marks().aggregate(last=Max("id"))["last"]
        if last is None:
            return 0
        if self._marks(last).filter(node_name="").exists():
            self._expand(last)
            return 1
        chunk = chunk_of(self._marks(last), first=self._first and not self._caught_up)
        self._account(chunk, last)
        return len(chunk)

    def _marks(self, last: int | None = None) -> QuerySet[DirtyNode]:
        """The marks of this cluster, up to `last`: later ones speak of what is not read yet."""
        mine = DirtyNode.objects.filter(cluster_id=self.cluster_id)
        return mine if last is None else mine.filter(id__lte=last)

    def _renew(self) -> None:
        self.lease.tick()

    def _look_for_outages(self) -> None:
        """Also before the first list: a cluster that was never reached is one."""
        if time.monotonic() - self._looked > LOOK_S:
            find_outages(self.cluster_id)
            self._looked = time.monotonic()

    def _mirror_is_complete(self) -> bool:
        """Whether nodes and pods were listed once, and DaemonSets too unless they may not be read. Before, sums would be wrong."""
        if self._complete:
            return True
        watches = {watch.kind: watch for watch in Watch.objects.filter(cluster_id=self.cluster_id)}
        daemonsets = watches.get(Kind.DAEMONSETS)
        ready = all(kind in watches and watches[kind].synced_at for kind in (Kind.NODES, Kind.PODS)) and (
            daemonsets is None or bool(daemonsets.synced_at) or daemonsets.state == WatchState.REFUSED
        )
        if not ready:
            return False
        self._complete = True
        self._first = watches[Kind.CARDS].synced_at is None
        # Once at the start, all nodes: after an upgrade the same mirror may give other accounts. Equal ones are not written.
        DirtyNode.objects.create(cluster_id=self.cluster_id)
        return True

    def _recheck(self) -> None:
        """Some answers change with time alone (a pod that was assumed long ago)."""
        if time.monotonic() - self._rechecked < LOOK_S:
            return
        self._rechecked = time.monotonic()
        due = NodeAccount.objects.filter(cluster_id=self.cluster_id, recheck_at__lte=Now())
        names = list(due.values_list("node_name", flat=True))
        if names:
            with transaction.atomic():
                self.lease.update()
                due.update(recheck_at=None, digest=-1)
                bulk.insert(DirtyNode, ("cluster_id", "node_name"), [(self.cluster_id, name) for name in names])

    def _expand(self, last: int) -> None:
        with transaction.atomic():
            self.lease.update()
            if not expand(self.cluster_id, last):
                self._first_time_done()

    def _account(self, nodes: list[str], last: int) -> None:
        now = database_now()
        with transaction.atomic():
            self.lease.update(last_event_at=now)
            # Marks first: what is written after this leaves a new mark.
            self._marks(last).filter(node_name__in=nodes).delete()
            books = Books(self.cluster_id, nodes, now)
            self._enter(books, nodes, now)
            self.written += books.write()
            # The first time it is looked for at the end: each look reads the units of all nodes.
            if books.units_changed and (self._caught_up or not self._first):
                self._units_mixed(now)
            self._first_time_done()

    def _first_time_done(self) -> None:
        """The first time that no mark is left, the cards are in step with the mirror."""
        if self._caught_up or self._marks().exists():
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
            bulk.analyze(NodeRow, PodRow, Card, Allocation, NodeAccount, Finding)

    def _enter(self, books: Books, nodes: list[str], now: datetime) -> None:
        mine = Q(cluster_id=self.cluster_id)
        facts = dict(NodeRow.objects.filter(mine, name__in=nodes).values_list("name", "facts"))
        pods: dict[str, dict[str, Pod]] = defaultdict(dict)
        for node, uid, text in PodRow.objects.filter(mine, node_name__in=nodes).values_list(
            "node_name", "uid", "facts"
        ):
            pods[node][uid] = _pod.decode(text)
        daemonsets = tuple(
            _daemonset.decode(text)
            for text in DaemonSetRow.objects.filter(mine).order_by("id").values_list("facts", flat=True)
        )
        for name in nodes:
            context: Context = msgspec.structs.replace(
                self._context, now=now.timestamp(), daemonsets=daemonsets, known_uuids=books.known_uuids(name)
            )
            try:
                made = account(_node.decode(facts[name]), list(pods[name].values()), context) if name in facts else None
            except Exception:
                # One strange node must not stop the others; what the books say of it stays, and the finding says so.
                logger.exception("node %s of cluster %d: no account", name, self.cluster_id)
                self._not_accounted(name, now)
                continue
            if made is not None and not (made.stacks or made.cards or made.findings or made.unplaced):
                made = None  # no GPU on it: not in the books
            books.enter(name, made, pods[name])

    def _not_accounted(self, node: str, now: datetime) -> None:
        """A finding that ends with the next account of the node."""
        Finding.objects.get_or_create(
            cluster_id=self.cluster_id,
            code=NOT_ACCOUNTED,
            node_name=node,
            card_key="",
            pod="",
            ended_at=None,
            defaults={"severity": ERROR, "text": NOT_ACCOUNTED_TEXT, "first_seen_at": now},
        )

    def _units_mixed(self, now: datetime) -> None:
        mine = NodeAccount.objects.filter(cluster_id=self.cluster_id).exclude(unit="")
        finding = units_mixed(mine.values_list("node_name", "unit").iterator())
        rows = Finding.objects.filter(cluster_id=self.cluster_id, code="units-mixed", ended_at=None)
        if finding is None:
            rows.update(ended_at=now)
        elif not rows.update(text=finding.text):
            Finding.objects.create(
                cluster_id=self.cluster_id,
                code=finding.code,
                severity=finding.severity,
                text=finding.text,
                first_seen_at=now,
            )
