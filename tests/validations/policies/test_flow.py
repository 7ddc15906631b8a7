"""A policy from due to valid: its cards are tested, one failure is confirmed, what is in use is left alone."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from inventory.models import Card, Cluster, Node, NodeTotals
from runtime.clock import database_now
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED
from validations import tasks
from validations.models import Launcher, Policy, PolicyCard, PolicyCount, Run
from validations.policies import around, launch, manage
from validations.policies.advance import advance
from validations.policies.manage import PolicyDraft

NODES = 3


@pytest.fixture
def fleet(prod: Cluster) -> Cluster:
    for rows in (Card, Node, NodeTotals):
        rows.objects.filter(cluster=prod).delete()
    for number in range(NODES):
        make_node(prod, f"node-{number}", "nvidia", 1, loads=(0.0,))
    Launcher.objects.update_or_create(cluster=prod, defaults={"gives_way": True})
    return prod


def made(**more: Any) -> Policy:
    return manage.create(PolicyDraft(name="all cards", suite="cuda-vectoradd", **more))


def states() -> dict[str, str]:
    rows = PolicyCard.objects.order_by("node_name").values_list("node_name", "state", "reason")
    return {node: f"{state} {reason}".strip() for node, state, reason in rows}


def finish(cluster: Cluster, fake: FakeCluster, log: bytes = PASSED, code: int = 0) -> list[str]:
    """Let all runs that were started end."""
    tasks.reconcile(cluster.pk)
    nodes = []
    for run in Run.objects.filter(state="pending").order_by("node_name"):
        nodes.append(run.node_name)
        fake.end(run.job_name, log, code)
    tasks.reconcile(cluster.pk)
    return nodes


def test_due_cards_are_tested_and_are_valid_then(fleet: Cluster, fake: FakeCluster) -> None:
    policy = made(max_per_cluster=2)
    assert advance(database_now()) == 2
    assert Counter(states().values()) == {"running": 2, "due never-validated": 1}
    policy.refresh_from_db()
    assert policy.held == "1 not started: the limit per cluster is reached."
    assert advance(database_now()) == 0
    assert finish(fleet, fake) == ["node-0", "node-1"]
    assert advance(database_now()) == 1
    finish(fleet, fake)
    assert advance(database_now()) == 0
    assert set(states().values()) == {"valid"}
    policy.refresh_from_db()
    assert policy.held == ""
    assert PolicyCount.objects.get(policy=None).valid == NODES
    assert Run.objects.filter(policy=policy).count() == NODES


def test_the_job_gives_way(fleet: Cluster, fake: FakeCluster) -> None:
    made()
    advance(database_now())
    tasks.reconcile(fleet.pk)
    pods = [job["spec"]["template"]["spec"] for job in fake.jobs.values()]
    assert [pod["priorityClassName"] for pod in pods] == ["gpudash-policy"] * NODES


def test_without_the_priority_class_nothing_is_started_and_that_is_said(fleet: Cluster, fake: FakeCluster) -> None:
    fake.classes.clear()
    policy = made()
    Launcher.objects.update(swept_at=None)
    tasks.reconcile(fleet.pk)
    assert advance(database_now()) == 0
    policy.refresh_from_db()
    assert "PriorityClass gpudash-policy with preemptionPolicy Never" in policy.held
    fake.classes["gpudash-policy"] = {"value": -1, "preemptionPolicy": "PreemptLowerPriority"}
    Launcher.objects.update(swept_at=None)
    tasks.reconcile(fleet.pk)
    assert advance(database_now()) == 0, "it would take the place of others"
    fake.classes["gpudash-policy"] = {"value": -1, "preemptionPolicy": "Never"}
    Launcher.objects.update(swept_at=None)
    tasks.reconcile(fleet.pk)
    assert advance(database_now()) == NODES


def test_a_failure_is_confirmed_once_and_then_left_to_a_person(fleet: Cluster, fake: FakeCluster) -> None:
    made()
    now = database_now()
    advance(now)
    finish(fleet, fake, FAILED, 1)
    advance(now)
    assert set(states().values()) == {"failed failed-once"}
    assert Run.objects.count() == NODES, "not at once"
    later = now + timedelta(minutes=15)
    assert advance(later) == NODES
    finish(fleet, fake, FAILED, 1)
    advance(later)
    assert set(states().values()) == {"failed failed-confirmed"}
    assert set(PolicyCard.objects.values_list("failures", flat=True)) == {2}
    assert advance(later + timedelta(days=30)) == 0


def test_a_failed_card_is_tested_again_after_its_driver_changed(fleet: Cluster, fake: FakeCluster) -> None:
    Node.objects.update(driver_version="570.1")
    made()
    now = database_now()
    for minutes in (0, 15):
        advance(now + timedelta(minutes=minutes))
        finish(fleet, fake, FAILED, 1)
    Node.objects.update(driver_version="580.2")
    assert advance(now + timedelta(minutes=20)) == NODES
    finish(fleet, fake)
    advance(now + timedelta(minutes=20))
    assert set(states().values()) == {"valid"}


def test_a_new_driver_makes_all_cards_due(fleet: Cluster, fake: FakeCluster) -> None:
    Node.objects.update(driver_version="570.1")
    made()
    now = database_now()
    advance(now)
    finish(fleet, fake)
    Node.objects.filter(name="node-1").update(driver_version="580.2")
    assert advance(now) == 1
    assert states() == {"node-0": "valid", "node-1": "running", "node-2": "valid"}


def test_a_card_in_use_is_excluded_and_looked_at_again_before_its_job(fleet: Cluster, fake: FakeCluster) -> None:
    Card.objects.filter(node_name="node-0").update(allocations_count=1)
    made()
    assert advance(database_now()) == 2
    assert states()["node-0"] == "excluded in-use"
    # A pod takes the card between the choice and the creation of the Job.
    Card.objects.filter(node_name="node-1").update(allocations_count=1)
    assert finish(fleet, fake) == ["node-2"]
    run = Run.objects.get(node_name="node-1")
    assert (run.verdict, run.reason_code) == ("skipped", "in-use")
    advance(database_now())
    assert states() == {"node-0": "excluded in-use", "node-1": "excluded in-use", "node-2": "valid"}


def test_nothing_happens_outside_the_window_or_while_paused(fleet: Cluster, fake: FakeCluster) -> None:
    policy = made(window_cron="0 2 * * *", window_minutes=60, time_zone="Europe/Berlin")
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert advance(noon) == 0
    policy.refresh_from_db()
    assert policy.held == "Outside its window."
    night = datetime(2026, 3, 2, 1, 30, tzinfo=UTC)
    manage.pause_all(True)
    assert advance(night) == 0
    manage.pause_all(False)
    manage.pause(policy, True)
    assert advance(night) == 0
    manage.pause(policy, False)
    assert advance(night) == NODES


def test_the_switch_skips_runs_that_have_not_started(fleet: Cluster, fake: FakeCluster) -> None:
    made()
    assert advance(database_now()) == NODES
    manage.pause_all(True)
    assert finish(fleet, fake) == []
    assert set(Run.objects.values_list("verdict", flat=True)) == {"skipped"}


def test_errored_runs_are_tried_again_ever_later_and_are_no_failure(fleet: Cluster, fake: FakeCluster) -> None:
    made()
    now = database_now()
    advance(now)
    finish(fleet, fake, b"no verdict line", 0)
    advance(now)
    rows = PolicyCard.objects.all()
    assert {(row.state, row.tries, row.failures) for row in rows} == {("due", 1, 0)}
    assert advance(now + timedelta(minutes=5)) == 0
    assert advance(now + timedelta(minutes=15)) == NODES


def test_a_node_that_never_tells_the_card_is_tested_once_and_then_left_alone(prod: Cluster, fake: FakeCluster) -> None:
    """gpu-1 gives a pod any of its cards, and nothing says which."""
    Launcher.objects.update_or_create(cluster=prod, defaults={"gives_way": True})
    made()
    now = database_now()
    assert advance(now) == 1
    assert advance(now) == 0, "one run of a suite on such a node at a time"
    finish(prod, fake)
    assert Run.objects.get().card_key == ""
    assert advance(now + timedelta(hours=30)) == 0
    assert Counter(PolicyCard.objects.values_list("state", "reason")) == {("excluded", "card-unknown"): 4}
    assert advance(now + timedelta(days=15)) == 1, "perhaps an exporter tells it by now"


def test_a_process_that_ends_while_it_starts_runs_leaves_nothing_half(
    fleet: Cluster, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    made()
    real, calls = launch._start, []

    def ends_at_the_second(*args: Any) -> bool:
        calls.append(args)
        if len(calls) == 2:
            raise SystemExit
        return real(*args)

    monkeypatch.setattr(launch, "_start", ends_at_the_second)
    with pytest.raises(SystemExit):
        advance(database_now())
    assert Run.objects.count() == 0
    assert set(states().values()) == {"due never-validated"}
    monkeypatch.setattr(launch, "_start", real)
    assert advance(database_now()) == NODES
    assert advance(database_now()) == 0, "nothing starts twice"


def test_pending_pods_come_first_where_they_fit(
    fleet: Cluster, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(around, "_with_pending", lambda cluster: {(cluster, "node-0"), (cluster, "node-2")})
    policy = made()
    assert advance(database_now()) == 1
    assert states()["node-1"] == "running"
    policy.refresh_from_db()
    assert policy.held == "2 not started: a pending pod fits on the node."
