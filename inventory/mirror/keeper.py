"""One thread that keeps what the watchers of this process hold: renews all leases in one statement, and wakes reconcilers.

Watchers by the hundred would else renew and poll one by one. It renews only the lease of a watcher that has been heard lately
(`Lease.tick`), so one that hangs loses its lease as before.
"""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta

from django.conf import settings
from django.db import DatabaseError, close_old_connections
from django.db.models.functions import Now

from inventory.models import DirtyNode, Watch, Worker
from leases.lease import PROCESS, Lease
from leases.renew import find_lost, renew

logger = logging.getLogger(__name__)

#: A watcher that has not ticked for this long hangs (one page of a list may take it some seconds).
UNHEARD_S = 60.0
#: How often nodes that wait to be accounted are looked for.
LOOK_S = 0.25
#: Rows of workers that ended are deleted after this.
FORGET = timedelta(minutes=10)


class Keeper:
    """Of one process. `start` it in processes that hold many leases; without it each watcher renews its own."""

    def __init__(self) -> None:
        self._leases: dict[int, Lease] = {}
        self._woken: dict[int, threading.Event] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._threads = self._begun = 0
        self._sent = True
        self._renewed = float("-inf")
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

    def woken(self, cluster_id: int) -> threading.Event:
        """Set when nodes of the cluster wait to be accounted."""
        with self._lock:
            return self._woken.setdefault(cluster_id, threading.Event())

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
            finally:
                close_old_connections()
        self._leave()

    def _note(self, error: DatabaseError) -> None:
        if not self._failing:
            logger.warning("leases are not renewed: the database does not answer: %s", error)
        self._failing = True
        self._stopped.wait(1.0)

    def _leave(self) -> None:
        try:
            Worker.objects.filter(name=PROCESS).delete()
        except DatabaseError as error:
            logger.warning("the end of this worker was not written: %s", error)
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
        with self._lock:
            clusters = {lease.cluster_id for lease in self._leases.values() if lease.kind == "cards"}
        if not clusters:
            return
        for cluster_id in DirtyNode.objects.filter(cluster_id__in=clusters).values_list("cluster_id").distinct():
            self.woken(cluster_id[0]).set()


#: Of this process.
keeper = Keeper()
