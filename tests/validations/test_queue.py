"""The queue at size: a pass reads what it can start, not what waits; who waits is told why, and nobody waits for ever."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.models import Cluster, Node
from runtime.clock import database_now
from runtime.heartbeats import beat
from runtime.models import Role
from tests.factories import make_cluster, make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import codes, later, launched, passed_by, wish
from validations import campaigns, querysets, tasks
from validations.lifecycle import queue
from validations.models import Campaign, CampaignTarget, Launcher, Run
from validations.requests import request_run


def queued(cluster: Cluster, count: int, node: str = "node-{}", prefix: str = "q", **more: Any) -> list[Run]:
    """Runs in the queue, by rows, each of a suite of its own: their nodes need not be there."""
    fields = {"cluster": cluster, "namespace": "n", "state_since": timezone.now()} | more
    numbers = range(count)
    rows = [Run(id=f"{prefix}{n:014}", node_name=node.format(n), suite=f"s{n}", **fields) for n in numbers]
    return Run.objects.bulk_create(rows)


def copies(run: Run, count: int, **named: str) -> None:
    """So many runs that were asked for as this one. named: columns in which they differ, {} stands for the number."""
    rows = [copy.copy(run) for _ in range(count)]
    for number, row in enumerate(rows):
        row.pk = f"copy{number:012}"
        for column, value in named.items():
            setattr(row, column, value.format(number))
    Run.objects.bulk_create(rows)


def queries(work: Callable[[], Any]) -> int:
    with CaptureQueriesContext(connection) as caught:
        work()
    return len(caught)


@pytest.mark.sweep
@pytest.mark.parametrize(("limit", "node"), [("MAX_RUNS_PER_CLUSTER", "node-{}"), ("MAX_RUNS_PER_NODE", "gpu-1")])
def test_ten_thousand_in_the_queue_cost_a_pass_as_many_queries_as_fifty(
    prod: Cluster, fake: FakeCluster, settings: Any, limit: str, node: str
) -> None:
    setattr(settings, limit, 1)
    run = launched(prod)
    fake.pod(run.job_name, unschedulable="no room")
    tasks.reconcile(prod.pk)
    counts = []
    for size in (50, 10_000):
        Run.objects.filter(state="queued").delete()
        queued(prod, size, node)
        counts.append(queries(lambda: tasks.reconcile(prod.pk)))
    assert Run.objects.filter(state="queued").count() == 10_000
    # A pass that takes some seconds on a busy machine renews its lease in between.
    assert abs(counts[1] - counts[0]) <= 2
    assert counts[0] < 40


def test_a_full_node_and_a_full_user_hold_up_nobody_else(prod: Cluster, settings: Any, django_user_model: Any) -> None:
    settings.MAX_RUNS_PER_NODE = settings.MAX_RUNS_PER_USER = 1
    greedy, modest = (django_user_model.objects.create_user(name) for name in ("greedy", "modest"))
    queued(prod, 150, "busy", "a")
    queued(prod, 150, "node-{}", "b", requested_by=greedy)
    queued(prod, 1, "free", "c", requested_by=modest)
    taken = [run.pk[0] for run in queue.claimed(prod.pk, [], database_now())]
    assert taken == ["a", "b", "c"]


def test_a_run_without_room_comes_again_and_blocks_no_head(
    prod: Cluster, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAX_RUNS_PER_CLUSTER = 2
    queued(prod, 6)
    no_room = {"q00000000000000", "q00000000000001", "q00000000000002"}
    monkeypatch.setattr("validations.lifecycle.claim.no_room", lambda run: "no room" if run.pk in no_room else "")
    under_way: list[Run] = []
    for _ in range(2):
        now = timezone.now()
        under_way += queue.claimed(prod.pk, under_way, now)
    assert [run.pk for run in under_way] == ["q00000000000003", "q00000000000004"]
    no_room.clear()
    settings.MAX_RUNS_PER_CLUSTER = 6
    for run in Run.objects.filter(state="queued"):
        later(run, 6)
    under_way += queue.claimed(prod.pk, under_way, timezone.now())
    assert {run.pk for run in under_way} == {f"q{number:014}" for number in range(6)}


def test_a_pass_ends_some_runs_of_nodes_that_are_gone_however_many_slots_are_free(
    prod: Cluster, fake: FakeCluster, settings: Any
) -> None:
    tasks.reconcile(prod.pk)
    run, _ = request_run(wish())
    run.delete()
    counts = []
    for size in (30, 300):
        settings.MAX_RUNS_PER_CLUSTER = size
        Run.objects.all().delete()
        copies(run, size, node_name="gone-{}")
        counts.append(queries(lambda: tasks.reconcile(prod.pk)))
        ended = Run.objects.filter(state="ended")
        assert [codes(one) for one in ended] == [["target-gone"]] * queue.MOST_LOST
    assert fake.created == []
    assert abs(counts[1] - counts[0]) <= 2
    assert counts[0] < 41 * queue.MOST_LOST + 30


def test_a_run_whose_node_is_there_begins_though_many_before_it_have_lost_theirs(
    prod: Cluster, fake: FakeCluster
) -> None:
    run, _ = request_run(wish())
    copies(run, 100, node_name="gone-{}")
    Run.objects.filter(pk=run.pk).update(due_at=timezone.now())
    assert passed_by(run, prod).state == "pending"
    assert fake.created == [run.job_name]


def test_a_pass_tries_some_runs_without_room_and_the_next_one_others(
    prod: Cluster, fake: FakeCluster, settings: Any
) -> None:
    make_node(prod, "share", "gpushare", 4, loads=(0.0, 0.4, 1.0, 0.0))
    tasks.reconcile(prod.pk)
    run, _ = request_run(wish(node="share", card="3"))
    run.delete()
    Node.objects.filter(name="share").update(ready=False)
    tried = Run.objects.filter(pending_message="Node share is not ready.")
    counts = []
    for size in (60, 600):
        settings.MAX_RUNS_PER_CLUSTER = size
        Run.objects.all().delete()
        copies(run, size, card_key="card-{}")
        counts.append(queries(lambda: tasks.reconcile(prod.pk)))
        assert tried.count() == queue.MOST_WITHOUT_ROOM
        tasks.reconcile(prod.pk)
        assert tried.count() == 2 * queue.MOST_WITHOUT_ROOM
    assert fake.created == []
    assert abs(counts[1] - counts[0]) <= 2
    assert counts[0] < 15 * queue.MOST_WITHOUT_ROOM + 30


def test_cancelled_and_overdue_runs_end_some_at_a_time(prod: Cluster, fake: FakeCluster, settings: Any) -> None:
    settings.MAX_RUNS_PER_CLUSTER = 1
    launched(prod)
    queued(prod, 60, cancel_requested_at=timezone.now())
    tasks.reconcile(prod.pk)
    assert Run.objects.filter(state="queued").count() == 10
    tasks.reconcile(prod.pk)
    assert Run.objects.filter(state="queued").count() == 0


def test_why_a_queued_run_waits_is_said_when_somebody_looks(prod: Cluster, fake: FakeCluster, settings: Any) -> None:
    settings.MAX_RUNS_PER_CLUSTER = 1
    beat(Role.LAUNCH)
    launched(prod)
    queued(prod, 3)
    tasks.reconcile(prod.pk)
    said = {run.pending_message for run in querysets.runs().filter(state="queued")}
    assert said == {"Limit of active runs in this cluster reached: 1 (GPUDASH_MAX_RUNS_PER_CLUSTER)."}
    whole = querysets.run_whole("q00000000000001")
    assert whole is not None
    assert whole.pending_reason == "NoSlot"
    assert set(Run.objects.filter(state="queued").values_list("pending_message", flat=True)) == {""}
    assert queries(lambda: list(querysets.runs())) == 5


def test_a_run_that_no_worker_launches_says_so(prod: Cluster, fake: FakeCluster) -> None:
    (run,) = queued(prod, 1)
    (seen,) = querysets.runs().filter(pk=run.pk)
    assert seen.pending_reason == "no-worker"
    assert seen.pending_message.startswith("launch worker (queue launch) not seen yet: runs stay queued")
    assert "gpudash worker launch" in seen.pending_message
    beat(Role.LAUNCH)
    (seen,) = querysets.runs().filter(pk=run.pk)
    assert (seen.pending_reason, seen.pending_message) == ("", "")


def test_an_overdue_run_ends_with_the_reason_of_its_waiting(prod: Cluster, fake: FakeCluster, settings: Any) -> None:
    settings.MAX_RUNS_PER_CLUSTER = 1
    launched(prod)
    (run,) = queued(prod, 1)
    later(run, 86_401)
    assert codes(passed_by(run, prod))[0] == "timeout"
    assert "GPUDASH_MAX_RUNS_PER_CLUSTER" in run.reasons[0]["text"]


def test_a_hundred_clusters_are_looked_over_in_as_many_queries_as_two(db: None) -> None:
    counts = []
    for size in (2, 100):
        for number in range(Cluster.objects.count(), size):
            make_cluster(f"c{number}")
        tasks.dispatch_reconcilers()
        Launcher.objects.update(swept_at=timezone.now(), reached_at=timezone.now())
        counts.append(queries(tasks.dispatch_reconcilers))
    assert counts[0] == counts[1]


def test_a_campaign_of_thousands_starts_with_few_queries_for_each_run(prod: Cluster, fake: FakeCluster) -> None:
    counts = []
    for size in (20, 2_500):
        Campaign.objects.all().delete()
        Run.objects.all().delete()
        campaign = Campaign.objects.create(suite="cuda-vectoradd", max_parallel=1)
        CampaignTarget.objects.bulk_create(
            CampaignTarget(campaign=campaign, position=number, cluster=prod, node_name="gpu-1", card_key=f"c{number}")
            for number in range(size)
        )
        CampaignTarget.objects.filter(position__lt=size - 1).update(skipped="not today")
        counts.append(queries(lambda row=campaign: campaigns.advance(row.pk)))  # type: ignore[misc]
    assert counts[0] == counts[1]


def test_a_campaign_does_not_wait_behind_places_that_are_held(prod: Cluster, fake: FakeCluster) -> None:
    request_run(wish())  # one run of this suite on some card of gpu-1
    make_node(prod, "free", "nvidia", 1, loads=(0.0,))
    campaign = Campaign.objects.create(suite="cuda-vectoradd", max_parallel=1)
    nodes = [*["gpu-1"] * 300, "free"]
    CampaignTarget.objects.bulk_create(
        CampaignTarget(campaign=campaign, position=number, cluster=prod, node_name=node, card_key="")
        if node == "free"
        else CampaignTarget(campaign=campaign, position=number, cluster=prod, node_name=node, card_key=f"c{number}")
        for number, node in enumerate(nodes)
    )
    Run.objects.update(card_requested="0")
    assert campaigns.advance(campaign.pk) == 1
    assert Run.objects.get(campaign=campaign).node_name == "free"


def test_a_campaign_of_a_retired_suite_ends_with_the_reason_and_stops_no_other(
    prod: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    retired, broken = (Campaign.objects.create(suite=suite) for suite in ("of-another-version", "nvidia-smi"))
    good = campaigns.create("cuda-vectoradd", [("prod", "gpu-1", "")])[0]
    CampaignTarget.objects.create(campaign=broken, position=0, cluster=prod, node_name="gpu-1")
    whole = campaigns.request_run

    def sometimes(wish: Any, *args: Any, **more: Any) -> Any:
        if wish.suite == "nvidia-smi":
            raise RuntimeError("a mistake")
        return whole(wish, *args, **more)

    monkeypatch.setattr(campaigns, "request_run", sometimes)
    tasks.advance_campaigns()
    for row in (retired, broken, good):
        row.refresh_from_db()
    assert (retired.state, broken.state, good.state) == ("stopped", "stopped", "running")
    assert "of-another-version" in retired.state_reason
    assert "RuntimeError" in broken.state_reason
    assert Run.objects.filter(campaign=good).count() == 1
