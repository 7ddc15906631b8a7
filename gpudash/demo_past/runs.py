"""Runs that ended: planned, written, judged and ended by the product's own code, each at its own time, from the oldest on.

The oldest comes first, since each is compared with the good one before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from datetime import timedelta
from random import Random
from typing import NamedTuple

from django.db import IntegrityError, transaction

from fleetsim import Program
from fleetsim.clock import DAY, HOUR
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.logs import Printed, printed
from gpudash.demo_past.seats import Seat
from inventory.models import Allocation, Cluster
from stacks.engine.base import COUNT_ONLY, EXPORTER, WHOLE
from validations.attribution import COUNTED, ONLY_CARD, Taken
from validations.lifecycle.end import end_run
from validations.lifecycle.moves import begin, move
from validations.models import Campaign, Run, State
from validations.planning import Plan, Refused, RunRequest, plan
from validations.requests import row_of
from validations.suites import registry

#: Who asked: names alone, so that nobody can sign in by them.
NIGHTLY, PEOPLE = "nightly", ("mei.lin", "jonas.weber")
#: Runs by people a day.
A_DAY = 4
#: Cards that are looked at more often than others, so many of a suite: their charts have many points.
_FAVOURITES, _OF_A_SUITE = 0.65, 2
#: One run of so many is slow: somebody else was on the card, or it was hot.
_SLOW, _SLOWER = 40, 1.35
_TRIES = 12
#: A run takes this long at most, with its image.
_LONGEST = timedelta(minutes=10)


class Asked(NamedTuple):
    """at: unix seconds. seats: the place, and others to go to where it is held all day."""

    at: float
    suite: str
    seats: tuple[Seat, ...]
    who: str
    slow: bool = False


class Runs:
    """Of one cluster. programs: what the fleet's nodes run."""

    def __init__(
        self, cluster: Cluster, seats: Sequence[Seat], programs: Sequence[Program], times: Times, seed: int
    ) -> None:
        self.cluster, self.programs, self.times = cluster, programs, times
        self.seats = [seat for seat in seats if seat.machine.open]
        self.rng = Random(seed)
        self._evidence = _evidence(cluster)
        self._holds = _holds(cluster)

    def asked(self) -> Iterator[Asked]:
        """What was asked for, the oldest first."""
        rng, days, first = self.rng, self.times.days, int(self.times.since // DAY) + 1
        past = {suite.id: suite.demo.past for suite in registry().values()}
        by_night = [suite for suite, one in past.items() for _ in range(one.nights)]
        by_day = [suite for suite, one in past.items() for _ in range(one.days)]
        places = {suite: self._some(suite) for suite in sorted({*by_night, *by_day})}
        for day in range(first, first + days):
            wanted = [(day * DAY + 2 * HOUR + number * 240.0, suite, NIGHTLY) for number, suite in enumerate(by_night)]
            for _ in range(A_DAY):
                wanted.append((day * DAY + rng.uniform(8, 18) * HOUR, rng.choice(by_day), rng.choice(PEOPLE)))
            for at, suite, who in sorted(wanted):
                if not places[suite] or at >= self.times.until - _LONGEST.total_seconds():
                    continue
                usual = places[suite][:_OF_A_SUITE] if rng.random() < _FAVOURITES else places[suite]
                others = rng.sample(places[suite], min(3, len(places[suite])))
                yield Asked(at, suite, (rng.choice(usual), *others), who, slow=rng.randrange(_SLOW) == 0)

    def _some(self, suite: str) -> list[Seat]:
        """A card of each node on which a suite can run: first one that can be asked for, then one whose driver is known."""
        by_node = {seat.node: seat for seat in self.rng.sample(self.seats, len(self.seats))}
        found = [(seat, made) for seat in by_node.values() if (made := self.planned(suite, seat, self.times.until))]
        found.sort(key=lambda one: (one[1][1].card is None, one[0].card is not None and one[0].card.mode == WHOLE))
        known = next((one for one in found if one[1][1].place.node.driver_version and one[0] is not found[0][0]), None)
        first = [*found[:1], *([known] if known else [])]
        return [seat for seat, _ in (*first, *(one for one in found if one not in first))]

    def planned(self, suite: str, seat: Seat, at: float) -> tuple[RunRequest, Plan] | None:
        """None where it cannot run; that a node is full now says nothing of then."""
        key = seat.card.key if seat.card is not None and _chosen(seat) else ""
        request = RunRequest(suite=suite, cluster=self.cluster.name, node=seat.node, card=key, queue_if_full=True)
        try:
            made = plan(request, utc(at))
        except Refused:
            return None
        return None if made.hindrances(True) else (request, made)

    def write(self, one: Asked, campaign: Campaign | None = None) -> Run | None:
        """A run with all that belongs to it, in one transaction. None where it could not have been, or a run of now has the place."""
        return next((run for seat in one.seats if (run := self._write(one, seat, campaign)) is not None), None)

    def _write(self, one: Asked, seat: Seat, campaign: Campaign | None) -> Run | None:
        at = self._free(seat, one.at)
        planned = self.planned(one.suite, seat, at) if at is not None else None
        if planned is None or at is None:
            return None
        request, made = planned
        took = self._taken(made, seat)
        card = took.card or made.card or seat.card
        said = printed(self.programs, made.manifest, seat.machine, card, self.rng, _SLOWER if one.slow else 1.0)
        if said is None:
            return None
        row = row_of(made, request, None, utc(at))
        row.requested_by_name, row.campaign, row.due_at = one.who, campaign, row.created_at
        try:
            with transaction.atomic():
                return row if self._happen(row, took, said) else None
        except IntegrityError:
            return None

    def _happen(self, run: Run, took: Taken, said: Printed) -> bool:
        rng, now = self.rng, run.created_at
        begin(run, now)
        for state, seconds in ((State.CREATING, 0.4), (State.PENDING, 0.3), (State.PULLING, 0.8)):
            now += timedelta(seconds=seconds * rng.uniform(0.7, 1.6))
            move(run, state, now)
        now += timedelta(seconds=rng.uniform(1.0, 9.0))
        if said.log:
            move(run, State.RUNNING, now, started_at=now)
        now += timedelta(seconds=said.seconds)
        move(run, State.COLLECTING, now)
        pod = f"{run.job_name}-{_letters(rng)}"
        where = {
            "pod_name": pod,
            "pod_uid": _uid(rng),
            "job_uid": _uid(rng),
            "image_digest": f"{run.image.partition('@')[0]}@sha256:{hashlib.sha256(run.image.encode()).hexdigest()}",
            "job_removed": True,
        }
        ended = {"exit_code": said.exit_code, "end_reason": said.reason, "log_complete": True}
        end = now + timedelta(seconds=rng.uniform(0.3, 1.5))
        return end_run(run, run.state, took, said.log, len(said.log), at=end, **ended, **where)

    def _taken(self, made: Plan, seat: Seat) -> Taken:
        """The card, by what allocations on this node are known by. An exporter is asked too seldom for so short a run."""
        card = made.card or made.place.only_card or seat.card
        evidence = self._evidence.get(seat.node, ONLY_CARD if made.place.only_card else COUNT_ONLY)
        if card is None or evidence in (COUNT_ONLY, EXPORTER):
            return Taken(evidence=COUNT_ONLY, why=COUNTED)
        return Taken(card=card, evidence=evidence)

    def _free(self, seat: Seat, asked: float) -> float | None:
        """When the card could be had: later on the same day, where somebody had all of it then."""
        card = seat.card
        if card is None or card.mode != WHOLE:
            return asked
        holds = self._holds.get(card.pk, [])
        for step in range(_TRIES):
            at = asked + step * 900.0
            if at >= self.times.until - _LONGEST.total_seconds():
                return None
            if not any(since - 60 <= at < until for since, until in holds):
                return at
        return None


def _chosen(seat: Seat) -> bool:
    """Whether a run can ask for this card: where pods are given one by the system's own record."""
    return seat.machine.kind.cards > 1


def _evidence(cluster: Cluster) -> dict[str, str]:
    """Node → how it is known which card a pod has, where it is."""
    rows = Allocation.objects.filter(cluster=cluster, ended_at=None, card__isnull=False).order_by("id")
    return dict(rows.values_list("node_name", "evidence"))


def _holds(cluster: Cluster) -> dict[int, list[tuple[float, float]]]:
    """Card → times in which it was held, unix seconds."""
    found: dict[int, list[tuple[float, float]]] = {}
    rows = Allocation.objects.filter(cluster=cluster, card__isnull=False)
    for card, since, until in rows.values_list("card_id", "started_at", "ended_at"):
        end = until.timestamp() if until is not None else float("inf")
        found.setdefault(card, []).append((since.timestamp(), end))
    return found


def _letters(rng: Random) -> str:
    return "".join(rng.choices("bcdfghjklmnpqrstvwxz2456789", k=5))


def _uid(rng: Random) -> str:
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"
