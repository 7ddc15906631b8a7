"""A cluster that says no to the launcher: each no has its reason, the run ends in its time, and a cancel always ends it."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from inventory.models import Cluster
from tests.sweeps import first_and_rest
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, codes, later, launched, passed_by, wish
from validations import campaigns, tasks
from validations.lifecycle.reconcile import with_work
from validations.mended import resume_mended
from validations.models import Campaign, CampaignTarget, Launcher, Run
from validations.planning import Refused
from validations.requests import NotAllowed, request_cancel, request_run
from validations.wanted import wanted

#: (method, path) of each call that roles may refuse, with the words for its rule.
LIST_JOBS = ("GET", "/jobs$", "list jobs")
LIST_PODS = ("GET", "/pods$", "list pods")
CREATE = ("POST", "/jobs$", "create jobs")
GET_LOG = ("GET", "/log$", "get pods/log")
DELETE = ("DELETE", "/jobs/", "delete jobs")


def refuse(fake: FakeCluster, call: tuple[str, str, str], **more: Any) -> Any:
    verb, resource = call[2].split(" ")
    message = (
        f'{resource} is forbidden: User "u" cannot {verb} resource "{resource}" in the namespace "gpudash-validations"'
    )
    return fake.fail(call[0], call[1], 403, message, **more)


def granted(cluster: Cluster, but: str = "", minutes_ago: float = 1.0) -> None:
    """As a check of the permissions would have left it. but: the call that it found to be refused."""
    rows = [
        {
            "verb": one.verb,
            "resource": one.full_resource,
            "allowed": f"{one.verb} {one.resource}" != but,
            "needed_for": one.needed_for,
            "optional": True,
        }
        for one in wanted()
    ]
    at = timezone.now() - timedelta(minutes=minutes_ago)
    Cluster.objects.filter(pk=cluster.pk).update(permissions=rows, launcher_checked_at=at)


@pytest.mark.parametrize("call", [LIST_JOBS, LIST_PODS], ids=lambda call: call[2])
def test_a_refused_look_says_which_rule_is_missing_and_ends_within_the_steps_time(
    prod: Cluster, fake: FakeCluster, call: tuple[str, str, str]
) -> None:
    run = launched(prod)
    refuse(fake, call)
    passed_by(run, prod)
    assert (run.active, run.pending_reason) == (True, "forbidden")
    for words in (call[2], "gpudash-validations", "deploy/launcher-role.yaml"):
        assert words in run.last_error
    assert "not reached" not in run.last_error
    later(run, 601, seen=False)
    passed_by(run, prod)
    assert (run.verdict, codes(run)) == ("errored", ["forbidden"])
    assert not run.job_removed
    fake.faults.clear()
    assert passed_by(run, prod, 2).job_removed
    assert fake.jobs == {}


def test_credentials_that_are_not_accepted_are_told_from_a_cluster_that_is_away(
    prod: Cluster, fake: FakeCluster
) -> None:
    run = launched(prod)
    fake.fail("GET", "/jobs$", 401, "Unauthorized")
    assert passed_by(run, prod).pending_reason == "unauthorized"
    assert "kubeconfig" in run.last_error
    later(run, 601, seen=False)
    assert codes(passed_by(run, prod)) == ["unauthorized"]


def test_a_cluster_that_is_away_reads_as_that(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.fail("GET", "/jobs$", 0)
    assert passed_by(run, prod).pending_reason == "unreachable"
    assert "Cannot reach the cluster" in run.last_error


def test_a_kubeconfig_that_cannot_be_used_is_a_reason_of_its_own(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    Cluster.objects.update(kubeconfig="/nowhere/config")
    assert passed_by(run, prod).pending_reason == "kubeconfig"
    later(run, 601, seen=False)
    assert codes(passed_by(run, prod)) == ["kubeconfig"]


def test_a_job_that_may_not_be_created_ends_the_run_with_the_rule_to_add(prod: Cluster, fake: FakeCluster) -> None:
    refuse(fake, CREATE)
    run = launched(prod)
    assert (run.verdict, codes(run), run.job_removed) == ("errored", ["forbidden"], True)
    assert "create jobs" in run.reasons[0]["text"]
    assert "deploy/launcher-role.yaml" in run.reasons[0]["text"]


def test_a_namespace_that_is_being_deleted_is_named(prod: Cluster, fake: FakeCluster) -> None:
    text = "jobs is forbidden: unable to create new content in namespace x because it is being terminated"
    fake.fail("POST", "/jobs$", 403, text)
    assert codes(launched(prod)) == ["namespace"]


def test_a_create_time_out_is_not_held_up_by_a_refused_delete(prod: Cluster, fake: FakeCluster) -> None:
    fake.fail("POST", "/jobs$", 500)
    refuse(fake, DELETE)
    run = launched(prod)
    later(run, 601)
    assert codes(passed_by(run, prod)) == ["timeout"]


def test_a_log_that_may_not_be_read_is_told_while_it_runs_and_is_no_pass(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    refuse(fake, GET_LOG)
    fake.pod(run.job_name, node="gpu-1", running=True)
    assert "get pods/log" in passed_by(run, prod).last_error
    fake.end(run.job_name, PASSED)
    assert "get pods/log" in passed_by(run, prod).last_error
    assert run.state == "collecting"
    later(run, 301)
    passed_by(run, prod)
    assert (run.verdict, "forbidden" in codes(run), "log-incomplete" in codes(run)) == ("errored", True, True)


def test_a_job_that_may_not_be_deleted_is_remembered_and_said(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    no = refuse(fake, DELETE)
    fake.end(run.job_name, PASSED)
    passed_by(run, prod, 2)
    assert (run.verdict, run.job_removed) == ("passed", False)
    assert "still exists in the cluster" in run.last_error
    assert "delete jobs" in run.last_error
    no.times = 0
    later(run, 11)
    assert passed_by(run, prod, 2).job_removed
    assert fake.jobs == {}


def test_a_job_that_cannot_be_deleted_does_not_keep_the_reconciler_busy(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    refuse(fake, DELETE)
    fake.end(run.job_name, PASSED)
    passed_by(run, prod, 2)
    assert tasks.dispatch_reconcilers() == 0
    later(run, 11)
    assert tasks.dispatch_reconcilers() == 1


#: How far a run is when it is cancelled.
AT: dict[str, Any] = {
    "creating": lambda fake, run: None,
    "pending": lambda fake, run: fake.pod(run.job_name, unschedulable="no room"),
    "pulling": lambda fake, run: fake.pod(run.job_name, node="gpu-1", waiting="ContainerCreating"),
    "running": lambda fake, run: fake.pod(run.job_name, node="gpu-1", running=True),
    "collecting": lambda fake, run: fake.end(run.job_name, PASSED),
}
#: What is wrong with the cluster: (method, path, status).
WRONG = [
    ("GET", "/jobs$", 403), ("GET", "/jobs$", 401), ("GET", "/jobs$", 0), ("GET", "/jobs$", 503), ("GET", "/pods$", 403),
    ("GET", "/log$", 403), ("GET", "/log$", 500), ("DELETE", "/jobs/", 403), ("DELETE", "/jobs/", 500), ("GET", "/jobs/", 403),
]  # fmt: skip


@pytest.mark.parametrize("wrong", first_and_rest(WRONG), ids=str)
@pytest.mark.parametrize("state", AT)
def test_a_cancel_ends_a_run_in_every_state_whatever_the_cluster_says(
    prod: Cluster, fake: FakeCluster, state: str, wrong: tuple[str, str, int]
) -> None:
    lost = fake.fail("POST", "/jobs$", 500) if state == "creating" else None
    run = launched(prod)
    if state == "collecting":
        fake.fail("GET", "/log$", 500)
    AT[state](fake, run)
    assert passed_by(run, prod).state == state
    fake.fail(*wrong, "scripted")
    assert request_cancel(run, None)
    passed_by(run, prod)
    assert (run.state, run.verdict, codes(run)[0]) == ("ended", "errored", "cancelled")
    assert run.job_removed <= (state == "creating")
    fake.faults.clear()
    assert passed_by(run, prod, 2).job_removed
    assert fake.jobs == {}
    assert lost is None or fake.created == []


def test_a_run_in_the_queue_is_cancelled_without_any_worker(prod: Cluster, fake: FakeCluster) -> None:
    run, _ = request_run(wish())
    assert request_cancel(run, None)
    run.refresh_from_db()
    assert (run.state, codes(run), run.job_removed) == ("ended", ["cancelled"], True)
    assert fake.calls == []
    assert not request_cancel(run, None)


def test_a_run_that_only_makes_mistakes_is_cancelled_too(
    prod: Cluster, fake: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = launched(prod), launched(prod, suite="nvidia-smi")

    def broken(run: Run, *_: Any) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr("validations.lifecycle.step.advance", broken)
    assert "RuntimeError" in passed_by(first, prod).last_error
    assert "RuntimeError" in passed_by(second, prod).last_error
    request_cancel(first, None)
    assert codes(passed_by(first, prod)) == ["cancelled"]


def test_a_run_whose_suite_is_gone_still_ends(prod: Cluster, fake: FakeCluster) -> None:
    first, second = launched(prod), launched(prod, suite="nvidia-smi")
    Run.objects.filter(pk=first.pk).update(suite="of-another-version")
    for run in (first, second):
        fake.end(run.job_name, PASSED)
    passed_by(first, prod)
    second.refresh_from_db()
    assert (codes(first), first.verdict, second.state) == (["suite-missing"], "errored", "ended")


def test_a_cluster_that_was_refused_the_last_time_is_not_asked_again_at_once(prod: Cluster, fake: FakeCluster) -> None:
    no = refuse(fake, CREATE)
    launched(prod)
    with pytest.raises(NotAllowed, match="create jobs") as caught:
        request_run(wish())
    assert "deploy/launcher-role.yaml" in str(caught.value)
    assert Run.objects.count() == 1
    no.times = 0
    granted(prod, minutes_ago=0)
    assert launched(prod).state == "pending"


def test_a_refusal_is_not_believed_for_long(prod: Cluster, fake: FakeCluster) -> None:
    refuse(fake, CREATE)
    launched(prod)
    old = (timezone.now() - timedelta(minutes=6)).isoformat()
    Launcher.objects.update(refused={**Launcher.objects.get().refused, "at": old})
    assert request_run(wish())[1]


@pytest.mark.parametrize("one", wanted(), ids=lambda one: f"{one.verb} {one.resource}")
def test_a_rule_that_the_last_check_did_not_find_refuses_the_launch(prod: Cluster, one: Any) -> None:
    granted(prod, but=f"{one.verb} {one.resource}")
    if one.resource in ("events", "runtimeclasses", "priorityclasses", "leases"):
        assert request_run(wish())[1]
        return
    with pytest.raises(NotAllowed, match=f"{one.verb} {one.resource}"):
        request_run(wish())
    granted(prod, but=f"{one.verb} {one.resource}", minutes_ago=16)
    assert request_run(wish())[1]


def test_what_was_checked_in_another_namespace_says_nothing(prod: Cluster, settings: Any) -> None:
    granted(prod, but="create jobs")
    settings.VALIDATION_NAMESPACE = "another"
    assert request_run(wish())[1]


def test_the_command_says_which_rule_is_missing(prod: Cluster) -> None:
    granted(prod, but="create jobs")
    with pytest.raises(CommandError, match=r"create jobs.*deploy/launcher-role\.yaml"):
        call_command("validate", "cuda-vectoradd", "--node", "gpu-1", stdout=StringIO())


def test_a_campaign_is_refused_as_a_whole(prod: Cluster) -> None:
    granted(prod, but="create jobs")
    with pytest.raises(Refused, match="create jobs"):
        campaigns.create("cuda-vectoradd", [("prod", "gpu-1", "")])
    assert Campaign.objects.count() == 0


def test_a_campaign_under_way_pauses_and_skips_nobody(prod: Cluster) -> None:
    campaign, _ = campaigns.create("cuda-vectoradd", [("prod", "gpu-1", "")])
    granted(prod, but="create jobs")
    campaigns.advance(campaign.pk)
    campaign.refresh_from_db()
    assert campaign.state == "paused"
    assert "create jobs" in campaign.state_reason
    assert CampaignTarget.objects.get().skipped == ""
    granted(prod)
    campaigns.change(campaign, "resume")
    assert campaigns.advance(campaign.pk) == 1


@pytest.fixture
def paused(prod: Cluster) -> Campaign:
    """A campaign that met a launcher whose token was revoked."""
    campaign, _ = campaigns.create("cuda-vectoradd", [("prod", "gpu-1", "")])
    told = {"at": timezone.now().isoformat(), "code": "unauthorized", "text": "401", "call": "list jobs"}
    Launcher.objects.update_or_create(cluster=prod, defaults={"refused": told})
    campaigns.advance(campaign.pk)
    campaign.refresh_from_db()
    assert (campaign.state, campaign.resumes) == ("paused", True)
    return campaign


def test_a_campaign_that_credentials_paused_goes_on_when_they_are_taken_again(prod: Cluster, paused: Campaign) -> None:
    assert resume_mended() == 0
    Launcher.objects.filter(cluster=prod).update(refused={})
    assert resume_mended() == 1
    paused.refresh_from_db()
    assert (paused.state, paused.state_reason, paused.resumes) == ("running", "", False)
    assert campaigns.advance(paused.pk) == 1


def test_a_campaign_that_a_person_pauses_stays_so(prod: Cluster, paused: Campaign) -> None:
    campaigns.change(paused, "resume")
    campaigns.change(paused, "pause")
    Launcher.objects.filter(cluster=prod).update(refused={})
    assert resume_mended() == 0


def test_a_campaign_that_a_missing_rule_paused_waits_for_a_person(prod: Cluster) -> None:
    campaign, _ = campaigns.create("cuda-vectoradd", [("prod", "gpu-1", "")])
    granted(prod, but="create jobs")
    campaigns.advance(campaign.pk)
    granted(prod)
    assert resume_mended() == 0


def test_who_asks_has_the_credentials_tried_again_at_once(prod: Cluster, paused: Campaign) -> None:
    Launcher.objects.filter(cluster=prod).update(next_try_at=timezone.now() + timedelta(minutes=2))
    with pytest.raises(NotAllowed):
        request_run(wish())
    assert Launcher.objects.get(cluster=prod).next_try_at is None


def test_a_refusal_is_looked_at_again_in_its_time_though_no_run_is_under_way(prod: Cluster) -> None:
    now = timezone.now()
    told = {"at": now.isoformat(), "code": "unauthorized", "text": "401", "call": "list jobs"}
    row = {"swept_at": now, "next_try_at": now + timedelta(minutes=1)}
    Launcher.objects.update_or_create(cluster=prod, defaults=row)
    assert with_work() == []
    Launcher.objects.filter(cluster=prod).update(refused=told)
    assert with_work() == []
    Launcher.objects.filter(cluster=prod).update(next_try_at=now - timedelta(seconds=1))
    assert with_work() == [prod.pk]
