"""Runs that ended: planned, written, judged and ended by the product's own code, each at its own time, from the oldest on.

The oldest comes first, since each is compared with the good one before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from random import Random
from typing import NamedTuple

from django.db import IntegrityError, transaction

from fleetsim import Program
from fleetsim.clock import HOUR
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.logs import Printed, printed
from gpudash.demo_past.seats import Seat
from gpudash.demo_past.upgrade import Upgrade
from inventory.models import Allocation, Cluster
from stacks.engine.base import COUNT_ONLY, EXPORTER, WHOLE
from validations.attribution import COUNTED, ONLY_CARD, Taken
from validations.lifecycle.end import end_run
from validations.lifecycle.endings import PREEMPTED, Ending
from validations.lifecycle.moves import begin, move
from validations.models import Campaign, Policy, Run, RunNode, State
from validations.planning import Plan, Refused, RunDraft, plan
from validations.requests import row_of
from validations.suites import registry
from validations.suites.engine.base import Target
from validations.targets import find_place
from wording.said import sentence

#: Who asked: names alone, so that nobody can sign in by them.
PEOPLE = ("mei.lin", "jonas.weber")
#: Runs a day, between eight and eighteen o'clock.
A_DAY, OPEN, CLOSED = 9, 8 * HOUR, 18 * HOUR
#: Nodes of which a suite's places are chosen: each is planned for, which asks the tables.
_LOOKED_AT = 8
#: Cards that are looked at more often than others, so many of a suite: their charts have many points.
_FAVOURITES, _OF_A_SUITE = 0.65, 2
#: One run of so many is slow: somebody else was on the card, or it was hot.
_SLOW, _SLOWER = 40, 1.35
_TRIES = 12
#: As the scheduler words it. Source: kubernetes pkg/scheduler/framework/preemption.
_TAKEN = "default-scheduler: preempting to accommodate a higher priority pod"
#: A run takes this long at most, with its image.
_LONGEST = timedelta(minutes=10)


class Asked(NamedTuple):
    """at: unix seconds. seats: the place, and others to go to where it is held all day. gives_way: to a pod of higher priority."""

    at: float
    suite: str
    seats: tuple[Seat, ...]
    who: str
    slow: bool = False
    policy: Policy | None = None
    gives_way: bool = False


class Runs:
    """Of one cluster. programs: what the fleet's nodes run."""

    def __init__(
        self,
        cluster: Cluster,
        seats: Sequence[Seat],
        programs: Sequence[Program],
        past: Upgrade,
        times: Times,
        seed: int,
    ) -> None:
        self.cluster, self.programs, self.times, self.upgrade = cluster, programs, times, past
        self.seats = [seat for seat in seats if seat.machine.open]
        self.rng = Random(seed)
        self._evidence = _evidence(cluster)
        self._holds = _holds(cluster)
        self._targets: dict[str, Target] = {}

    def asked(self) -> Iterator[Asked]:
        """What people asked for, the oldest first."""
        rng, weights = self.rng, {suite.id: suite.demo.past.runs for suite in registry().values()}
        places = {suite: self._some(suite) for suite, weight in sorted(weights.items()) if weight}
        suites = [suite for suite in places for _ in range(weights[suite]) if places[suite]]
        for ago in range(self.times.days - 1 if suites else -1, -1, -1):
            for at in sorted(self.times.on_day(ago, rng.uniform(OPEN, CLOSED)) for _ in range(A_DAY)):
                suite = rng.choice(suites)
                usual = places[suite][:_OF_A_SUITE] if rng.random() < _FAVOURITES else places[suite]
                others = rng.sample(places[suite], min(3, len(places[suite])))
                if self.times.since <= at < self.times.until - _LONGEST.total_seconds():
                    yield Asked(at, suite, (rng.choice(usual), *others), rng.choice(PEOPLE), rng.randrange(_SLOW) == 0)

    def _some(self, suite: str) -> list[Seat]:
        """A card of some nodes on which a suite can run: first one that can be asked for, then one whose driver is known."""
        by_node = {seat.node: seat for seat in self.rng.sample(self.seats, len(self.seats))}
        # A plan costs some queries: it is made where the suite can run at all.
        fitting = [seat for seat in by_node.values() if not registry()[suite].fit(self._target(seat.node))]
        made = ((seat, self.planned(suite, seat, self.times.until)) for seat in fitting)
        found = list(islice(((seat, plan) for seat, (_, plan) in ((s, p) for s, p in made if p)), _LOOKED_AT))
        found.sort(key=lambda one: (one[1].card is None, one[0].card is not None and one[0].card.mode == WHOLE))
        known = next((one for one in found[1:] if one[1].place.node.driver_version), None)
        first = [*found[:1], *([known] if known else [])]
        return [seat for seat, _ in (*first, *(one for one in found if one not in first))]

    def _target(self, node: str) -> Target:
        if node not in self._targets:
            self._targets[node] = find_place(self.cluster.name, node).target
        return self._targets[node]

    def planned(self, suite: str, seat: Seat, at: float) -> tuple[RunDraft, Plan] | None:
        """None where it cannot run; that a node is full now says nothing of then."""
        key = seat.card.key if seat.card is not None and _chosen(seat) else ""
        request = RunDraft(suite=suite, cluster=self.cluster.name, node=seat.node, card=key, queue_if_full=True)
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
        driver = self.upgrade.driver(seat.node, at)
        slower = _SLOWER if one.slow else 1.0
        said = printed(self.programs, made.manifest, seat.machine, card, self.rng, slower, driver)
        if said is None:
            return None
        row = row_of(made, request, None, utc(at))
        if driver:
            row.driver_version = row.node_snapshot["driver_version"] = driver
        row.requested_by_name, row.campaign, row.due_at = one.who, campaign, row.created_at
        row.policy = one.policy
        try:
            with transaction.atomic():
                happened = self._give_way(row, took) if one.gives_way else self.happen(row, took, said)
                return row if happened else None
        except IntegrityError:
            return None

    def _give_way(self, run: Run, took: Taken) -> bool:
        """The scheduler took the card for a pod while the image was pulled."""
        end = self._until_pulled(run) + timedelta(seconds=self.rng.uniform(5.0, 30.0))
        text = sentence("Preempted by a pod of higher priority: {text}", text=_TAKEN)
        ending = Ending(PREEMPTED, text).stored()
        return end_run(run, run.state, took, at=end, ending=ending, job_removed=True, log_complete=True)

    def _until_pulled(self, run: Run, nodes: Iterable[RunNode] = ()) -> datetime:
        """When it began to pull the image."""
        now = run.created_at
        begin(run, now, nodes)
        for state, seconds in ((State.CREATING, 0.4), (State.PENDING, 0.3), (State.PULLING, 0.8)):
            now += timedelta(seconds=seconds * self.rng.uniform(0.7, 1.6))
            move(run, state, now)
        return now

    def happen(self, run: Run, took: Taken | None, said: Printed, nodes: Iterable[RunNode] = ()) -> bool:
        """From the request to the verdict. nodes: of a group, which takes no card."""
        rng = self.rng
        now = self._until_pulled(run, nodes) + timedelta(seconds=rng.uniform(1.0, 9.0))
        if said.log:
            move(run, State.RUNNING, now, started_at=now)
        now += timedelta(seconds=said.seconds)
        move(run, State.COLLECTING, now)
        where = {
            "pod_name": self.pod_name(run.job_name),
            "pod_uid": self.uid(),
            "job_uid": self.uid(),
            "image_digest": f"{run.image.partition('@')[0]}@sha256:{hashlib.sha256(run.image.encode()).hexdigest()}",
            "job_removed": True,
        }
        ended = {"exit_code": said.exit_code, "end_reason": said.reason, "log_complete": True}
        end = now + timedelta(seconds=rng.uniform(0.3, 1.5))
        return end_run(run, run.state, took, said.log, len(said.log), at=end, **ended, **where)

    def pod_name(self, job: str) -> str:
        return f"{job}-{''.join(self.rng.choices('bcdfghjklmnpqrstvwxz2456789', k=5))}"

    def uid(self) -> str:
        digits = f"{self.rng.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def _taken(self, made: Plan, seat: Seat) -> Taken:
        """The card, by what allocations on this node are known by. An exporter is asked too seldom for so short a run."""
        card = made.card or made.place.only_card or seat.card
        evidence = self._evidence.get(seat.node, ONLY_CARD if made.place.only_card else COUNT_ONLY)
        if card is None or evidence in (COUNT_ONLY, EXPORTER):
            return Taken(evidence=COUNT_ONLY, why=COUNTED)
        return Taken(card=card, evidence=evidence)

    def idle(self, seat: Seat, at: float, seconds: float) -> bool:
        """Whether the card has no allocation for so long from then on."""
        holds = self._holds.get(seat.card.pk, []) if seat.card is not None else []
        return not any(since < at + seconds and at < until for since, until in holds)

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
