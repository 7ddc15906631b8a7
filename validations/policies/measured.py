"""Before and after in measurements: by how much the same work got slower on the cards that did it on both sides.

A card counts with its newest pass (or warning) under A and under B, of one suite with the same workload. Cards of one cluster, pool
and model are a group. Only its own two values of a card are compared, so that other cards under B change nothing.

Judged by the exact sign test: if the change had no effect, each card would be slower or faster with a chance of 1/2. A group is
`slower` or `faster` if so many cards moved to one side by a chance of at most CHANCE in any of the groups (Bonferroni), and the
median moved by at least LEAST_PERCENT. Of fewer than ten cards (`spread.LEAST`) nothing is said. Outliers are cards that got slower
than the others of their group did (`spread.is_outlier`, of the ratio of their times).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from math import exp, lgamma, log
from statistics import median, quantiles
from typing import Any, NamedTuple

import msgspec
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import F, Max, Q, QuerySet

from inventory.models import Card, NodeTotals
from validations import baseline
from validations.models import Measurement, Run
from validations.policies.losses import Test
from validations.policies.reading import Narrowed
from validations.spread import LEAST, is_outlier, spread

SLOWER, FASTER, SAME, TOO_FEW = "slower", "faster", "same", "too-few"
#: The worst first.
JUDGED = (SLOWER, FASTER, SAME, TOO_FEW)
TEST = "sign test, two-sided, exact"
CHANCE, LEAST_PERCENT = 0.01, 1.0
#: Outliers of a group that are named.
MOST_NAMED = 10


class Both(NamedTuple):
    """A measurement of a card under A and under B. work: what tells the work of a suite from others."""

    cluster: int
    pool: str
    model: str
    suite: str
    work: str
    name: str
    unit: str
    card: int
    node: str
    key: str
    before: float
    after: float


class Quartiles(msgspec.Struct, frozen=True):
    """In the unit of the measurement."""

    least: float
    p25: float
    median: float
    p75: float
    most: float


class Outlier(msgspec.Struct, frozen=True, kw_only=True):
    """A card. percent: by how much longer the same work takes."""

    card_id: int
    node: str
    card: str
    before: float
    after: float
    percent: float


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement of a group. percent: by how much longer the same work takes, in the median; below 0: faster. chance: of the test.

    Both are None for too few cards. outliers: the worst first, MOST_NAMED of `outliers_count`.
    """

    cluster_id: int
    pool: str
    model: str
    suite: str
    name: str
    unit: str
    cards: int
    before: Quartiles
    after: Quartiles
    slower: int
    faster: int
    judged: str = TOO_FEW
    percent: float | None = None
    chance: float | None = None
    outliers_count: int = 0
    outliers: list[Outlier] = []


def moved(found: Iterable[Both]) -> list[Moved]:
    """Those that got slower first, groups of too few cards last. Pure."""
    groups: dict[tuple[Any, ...], list[Both]] = defaultdict(list)
    for one in found:
        if one.before > 0 and one.after > 0 and baseline.slower_percent(1, 1, one.unit) is not None:
            groups[one[:7]].append(one)
    tests = sum(len(cards) >= LEAST for cards in groups.values())
    return sorted((_of_group(cards, tests) for cards in groups.values()), key=_rank)


def _of_group(cards: Sequence[Both], tests: int) -> Moved:
    percents = [_percent(one) for one in cards]
    slower, faster = sum(one > 0 for one in percents), sum(one < 0 for one in percents)
    told = Moved(
        cluster_id=cards[0].cluster,
        pool=cards[0].pool,
        model=cards[0].model,
        suite=cards[0].suite,
        name=cards[0].name,
        unit=cards[0].unit,
        cards=len(cards),
        before=_quartiles([one.before for one in cards]),
        after=_quartiles([one.after for one in cards]),
        slower=slower,
        faster=faster,
    )
    of_all = spread([1 + percent / 100 for percent in percents])
    if of_all is None:
        return told
    middle, chance = median(percents), min(1.0, sign_test(slower, faster) * tests)
    shifted = chance <= CHANCE and abs(middle) >= LEAST_PERCENT
    odd = sorted(
        (
            (-percent, one)
            for one, percent in zip(cards, percents, strict=True)
            if is_outlier(1 + percent / 100, of_all, more_is_better=False)
        ),
        key=lambda one: (one[0], one[1].node, one[1].key),
    )
    named = [
        Outlier(card_id=one.card, node=one.node, card=one.key, before=one.before, after=one.after, percent=-percent)
        for percent, one in odd[:MOST_NAMED]
    ]
    return msgspec.structs.replace(
        told,
        judged=(SLOWER if middle > 0 else FASTER) if shifted else SAME,
        percent=middle,
        chance=chance,
        outliers_count=len(odd),
        outliers=named,
    )


def _percent(one: Both) -> float:
    return baseline.slower_percent(one.after, one.before, one.unit) or 0.0


def _quartiles(values: Sequence[float]) -> Quartiles:
    p25, middle, p75 = quantiles(values, n=4, method="inclusive") if len(values) > 1 else [values[0]] * 3
    return Quartiles(min(values), p25, middle, p75, max(values))


def sign_test(slower: int, faster: int) -> float:
    """The chance that so many, or more, of these cards move to one side, where both sides are equally likely."""
    number, most = slower + faster, max(slower, faster)
    if 2 * most <= number:
        return 1.0
    sum_, place = 0.0, most
    while place <= number:
        one = exp(lgamma(number + 1) - lgamma(place + 1) - lgamma(number - place + 1) - number * log(2))
        sum_ += one
        if one <= sum_ * 1e-12:
            break
        place += 1
    return min(1.0, 2 * sum_)


def _rank(one: Moved) -> tuple[Any, ...]:
    return JUDGED.index(one.judged), -(one.percent or 0.0), one.suite, one.name, one.pool, one.model, one.cluster_id


#: The two values of each card of the mirror whose two runs are known.
_BOTH = f"""
    SELECT c.cluster_id, COALESCE(t.pool, ''), c.model, newest.suite, newest.work, ma.name, ma.unit, c.id, c.node_name, c.key,
        ma.value, mb.value
    FROM (NEWEST) newest
    JOIN {Measurement._meta.db_table} ma ON ma.run_id = newest.id_a
    JOIN {Measurement._meta.db_table} mb ON mb.run_id = newest.id_b AND mb.name = ma.name AND mb.unit = ma.unit
    JOIN {Card._meta.db_table} c ON c.cluster_id = newest.cluster_id AND c.node_name = newest.node_name
        AND c.key = newest.card_key AND c.removed_at IS NULL
    LEFT JOIN {NodeTotals._meta.db_table} t ON t.cluster_id = c.cluster_id AND t.node_name = c.node_name
    WHERE ma.unit IN (UNITS) NARROWED
"""  # noqa: S608 - names from our models


class Sides(NamedTuple):
    """Which runs are under A, and which under B. work: the column that tells the work of a suite."""

    before: Q
    after: Q
    work: str


def both(sides: Sides, narrowed: Narrowed, tests: Sequence[Test] | None) -> Iterator[Both]:
    """One query, within the scope of who asks. tests: only runs of these; None: of all."""
    try:
        newest, values = _newest(sides, narrowed, tests).query.get_compiler(connection=connection).as_sql()
    except EmptyResultSet:  # no cluster in scope, or no test
        return
    units = sorted(baseline.MORE_IS_BETTER | baseline.LESS_IS_BETTER)
    where, more = _narrowed(narrowed)
    query = _BOTH.replace("(UNITS)", f"({_marks(units)})", 1).replace("NARROWED", where, 1)
    query = query.replace("NEWEST", newest, 1)
    left_out: dict[str, frozenset[str]] = {}
    with connection.cursor() as cursor:
        cursor.execute(query, [*values, *units, *more])
        while rows := cursor.fetchmany(5000):
            for one in map(Both._make, rows):
                if one.suite not in left_out:
                    left_out[one.suite] = baseline.not_compared(one.suite)
                if one.name not in left_out[one.suite]:
                    yield one


def _newest(sides: Sides, narrowed: Narrowed, tests: Sequence[Test] | None) -> QuerySet[Run, Any]:
    runs = Run.objects.filter(sides.before | sides.after, verdict__in=("passed", "warning")).exclude(card_key="")
    if narrowed.clusters is not None:
        runs = runs.filter(cluster_id__in=narrowed.clusters)
    if tests is not None:
        wanted = Q(pk__in=[])
        for test in tests:
            wanted |= Q(suite=test.suite, options_key__in=test.keys)
        runs = runs.filter(wanted)
    runs = runs.exclude(**{sides.work: ""}).order_by().annotate(work=F(sides.work))
    grouped = runs.values("suite", "work", "cluster_id", "node_name", "card_key")
    return grouped.annotate(id_a=Max("id", filter=sides.before), id_b=Max("id", filter=sides.after)).filter(
        id_a__isnull=False, id_b__isnull=False
    )


def _narrowed(narrowed: Narrowed) -> tuple[str, list[Any]]:
    found, values = list[str](), list[Any]()
    for column, wanted in (("t.pool", narrowed.pools), ("c.model", narrowed.models)):
        if wanted:
            found.append(f"AND {column} IN ({_marks(wanted)})")
            values += wanted
    return " ".join(found), values


def _marks(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values))
