"""The policies of the demo: made as a person would make them; they have tested at night since the past began, and go on."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import NamedTuple

from django.contrib.auth.models import User

from fleetsim.clock import HOUR, MINUTE
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.runs import Asked, Runs
from gpudash.demo_past.seats import Seat
from inventory.models import Card, Cluster, Node, NodeTotals
from validations.models import Policy, PolicyCard, PolicyCount, Run
from validations.policies import manage, rules
from validations.policies.evaluate import evaluate
from validations.policies.manage import PolicyDraft
from validations.policies.standing import WORST_FIRST, Facts, Failure, Identity, Pass, standing
from validations.suites import registry

#: Runs of a policy at once.
AT_ONCE = 2
#: Seconds from a window's start to its first run, and between two runs of it.
_FIRST_S, _APART_S = MINUTE, 3 * MINUTE
#: The first run of so many last nights gives way.
GAVE_WAY = 3
#: So long a card must be idle for a run of the past.
_IDLE_S = 10 * MINUTE

Place = tuple[str, str]


class Ended(NamedTuple):
    """A run of the past with a result."""

    at: float
    run: Run


def wanted() -> list[PolicyDraft]:
    """Those that suites say they have."""
    return [
        PolicyDraft(
            name=one.name,
            suite=suite.id,
            stack=one.stack,
            level=one.level,
            max_age_s=one.days * 86_400,
            window_cron=one.window_cron,
            window_minutes=one.window_minutes,
            max_per_cluster=AT_ONCE,
        )
        for suite in registry().values()
        for one in suite.demo.past.policies
    ]


def make(cluster: Cluster, user: User) -> None:
    """Those that are not there, where the fleet has cards for them."""
    there = set(Policy.objects.values_list("name", flat=True))
    stacks = set(Card.objects.filter(cluster=cluster, removed_at=None).values_list("stack", flat=True))
    for draft in wanted():
        if draft.name not in there and draft.stack in stacks:
            manage.create(draft, user)


class Nights:
    """The runs that the policies would have started, and what their cards were in each hour. runs: of the demo's past."""

    def __init__(self, cluster: Cluster, runs: Runs, times: Times) -> None:
        self.cluster, self.runs, self.times = cluster, runs, times
        self.policies = list(Policy.objects.filter(name__in=[draft.name for draft in wanted()]).order_by("created_at"))

    def write(self, breathe: Callable[[], None]) -> int:
        """Returns how many runs."""
        count = sum(self._test(policy, breathe) for policy in self.policies)
        now = utc(self.times.until)
        for policy in self.policies:
            evaluate(policy, now)
        self._count()
        return count

    def _test(self, policy: Policy, breathe: Callable[[], None]) -> int:
        """Each night the cards that are due and idle, one after the other."""
        tested: dict[Place, list[float]] = defaultdict(list)
        for place, results in self._ended(policy).items():
            tested[place] = [one.at for one in results]
        count, starts = 0, list(self._starts(policy))
        seats = [seat for seat in self.runs.seats if seat.card is not None and seat.card.stack == policy.stack]
        may_give_way = len(starts) > GAVE_WAY
        for night, at in enumerate(starts):
            for seat in seats:
                place = (seat.node, seat.card.key if seat.card else "")
                recent = any(at - policy.max_age_s < one <= at for one in tested[place])
                if recent or not self.runs.idle(seat, at, _IDLE_S):
                    continue
                # One run gives way to a pod: its card stays due, and is tested when it is idle at night again.
                gives_way = may_give_way and night >= len(starts) - GAVE_WAY
                asked = Asked(at, policy.suite, (seat,), "", policy=policy, gives_way=gives_way)
                if self.runs.write(asked) is not None:
                    may_give_way = may_give_way and not gives_way
                    if not gives_way:
                        tested[place].append(at)
                    count += 1
                    at += _APART_S
                breathe()
        return count

    def _starts(self, policy: Policy) -> Iterator[float]:
        windows = rules.windows_of(policy)
        if not windows.cron:
            yield self.times.since + HOUR
            return
        for window in windows.between(utc(self.times.since), utc(self.times.until - HOUR)):
            yield window.start.timestamp() + _FIRST_S

    def _ended(self, policy: Policy) -> dict[Place, list[Ended]]:
        """Card → its results of the suite, the oldest first."""
        found: dict[Place, list[Ended]] = defaultdict(list)
        rows = Run.objects.filter(cluster=self.cluster, suite=policy.suite, verdict__in=("passed", "failed"))
        for run in rows.exclude(card_key="").defer("manifest", "node_snapshot").order_by("ended_at", "pk"):
            if run.ended_at is not None:
                found[run.node_name, run.card_key].append(Ended(run.ended_at.timestamp(), run))
        return found

    def _count(self) -> None:
        """What `policies.counts` would have written at the end of each hour."""
        pools = dict(NodeTotals.objects.filter(cluster=self.cluster).values_list("node_name", "pool"))
        drivers = dict(Node.objects.filter(cluster=self.cluster).values_list("name", "driver_version"))
        seats = {(seat.node, seat.card.key): seat for seat in self.runs.seats if seat.card is not None}
        rows: list[PolicyCount] = []
        hour = utc(self.times.since).replace(minute=0, second=0, microsecond=0)
        results = {policy.pk: self._ended(policy) for policy in self.policies}
        covered = {policy.pk: [one for one in self._covered(policy) if one in seats] for policy in self.policies}
        while (at := hour + timedelta(hours=1)).timestamp() < self.times.until:
            groups: dict[tuple[Policy | None, str, str, str], Counter[str]] = defaultdict(Counter)
            worst: dict[Place, str] = {}
            for policy in self.policies:
                for place in covered[policy.pk]:
                    state = self._state(policy, seats[place], results[policy.pk][place], at.timestamp(), drivers)
                    group = self._group(seats[place], at.timestamp(), pools, drivers)
                    groups[policy, *group][state] += 1
                    worst[place] = min(state, worst.get(place, state), key=WORST_FIRST.index)
            for place, state in worst.items():
                groups[None, *self._group(seats[place], at.timestamp(), pools, drivers)][state] += 1
            rows += [
                PolicyCount(
                    policy=policy, at=hour, cluster=self.cluster, pool=pool, model=model, driver=driver, **states
                )
                for (policy, pool, model, driver), states in groups.items()
            ]
            hour = at
        PolicyCount.objects.filter(cluster=self.cluster, at__lt=hour).delete()
        PolicyCount.objects.bulk_create(rows, batch_size=500)

    def _covered(self, policy: Policy) -> list[Place]:
        return list(PolicyCard.objects.filter(policy=policy).values_list("node_name", "card_key"))

    def _group(self, seat: Seat, at: float, pools: dict[str, str], drivers: dict[str, str]) -> tuple[str, str, str]:
        driver = self.runs.upgrade.driver(seat.node, at) or drivers.get(seat.node, "")
        return pools.get(seat.node, ""), seat.card.model if seat.card else "", driver

    def _state(self, policy: Policy, seat: Seat, results: list[Ended], at: float, drivers: dict[str, str]) -> str:
        """By the rule that counts now, from the results until then."""
        until = results[: bisect_right([one.at for one in results], at)]
        driver = self.runs.upgrade.driver(seat.node, at) or drivers.get(seat.node, "")
        passes = [one for one in until if one.run.verdict == "passed"]
        last = until[-1] if until else None
        facts = Facts(
            now=Identity(driver),
            hindrance="" if self.runs.idle(seat, at, 0.0) else "in-use",
            passed=_pass(passes[-1].run) if passes else None,
            failure=_failure(last.run) if last is not None and last.run.verdict == "failed" else None,
        )
        found = standing(rules.rule_of(policy), facts, utc(at))
        return found.state


def _pass(run: Run) -> Pass:
    assert run.ended_at is not None
    identity = Identity(run.driver_version)
    return Pass(run=run.pk, at=run.ended_at, identity=identity, image=run.image, parser_version=run.parser_version)


def _failure(run: Run) -> Failure:
    assert run.ended_at is not None
    return Failure(run=run.pk, at=run.ended_at, identity=Identity(run.driver_version))
