"""Policies as they are read by pages, REST and commands: the rows, and what `counts` has counted. Within the scope of who asks."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

import msgspec
from django.db.models import Count, Max, Min, QuerySet, Sum, prefetch_related_objects

from inventory.models import Cluster
from runtime.clock import database_now
from runtime.scope import current
from validations.ids import ById
from validations.models import Policy, PolicyCard, PolicyCount, PolicyState
from validations.policies import rules

STATES = tuple(state.value for state in PolicyState)
#: Counts of an older hour are not of now: of a cluster that no policy covers any more, or nothing counts.
_NOW = timedelta(hours=2)


class Counts(msgspec.Struct, kw_only=True):
    """How many cards are what. reasons: code → how many of the excluded ones, most first."""

    valid: int = 0
    due: int = 0
    running: int = 0
    failed: int = 0
    excluded: int = 0
    reasons: dict[str, int] = {}

    @property
    def cards(self) -> int:
        return self.valid + self.due + self.running + self.failed + self.excluded

    @property
    def valid_ratio(self) -> float | None:
        """Valid cards of all, 0 to 1; None: there is no card."""
        return self.valid / self.cards if self.cards else None


class Hour(msgspec.Struct, frozen=True):
    """The counts at the end of an hour. drivers: version → counts of the cards on nodes with it; "": not known."""

    at: datetime
    counts: Counts
    drivers: dict[str, Counts]


class Narrowed(msgspec.Struct, frozen=True, kw_only=True):
    """Which counts: those of these clusters (ids), pools, models and drivers. None, and of the others (): all."""

    clusters: tuple[int, ...] | None = None
    pools: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    drivers: tuple[str, ...] = ()

    def of(self, rows: QuerySet[PolicyCount]) -> QuerySet[PolicyCount]:
        wanted = {"pool": self.pools, "model": self.models, "driver": self.drivers}
        rows = rows if self.clusters is None else rows.filter(cluster_id__in=self.clusters)
        return rows.filter(**{f"{column}__in": values for column, values in wanted.items() if values})


EVERY = Narrowed()


def policies() -> ById[Policy]:
    rows: ById[Policy] = Policy.objects.get_queryset()
    return rows


def cards(policy_id: str = "") -> QuerySet[PolicyCard]:
    """What the cards of one policy are, or of all."""
    rows = PolicyCard.objects.select_related("cluster", "policy")
    return rows.filter(policy_id=policy_id) if policy_id else rows


def with_now(rows: list[Any]) -> list[Any]:
    """The same policies with `states` (their counts), `opens_at` (the start of the next window) and `is_open`. Four queries."""
    prefetch_related_objects(rows, "cluster")
    at, found = database_now(), counts_now() if rows else {}
    for row in rows:
        windows = rules.windows_of(row)
        row.states = found.get(row.pk, Counts())
        row.is_open = windows.open_at(at) is not None
        row.opens_at = None if row.is_open else windows.next_start(at)
    return rows


def counts_now(narrowed: Narrowed = EVERY) -> dict[str | None, Counts]:
    """Policy → its counts; None: each card once. Two queries."""
    at = _all().aggregate(at=Max("at"))["at"]
    if at is None or at < database_now() - _NOW:
        return {}
    found: dict[str | None, Counter[str]] = defaultdict(Counter)
    reasons: dict[str | None, Counter[str]] = defaultdict(Counter)
    for policy, why, *numbers in narrowed.of(_all().filter(at=at)).values_list("policy_id", "reasons", *STATES):
        found[policy].update(dict(zip(STATES, numbers, strict=True)))
        reasons[policy].update(why)
    return {policy: _counts(states, reasons[policy]) for policy, states in found.items()}


def hours(since: datetime, narrowed: Narrowed = EVERY) -> list[Hour]:
    """The counts of all policies together, hour by hour, oldest first; an hour that nothing counted is left out. One query."""
    sums: dict[str, Any] = {f"sum_{state}": Sum(state) for state in STATES}
    counted = narrowed.of(_all().filter(policy=None, at__gte=since))
    rows = counted.values_list("at", "driver").annotate(**sums).order_by("at", "driver")
    return [_hour(at, list(mine)) for at, mine in groupby(rows, key=lambda row: row[0])]


def drivers_of(since: datetime, narrowed: Narrowed = EVERY) -> list[str]:
    """The drivers of this time, the one that came last first. One query."""
    counted = narrowed.of(_all().filter(policy=None, at__gte=since)).exclude(driver="")
    rows = counted.values_list("driver").annotate(first=Min("at"), last=Max("at"))
    return [driver for driver, _first, _last in sorted(rows, key=lambda row: (row[1], row[2], row[0]), reverse=True)]


def groups_of(since: datetime) -> tuple[list[str], list[str]]:
    """The pools and the models of this time that have a name. One query."""
    rows = set(_all().filter(policy=None, at__gte=since).values_list("pool", "model").distinct())
    return sorted({pool for pool, _ in rows if pool}), sorted({model for _, model in rows if model})


def states_of(policy_id: str) -> Counts:
    """What the cards of one policy are at this moment. One query."""
    rows = PolicyCard.objects.filter(policy_id=policy_id).order_by().values_list("state", "reason")
    states, reasons = Counter[str](), Counter[str]()
    for state, reason, number in rows.annotate(number=Count("pk")):
        states[state] += number
        if state == PolicyState.EXCLUDED:
            reasons[reason] += number
    return _counts(states, reasons)


def may_write(cluster_id: int | None) -> bool:
    """Whether who asks may have a policy of this cluster: only where they may launch. None: of all clusters."""
    return current().everything if cluster_id is None else current().sees_whole(cluster_id)


def may_write_in(cluster: str) -> bool:
    """The same of a cluster by its name, "" for all; one that is not there is for `manage` to refuse."""
    if not cluster:
        return may_write(None)
    pk = Cluster.objects.filter(name=cluster).values_list("pk", flat=True).first()
    return pk is None or may_write(pk)


def of_card(cluster_id: int, node: str, key: str) -> Sequence[PolicyCard]:
    """What one card is under each policy that covers it, by name. One query."""
    rows = PolicyCard.objects.select_related("policy", "cluster").filter(
        cluster_id=cluster_id, node_name=node, card_key=key
    )
    return list(rows.order_by("policy__name"))


def _counts(states: Counter[str], reasons: Counter[str]) -> Counts:
    return Counts(**dict[str, Any](states), reasons=dict(reasons.most_common()))


def _hour(at: datetime, rows: list[Any]) -> Hour:
    """rows: of one hour: (at, driver, number of each state)."""
    drivers = {driver: Counts(**dict(zip(STATES, numbers, strict=True))) for _at, driver, *numbers in rows}
    return Hour(at, total(drivers.values()), drivers)


def total(every: Iterable[Counts]) -> Counts:
    """The sum, without the reasons."""
    states = Counter[str]()
    for one in every:
        states.update({state: getattr(one, state) for state in STATES})
    return Counts(**dict[str, Any](states))


def _all() -> QuerySet[PolicyCount]:
    rows: QuerySet[PolicyCount] = PolicyCount.objects.order_by()
    return rows
