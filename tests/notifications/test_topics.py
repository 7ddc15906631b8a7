"""What can be told, from the rows of each part."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.marks import Mark
from inventory.models import Card, Cluster, Finding
from notifications.topics import KINDS, topics_of
from quarantine.models import QuarantineSwitch
from runtime.clock import database_now
from tests.factories import make_cluster, make_finding, make_node
from tests.factories.quarantine import make_case, mark_node
from tests.notifications.beds import channel, rule
from validations.ids import new_id
from validations.models import Campaign, CampaignTarget, Policy, PolicyCard, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def at() -> datetime:
    return database_now()


def told(about: str, at: datetime, **more: Any) -> list[tuple[str, str, int, str]]:
    """(code, severity, count, text) of what a rule about this would tell."""
    name = f"{about} {new_id()}"
    one = rule(channel(name), name, (about,), **{"least_severity": "info", **more})
    return [(topic.code, topic.severity, topic.count, topic.text) for topic in topics_of(one, at)]


def test_a_finding_alone_has_its_text_several_what_they_have_in_common(cluster: Cluster, at: datetime) -> None:
    make_finding(cluster, "card-hot", "warning", "gpu-1")
    for name in ("gpu-2", "gpu-3"):
        make_finding(cluster, "card-over-committed", "error", name)
    assert sorted(told("finding", at)) == [
        ("card-hot", "warning", 1, "card-hot on gpu-1: see the holders and move one of them."),
        ("card-over-committed", "error", 2, "Card overcommitted"),
    ]


def test_that_a_cluster_does_not_report_is_a_kind_of_its_own(cluster: Cluster, at: datetime) -> None:
    make_finding(cluster, "cluster-not-reporting")
    assert told("finding", at) == []
    assert [code for code, *_ in told("cluster", at)] == ["cluster-not-reporting"]


@pytest.fixture
def policy(cluster: Cluster, at: datetime) -> Policy:
    return Policy.objects.create(name="weekly", suite="cuda-vectoradd", max_age_s=7 * 86_400, evaluated_at=at)


def card(policy: Policy, cluster: Cluster, name: str, state: str, reason: str = "") -> None:
    PolicyCard.objects.create(
        policy=policy,
        cluster=cluster,
        node_name=name,
        card_key=f"GPU-{name}",
        state=state,
        reason=reason,
        since=policy.evaluated_at,
    )


def test_cards_lose_their_validation_by_a_failure_or_a_change_and_not_by_age(
    cluster: Cluster, policy: Policy, at: datetime
) -> None:
    for number in range(3):
        card(policy, cluster, f"gpu-{number}", "due", "driver-changed")
    card(policy, cluster, "gpu-3", "failed", "failed-confirmed")
    card(policy, cluster, "gpu-4", "failed", "failed-once")  # not certain yet
    card(policy, cluster, "gpu-5", "due", "expired")
    card(policy, cluster, "gpu-6", "due", "never-validated")
    card(policy, cluster, "gpu-7", "valid")
    assert sorted(told("validation", at)) == [
        ("validation-failed", "error", 1, "Validation failed under the policy weekly"),
        ("validation-lost", "warning", 3, "Validation lost under the policy weekly: the driver changed"),
    ]
    assert [code for code, *_ in told("validation", at, least_severity="error")] == ["validation-failed"]


def test_a_policy_that_cannot_be_met(policy: Policy, at: datetime) -> None:
    assert told("policy", at) == []
    Policy.objects.update(held="No PriorityClass gpudash-policy.")
    assert told("policy", at) == [
        ("policy-held", "warning", 1, "Policy weekly cannot be met: No PriorityClass gpudash-policy.")
    ]
    Policy.objects.update(paused=True)
    assert told("policy", at) == []


def test_a_campaign_that_ended(cluster: Cluster, at: datetime) -> None:
    names = {}
    for name, state, ended in (
        ("old", "done", 30),
        ("new", "done", 1),
        ("cut", "stopped", 1),
        ("now", "running", None),
    ):
        names[name] = Campaign.objects.create(
            name=name, suite="cuda-vectoradd", state=state, ended_at=at - timedelta(hours=ended) if ended else None
        )
    run = Run.objects.create(
        cluster=cluster,
        suite="cuda-vectoradd",
        node_name="gpu-1",
        state="ended",
        state_since=at,
        ended_at=at,
        verdict="failed",
    )
    CampaignTarget.objects.create(campaign=names["new"], position=0, cluster=cluster, node_name="gpu-1", run=run)
    assert sorted(told("campaign", at)) == [
        ("campaign-ended", "warning", 1, "Campaign cut was stopped"),
        ("campaign-ended", "warning", 1, "Campaign new ended: 1 cards failed or errored"),
    ]


def test_nodes_out_of_service_by_tool_and_what_is_recommended(cluster: Cluster, at: datetime) -> None:
    for name in ("gpu-1", "gpu-2", "gpu-3", "gpu-4"):
        make_node(cluster, name, "nvidia", 1)
    assert told("out-of-service", at) == []
    for name in ("gpu-1", "gpu-2"):
        mark_node(cluster, name, Mark(kind="cordon", tool="NVSentinel", since="2026-11-26T08:00:00Z", blocks=True))
    mark_node(cluster, "gpu-3", Mark(kind="taint", key="x.example/y", blocks=True, since="yesterday"))
    mark_node(cluster, "gpu-4", Mark(kind="condition", tool="NPD", key="GPUMissing"))  # keeps nothing away
    make_case(cluster, "gpu-1")
    assert sorted(told("out-of-service", at)) == [
        ("node-out-of-service", "warning", 1, "GPU nodes out of service in cluster prod, by an unknown tool"),
        ("node-out-of-service", "warning", 2, "GPU nodes out of service in cluster prod, by NVSentinel"),
        ("quarantine-recommended", "warning", 1, "Failed cards to take out of service in cluster prod"),
    ]


def test_automation_that_stopped_itself(cluster: Cluster, at: datetime) -> None:
    QuarantineSwitch.objects.create(automatic=True, tripped_at=at, tripped_reason="3 of 8 nodes are out.")
    assert told("out-of-service", at) == [
        ("quarantine-tripped", "error", 1, "Policies take no more nodes out of service: 3 of 8 nodes are out.")
    ]


def test_what_is_wrong_with_the_installation_is_told_to_who_sees_everything(cluster: Cluster, at: datetime) -> None:
    assert {code for code, *_ in told("installation", at)} >= {"process-missing"}
    assert told("installation", at, places="prod") == []


def test_a_rule_for_a_place_tells_of_nothing_else(cluster: Cluster, policy: Policy, at: datetime) -> None:
    other = make_cluster("other")
    for one in (cluster, other):
        make_node(one, "gpu-1", "nvidia", 1)
        make_finding(one, node_name="gpu-1")
        card(policy, one, "gpu-1", "failed", "failed-confirmed")
    for one in (cluster, other):
        mark_node(one, "gpu-1", Mark(kind="cordon", tool="kubectl", blocks=True))
    Policy.objects.update(held="requester unknown")
    Finding.objects.create(
        cluster=cluster, code="pod-waits", severity="error", pod="team-b/secret", text="secret", first_seen_at=at
    )
    everything = tuple(kind.name for kind in KINDS)
    one = rule(channel(), "of other", everything, least_severity="info", places="other")
    found = topics_of(one, at)
    assert {topic.about for topic in found} == {"finding", "validation", "out-of-service"}
    assert {topic.cluster for topic in found} == {"other"}
    one = rule(channel("team"), "of a team", everything, least_severity="info", places="prod/team-a")
    assert not [topic for topic in topics_of(one, at) if "secret" in topic.text]


def test_a_look_costs_the_same_at_any_size(cluster: Cluster, policy: Policy, at: datetime) -> None:
    one = rule(channel(), "all", tuple(kind.name for kind in KINDS), least_severity="info")
    numbers = []
    for size in (3, 60):
        for number in range(size):
            make_finding(cluster, node_name=f"gpu-{size}-{number}")
            card(policy, cluster, f"gpu-{size}-{number}", "failed", "failed-confirmed")
        with CaptureQueriesContext(connection) as queries:
            topics_of(one, at)
        numbers.append(len(queries))
    assert numbers[0] == numbers[1] <= 30
    assert Card.objects.count() == 0
