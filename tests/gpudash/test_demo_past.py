"""The demo's past: what pages show of days before the fleet was there; it agrees with itself and with the product's rules."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client, override_settings

from accounts.local import local_admin
from accounts.roles import Role
from fleetsim import Fleet, serve
from fleetsim.labels import DRIVER, NEW_DRIVER
from gpudash.demo_past import Past, campaigns, notifications, policies
from gpudash.demo_past.clock import Times
from gpudash.demo_past.rows import Rows
from gpudash.demo_past.runs import PEOPLE, Runs
from gpudash.demo_past.seats import seats
from gpudash.demo_programs import demo_programs
from gpudash.demo_receiver import DemoReceiver
from inventory.catalogue import CATALOGUE
from inventory.charges.month import charge, month_before, this_month
from inventory.failures.look import look
from inventory.history import recorder, series
from inventory.idle import allocations
from inventory.models import (
    Allocation,
    Card,
    Cluster,
    ComponentChange,
    FailureLook,
    Finding,
    HistoryDay,
    HistoryMinute,
    NamespaceAllocation,
    NodeChange,
    NodeTotals,
    Subject,
)
from notifications import manage
from notifications.deliver import deliver
from notifications.manage import ChannelDraft
from notifications.models import Channel, Delivery, Silence
from notifications.sending.addresses import parse_allowed
from runtime.clock import database_now
from tests.cast import make_user, signed_in
from tests.database import connected_to
from tests.pages.reading import get
from validations import baseline
from validations.lifecycle.judge import judge
from validations.models import Campaign, CampaignTarget, LastResult, Measurement, PolicyCard, Run, State

#: One of each of the first kinds: cards by memory, whole ones, Windows, several exporters. Days: more than a week.
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


@pytest.fixture(scope="module")
def demo(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory, django_db_blocker: Any) -> tuple[Path, Past]:
    """A fleet whose time stands still, measured twice, with its past: made once, in a file that each test copies."""
    folder = tmp_path_factory.mktemp("past")
    file = Path(shutil.copy(migrated_file, folder / "demo.sqlite3"))
    programs = demo_programs()
    fleet = Fleet(nodes=NODES, seed=1, now=time.time(), programs=programs)
    past = Past(fleet, programs, days=DAYS, pause_s=0)
    with django_db_blocker.unblock(), connected_to(file), serve(fleet, live=False) as server:
        call_command("cluster", "add", "demo", "--kubeconfig", str(server.kubeconfig(folder / "kubeconfig")))
        call_command("cluster", "set", "demo", "--exporters-directly")
        call_command("sync", "--once")
        call_command("sync", "--once")
        recorder.record()  # the first minute that the product writes down itself
        look()  # the schedule's, when no pod has failed yet
        notifications.make(Cluster.objects.get(), local_admin(), "http://127.0.0.1:9/messages")
        past.write(Cluster.objects.get())
    return file, past


@pytest.fixture
def written(demo: tuple[Path, Past], tmp_path: Path, django_db_blocker: Any) -> Iterator[Written]:
    file, past = demo
    own = Path(shutil.copy(file, tmp_path / "own.sqlite3"))
    with django_db_blocker.unblock(), connected_to(own):
        yield Written(Cluster.objects.get(), past)


def _day(subject: Subject, key: str, written: Written) -> series.Series:
    window = series.window_named("7d")
    assert window is not None
    return series.series(written.cluster.pk, subject, key, window, written.began)


def _viewer() -> Client:
    return signed_in(make_user("vera", Role.VIEWER))


def test_charts_have_values_no_gap_and_sums_that_are_sums(written: Written) -> None:
    cards = Card.objects.filter(removed_at=None)
    whole = _day(Subject.CLUSTER, "", written)
    assert {"used", "allocated", "utilization", "activity", "total", "cards", "measured"} <= set(whole.columns)
    by_card = {card.pk: _day(Subject.CARD, str(card.pk), written).columns for card in cards}
    for place in range(whole.length):
        used = [columns["used"][place] for columns in by_card.values() if "used" in columns]
        known = [value for value in used if value is not None]
        if known:
            assert whole.columns["measured"][place] == pytest.approx(len(known), abs=1)
            assert whole.columns["used"][place] == pytest.approx(sum(known), rel=0.01)
    # No gap: of each step of the week something is known.
    assert [value is not None for value in whole.columns["used"]] == [True] * whole.length
    utilization = {round(value, 2) for value in whole.columns["utilization"] if value is not None}
    assert len(utilization) > 10  # it is no flat line
    nodes = [_day(Subject.NODE, row.node_name, written).columns for row in NodeTotals.objects.all()]
    allocated = [sum(one["allocated"][place] or 0 for one in nodes if "allocated" in one) for place in (10, 100, 250)]
    assert allocated == pytest.approx([whole.columns["allocated"][place] for place in (10, 100, 250)])
    # Charts of some hours are drawn from minutes.
    hours = series.window_named("6h")
    assert hours is not None
    # …without a gap between the past and what the product writes down itself.
    own = HistoryMinute.objects.filter(subject=Subject.CLUSTER).latest("at")
    near = series.series(written.cluster.pk, Subject.CLUSTER, "", hours, own.at)
    assert [value is not None for value in near.columns["used"]] == [True] * near.length
    allocated = [value for value in near.columns["allocated"] if value is not None]
    assert max(abs(one - other) for one, other in pairwise(allocated)) < 0.3 * allocated[-1]
    assert set(HistoryDay.objects.values_list("subject", flat=True)) == set(Subject.values)


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
    assert {node: allocated for node, _, _, allocated, *_free in of_nodes} == totals
    # Nobody had more of a card than there is, but where it is so now.
    over = set(Card.objects.filter(state="over").values_list("pk", flat=True))
    sizes = dict(Card.objects.values_list("pk", "memory_total_bytes"))
    for hours in (30, 90, 180):
        for card, _, allocated in Rows(written.cluster, nodes, written.times).at(written.times.until - hours * 3600)[0]:
            assert card in over or not allocated or allocated <= (sizes[card] or allocated), (card, hours)


def test_runs_are_what_their_logs_say_and_nothing_is_of_tomorrow(written: Written) -> None:
    now = datetime.now(UTC)
    runs = list(Run.objects.all())
    verdicts = Counter(run.verdict for run in runs)
    assert len(runs) > 40
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
        assert run.requested_by_name in PEOPLE
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


def test_validations_were_lost_by_an_upgrade_and_regained(written: Written) -> None:
    """A card that passed on the old driver, then its node was upgraded, then it passed on the new one."""
    assert written.past.upgrade.begins
    for node, begin in written.past.upgrade.begins.items():
        at = datetime.fromtimestamp(begin, UTC)
        changes = NodeChange.objects.filter(node_name=node).order_by("at").values_list("what", "before", "after")
        assert list(changes) == [("cordoned", "", "yes"), ("driver", DRIVER, NEW_DRIVER), ("cordoned", "yes", "")]
        versions = ComponentChange.objects.filter(node_name=node).order_by("at").values_list("version_after", flat=True)
        assert (versions[0], versions.last()) == (DRIVER, NEW_DRIVER)
        drivers = Run.objects.filter(node_name=node).values_list("created_at", "driver_version")
        assert {driver for made, driver in drivers if made < at} <= {DRIVER}
        assert {driver for made, driver in drivers if made > at + timedelta(hours=1)} <= {NEW_DRIVER}
        during = at + timedelta(minutes=5)
        assert not Allocation.objects.filter(node_name=node, started_at__lt=during, ended_at__gt=during).exists()
    both = [
        {run.driver_version for run in Run.objects.filter(node_name=node, verdict="passed", campaign__isnull=False)}
        for node in written.past.upgrade.begins
    ]
    assert {DRIVER, NEW_DRIVER} in both


def test_a_card_is_suspect_after_the_failures_of_its_pods(written: Written) -> None:
    """Although the schedule has looked before the past was there, and looks once an hour."""
    assert FailureLook.objects.get().suspects
    page = get(_viewer(), "/suspects")
    assert "No failed pods recorded" not in page.text
    assert page.rows


def test_last_month_is_charged_and_a_week_of_waste_is_known(written: Written) -> None:
    last = month_before(this_month(database_now()))
    found = charge(written.cluster, last)
    assert found.since is not None
    assert found.since.date() == last
    assert sum(row.card_hours for row in found.rows if row.namespace) > 0.4 * float(found.card_hours)
    rows = NamespaceAllocation.objects.filter(by="namespace")
    assert any(row.idle_week_byte_seconds for row in rows)
    assert any(row.unused_week_byte_seconds for row in rows)


def test_a_run_of_a_policy_gave_way_to_a_pod(written: Written) -> None:
    past = written.past
    policies.make(written.cluster, make_user("olga", Role.OPERATOR))
    found = seats(written.cluster, past._uses)
    runs = Runs(written.cluster, found, past.programs, past.upgrade, past.times, past.seed)
    policies.Nights(written.cluster, runs, past.times).write(lambda: None)
    gave_way = list(Run.objects.filter(policy__isnull=False, verdict="skipped").order_by("pk"))
    assert len({run.policy_id for run in gave_way}) == len(gave_way) > 0  # one of a policy
    assert {run.reason_code for run in gave_way} == {"preempted"}
    run = gave_way[0]
    assert run.reason_text.startswith("Preempted by a pod of higher priority: default-scheduler")
    assert not run.measurements.exists()
    # It says nothing of its card.
    assert not PolicyCard.objects.filter(run=run).exists()
    assert Run.objects.filter(policy=run.policy, verdict__in=("passed", "failed")).exists()
    page = get(_viewer(), f"/policies/{run.policy_id}")
    assert f"Last skipped run: {run.node_name}" in page.text


def test_no_page_is_empty(written: Written) -> None:
    viewer = _viewer()
    held = Allocation.objects.exclude(ended_at=None).exclude(card=None).order_by("-ended_at")[0]
    page = get(viewer, f"/cards/{held.card_id}?window=90d")
    assert "ended" in [row[1] for row in page.tables["Allocations of the card"]]
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


def test_it_is_the_same_for_the_same_fleet(tmp_path: Path) -> None:
    def uses() -> list[object]:
        fleet = Fleet(nodes=NODES, seed=3, now=1_780_000_000.0)
        return [use for _, _, use in Past(fleet, (), days=2)._uses]

    assert uses() == uses()


def test_of_a_large_fleet_the_first_nodes_have_a_past() -> None:
    past = Past(Fleet(nodes=120, seed=1), (), days=1)
    assert not past.whole
    assert f"for the first {past.nodes} nodes only" in past.words
    assert 20 < past.nodes < 120


def test_a_channel_has_its_log_one_delivery_was_refused_and_one_finding_is_acknowledged(written: Written) -> None:
    team, on_call = (Channel.objects.get(name=name) for name in (notifications.TEAM, notifications.ON_CALL))
    states = Counter(team.deliveries.values_list("state", flat=True))
    assert states["delivered"] >= 4
    assert set(states) == {"delivered"}
    refused = on_call.deliveries.get()
    assert (refused.state, refused.answer, on_call.failing_since is None) == ("failed", notifications.REFUSED, False)
    silence = Silence.objects.get()
    assert silence.finding is not None
    assert silence.until > written.began
    for row in Delivery.objects.all():
        assert row.title
        assert row.started_at is not None
        assert row.created_at < row.started_at <= written.began


@pytest.mark.django_db
def test_the_receiver_of_the_demo_takes_a_message() -> None:
    receiver = DemoReceiver()
    try:
        values = {"url": receiver.url, "secrets": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
        channel = manage.create_channel(ChannelDraft(name="x", kind="webhook", settings=values))
        row = manage.test_channel(channel)
        with override_settings(NOTIFY_ALLOW=parse_allowed(["127.0.0.1"])):
            deliver(channel.pk)
        row.refresh_from_db()
        assert (row.state, row.answer) == ("delivered", "HTTP 204")
    finally:
        receiver.close()


@pytest.mark.django_db
def test_a_campaign_of_an_earlier_demo_goes_with_its_cluster(cluster: Cluster) -> None:
    """Also one that the demo started as its local administrator."""
    kept, _lost = (
        Campaign.objects.create(
            name=name, suite="cuda-vectoradd", requested_by=local_admin(), requested_by_name="local"
        )
        for name in ("kept", "lost")
    )
    CampaignTarget.objects.create(campaign=kept, position=0, cluster=cluster, node_name="gpu-1")
    campaigns.forget()
    assert list(Campaign.objects.all()) == [kept]
