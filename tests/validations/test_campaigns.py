"""Campaigns: some runs at a time, in order, until done, stopped, or too many failed."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.models import Cluster
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, passed_by, wish
from validations import campaigns, tasks
from validations.models import Campaign, CampaignTarget, Run
from validations.planning import Refused
from validations.requests import KeyReused, request_run

NODES = 5


@pytest.fixture
def fleet(prod: Cluster) -> Cluster:
    for number in range(NODES):
        make_node(prod, f"node-{number}", "nvidia", 1, loads=(0.0,))
    return prod


def started(count: int = NODES, **more: Any) -> Campaign:
    spots = [("prod", f"node-{number}", "") for number in range(count)]
    return campaigns.create("cuda-vectoradd", spots, **more)[0]


def turn(cluster: Cluster, fake: FakeCluster, log: bytes = PASSED, exit_code: int = 0) -> list[str]:
    """Start what may start, let all of it end; the nodes that had their turn."""
    tasks.advance_campaigns()
    tasks.reconcile(cluster.pk)
    nodes = []
    for run in Run.objects.filter(state="pending").order_by("id"):
        nodes.append(run.node_name)
        fake.end(run.job_name, log, exit_code)
    tasks.reconcile(cluster.pk)
    return nodes


def test_a_campaign_takes_its_targets_in_order_some_at_a_time(fleet: Cluster, fake: FakeCluster) -> None:
    campaign = started(max_parallel=2)
    assert turn(fleet, fake) == ["node-0", "node-1"]
    assert turn(fleet, fake) == ["node-2", "node-3"]
    assert turn(fleet, fake) == ["node-4"]
    assert turn(fleet, fake) == []
    campaign.refresh_from_db()
    assert campaign.state == "done"
    assert campaign.ended_at is not None
    assert campaigns.progress(campaign) == {
        "left": 0, "not_tested": 0, "skipped": 0, "active": 0, "passed": NODES, "warning": 0, "failed": 0, "errored": 0,
    }  # fmt: skip
    assert Run.objects.filter(campaign=campaign).count() == NODES


def test_runs_under_way_count_against_the_parallel(fleet: Cluster, fake: FakeCluster) -> None:
    campaign = started(max_parallel=2)
    for _ in range(3):
        tasks.advance_campaigns()
    assert Run.objects.count() == 2
    assert campaigns.progress(campaign)["active"] == 2


def test_a_campaign_stops_after_so_many_failures(fleet: Cluster, fake: FakeCluster) -> None:
    campaign = started(max_parallel=1, stop_after_failures=2)
    for _ in range(5):
        turn(fleet, fake, FAILED, 1)
    campaign.refresh_from_db()
    assert (campaign.state, campaign.state_reason) == ("stopped", "2 runs failed or ended with errors.")
    assert Run.objects.count() == 2


def test_a_paused_campaign_starts_nothing_and_goes_on_when_resumed(fleet: Cluster, fake: FakeCluster) -> None:
    campaign = started(max_parallel=1)
    turn(fleet, fake)
    campaigns.change(campaign, "pause")
    assert turn(fleet, fake) == []
    with pytest.raises(campaigns.WrongState, match="paused"):
        campaigns.change(campaign, "pause")
    campaigns.change(campaign, "resume")
    assert turn(fleet, fake) == ["node-1"]
    campaigns.change(campaign, "stop")
    assert turn(fleet, fake) == []
    with pytest.raises(campaigns.WrongState):
        campaigns.change(campaign, "resume")


def test_a_target_that_the_suite_cannot_run_on_is_skipped_with_the_reason(fleet: Cluster, fake: FakeCluster) -> None:
    make_node(fleet, "win", "directx", 1, loads=(0.0,))
    campaign, _ = campaigns.create("cuda-vectoradd", [("prod", "win", ""), ("prod", "node-0", "")], max_parallel=1)
    assert turn(fleet, fake) == ["node-0"]
    said = CampaignTarget.objects.get(node_name="win").skipped
    assert "linux" in said
    assert not said.startswith("node:"), "whoever started the campaign has filled in no field of this name"
    assert campaigns.progress(campaign)["skipped"] == 1


def test_a_place_that_another_run_holds_waits_and_the_others_go_on(fleet: Cluster, fake: FakeCluster) -> None:
    other, _ = request_run(wish(node="node-0"))
    campaign = started(2, max_parallel=1)
    tasks.advance_campaigns()
    assert list(Run.objects.filter(campaign=campaign).values_list("node_name", flat=True)) == ["node-1"]
    passed_by(other, fleet)
    for run in Run.objects.all():
        fake.end(run.job_name, PASSED)
    tasks.reconcile(fleet.pk)
    assert turn(fleet, fake) == ["node-0"]


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"suite": "nope"}, "suite"),
        ({"options": {"color": "red"}}, "options.color"),
        ({"max_parallel": 0}, "max_parallel"),
        ({"stop_after_failures": 0}, "stop_after_failures"),
        ({"spots": []}, "targets"),
        ({"spots": [("prod", "gone", "")]}, "targets"),
        ({"spots": [("nowhere", "node-0", "")]}, "targets"),
    ],
)
def test_a_campaign_that_makes_no_sense_is_refused_with_the_field(
    fleet: Cluster, wrong: dict[str, Any], field: str
) -> None:
    asked: dict[str, Any] = {"suite": "cuda-vectoradd", "spots": [("prod", "node-0", "")]} | wrong
    with pytest.raises(Refused) as caught:
        campaigns.create(asked.pop("suite"), asked.pop("spots"), **asked)
    assert list(caught.value.problems) == [field]
    assert Campaign.objects.count() == 0


def test_one_key_makes_one_campaign(fleet: Cluster, django_user_model: Any) -> None:
    user = django_user_model.objects.create_user("olga")
    first = started(2, user=user, key="k")
    assert started(2, user=user, key="k").pk == first.pk
    with pytest.raises(KeyReused):
        started(3, user=user, key="k")
    assert Campaign.objects.count() == 1
