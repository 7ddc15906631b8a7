"""The demo's past: what pages show of days before the fleet was there; it agrees with itself and with the product's rules."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.roles import Role
from fleetsim import Fleet, serve
from gpudash.demo_past import Past
from gpudash.demo_past.clock import Times
from gpudash.demo_past.rows import Rows
from gpudash.demo_programs import demo_programs
from inventory.catalogue import CATALOGUE
from inventory.history import series
from inventory.idle import allocations
from inventory.models import Allocation, Card, Cluster, Finding, HistoryDay, NodeTotals, Subject
from tests.cast import make_user, signed_in
from tests.pages.reading import get
from validations import baseline
from validations.lifecycle.judge import judge
from validations.models import Campaign, LastResult, Measurement, Run, State

#: One of each of the first kinds: cards by memory, whole ones, Windows, several exporters. Days: more than to the hour of nothing.
NODES, DAYS = 18, 8


@dataclass(frozen=True)
class Written:
    cluster: Cluster
    past: Past

    @property
    def times(self) -> Times:
        return self.past.times

    @property
    def began(self) -> datetime:
        return datetime.fromtimestamp(self.times.until, UTC)


@pytest.fixture
def written(committed_database: None, tmp_path: Path) -> Iterator[Written]:
    """A fleet whose time stands still, measured twice, with its past."""
    programs = demo_programs()
    fleet = Fleet(nodes=NODES, seed=1, now=time.time(), programs=programs)
    past = Past(fleet, programs, days=DAYS, pause_s=0)
    with serve(fleet, live=False) as server:
        call_command("cluster", "add", "demo", "--kubeconfig", str(server.kubeconfig(tmp_path / "kubeconfig")))
        call_command("cluster", "set", "demo", "--exporters-directly")
        call_command("sync", "--once")
        call_command("sync", "--once")
        cluster = Cluster.objects.get()
        past.write(cluster)
        yield Written(cluster, past)


def _day(subject: Subject, key: str, written: Written) -> series.Series:
    window = series.window_named("7d")
    assert window is not None
    return series.series(written.cluster.pk, subject, key, window, written.began)


def _viewer() -> Client:
    return signed_in(make_user("vera", Role.VIEWER))


@pytest.mark.django_db(transaction=True)
def test_charts_have_values_a_gap_and_sums_that_are_sums(written: Written) -> None:
    cards = Card.objects.filter(removed_at=None)
    whole = _day(Subject.CLUSTER, "", written)
    assert {"used", "allocated", "utilization", "activity", "total", "cards", "measured"} <= set(whole.columns)
    by_card = {card.pk: _day(Subject.CARD, str(card.pk), written).columns for card in cards}
    begin, end = written.times.nothing
    gaps = 0
    for place in range(whole.length):
        used = [columns["used"][place] for columns in by_card.values() if "used" in columns]
        known = [value for value in used if value is not None]
        at = whole.begin.timestamp() + place * whole.step_s
        if begin <= at < end:
            gaps += 1
            assert not known, at
            assert all(column[place] is None for column in whole.columns.values())
        elif known:
            assert whole.columns["measured"][place] == pytest.approx(len(known), abs=1)
            assert whole.columns["used"][place] == pytest.approx(sum(known), rel=0.01)
    assert gaps == 2
    known_steps = sum(value is not None for value in whole.columns["used"])
    assert known_steps > 300
    utilization = {round(value, 2) for value in whole.columns["utilization"] if value is not None}
    assert len(utilization) > 10  # it is no flat line
    nodes = [_day(Subject.NODE, row.node_name, written).columns for row in NodeTotals.objects.all()]
    allocated = [sum(one["allocated"][place] or 0 for one in nodes if "allocated" in one) for place in (10, 100, 250)]
    assert allocated == pytest.approx([whole.columns["allocated"][place] for place in (10, 100, 250)])
    # One node's exporter was silent for two hours: what was allocated is known all the same.
    begin, end = written.times.silent
    silent = Card.objects.filter(removed_at=None, node_name=NodeTotals.objects.order_by("node_name").first().node_name)
    own = by_card[silent[0].pk]
    hours = [place for place in range(whole.length) if begin <= whole.begin.timestamp() + place * whole.step_s < end]
    assert len(hours) == 4
    assert [own["used"][place] for place in hours] == [None] * 4
    assert own["used"][hours[0] - 1] is not None
    # Charts of some hours are drawn from minutes.
    hours = series.window_named("6h")
    assert hours is not None
    near = series.series(written.cluster.pk, Subject.CLUSTER, "", hours, written.began - timedelta(minutes=1))
    assert sum(value is not None for value in near.columns["used"]) > 340
    assert set(HistoryDay.objects.values_list("subject", flat=True)) == set(Subject.values)


@pytest.mark.django_db(transaction=True)
def test_what_was_held_goes_over_into_what_is_held(written: Written) -> None:
    assert not Allocation.objects.filter(ended_at__gt=written.began + timedelta(seconds=1)).exists()
    ended = list(Allocation.objects.exclude(ended_at=None))
    assert len(ended) > 200
    assert all(row.ended_at is not None and row.started_at < row.ended_at for row in ended)
    # By the rule that adds up the past, the moment in which the fleet began is what the product says of it.
    nodes = list(NodeTotals.objects.values_list("node_name", flat=True))
    cards, of_nodes, _ = Rows(written.cluster, nodes, written.times).at(written.times.until - 0.001)
    now = dict(Card.objects.filter(removed_at=None).values_list("pk", "memory_allocated_bytes"))
    assert {card: allocated for card, _, allocated in cards} == now
    totals = dict(NodeTotals.objects.values_list("node_name", "memory_allocated_bytes"))
    assert {node: allocated for node, _, _, allocated in of_nodes} == totals
    # Nobody had more of a card than there is, but where it is so now.
    over = set(Card.objects.filter(state="over").values_list("pk", flat=True))
    sizes = dict(Card.objects.values_list("pk", "memory_total_bytes"))
    for hours in (30, 90, 180):
        for card, _, allocated in Rows(written.cluster, nodes, written.times).at(written.times.until - hours * 3600)[0]:
            assert card in over or not allocated or allocated <= (sizes[card] or allocated), (card, hours)


@pytest.mark.django_db(transaction=True)
def test_runs_are_what_their_logs_say_and_nothing_is_of_tomorrow(written: Written) -> None:
    now = datetime.now(UTC)
    runs = list(Run.objects.all())
    verdicts = Counter(run.verdict for run in runs)
    assert len(runs) > 60
    assert verdicts["passed"] > len(runs) / 2
    assert verdicts["failed"]
    for run in runs:
        assert run.state == State.ENDED
        assert run.ended_at is not None
        steps = list(run.steps.order_by("id").values_list("entered_at", flat=True))
        assert steps == sorted(steps)
        assert run.created_at == steps[0] < run.ended_at == steps[-1] <= written.began
        judged = judge(run)
        columns = judged.columns()
        assert {name: getattr(run, name) for name in columns} == columns
        assert baseline.stored(run) == judged.result.measurements
        assert run.job_removed
        assert not run.requested_by_id
    assert [run.pk for run in sorted(runs, key=lambda one: one.created_at)] == sorted(run.pk for run in runs)
    gflops = Measurement.objects.filter(name="gflops").values_list("run__node_name", "run__card_key", "value")
    points = Counter((node, card) for node, card, _ in gflops)
    often, count = points.most_common(1)[0]
    assert count > 3
    assert len({value for *place, value in gflops if tuple(place) == often}) == count
    assert Measurement.objects.exclude(baseline=None).exists()
    for last in LastResult.objects.all():
        newest = Run.objects.filter(node_name=last.node_name, card_key=last.card_key, suite=last.suite)
        assert last.run_id == newest.order_by("-ended_at", "-id").values_list("pk", flat=True)[0]
    for finding in Finding.objects.exclude(ended_at=None):
        assert finding.code in CATALOGUE
        assert finding.ended_at is not None
        assert written.began - timedelta(days=DAYS) <= finding.first_seen_at < finding.ended_at < now
    assert len(set(Finding.objects.exclude(ended_at=None).values_list("code", flat=True))) >= 5


@pytest.mark.django_db(transaction=True)
def test_no_page_is_empty(written: Written) -> None:
    viewer = _viewer()
    held = Allocation.objects.exclude(ended_at=None).exclude(card=None).order_by("-ended_at")[0]
    page = get(viewer, f"/cards/{held.card_id}")
    assert "Past allocations" in page.text
    assert held.pod in page.text
    assert "demo" in get(viewer, "/findings?ended=true").text
    assert len(get(viewer, "/findings?ended=true").rows) >= 5
    assert len(get(viewer, "/validations").rows) >= 20
    campaigns = get(viewer, "/validations/campaigns")
    for campaign in Campaign.objects.all():
        assert campaign.name in campaigns.text
        assert get(viewer, f"/validations/campaigns/{campaign.pk}").status == 200
        assert campaign.targets.count() == Run.objects.filter(campaign=campaign).count() > 0
    assert Campaign.objects.count() >= 1
    for address in ("?cluster=demo", "?cluster=demo&namespace=team-vision", f"?card={held.card_id}"):
        for window in ("6h", "7d", "30d"):
            history = get(viewer, f"/history{address}&window={window}")
            assert history.status == 200
            assert len(history.rows) > 5, (address, window)
    allocations.look()  # as the schedule does each minute
    idle = get(viewer, "/allocations/idle")
    assert len(idle.rows) >= 1
    assert any(row.allocation.pod in idle.text for row in allocations.idle_now())
    run = Run.objects.exclude(log_stored=0).order_by("-ended_at")[0]
    assert get(viewer, f"/validations/runs/{run.pk}").status == 200


@pytest.mark.django_db(transaction=True)
def test_it_is_the_same_for_the_same_fleet(tmp_path: Path) -> None:
    def uses() -> list[object]:
        fleet = Fleet(nodes=NODES, seed=3, now=1_780_000_000.0)
        return [use for _, _, use in Past(fleet, (), days=2)._uses]

    assert uses() == uses()


@pytest.mark.django_db(transaction=True)
def test_of_a_large_fleet_the_first_nodes_have_a_past() -> None:
    past = Past(Fleet(nodes=120, seed=1), (), days=1)
    assert not past.whole
    assert f"for the first {past.nodes} nodes only" in past.words
    assert 20 < past.nodes < 120
