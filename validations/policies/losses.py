"""Which cards had a pass before, under A, and have less after, under B?

A result of a card is its newest run with one (passed, warning or failed) of a suite with the options of a policy. Under a driver: of
the runs that were launched on it. On a day: of the runs made until its end that are no older than the policy's longest age.
A card that the policy covers lost where its result under A is a pass on the policy's level, and its result under B

failed       is a failure
slower       is no failure, and a measurement that both have says so by more than the suite allows (`baseline.share`)
not-tested   is not there; of two drivers or kernels only where the node has B now: else the card was never under B. Never of images,
             operators and MIG layouts

Only runs of the same workload are compared by measurements, of two images those with the same options.
What a run did not measure is unknown, and never a loss. Of a card that lost under several suites the worst counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import msgspec
from django.db import connection

from inventory.models import Card, Cluster, Node, NodeTotals
from validations import baseline
from validations.ids import new_id
from validations.models import Measurement, Policy, PolicyCard, Run, VerdictChoice
from validations.policies import rules
from validations.policies.reading import Narrowed
from validations.suites.engine.base import Measurement as Number

FAILED, SLOWER, NOT_TESTED = "failed", "slower", "not-tested"
#: The worst first.
OUTCOMES = (FAILED, SLOWER, NOT_TESTED)


class Test(NamedTuple):
    """What policies (ids) want of a suite. keys: of the options (`options_key`) that count; levels: on which a pass is enough."""

    suite: str
    keys: tuple[str, ...]
    levels: tuple[str, ...]
    max_age: timedelta
    policies: tuple[str, ...]


class Sought(msgspec.Struct, frozen=True, kw_only=True):
    """Which results are compared: those since a moment with A or B, as `by` says, or those until the ends of two days."""

    tests: list[Test]
    narrowed: Narrowed
    by: str = "driver"
    values: tuple[str, str] | None = None
    since: datetime | None = None
    until: tuple[datetime, datetime] | None = None


class Pair(NamedTuple):
    """A card that has passed a suite under A, beside its result under B.

    verdict_b: None where it has none. times: by how many times longer the same work took at worst, None where it is unknown.
    under_b: 1 where the card is under B now, else 0. share: percent by which it may take longer.
    """

    card: int
    cluster: int
    node: str
    key: str
    pool: str
    model: str
    run_a: str
    run_b: str | None
    verdict_b: str | None
    times: float | None
    under_b: int
    suite: str
    share: float


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """A card that lost. percent: by how much longer the same work takes at worst, of `slower` alone."""

    outcome: str
    card: int
    cluster: int
    node: str
    key: str
    pool: str
    model: str
    suite: str
    run_a: str
    run_b: str | None
    percent: float | None


class Lost(msgspec.Struct, frozen=True):
    """How many cards lost, each by its worst."""

    failed: int = 0
    slower: int = 0
    not_tested: int = 0


class Detail(msgspec.Struct, frozen=True, kw_only=True):
    """A loss as it is shown. card: key. lost: outcome. Runs that are not in scope are None.

    measurement, unit, value_*: of the measurement that fell most; None where none says anything.
    """

    cluster_id: int
    node: str
    card: str
    card_id: int
    pool: str
    model: str
    suite: str
    lost: str
    run_before: str | None
    run_after: str | None
    measurement: str | None = None
    unit: str | None = None
    value_before: float | None = None
    value_after: float | None = None
    slower_percent: float | None = None


def losses(sought: Sought) -> list[Loss]:
    """One query for each test, and one for the clusters in scope. The worst first, each card once."""
    clusters = list(_clusters(sought.narrowed))
    return weigh(pair for test in sought.tests for pair in _pairs(test, sought, clusters)) if clusters else []


def weigh(pairs: Iterable[Pair]) -> list[Loss]:
    """The cards that lost, the worst first, each once. Pure."""
    found: dict[int, Loss] = {}
    for pair in pairs:
        outcome = _outcome(pair)
        if outcome is None:
            continue
        percent = (pair.times - 1) * 100 if outcome == SLOWER and pair.times is not None else None
        loss = Loss(outcome=outcome, percent=percent, **{name: getattr(pair, name) for name in _SAME})
        kept = found.get(pair.card)
        if kept is None or _rank(loss) < _rank(kept):
            found[pair.card] = loss
    return sorted(found.values(), key=_rank)


_SAME = ("card", "cluster", "node", "key", "pool", "model", "suite", "run_a", "run_b")


def _outcome(pair: Pair) -> str | None:
    """None: it lost nothing, or that is unknown."""
    if pair.verdict_b is None:
        return NOT_TESTED if pair.under_b else None
    if pair.verdict_b == VerdictChoice.FAILED:
        return FAILED
    return SLOWER if pair.times is not None and (pair.times - 1) * 100 > pair.share else None


def _rank(loss: Loss) -> tuple[int, float, int, str, str, str]:
    return OUTCOMES.index(loss.outcome), -(loss.percent or 0.0), loss.cluster, loss.node, loss.key, loss.suite


def page(found: Sequence[Loss], outcome: str, after: str, size: int) -> tuple[list[Loss] | None, int | None]:
    """So many losses of this outcome ("": of all) behind the card with this id ("": the first ones), and the id behind which the next
    ones are. (None, None) where the card after which to go on is no longer in the list. Pure."""
    mine = [one for one in found if not outcome or one.outcome == outcome]
    begin = 0
    if after:
        place = next((number for number, one in enumerate(mine) if str(one.card) == after), None)
        if place is None:
            return None, None
        begin = place + 1
    shown = mine[begin : begin + size]
    return shown, shown[-1].card if len(mine) > begin + size else None


def details(found: Sequence[Loss]) -> list[Detail]:
    """Of a few losses: the measurement that fell most. Two queries, within the scope of who asks."""
    wanted = {run for one in found for run in (one.run_a, one.run_b) if run is not None}
    seen = set(Run.objects.filter(pk__in=wanted).values_list("pk", flat=True))
    numbers: dict[str, dict[str, Number]] = {}
    for run, name, value, unit in Measurement.objects.filter(run_id__in=seen).values_list(
        "run_id", "name", "value", "unit"
    ):
        numbers.setdefault(run, {})[name] = Number(value, unit)
    return [_detail(one, seen, numbers) for one in found]


def _detail(loss: Loss, seen: set[str], numbers: dict[str, dict[str, Number]]) -> Detail:
    before, after = (run if run in seen else None for run in (loss.run_a, loss.run_b))
    found: dict[str, Any] = {}
    if loss.outcome == SLOWER:
        compared = baseline.compare(loss.suite, numbers.get(after or "", {}), numbers.get(before or "", {}))
        if worst := max(compared, key=lambda one: one.slower_percent, default=None):
            found = {
                "measurement": worst.name,
                "unit": worst.unit,
                "value_before": worst.baseline_value,
                "value_after": worst.value,
                "slower_percent": worst.slower_percent,
            }
    return Detail(
        cluster_id=loss.cluster,
        node=loss.node,
        card=loss.key,
        card_id=loss.card,
        pool=loss.pool,
        model=loss.model,
        suite=loss.suite,
        lost=loss.outcome,
        run_before=before,
        run_after=after,
        **found,
    )


def counted(found: Iterable[Loss]) -> Lost:
    numbers = Counter(one.outcome.replace("-", "_") for one in found)
    return Lost(**numbers)


def tests_of(policies: Iterable[Policy]) -> list[Test]:
    """What these policies want, each suite with the same options once: the least level and the longest age count. Pure."""
    found: dict[tuple[str, tuple[str, ...]], Test] = {}
    for policy in policies:
        try:
            keys = rules.keys_of(policy)
        except rules.NoRule:
            continue
        own = Test(policy.suite, keys, rules.levels_of(policy), timedelta(seconds=policy.max_age_s), (policy.pk,))
        kept = found.get((policy.suite, keys), own)
        found[policy.suite, keys] = Test(
            policy.suite,
            keys,
            max(own.levels, kept.levels, key=len),
            max(own.max_age, kept.max_age),
            tuple(sorted({*own.policies, *kept.policies})),
        )
    return sorted(found.values())


#: Column of a run, and of a node, by what is compared; what tells the work of a suite where it is not the workload.
_COLUMNS = {
    "driver": "driver_version",
    "image": "image",
    "kernel": "node_snapshot ->> 'kernel'",
    "operator": "node_snapshot ->> 'operator'",
    "mig-layout": "node_snapshot ->> 'mig_layout'",
}
_OF_NODE = {"driver": "driver_version", "kernel": "kernel"}
WORK = {"image": "options_key"}
#: The newest result of each card under A and under B: one scan, since a planner joins two of them badly.
_NEWEST = f"""
    SELECT cluster_id, node_name, card_key,
        MAX(CASE WHEN UNDER_A THEN id END) AS id_a, MAX(CASE WHEN UNDER_B THEN id END) AS id_b
    FROM {Run._meta.db_table}
    WHERE verdict IN ('passed', 'warning', 'failed') AND NOT (card_key = '') AND suite = %s AND options_key IN (KEYS)
        AND WITHIN AND cluster_id IN (CLUSTERS)
    GROUP BY cluster_id, node_name, card_key
"""  # noqa: S608 - names from our models
_TIMES = f"""
    SELECT MAX(CASE WHEN mb.unit IN (MORE) THEN ma.value / mb.value ELSE mb.value / ma.value END)
    FROM {Measurement._meta.db_table} ma
    JOIN {Measurement._meta.db_table} mb ON mb.run_id = b.id AND mb.name = ma.name AND mb.unit = ma.unit
    WHERE ma.run_id = a.id AND a.WORK <> '' AND a.WORK = b.WORK
        AND ma.value > 0 AND mb.value > 0 AND ma.unit IN (UNITS) AND ma.name NOT IN (LEFT_OUT)
"""  # noqa: S608 - names from our models
#: The limit is no limit: with it no planner works out `times` twice.
_PAIRS = f"""
    SELECT * FROM (
        SELECT c.id AS card, c.cluster_id, c.node_name, c.key, COALESCE(t.pool, '') AS pool, c.model,
            a.id AS run_a, b.id AS run_b, b.verdict AS verdict_b,
            CASE WHEN b.id IS NULL OR b.id = a.id THEN NULL ELSE (TIMES) END AS times,
            CASE WHEN IS_THERE THEN 1 ELSE 0 END AS under_b
        FROM (NEWEST) newest
        JOIN {Run._meta.db_table} a ON a.id = newest.id_a AND a.verdict = 'passed' AND a.level IN (LEVELS)
        LEFT JOIN {Run._meta.db_table} b ON b.id = newest.id_b
        JOIN {Card._meta.db_table} c ON c.cluster_id = newest.cluster_id AND c.node_name = newest.node_name
            AND c.key = newest.card_key AND c.removed_at IS NULL
        LEFT JOIN {Node._meta.db_table} n ON n.cluster_id = c.cluster_id AND n.name = c.node_name
        LEFT JOIN {NodeTotals._meta.db_table} t ON t.cluster_id = c.cluster_id AND t.node_name = c.node_name
        WHERE EXISTS (
            SELECT 1 FROM {PolicyCard._meta.db_table} s WHERE s.policy_id IN (POLICIES)
                AND s.cluster_id = c.cluster_id AND s.node_name = c.node_name AND s.card_key = c.key
        ) NARROWED
        LIMIT 100000000
    ) found
    WHERE (run_b IS NULL AND under_b = 1) OR verdict_b = 'failed' OR times > %s
"""  # noqa: S608 - names from our models


def _pairs(test: Test, sought: Sought, clusters: Sequence[int]) -> Iterator[Pair]:
    """Those that may have lost. Values are given in the order in which the statement has them."""
    share = baseline.share(test.suite)
    more, units = sorted(baseline.MORE_IS_BETTER), sorted(baseline.MORE_IS_BETTER | baseline.LESS_IS_BETTER)
    left_out = sorted(baseline.not_compared(test.suite)) or [""]
    is_there, there = _there(sought)
    narrowed, values = _narrowed(sought.narrowed)
    (under, sides), (within, ids) = _sides(test, sought)
    times = _TIMES.replace("WORK", WORK.get(sought.by, "workload_key"))
    query = _PAIRS.replace("NEWEST", _NEWEST, 1).replace("TIMES", times, 1).replace("IS_THERE", is_there, 1)
    for name, text in (("UNDER_A", under), ("UNDER_B", under), ("WITHIN", within), ("NARROWED", narrowed)):
        query = query.replace(name, text, 1)
    lists = {"MORE": more, "UNITS": units, "LEFT_OUT": left_out, "LEVELS": test.levels, "POLICIES": test.policies}
    for name, listed in (lists | {"KEYS": test.keys, "CLUSTERS": clusters}).items():
        query = query.replace(f"({name})", f"({_marks(listed)})")
    newest: list[Any] = [*sides, test.suite, *test.keys, *ids, *clusters]
    given: list[Any] = [*more, *units, *left_out, *there, *newest, *test.levels, *test.policies]
    given += [*values, 1 + share / 100]
    with connection.cursor() as cursor:
        cursor.execute(query, given)
        while rows := cursor.fetchmany(5000):
            yield from (Pair._make((*row, test.suite, share)) for row in rows)


def _there(sought: Sought) -> tuple[str, list[Any]]:
    """Whether the card is under B now: condition."""
    if sought.values is None:
        return "1 = 1", []
    column = _OF_NODE.get(sought.by)
    return (f"n.{column} = %s", [sought.values[1]]) if column else ("1 = 0", [])


def _sides(test: Test, sought: Sought) -> tuple[tuple[str, list[Any]], tuple[str, list[Any]]]:
    """(which runs are under a side, with the values of both), (which are under one of both): conditions."""
    if sought.values is not None and sought.since is not None:
        column, values = _COLUMNS[sought.by], [*sought.values]
        return (f"{column} = %s", values), (f"{column} IN (%s, %s) AND id >= %s", [*values, new_id(sought.since)])
    assert sought.until is not None
    spans = [(new_id(end - test.max_age), new_id(end)) for end in sought.until]
    first, last = spans[0][0], spans[1][1]
    return ("id >= %s AND id < %s", [*spans[0], *spans[1]]), ("id >= %s AND id < %s", [first, last])


def _narrowed(narrowed: Narrowed) -> tuple[str, list[Any]]:
    found, values = list[str](), list[Any]()
    for column, wanted in (("t.pool", narrowed.pools), ("c.model", narrowed.models)):
        if wanted:
            found.append(f"AND {column} IN ({_marks(wanted)})")
            values += wanted
    return " ".join(found), values


def _clusters(narrowed: Narrowed) -> Iterable[int]:
    """Those in scope: who sees a cluster at all sees its cards, and what their last results are."""
    rows = Cluster.objects.order_by("pk").values_list("pk", flat=True)
    return rows if narrowed.clusters is None else rows.filter(pk__in=narrowed.clusters)


def _marks(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values))
