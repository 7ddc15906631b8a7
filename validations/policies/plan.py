"""What would a policy do? Counted for one that is not saved yet, and planned for the next 24 hours. Nothing is written or started."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

import msgspec
from django.db.models import Avg, Case, Count, DateTimeField, F, Q, Value, When
from django.db.models.functions import Coalesce

from validations.models import Policy, PolicyCard, PolicyState, Run
from validations.policies import rules
from validations.policies.facts import cards_of
from validations.policies.standing import RETESTED, standing
from validations.policies.windows import Window

#: How far the plan goes, and runs of the suite of which the mean length is taken.
AHEAD = timedelta(days=1)
LAST_RUNS = 200
#: Windows of the plan that are shown, the next ones.
MOST_WINDOWS = 12


class Planned(msgspec.Struct, frozen=True, kw_only=True):
    """One window of the plan. cards: that are due in it; all of them are tested in it if nothing hinders. seconds: how long that
    takes, None where no run of the suite has ended yet. fits: whether that is no longer than the window."""

    start: datetime
    end: datetime
    cards: int
    seconds: float | None
    fits: bool


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """cards: that the policy covers. states: how many are what; every state is there. reasons: (state, reason) → cards, most first.

    due: cards to be tested, those that failed and are tested once more included. now: of these, how many may start at once.
    windows: the plan.
    """

    cards: int
    states: dict[str, int]
    reasons: dict[tuple[str, str], int]
    due: int
    now: int
    windows: list[Planned]


def preview(policy: Policy, at: datetime) -> Preview:
    """policy: saved or not. Raises NoRule."""
    rule, states = rules.rule_of(policy), Counter[str]()
    reasons, starts, expiring = Counter[tuple[str, str]](), list[datetime](), list[datetime]()
    for known in cards_of(policy, rules.cover_of(policy), at):
        found = standing(rule, known.facts, at)
        states[found.state] += 1
        if found.reason:
            reasons[found.state, found.reason] += 1
        if found.valid_until is not None:
            expiring.append(found.valid_until)
        elif found.state == PolicyState.DUE or (found.reason in RETESTED and not found.hindrance):
            starts.append(found.not_before or at)
    windows = rules.windows_of(policy)
    is_open = windows.open_at(at) is not None and not policy.paused
    spans, moments = windows.between(at, at + AHEAD)[:MOST_WINDOWS], sorted((*starts, *expiring))
    return Preview(
        cards=states.total(),
        states={state.value: states[state.value] for state in PolicyState},
        reasons=dict(reasons.most_common()),
        due=len(starts),
        now=sum(1 for one in starts if one <= at) if is_open else 0,
        windows=_planned(policy, spans, [bisect_left(moments, span.end) for span in spans]),
    )


def plan(policy: Policy, at: datetime) -> list[Planned]:
    """The same windows of a policy that is saved, from what its cards are: three queries, whatever their number."""
    spans = rules.windows_of(policy).between(at, at + AHEAD)[:MOST_WINDOWS]
    tested = Q(state=PolicyState.DUE) | Q(state=PolicyState.FAILED, reason__in=RETESTED, hindrance="")
    moment = Case(
        When(state=PolicyState.VALID, then=F("valid_until")),
        When(tested, then=Coalesce(F("not_before"), Value(at))),
        output_field=DateTimeField(),
    )
    rows = PolicyCard.objects.filter(policy=policy).annotate(moment=moment)
    counts = {f"until_{number}": Count("pk", filter=Q(moment__lt=span.end)) for number, span in enumerate(spans)}
    return _planned(policy, spans, list(rows.aggregate(**counts).values()) if counts else [])


def _planned(policy: Policy, spans: Sequence[Window], until: Sequence[int]) -> list[Planned]:
    """until: cards that are due before the end of each window. One that becomes due outside of all is tested in the next."""
    each, parallel = run_seconds(policy.suite), max(1, policy.max_per_cluster * max(1, len(rules.clusters_of(policy))))
    planned, done = [], 0
    for span, due in zip(spans, until, strict=True):
        cards, done = due - done, due
        took = None if each is None else math.ceil(cards / parallel) * each
        fits = took is None or took <= (span.end - span.start).total_seconds()
        planned.append(Planned(start=span.start, end=span.end, cards=cards, seconds=took, fits=fits))
    return planned


def run_seconds(suite: str) -> float | None:
    """The mean length of the suite's last passes, from request to end of the container; None where there are none."""
    last = Run.objects.filter(suite=suite, verdict="passed", started_at__isnull=False).order_by("-pk")[:LAST_RUNS]
    mean: timedelta | None = Run.objects.filter(pk__in=last.values("pk")).aggregate(
        mean=Avg(F("ended_at") - F("started_at"))
    )["mean"]
    return None if mean is None else mean.total_seconds()
