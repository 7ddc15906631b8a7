"""Before and after: which counts are beside each other, and which cards are compared."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Card, Cluster, Node
from runtime.clock import database_now
from runtime.scope import Scope, seeing
from tests.database import RowsOfModule
from tests.factories import Batch, make_cluster, make_node
from tests.pages.validations.rows import make_run
from tests.validations.policies.test_losses import pair
from validations.ids import new_id
from validations.lastresults import refresh_last
from validations.models import LastResult, Measurement, Policy, PolicyCard, PolicyCount, Run, RunStep
from validations.options_key import options_key
from validations.planning import Refused
from validations.policies import compare, losses, manage
from validations.policies.compare import Group, Row, grouped
from validations.policies.evaluate import evaluate
from validations.policies.losses import Lost, weigh
from validations.policies.manage import PolicyDraft
from validations.policies.reading import Counts
from validations.suites import registry

SUITE = registry()["cuda-vectoradd"]
OLD, NEW = "570.1", "580.2"
DAY = timedelta(days=1)


HOUR = datetime(2026, 11, 20, 8, tzinfo=UTC)


def row(pool: str, counts: Counts, at: datetime = HOUR, cluster: int = 1) -> Row:
    return Row((cluster, pool, "A100"), at, counts)


def test_groups_are_of_both_sides_and_unknown_is_not_0() -> None:
    lost = weigh([pair(1, verdict_b="failed"), pair(2, pool="nowhere", verdict_b="failed")])
    found = grouped(
        [
            row("a", Counts(valid=9, due=1)),
            row("a", Counts(valid=10), HOUR - DAY),
            row("b", Counts(valid=4)),
            row("a", Counts(valid=1), cluster=2),
        ],
        [row("a", Counts(valid=10, failed=1, due=9)), row("c", Counts(valid=1))],
        lost,
    )
    assert found == [
        Group(
            cluster_id=1,
            pool="a",
            model="A100",
            before=Counts(valid=19, due=1),
            before_at=HOUR,
            after=Counts(valid=10, due=9, failed=1),
            after_at=HOUR,
            lost=Lost(failed=1),
        ),
        Group(cluster_id=2, pool="a", model="A100", before=Counts(valid=1), before_at=HOUR),
        Group(cluster_id=1, pool="b", model="A100", before=Counts(valid=4), before_at=HOUR),
        Group(cluster_id=1, pool="c", model="A100", after=Counts(valid=1), after_at=HOUR),
    ]
    assert compare.change(found[0].before, found[0].after) == pytest.approx(-0.45)
    assert compare.change(found[1].before, found[1].after) is None
    assert compare.change(Counts(), Counts(valid=1)) is None


@pytest.fixture(scope="module")
def rows(rows_of_module: RowsOfModule) -> int:
    """Six cards of a node each; all passed on the old driver two days ago. All nodes have the new one but the last."""
    with rows_of_module():
        return _six_cards().pk


@pytest.fixture
def fleet(rows: int, db: None) -> Cluster:
    return Cluster.objects.get(pk=rows)


def _six_cards() -> Cluster:
    cluster = make_cluster()
    batch = Batch(cluster)
    for number in range(6):
        make_node(cluster, f"node-{number}", "nvidia", 1, loads=(0.0,), batch=batch)
    batch.write()
    Node.objects.update(driver_version=NEW)
    Node.objects.filter(name="node-5").update(driver_version=OLD)
    for card in Card.objects.all():
        passed(card, OLD, DAY * 2)
    look(manage.create(PolicyDraft(name="all", suite=SUITE.id)))
    return cluster


def look(policy: Policy) -> None:
    """Which cards it covers."""
    evaluate(policy, database_now())


def passed(card: Card, driver: str, ago: timedelta, verdict: str = "passed", **more: Any) -> Run:
    """A run of the policy's options, with a bandwidth and a time that says nothing of the card."""
    run = make_run(
        card.cluster,
        node=card.node_name,
        card=card,
        driver=driver,
        verdict=verdict,
        minutes_ago=ago.total_seconds() / 60,
        measurements={"bandwidth": (more.pop("bandwidth", 100.0), "GB/s"), "kernel": (more.pop("kernel", 2.0), "ms")},
        options_key=options_key(SUITE, {}),
        **more,
    )
    run = Run.objects.get(pk=rename(run, ago))
    refresh_last(run)
    return run


def rename(run: Run, ago: timedelta) -> str:
    """A run's id says when it was made."""
    old, run.pk = run.pk, new_id(database_now() - ago)
    LastResult.objects.filter(run_id=old).delete()
    run.save(force_insert=True)
    for model in (Measurement, RunStep):
        model.objects.filter(run_id=old).update(run_id=run.pk)
    Run.objects.filter(pk=old).delete()
    return run.pk


def card(number: int) -> Card:
    return Card.objects.get(node_name=f"node-{number}")


def drivers(**more: Any) -> compare.Compared:
    return compare.compare(compare.read({"a": [OLD], "b": [NEW], **more}))


def lost(found: compare.Compared) -> list[tuple[str, str]]:
    return [(one.node, one.outcome) for one in found.losses]


def test_cards_of_two_drivers_are_compared_by_their_runs(fleet: Cluster) -> None:
    passed(card(0), NEW, DAY)
    passed(card(1), NEW, DAY, bandwidth=50.0)
    passed(card(2), NEW, DAY, "warning", bandwidth=99.0, kernel=5.0)
    passed(card(3), NEW, DAY, "failed")
    found = drivers()
    assert lost(found) == [
        ("node-3", "failed"),
        ("node-2", "slower"),
        ("node-1", "slower"),
        ("node-4", "not-tested"),
    ]
    assert found.lost == Lost(failed=1, slower=2, not_tested=1)
    told = losses.details(found.losses)
    assert [(one.measurement, one.value_before, one.value_after, one.unit) for one in told] == [
        (None, None, None, None),
        ("kernel", 2.0, 5.0, "ms"),
        ("bandwidth", 100.0, 50.0, "GB/s"),
        (None, None, None, None),
    ]
    assert [one.slower_percent for one in told[1:3]] == [pytest.approx(150), pytest.approx(100)]
    assert [one.run_after is None for one in told] == [False, False, False, True]


def test_the_newest_result_under_a_driver_counts(fleet: Cluster) -> None:
    passed(card(0), NEW, DAY, "failed")
    passed(card(0), NEW, DAY / 2)
    passed(card(1), OLD, DAY, "failed")  # it had failed before: nothing was lost
    passed(card(1), NEW, DAY / 2, "failed")
    passed(card(2), NEW, DAY)
    passed(card(2), NEW, DAY / 2, "errored")  # no result
    for number in (3, 4):
        passed(card(number), NEW, DAY)
    assert lost(drivers()) == []


@pytest.mark.parametrize("by", ["operator", "mig-layout"])
def test_what_a_run_keeps_tells_the_sides(fleet: Cluster, by: str) -> None:
    passed(card(0), NEW, DAY, "failed")
    passed(card(1), NEW, DAY)
    for driver, value in ((OLD, "one"), (NEW, "two")):
        Run.objects.filter(driver_version=driver).update(node_snapshot={by.replace("-", "_"): value})
    found = compare.compare(compare.read({"by": [by], "a": ["one"], "b": ["two"]}))
    assert lost(found) == [("node-0", "failed")]


def test_what_does_not_count_is_no_loss(fleet: Cluster) -> None:
    for number in range(5):
        passed(card(number), NEW, DAY, bandwidth=10.0)
    Run.objects.filter(node_name="node-0", driver_version=NEW).update(workload_key="other")
    Run.objects.filter(node_name="node-1", driver_version=OLD).update(options_key="other")
    Run.objects.filter(node_name="node-2", driver_version=OLD).update(level="ran")
    Card.objects.filter(node_name="node-3").update(removed_at=database_now())
    assert lost(drivers()) == [("node-4", "slower")]


def test_a_day_counts_the_results_until_its_end(fleet: Cluster) -> None:
    today = database_now().date()
    passed(card(0), OLD, DAY * 1.5, "failed")
    Policy.objects.update(max_age_s=3 * 86_400)
    days = [(today - DAY * ago).isoformat() for ago in (3, 2, 0)]
    assert lost(compare.compare(compare.read({"by": ["day"], "a": [days[0]], "b": [days[2]]}))) == []
    found = compare.compare(compare.read({"by": ["day"], "a": [days[1]], "b": [days[2]]}))
    assert lost(found) in ([("node-0", "failed")], [])  # at night the failure is of the same day as the pass
    later = (today + DAY * 5).isoformat()
    assert {what for _, what in lost(compare.compare(compare.read({"by": ["day"], "a": [days[1]], "b": [later]})))} == {
        "not-tested"
    }


def counted(at: datetime, driver: str, **more: Any) -> None:
    PolicyCount.objects.create(at=at, cluster=Cluster.objects.get(name="prod"), driver=driver, **more)


def test_counts_of_a_driver_are_of_its_last_hour_before_the_other_came(fleet: Cluster) -> None:
    hour = database_now().replace(minute=0, second=0, microsecond=0)
    counted(hour - DAY * 3, OLD, model="A100", valid=10)
    counted(hour - DAY * 2, OLD, model="A100", valid=9, due=1)
    counted(hour - DAY, OLD, model="A100", valid=4)
    counted(hour - DAY, NEW, model="A100", due=6)
    counted(hour, NEW, model="A100", valid=7, failed=3)
    found = drivers()
    assert (found.before.at, found.after.at) == (hour - DAY * 2, hour)
    assert found.groups[0].before == Counts(valid=9, due=1)
    assert found.groups[0].after == found.after.counts == Counts(valid=7, failed=3)
    back = compare.compare(compare.read({"a": [NEW], "b": [OLD]}))
    assert (back.before.at, back.after.at) == (hour, hour - DAY)
    none = compare.compare(compare.read({"a": ["1"], "b": ["2"]}))
    assert (none.before.at, none.before.counts, none.groups) == (None, None, [])


def test_each_group_is_compared_at_its_own_upgrade(fleet: Cluster) -> None:
    """Pool a was upgraded twenty days ago, b yesterday; c has the new driver only, d the old one only."""
    hour = database_now().replace(minute=0, second=0, microsecond=0)
    counted(hour - DAY * 21, OLD, pool="a", valid=10)
    counted(hour - DAY * 20, OLD, pool="a", valid=5)
    counted(hour - DAY * 20, NEW, pool="a", due=5)
    counted(hour - DAY * 2, OLD, pool="b", valid=8, due=2)
    counted(hour - DAY, OLD, pool="b", valid=1)
    for ago in (1, 0):
        for pool, valid in (("a", 9), ("b", 10), ("c", 3)):
            counted(hour - DAY * ago, NEW, pool=pool, valid=valid, due=10 - valid)
    counted(hour, OLD, pool="d", valid=7)
    found = drivers()
    assert [(one.pool, one.before and one.before.valid, one.after and one.after.valid) for one in found.groups] == [
        ("a", 10, 9),
        ("b", 8, 10),
        ("c", None, 3),
        ("d", 7, None),
    ]
    assert [(one.before_at, one.after_at) for one in found.groups[:2]] == [
        (hour - DAY * 21, hour),
        (hour - DAY * 2, hour),
    ]
    assert (found.before.counts, found.after.counts) == (Counts(valid=18, due=2), Counts(valid=19, due=1))
    assert found.groups_compared == 2
    with seeing(Scope(frozenset())):
        assert drivers().groups == []


def test_a_group_whose_upgrade_no_hour_before_it_was_counted(fleet: Cluster) -> None:
    hour = database_now().replace(minute=0, second=0, microsecond=0)
    counted(hour - DAY * 9, OLD, pool="a", valid=10)
    for driver in (OLD, NEW):
        counted(hour - DAY * 2, driver, pool="a", valid=5)
    [group] = drivers().groups
    assert (group.before_at, group.after_at) == (hour - DAY * 9, hour - DAY * 2)


def test_counts_of_a_day_are_of_its_last_hour(fleet: Cluster) -> None:
    day = database_now().replace(hour=0, minute=0, second=0, microsecond=0)
    counted(day - DAY * 2, OLD, valid=1)
    counted(day - DAY * 2 + timedelta(hours=23), OLD, valid=2)
    counted(day - DAY + timedelta(hours=1), NEW, valid=3)
    a, b = ((day - DAY * ago).date().isoformat() for ago in (2, 1))
    found = compare.compare(compare.read({"by": ["day"], "a": [a], "b": [b]}))
    assert [side.counts and side.counts.valid for side in (found.before, found.after)] == [2, 3]


def test_it_is_narrowed(fleet: Cluster) -> None:
    make_cluster("other")
    passed(card(3), NEW, DAY, "failed")
    Card.objects.filter(node_name="node-3").update(model="H200")
    assert lost(drivers(model=["H200"])) == [("node-3", "failed")]
    assert ("node-3", "failed") not in lost(drivers(model=["A100"]))
    assert lost(drivers(cluster=["other"])) == []
    assert lost(drivers(pool=["no-such"])) == []
    other = manage.create(PolicyDraft(name="b", suite="nvidia-smi", level="detected"))
    assert lost(drivers(policy=[other.pk])) == []


def test_only_cards_under_a_policy_are_compared(fleet: Cluster) -> None:
    passed(card(3), NEW, DAY, "failed")
    PolicyCard.objects.exclude(node_name="node-4").delete()
    assert lost(drivers()) == [("node-4", "not-tested")]
    again = manage.create(PolicyDraft(name="b", suite=SUITE.id, max_age_s=3600))
    look(again)
    assert len(lost(drivers())) == 5
    [test] = losses.tests_of(Policy.objects.all())
    assert (len(test.policies), test.max_age) == (2, timedelta(days=7))


def test_only_clusters_in_scope_are_compared(fleet: Cluster) -> None:
    other = make_cluster("other")
    passed(card(3), NEW, DAY, "failed")
    with seeing(Scope(frozenset({other.pk}))):
        assert lost(drivers()) == []
    with seeing(Scope(frozenset(), frozenset({(fleet.pk, "team-a")}))):
        found = drivers()
        assert ("node-3", "failed") in lost(found)
        assert {one.run_before for one in losses.details(found.losses)} == {None}


WRONG: tuple[tuple[dict[str, list[str]], str], ...] = (
    ({}, "a"),
    ({"a": ["1"]}, "b"),
    ({"a": ["1"], "b": ["1"]}, "b"),
    ({"by": ["week"], "a": ["1"], "b": ["2"]}, "by"),
    ({"by": ["day"], "a": ["570.1"], "b": ["2026-01-01"]}, "a"),
    ({"by": ["day"], "a": ["2026-01-02"], "b": ["20260103"]}, "b"),
    ({"by": ["day"], "a": ["2026-01-02"], "b": ["2026-01-01"]}, "b"),
    ({"by": ["day"], "a": ["0001-01-02"], "b": ["2026-01-01"]}, "a"),
    ({"a": ["1"], "b": ["2"], "cluster": ["nowhere"]}, "cluster"),
    ({"a": ["1"], "b": ["2"], "policy": ["nope"]}, "policy"),
    ({"a": ["\0"], "b": ["2"]}, "a"),
    ({"a": ["x" * 300], "b": ["2"]}, "a"),
    ({"a": ["1"], "b": ["2"], "pool": ["p"] * 101}, "pool"),
)


@pytest.mark.parametrize(("given", "field"), WRONG)
def test_what_makes_no_sense_is_named(db: None, given: dict[str, list[str]], field: str) -> None:
    with pytest.raises(Refused) as refused:
        compare.read(given)
    assert field in refused.value.problems


def test_queries_do_not_grow_with_cards(fleet: Cluster) -> None:
    def asked() -> int:
        with CaptureQueriesContext(connection) as found:
            losses.details(drivers().losses)
        return len(found)

    few = asked()
    make_node(fleet, "node-x", "nvidia", 8, loads=(0.0,))
    for one in Card.objects.filter(node_name="node-x"):
        passed(one, OLD, DAY)
        passed(one, NEW, DAY / 2, "failed")
    look(Policy.objects.get())
    assert len(drivers().losses) > 8
    assert asked() == few <= 9
