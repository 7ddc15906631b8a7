"""Jobs that the cluster does not let us delete: tried ever more rarely, said once, and nobody is kept busy by them."""

from __future__ import annotations

import logging
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from inventory.models import Cluster
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import PASSED, later, launched, passed_by
from validations import tasks
from validations.lifecycle.removal import later as next_try
from validations.models import Launcher, Run
from wording.said import Said, restored


def deletes(fake: FakeCluster) -> int:
    return sum(call.startswith("DELETE") for call in fake.calls)


def stuck(prod: Cluster, fake: FakeCluster) -> Run:
    """A run that has ended and whose Job may not be deleted."""
    run = launched(prod)
    fake.fail("DELETE", "/jobs/", 403, 'jobs.batch is forbidden: User "u" cannot delete resource "jobs"')
    fake.end(run.job_name, PASSED)
    return passed_by(run, prod)


def a_minute(prod: Cluster, run: Run) -> None:
    """Of the schedule: every two seconds a pass, where there is something to do."""
    for _ in range(30):
        if tasks.dispatch_reconcilers():
            tasks.reconcile(prod.pk)
        later(run, 2)
        Launcher.objects.update(swept_at=F("swept_at"))


def test_a_forbidden_delete_makes_few_calls_and_one_line_a_minute(
    prod: Cluster, fake: FakeCluster, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, "validations"):
        run = stuck(prod, fake)
        assert deletes(fake) == 1
        before = len(fake.calls)
        a_minute(prod, run)
        assert deletes(fake) <= 5
        assert len(fake.calls) - before < 20
        assert len([one for one in caplog.records if "still exists in the cluster" in one.getMessage()]) == 1
        fake.faults.clear()
        later(run, 600)
        assert passed_by(run, prod, 2).job_removed
        assert len([one for one in caplog.records if "is away now" in one.getMessage()]) == 1
    assert fake.jobs == {}


def test_the_wait_grows_to_ten_minutes() -> None:
    now = timezone.now()
    waits = [(next_try(now, tries) - now) // timedelta(seconds=1) for tries in range(1, 10)]
    assert waits == [0, 10, 20, 40, 80, 160, 320, 600, 600]


def test_a_finalizer_is_named_and_makes_no_further_delete(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    fake.end(run.job_name, PASSED)
    metadata = fake.jobs[run.job_name]["metadata"]
    fake.fail("DELETE", "/jobs/", 200, body=b"{}")
    passed_by(run, prod)
    metadata |= {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["example.com/keep"]}
    for _ in range(4):
        later(run, 700)
        passed_by(run, prod)
    assert "example.com/keep" in run.last_error
    assert deletes(fake) == 1


def test_a_job_of_no_run_backs_off_too(prod: Cluster, fake: FakeCluster) -> None:
    run = stuck(prod, fake)
    Run.objects.all().delete()
    tasks.reconcile(prod.pk)
    (entry,) = Launcher.objects.get().strays.values()
    assert "which belongs to no run" in entry[2]
    assert isinstance(restored(entry[2], entry[3]), Said)
    tasks.reconcile(prod.pk)
    count = deletes(fake)
    tasks.reconcile(prod.pk)
    assert deletes(fake) == count
    fake.jobs.clear()
    tasks.reconcile(prod.pk)
    assert Launcher.objects.get().strays == {}
    assert run.pk


def test_pages_and_commands_say_how_many_stay_and_why(
    prod: Cluster, fake: FakeCluster, client: Client, admin_user: Any
) -> None:
    run = stuck(prod, fake)
    client.force_login(admin_user)
    page = client.get(reverse("cluster", args=[prod.name])).content.decode()
    assert "1 Job to be deleted remains in the cluster." in page
    assert "still exists in the cluster" in client.get(reverse("run", args=[run.pk])).content.decode()
    out = StringIO()
    call_command("cluster", "list", stdout=out)
    assert "1 Job to be deleted remains" in out.getvalue()
