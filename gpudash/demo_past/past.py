"""In which order the past is written, when, and how much of it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime

from django.db import connection, transaction
from django.db.models.functions import Now

from accounts.local import local_admin
from audit.actions import Kind
from audit.who import Who, acting
from fleetsim import Fleet, Program
from gpudash.demo_past import (
    allocations,
    campaigns,
    failures,
    findings,
    groups,
    notifications,
    out_of_service,
    policies,
    reported,
    watched,
)
from gpudash.demo_past.clock import DAYS, Times, utc
from gpudash.demo_past.runs import Runs
from gpudash.demo_past.seats import Seat, seats
from gpudash.demo_past.started import start
from gpudash.demo_past.upgrade import Upgrade
from gpudash.demo_past.usage import Usage
from inventory.charges.days import write_day
from inventory.charges.now import look_over
from inventory.condition import sync_of, watches
from inventory.models import Allocation, Card, Cluster, DirtyNode, Finding, NodeTotals, UsageSource
from inventory.models.usage import SourceState
from runtime.clock import database_now

logger = logging.getLogger(__name__)

#: Of a larger fleet only the first nodes have a past, up to so many cards.
MOST_CARDS = 300
#: Between two transactions: SQLite has one writer, and watchers and launcher write too.
PAUSE_S = 0.02
#: So long the mirror and the exporters are waited for.
PATIENCE_S, MEASURED_S = 120.0, 60.0
_LOOK_S = 0.5


class Past:
    """Of one fleet. Made before the fleet lives; written once. days: 0: none. pause_s: between two transactions.

    receiver: address of the demo's own receiver of messages; "" for none.
    """

    def __init__(
        self, fleet: Fleet, programs: Sequence[Program], days: int = DAYS, pause_s: float = PAUSE_S, receiver: str = ""
    ) -> None:
        self._receiver = receiver
        self.seed, self.programs = fleet.world.seed, programs
        self.times, self._pause_s = Times(fleet.now, days), pause_s
        machines, cards = [], 0
        for machine in fleet.world.machines:
            cards += machine.kind.cards
            if cards <= MOST_CARDS:
                machines.append(machine)
        self.whole = len(machines) == len(fleet.world.machines)
        self.nodes = len(machines)
        uses = fleet.uses(self.times.first if self.whole else self.times.since, machines) if days else []
        self.upgrade = Upgrade(uses, self.times)
        self._uses = self.upgrade.emptied(uses)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def words(self) -> str:
        """What will be written, in a line."""
        if not self.times.days:
            return "No history."
        what = f"Writing {self.times.days} d of history in the background"
        return (
            f"{what}."
            if self.whole
            else f"{what}, for the first {self.nodes} nodes only, without pools and namespaces."
        )

    def begin(self, cluster: Cluster) -> None:
        """In a thread, as soon as the mirror is in step: start what starts with the demo, and write the past. The log says when."""
        self._thread = threading.Thread(target=self._run, args=(cluster,), name="demo-past", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End after the transaction under way."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _run(self, cluster: Cluster) -> None:
        try:
            if self._wait(lambda: _in_step(cluster), PATIENCE_S):
                start(cluster, self._receiver)
                if not self.times.days:
                    return
                self._wait(_Rounds(cluster).done, MEASURED_S)
                began = time.monotonic()
                told = self.write(cluster)
                with acting(Who(name=local_admin().get_username(), kind=Kind.COMMAND.value, via="command")):
                    out_of_service.make(cluster, local_admin())
                if not self._stopping.is_set():
                    logger.info("The history is complete: %s (%.0f s).", told, time.monotonic() - began)
            elif not self._stopping.is_set():
                logger.warning("the history of the demo is not written: not in sync after %.0f s", PATIENCE_S)
        except _Stopped:
            logger.info("the history of the demo is incomplete: the demo ended")
        except Exception:
            logger.exception("the history of the demo is incomplete")
        finally:
            connection.close()

    def _wait(self, done: Callable[[], bool], seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not done():
            if self._stopping.wait(_LOOK_S) or time.monotonic() > until:
                return False
        return True

    def _breathe(self) -> None:
        if self._stopping.wait(self._pause_s):
            raise _Stopped

    def write(self, cluster: Cluster) -> str:
        """All of it, in this thread; what there is of it, in words. Newest first, but runs: they are compared with those before."""
        found = seats(cluster, self._uses)
        held = self._allocations(cluster, found)
        usage = Usage(cluster, found, self.times, sums=self.whole)
        days = list(usage.days())
        days_of = self._days(usage, days[:2])
        usage.write_minutes(self._breathe)
        failures.write(cluster)
        watched.write(cluster, found, self.times)
        wrong = self._findings(cluster, found)
        notifications.write(cluster, self.times, self._breathe)
        self.upgrade.write(cluster)
        runs, many = self._runs(cluster, found)
        days_of += self._days(usage, days[2:])
        look_over(cluster.pk, database_now())
        return (
            f"{self.times.days} days with {held} allocations, {days_of} days of cards and totals, {wrong} "
            f"findings, {runs} runs and {many} campaigns"
        )

    def _allocations(self, cluster: Cluster, found: Sequence[Seat]) -> int:
        rows = allocations.ended(cluster, found, self.times)
        for batch in allocations.batches(rows):
            with transaction.atomic():
                Allocation.objects.bulk_create(batch)
            self._breathe()
        # They were there when they were held, or could have been.
        Card.objects.filter(cluster=cluster, pk__in={seat.card.pk for seat in found if seat.card is not None}).update(
            first_seen_at=utc(self.times.first if self.whole else self.times.since)
        )
        return len(rows)

    def _days(self, usage: Usage, days: Iterable[date]) -> int:
        """The history of these days, and what is charged of them; how many rows of history."""
        count = 0
        for day in days:
            count += usage.write_day(day, self._breathe)
            write_day(usage.cluster.pk, day, database_now())
        return count

    def _findings(self, cluster: Cluster, found: Sequence[Seat]) -> int:
        rows = findings.ended(cluster, found, self.times, self.seed)
        Finding.objects.bulk_create(rows, batch_size=100)
        return len(rows)

    def _runs(self, cluster: Cluster, found: Sequence[Seat]) -> tuple[int, int]:
        campaigns.forget()
        runs, count = Runs(cluster, found, self.programs, self.upgrade, self.times, self.seed), 0
        for asked in runs.asked():
            count += runs.write(asked) is not None
            self._breathe()
        count += groups.write(runs, self.times, self._breathe)
        reported.write(cluster, local_admin(), self.times)
        made = [campaigns.write(one, runs, self.times, self._breathe) for one in campaigns.wanted()]
        count += policies.Nights(cluster, runs, self.times).write(self._breathe)
        return count, sum(one is not None for one in made)


class _Stopped(Exception):
    """The demo ends."""


def _in_step(cluster: Cluster) -> bool:
    """Whether all was listed and counted once."""
    sync = sync_of(watches().filter(cluster=cluster), database_now())
    return sync.synced and _counted(cluster) and NodeTotals.objects.filter(cluster=cluster).exists()


def _counted(cluster: Cluster) -> bool:
    return not DirtyNode.objects.filter(cluster=cluster).exists()


class _Rounds:
    """Whether the exporters were read twice, or will not be: the first round tells which cards there are, the second finds them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._first: datetime | None = None

    def done(self) -> bool:
        source = UsageSource.objects.filter(cluster=self._cluster).first()
        if source is None or source.state not in (SourceState.WAITING, SourceState.READING):
            return True
        if source.round_at is None or not _counted(self._cluster):
            return False
        if self._first is None:
            self._first = source.round_at
            # The cards that it has told of are counted by now.
            UsageSource.objects.filter(pk=source.pk).update(due_at=Now())
        return bool(source.round_at > self._first)
