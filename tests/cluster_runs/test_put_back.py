"""A backup of the database that was made in the midst of runs is put back under a running worker, on the real control plane."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import connections

from inventory.models import Cluster
from tests.cluster_runs.conftest import NAMESPACE, add_node
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.processes import Processes
from tests.services import Postgres, wait_until
from tests.validations.recorded import PASSED, codes, wish
from validations.models import Launcher, Run
from validations.requests import request_run

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
Wait = Callable[[Callable[[], bool], str], None]
WORKER = [sys.executable, "-m", "tests.cluster_runs.worker"]
HANGS, ENDS = Script(PASSED, hangs=True), Script(PASSED)


class Jobs:
    """All Jobs of the namespace that were ever seen: their names, and the UIDs that each has had."""

    def __init__(self, kubelet: Kubelet) -> None:
        self._admin, self.seen = kubelet.admin, dict[str, set[str]]()

    def now(self) -> list[str]:
        listed = [job["metadata"] for job in self._admin.list(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs")]
        for job in listed:
            self.seen.setdefault(job["name"], set()).add(job["uid"])
        return [job["name"] for job in listed]


@pytest.fixture
def until(kubelet: Kubelet) -> tuple[Jobs, Wait]:
    """Wait, and look at the Jobs meanwhile."""
    jobs = Jobs(kubelet)

    def wait(ready: Callable[[], bool], what: str) -> None:
        def look() -> bool:
            jobs.now()
            return ready()

        wait_until(look, what, 60.0, 0.1)

    return jobs, wait


def state(run: Run) -> str:
    return Run.objects.values_list("state", flat=True).get(pk=run.pk)


def test_a_backup_from_the_midst_of_runs_is_put_back_under_a_running_worker(
    real: Cluster,
    kubelet: Kubelet,
    processes: Processes,
    database_server: Postgres,
    tmp_path: Path,
    until: tuple[Jobs, Wait],
) -> None:
    jobs, wait = until
    for name in ("goes-on", "ends", "queued", "later"):
        add_node(real, kubelet, name, script=HANGS)
    goes_on, ends = (request_run(wish(node=name))[0] for name in ("goes-on", "ends"))
    worker = processes.start("worker", WORKER, {})
    wait(lambda: state(goes_on) == state(ends) == "running", "two run")
    # A worker that is away: what is asked for now waits in the queue, and so it stands in the backup.
    processes.stop()
    queued, _ = request_run(wish(node="queued"))
    database = str(connections["default"].settings_dict["NAME"])
    database_server.dump(database, tmp_path / "backup")

    worker = processes.start("worker", WORKER, {})
    wait(lambda: state(queued) == "running", "what was queued at the backup runs")
    later, _ = request_run(wish(node="later"))
    wait(lambda: state(later) == "running", "what was asked for after the backup runs")
    kubelet.scripts["ends"] = ENDS
    wait(lambda: Run.objects.filter(pk=ends.pk, job_removed=True).exists(), "one ends, and its Job goes")

    connections.close_all()
    database_server.restore(database, tmp_path / "backup", "--single-transaction")
    assert (state(goes_on), state(ends), state(queued)) == ("running", "running", "queued")
    assert not Run.objects.filter(pk=later.pk).exists()
    wait(lambda: Launcher.objects.get().lock_state == "ahead", "the worker sees that an old backup was put back")
    assert set(jobs.now()) == {goes_on.job_name, queued.job_name, later.job_name}, "nothing is launched or deleted yet"
    assert "restored from an old backup" in processes.call("cluster", "list")

    assert "launches here" in processes.call("cluster", "take-over", "real")
    wait(lambda: state(queued) == "running", "the queued run finds the Job that it had")
    wait(lambda: later.job_name not in jobs.now(), "the Job of the run that nobody knows any more goes")
    assert later.job_name in processes.log("worker").read_text()
    for name in ("goes-on", "queued"):
        kubelet.scripts[name] = ENDS
    mine = Run.objects.filter(pk__in=[goes_on.pk, ends.pk, queued.pk])
    wait(lambda: mine.filter(job_removed=True).count() == 3, "all that the backup knows are over")
    verdicts = dict(mine.values_list("pk", "verdict"))
    assert (verdicts[goes_on.pk], verdicts[queued.pk]) == ("passed", "passed"), verdicts
    # It had ended after the backup, and with its Job the log is gone.
    lost = Run.objects.get(pk=ends.pk)
    assert (lost.verdict, "job-deleted" in codes(lost)) == ("errored", True), lost.reasons
    assert jobs.now() == []
    assert {name: len(uids) for name, uids in jobs.seen.items()} == dict.fromkeys(
        (goes_on.job_name, ends.job_name, queued.job_name, later.job_name), 1
    ), "no run was launched twice"
    assert worker.poll() is None
