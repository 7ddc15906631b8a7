"""One thread that keeps what the watchers of this process hold: renews all leases in one statement, and wakes reconcilers.

Watchers by the hundred would else renew and poll one by one. It renews only the lease of a watcher that has been heard lately
(`Lease.tick`), so one that hangs loses its lease as before. For the reconcilers it looks at all their clusters at once: a reconciler
without work asks nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.db.models import QuerySet
from django.db.models.functions import Now

from inventory.mirror.first_lists import complete_of
from inventory.mirror.outage import find_outages
from inventory.models import DirtyNode, NodeTotals, Watch, Worker
from runtime.leases.lease import PROCESS, Lease
from runtime.leases.renew import find_lost, renew

logger = logging.getLogger(__name__)

#: A watcher that has not ticked for this long hangs (one page of a list may take it some seconds).
UNHEARD_S = 60.0
#: How often nodes that wait to be accounted are looked for.
LOOK_S = 0.25
#: The same for what changes with time alone and, without a schedule, for what goes wrong; and for first lists.
REST_S, LISTS_S = 5.0, 2.0
#: Rows of workers that ended are deleted after this.
FORGET = timedelta(minutes=10)


class Bell(threading.Event):
    """What a reconciler waits for. incomplete: it waits for the first lists, says the reconciler; due: time has changed a report."""

    incomplete = due = False


class Keeper:
    """Of one process. `start` it in processes that hold many leases; without it each watcher renews its own."""

    def __init__(self) -> None:
        self._leases: dict[int, Lease] = {}
        self._woken: dict[int, Bell] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._threads = self._begun = 0
        self._sent = True
        self._renewed = self._looked = self._listed = float("-inf")
        self._failing = False

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    @property
    def holds(self) -> int:
        return len(self._leases)

    def start(self, threads: int, *, sent: bool = True) -> None:
        """threads: how many watchers this process can hold; it says so to those who send them.

        sent: whether the schedule sends it watchers; else it begins those that it names itself, however many.
        """
        self._threads, self._sent = threads, sent
        self._stopped.clear()
        self._announce()  # before the schedule looks for workers
        if not self.running:
            self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
            self._thread.start()

    def retire(self) -> None:
        """This process takes no more watchers. Those that it has are kept until they end."""
        self._threads = 0
        self._renewed = float("-inf")  # say so now

    def stop(self) -> None:
        """The end of the thread; the row that says that there is a worker goes."""
        self._stopped.set()
        if self._thread is not None:
            self._thread.join(5)
        self._thread = None

    def woken(self, cluster_id: int) -> Bell:
        """Set when the reconciler of the cluster has something to do."""
        with self._lock:
            return self._woken.setdefault(cluster_id, Bell())

    def begin(self) -> bool:
        """Whether this process takes one watcher more: the threads that it has beside are for tasks that are done in seconds."""
        with self._lock:
            if self.running and self._sent and self._begun >= self._threads:
                return False
            self._begun += 1
            return True

    def end(self) -> None:
        """A watcher that had begun has ended."""
        with self._lock:
            self._begun -= 1

    def hold(self, lease: Lease) -> None:
        with self._lock:
            lease.kept = self.running
            self._leases[lease.pk] = lease

    def drop(self, lease: Lease) -> None:
        with self._lock:
            self._leases.pop(lease.pk, None)
        lease.kept = False

    def _run(self) -> None:
        while not self._stopped.wait(LOOK_S):
            try:
                if time.monotonic() - self._renewed >= settings.LEASE_S / 3:
                    self._renew()
                self._wake()
                self._failing = False
            except DatabaseError as error:
                self._note(error)
            except Exception:
                # What is found in rows must not end the renewals of everybody.
                logger.exception("the keeper's check failed")
                self._stopped.wait(1.0)
            finally:
                close_old_connections()
        self._leave()

    def _note(self, error: DatabaseError) -> None:
        if not self._failing:
            logger.warning("cannot renew leases: database not responding: %s", error)
        self._failing = True
        self._stopped.wait(1.0)

    def _leave(self) -> None:
        try:
            Worker.objects.filter(name=PROCESS).delete()
        except DatabaseError as error:
            logger.warning("cannot write the end of this worker: %s", error)
        close_old_connections()

    # Leases.

    def _renew(self) -> None:
        heard = time.monotonic() - UNHEARD_S
        with self._lock:
            kept = {pk: lease for pk, lease in self._leases.items() if lease.ticked_at > heard}
        # What is certain before the rows are read; writes of the watchers themselves go on meanwhile.
        certain = {pk: lease.committed for pk, lease in kept.items()}
        renewed = renew(Watch, kept, settings.LEASE_S)
        # A row that was not renewed is locked by its own watcher, or is not ours any more.
        find_lost(Watch, {pk: lease for pk, lease in kept.items() if pk not in renewed}, certain)
        self._announce()
        self._renewed = time.monotonic()

    def _announce(self) -> None:
        if not self._threads:
            Worker.objects.filter(name=PROCESS).delete()
            return
        said = {"threads": self._threads, "holds": self.holds, "beat_at": Now()}
        if not Worker.objects.filter(name=PROCESS).update(**said):
            Worker.objects.filter(beat_at__lt=Now() - FORGET).delete()
            Worker.objects.update_or_create(name=PROCESS, defaults=said)

    # Node reconcilers.

    def _wake(self) -> None:
        """A constant number of queries, however many clusters there are."""
        with self._lock:
            clusters = {lease.cluster_id for lease in self._leases.values() if lease.kind == "cards"}
        if not clusters:
            return
        # Of all clusters: the table is small, and a statement with hundreds of ids costs more to build than to run.
        for cluster_id in clusters.intersection(_clusters(DirtyNode.objects.all())):
            self.woken(cluster_id).set()
        now = time.monotonic()
        waiting = [cluster_id for cluster_id in clusters if self.woken(cluster_id).incomplete]
        if waiting and now - self._listed >= LISTS_S:
            self._listed = now
            for cluster_id in complete_of(waiting):
                self.woken(cluster_id).set()
        if now - self._looked >= REST_S:
            self._looked = now
            for cluster_id in clusters.intersection(_clusters(NodeTotals.objects.filter(recheck_at__lte=Now()))):
                self.woken(cluster_id).due = True
                self.woken(cluster_id).set()
            if not self._sent:
                find_outages(clusters)  # else the schedule does, for all


def _clusters(rows: QuerySet[Any]) -> list[int]:
    return list(rows.order_by().values_list("cluster_id", flat=True).distinct())


#: Of this process.
keeper = Keeper()
