"""A copy of the database launches, deletes and ends nothing: the lock object names another, or is ahead."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from api.validations import metrics
from inventory.models import Cluster, Finding
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, codes, later, launched, passed_by, wish
from validations import maker as makers
from validations import querysets, tasks
from validations.lifecycle import lock
from validations.maker import MAKER_LABEL, maker
from validations.models import Launcher, Run
from validations.requests import request_run


@pytest.fixture
def process() -> Any:
    """What a process that starts does not know yet."""

    def forget() -> None:
        lock._renewed.clear()
        lock._ahead.clear()

    forget()
    return forget


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, process: Any) -> Any:
    """From now on the same rows are a copy in another place."""

    def move() -> None:
        for module in ("lifecycle.reconcile", "lifecycle.building", "planning", "tasks"):
            monkeypatch.setattr(f"validations.{module}.maker", lambda: "another-place")
        process()

    return move


def the_lock(fake: FakeCluster) -> Any:
    (found,) = fake.leases.values()
    return found


def test_the_launcher_names_itself_in_the_cluster_and_on_its_jobs(
    prod: Cluster, fake: FakeCluster, process: Any
) -> None:
    run = launched(prod)
    assert fake.jobs[run.job_name]["metadata"]["labels"][MAKER_LABEL] == maker()
    row = Launcher.objects.get()
    assert the_lock(fake)["spec"]["holderIdentity"] == maker()
    assert (row.lock_state, row.lock_epoch) == ("ours", the_lock(fake)["spec"]["leaseTransitions"])
    writes = sum(call.startswith(("PUT", "POST")) for call in fake.calls)
    passed_by(run, prod, 3)
    assert sum(call.startswith(("PUT", "POST")) for call in fake.calls) == writes, "renewed once a minute"


def test_a_copy_in_another_place_touches_nothing_and_says_so(
    prod: Cluster, fake: FakeCluster, elsewhere: Any, client: Client, admin_user: Any
) -> None:
    run = launched(prod)
    done = launched(prod, suite="nvidia-smi")
    fake.end(done.job_name, PASSED)
    waiting, _ = request_run(wish(suite="cuda-nbody"))
    elsewhere()
    jobs = set(fake.jobs)
    Run.objects.filter(pk=run.pk).delete()
    tasks.reconcile(prod.pk)
    tasks.launch(waiting.pk)
    for row in (done, waiting):
        row.refresh_from_db()
    assert (set(fake.jobs), done.state, waiting.state) == (jobs, "pending", "queued")
    assert "take-over prod" in querysets.runs().get(pk=waiting.pk).pending_message
    assert "take-over prod" in querysets.runs().get(pk=done.pk).pending_message
    out = StringIO()
    call_command("cluster", "list", stdout=out)
    assert "Another database" in out.getvalue()
    client.force_login(admin_user)
    assert "take-over prod" in client.get(reverse("cluster", args=["prod"])).content.decode()
    assert Finding.objects.get(code="launcher-copy").ended_at is None
    assert 'gpudash_launcher_copy{cluster="prod"} 1' in "".join(metrics.families())


def test_take_over_makes_it_the_launcher_also_of_the_jobs_that_are_there(
    prod: Cluster, fake: FakeCluster, elsewhere: Any
) -> None:
    run = launched(prod)
    elsewhere()
    tasks.reconcile(prod.pk)
    call_command("cluster", "take-over", "prod", stdout=StringIO())
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod).verdict == "passed"
    assert the_lock(fake)["spec"]["holderIdentity"] == "another-place"
    assert passed_by(run, prod).job_removed
    assert not Finding.objects.filter(code="launcher-copy", ended_at=None).exists()


def test_an_old_backup_waits_until_nobody_raises_the_epoch(
    prod: Cluster, fake: FakeCluster, process: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED)
    the_lock(fake)["spec"]["leaseTransitions"] += 5
    process()
    assert passed_by(run, prod).state == "pending"
    assert Launcher.objects.get().lock_state == "ahead"
    monkeypatch.setattr(lock, "UNCHANGED_S", 0.0)
    the_lock(fake)["metadata"]["resourceVersion"] = "raised"
    assert passed_by(run, prod).state == "pending", "somebody has raised it"
    assert passed_by(run, prod).verdict == "passed"
    assert Launcher.objects.get().lock_epoch == the_lock(fake)["spec"]["leaseTransitions"] == 7


def test_a_role_that_knows_no_leases_launches_as_before_by_the_label_alone(
    prod: Cluster, fake: FakeCluster, elsewhere: Any
) -> None:
    fake.fail("GET", "/leases", 403, "forbidden")
    lock._renewed.clear()
    run = launched(prod)
    assert (run.state, Launcher.objects.get().lock_state) == ("pending", "not-allowed")
    elsewhere()
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert "created by another launcher" in run.last_error
    later(run, 601)
    assert codes(passed_by(run, prod, 2)) == ["job-of-other-launcher"]
    assert list(fake.jobs) == [run.job_name]
    assert not any(call.startswith("DELETE") for call in fake.calls)


def test_a_job_of_a_version_before_is_followed_and_reaped_only_when_a_run_of_ours_made_it(
    prod: Cluster, fake: FakeCluster, process: Any
) -> None:
    run = launched(prod)
    del fake.jobs[run.job_name]["metadata"]["labels"][MAKER_LABEL]
    labels = fake.jobs[run.job_name]["metadata"]["labels"] | {"gpudash.io/run": "0000000000abcde"}
    name = "gpudash-0000000000abcde"
    fake.jobs[name] = {"metadata": {"name": name, "uid": "o", "labels": labels}}
    fake.end(run.job_name, PASSED)
    assert passed_by(run, prod, 2).verdict == "passed"
    assert list(fake.jobs) == [name]


def test_the_maker_of_a_file_is_its_place(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = tmp_path / "machine-id"
    machine.write_text("abc\n")
    monkeypatch.setattr(makers, "_MACHINE", machine)
    here, there = makers._of_file(str(tmp_path / "a.sqlite3")), makers._of_file(str(tmp_path / "b.sqlite3"))
    assert here != there
    machine.unlink()
    assert makers._of_file(str(tmp_path / "a.sqlite3"))[0] not in ("", "abc")
