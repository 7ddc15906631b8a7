"""Suspects: the page with the button, REST and the command; and who sees what."""

from __future__ import annotations

import io
import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.failures.look import look
from inventory.history import packed
from inventory.models import Allocation, Card, Cluster, HistoryMinute, PodFailure, Subject
from runtime.scope import Scope, seeing
from tests.factories import make_node
from tests.pages.reading import get
from tests.pages.validations.rows import make_run
from validations.models import Measurement, Run
from validations.suspects import suspects

pytestmark = pytest.mark.django_db


def fail(one: Allocation, code: int = 1) -> None:
    PodFailure.objects.create(
        cluster_id=one.cluster_id,
        node_name=one.node_name,
        pod_uid=one.pod_uid,
        namespace=one.namespace,
        pod=one.pod,
        container="main",
        exit_code=code,
        at=timezone.now(),
    )


@pytest.fixture
def bad(cluster: Cluster) -> Card:
    """Twelve nodes of four cards; on one card, workloads of four teams have failed."""
    for number in range(12):
        make_node(cluster, f"n{number:02}", "nvidia", 4, loads=(1.0,))
    card = Card.objects.filter(node_name="n03").order_by("pk")[0]
    before = Allocation.objects.get(card=card)
    for team in range(4):
        before.pk, before.pod_uid, before.pod = None, f"uid-{team}", f"train-{team}"
        before.namespace, before.owner_name, before.ended_at = f"team-{team}", "train", timezone.now()
        before.save()
        fail(before, 134)
    assert look() == 1
    assert look() == 0
    return card


def test_the_page_names_the_card_with_its_evidence_and_a_button(admin: Client, bad: Card) -> None:
    page = get(admin, "/suspects")
    [row] = page.tables["Suspects"]
    assert row[0].startswith("n03 · card")
    assert row[1].startswith("4 of 4 failed pods, of 4 namespaces; 4 of 5 workloads; by chance")
    assert f"/cards/{bad.pk}" in page.links
    assert any("/validations/new?" in link and "n03" in link for link in page.links)


def test_rest_and_the_command_say_the_same(viewer: Client, bad: Card) -> None:
    found = viewer.get("/api/v1/suspects").json()
    [one] = found["suspects"]
    assert (one["card_id"], one["exit_codes"], one["days"]) == (bad.pk, [134], 1)
    out = io.StringIO()
    call_command("suspects", "-o", "json", stdout=out)
    assert json.loads(out.getvalue()) == found
    assert viewer.get("/api/v1/suspects?x=1").status_code == 400


def test_counts_are_the_same_for_all_and_clusters_out_of_scope_are_not_read(bad: Card) -> None:
    with seeing(Scope(namespaces=frozenset({(bad.cluster_id, "team-0")}))):
        assert [one.of.found and one.of.found.pods for one in suspects().rows] == [4]
    with seeing(Scope(namespaces=frozenset())):
        assert suspects().rows == ()


def test_the_page_counts_nothing(bad: Card) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert len(suspects().rows) == 1
    assert len(queries) == 4
    assert not any("inventory_allocation" in one["sql"] for one in queries.captured_queries)


def test_nothing_is_listed_without_failures_and_before_the_first_look(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(1.0,))
    assert suspects() == ((), 0, 0, None)
    look()
    found = suspects()
    assert found[:3] == ((), 0, 0)
    assert found.looked_at is not None


def slow(card: Card, value: float = 300.0, verdict: str = "warning") -> Run:
    """A last result that is an outlier of its pool."""
    run = make_run(
        card.cluster, node=card.node_name, card=card, verdict=verdict, measurements={"gflops": (value, "GFLOP/s")}
    )
    Measurement.objects.filter(run=run).update(pool_median=467.0, pool_spread=2.0, pool_targets=14)
    return run


def test_a_slow_card_is_listed_with_its_measurement(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(1.0,))
    first, second, third, _ = Card.objects.order_by("index")
    run = slow(first)
    slow(second, 500.0)
    slow(third, verdict="passed")
    [one] = viewer.get("/api/v1/suspects").json()["suspects"]
    assert (one["card_id"], one["workloads"], one["chance"], one["activity_difference"]) == (first.pk, None, None, None)
    [told] = one["measurements"]
    assert (told["measurement"], told["value"], told["median"], told["targets"], told["run"]) == (
        "gflops",
        300.0,
        467.0,
        14,
        run.pk,
    )
    assert told["deviations"] == pytest.approx(56.3, abs=0.1)
    assert "gflops 300 GFLOP/s; median of 14 others 467 GFLOP/s; 56.3 deviations worse" in get(viewer, "/suspects").text
    with seeing(Scope(namespaces=frozenset({(cluster.pk, "team-0")}))):
        assert suspects().rows == ()


def train(cluster: Cluster, *activity: int | None, minutes: int = 120) -> list[Card]:
    """A job of some cards that began three hours ago; their activity in thousandths, each minute of the last hours."""
    make_node(cluster, "job", "nvidia", len(activity), loads=(1.0,) * len(activity))
    now = timezone.now()
    Allocation.objects.filter(node_name="job").update(
        namespace="team-a", owner_kind="Job", owner_name="train", mode="whole", started_at=now - timedelta(hours=3)
    )
    cards = list(Card.objects.filter(node_name="job").order_by("index"))
    columns = {packed.ACTIVITY: list(activity)}
    for back in range(minutes + 1):
        at = now.replace(second=0, microsecond=0) - timedelta(minutes=back)
        HistoryMinute.objects.create(
            cluster=cluster,
            subject=Subject.CARD,
            part=0,
            at=at,
            data=packed.pack_minute(packed.Minute([card.pk for card in cards], columns)),
        )
    return cards


def test_a_card_that_is_idle_within_a_busy_job_is_listed(viewer: Client, cluster: Cluster) -> None:
    cards = train(cluster, 960, 100, 950, 970)
    look()
    [one] = viewer.get("/api/v1/suspects").json()["suspects"]
    assert one["card_id"] == cards[1].pk
    assert (one["activity_difference"]["activity_ratio"], one["activity_difference"]["others_ratio"]) == (
        pytest.approx(0.1),
        0.96,
    )
    assert one["activity_difference"]["samples"] >= 23
    assert "10% active in 2 h; 3 other cards of its job 96%" in get(viewer, "/suspects").text
    out = io.StringIO()
    call_command("suspects", stdout=out)
    assert "10% active" in out.getvalue()


@pytest.mark.parametrize(
    ("activity", "minutes"), [((960, 100, 950, 970), 50), ((960, 100, 950), 120), ((None,) * 4, 120)]
)
def test_too_little_is_known_of_a_job(cluster: Cluster, activity: tuple[int | None, ...], minutes: int) -> None:
    train(cluster, *activity, minutes=minutes)
    look()
    assert suspects().rows == ()


def test_two_kinds_of_evidence_come_first(bad: Card) -> None:
    """The other card is slower."""
    other = Card.objects.filter(node_name="n05").order_by("pk")[0]
    slow(bad)
    slow(other, 100.0)
    first, second = suspects().rows
    assert (first.of.card, len(first.evidence)) == (bad, 2)
    assert (second.of.card, len(second.evidence)) == (other, 1)
