"""Baselines of a pool: median and MAD, what is an outlier, and what a run is told of it; and floors on a run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import pytest

from inventory.models import Card, Cluster, NodeTotals
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import codes, launched, passed_by
from tests.validations.test_results import nbody
from validations import pool_baseline
from validations.floors import COLUMNS, parse, with_own
from validations.models import LastResult, Measurement, PoolBaseline, Run
from validations.reparse import reparse
from validations.spread import Spread, is_outlier, spread

EVEN = [100.0, 101, 99, 100, 102, 98, 100, 101, 99, 100]


def test_fewer_than_ten_are_no_baseline() -> None:
    assert spread(EVEN[:9]) is None
    assert spread(EVEN) == Spread(median=100.0, mad=1.0, targets=10)


def test_single_odd_values_do_not_move_it() -> None:
    found = spread([*EVEN, 1.0, 900.0])
    assert found is not None
    assert found.median == 100.0
    assert found.mad == 1.0


@pytest.mark.parametrize(
    ("value", "mad", "more_is_better", "outlier"),
    [
        (94.0, 1.0, True, True),
        (94.9, 1.0, True, False),
        (106.0, 1.0, True, False),
        (106.0, 1.0, False, True),
        (96.0, 0.0, True, False),
        (94.0, 0.0, True, True),
        (80.0, 5.0, True, False),
        (70.0, 5.0, True, True),
    ],
)
def test_an_outlier_is_far_on_the_bad_side(value: float, mad: float, more_is_better: bool, outlier: bool) -> None:
    assert is_outlier(value, Spread(100.0, mad, 10), more_is_better=more_is_better) is outlier


@pytest.fixture
def ended(prod: Cluster, fake: FakeCluster) -> Callable[..., Run]:
    """Twelve nodes of one card each."""
    for number in range(12):
        make_node(prod, f"n{number}", "nvidia", 1, loads=(0.0,))

    def make(log: bytes, **more: Any) -> Run:
        run = launched(prod, suite="cuda-nbody", **more)
        fake.end(run.job_name, log, 0)
        return passed_by(run, prod)

    return make


def test_an_outlier_is_a_warning_and_blames_no_card(ended: Callable[..., Run], settings: Any) -> None:
    settings.RUN_SLOWER_PERCENT = 500
    for number in range(9):
        assert ended(nbody(10.0, 9000.0 + number), node=f"n{number}").verdict == "passed"
    tenth = ended(nbody(20.0, 4500.0), node="n9")
    assert tenth.verdict == "passed", "nine others are no baseline"
    Run.objects.filter(pk=tenth.pk).update(verdict="warning")
    assert ended(nbody(10.0, 9001.0), node="n10").verdict == "passed"
    odd = ended(nbody(20.0, 4500.0), node="n11")
    assert (odd.verdict, codes(odd)[0]) == ("warning", "outlier")
    assert "the median of 10 other targets of this pool" in odd.reasons[0]["text"]
    row = Measurement.objects.get(run=odd, name="gflops")
    assert row.pool_targets == 10
    assert row.pool_median == pytest.approx(9003.5)
    assert row.floor is None
    assert LastResult.objects.get(run=odd).said_verdict != "failed"


def test_another_pool_is_no_baseline(ended: Callable[..., Run], prod: Cluster) -> None:
    for number in range(10):
        ended(nbody(10.0, 9000.0), node=f"n{number}")
    NodeTotals.objects.filter(cluster=prod, node_name="n11").update(pool="another")
    odd = ended(nbody(11.5, 7900.0), node="n11")
    assert odd.verdict == "passed"
    assert not odd.measurements.exclude(pool_median=None).exists()


def test_below_a_floor_fails_with_floor_and_source(ended: Callable[..., Run], settings: Any) -> None:
    model = Card.objects.get(node_name="n0").model
    line = f"cuda-nbody,gflops,{model},,,,5000,GFLOP/s,average,our racks,acceptance 7,2026-06"
    settings.FLOORS = with_own(parse(f"{','.join(COLUMNS)}\n{line}"))
    low, enough = ended(nbody(20.0, 4500.0), node="n0"), ended(nbody(10.0, 5000.0), node="n1")
    assert (low.verdict, codes(low)[0], low.level) == ("failed", "below-floor", "")
    assert low.reasons[0]["text"] == (
        "gflops is 4500 GFLOP/s, below the floor of 5000 GFLOP/s (our racks: acceptance 7, 2026-06)."
    )
    assert enough.verdict == "passed"
    row = Measurement.objects.get(run=enough, name="gflops")
    assert (row.floor, row.floor_source) == (5000.0, "our racks: acceptance 7, 2026-06")


def test_without_a_floor_nothing_fails(ended: Callable[..., Run]) -> None:
    assert ended(nbody(9_000_000.0, 0.01), node="n0").verdict == "passed"


def test_each_target_counts_once_however_many_runs_others_have(ended: Callable[..., Run], settings: Any) -> None:
    """One card with many passes takes no place of the others; a card whose last pass is old counts by that one."""
    settings.RUN_SLOWER_PERCENT = 500
    for number in range(10):
        ended(nbody(10.0, 9000.0 + number), node=f"n{number}")
    with patch.object(pool_baseline, "MOST_TARGETS", 11):
        for _ in range(12):
            often = ended(nbody(10.0, 9100.0), node="n10")
        last = ended(nbody(10.0, 9005.0), node="n11")
    assert Measurement.objects.get(run=often, name="gflops").pool_targets == 10
    assert Measurement.objects.get(run=last, name="gflops").pool_targets == 11
    assert len(pool_baseline.pool_passes(last)) == len(set(pool_baseline.pool_passes(last))) == 11


def test_the_baseline_of_a_pool_is_that_of_its_newest_run(
    ended: Callable[..., Run], prod: Cluster, settings: Any
) -> None:
    settings.RUN_SLOWER_PERCENT = 500
    for number in range(10):
        ended(nbody(10.0, 9000.0 + number), node=f"n{number}")
    assert pool_baseline.pool_baselines() == []
    ended(nbody(10.0, 9005.0), node="n10")
    newest = ended(nbody(10.0, 9006.0), node="n11")
    kept = {one.measurement: one for one in pool_baseline.pool_baselines()}
    row = Measurement.objects.get(run=newest, name="gflops")
    assert {one.run for one in kept.values()} == {newest}
    assert (kept["gflops"].median, kept["gflops"].spread) == (row.pool_median, row.pool_spread)
    assert (kept["gflops"].targets, kept["gflops"].cluster) == (11, prod)
    # An earlier run that is read again is not the newest one, and a pool that is gone has none.
    earlier = Run.objects.get(node_name="n10")
    pool_baseline.keep(earlier, earlier.measurements.all())
    assert {one.run for one in pool_baseline.pool_baselines()} == {newest}
    NodeTotals.objects.update(pool="another")
    assert pool_baseline.pool_baselines() == []


def test_a_run_that_is_read_again_leaves_no_baseline_of_before(ended: Callable[..., Run]) -> None:
    for number in range(11):
        run = ended(nbody(10.0, 9000.0), node=f"n{number}")
    assert PoolBaseline.objects.filter(run=run).exists()
    Measurement.objects.filter(run=run).update(value=1.0)
    assert reparse(run) is not None
    assert {one.measurement for one in PoolBaseline.objects.filter(run=run)} == set(
        run.measurements.exclude(pool_median=None).values_list("name", flat=True)
    )


def test_pools_are_looked_through_by_few_queries(
    ended: Callable[..., Run], django_assert_max_num_queries: Callable[..., Any]
) -> None:
    for number in range(12):
        run = ended(nbody(10.0, 9000.0), node=f"n{number}")
    with django_assert_max_num_queries(3):
        assert pool_baseline.of_pool(run)
    with django_assert_max_num_queries(1):
        assert pool_baseline.pool_baselines()
