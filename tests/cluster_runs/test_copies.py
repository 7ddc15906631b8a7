"""A copy of the database beside production, both with workers, on the real API server; and a kubelet that swallows bytes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connections

from inventory.models import Cluster
from tests.cluster_runs.conftest import add_node
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.cluster_runs.test_runs import drive, jobs
from tests.processes import Processes
from tests.services import wait_until
from tests.validations.recorded import PASSED, wish
from validations.models import Run
from validations.requests import request_run

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300, func_only=True)]
WORKER = [sys.executable, "-m", "tests.cluster_runs.worker"]


class Copy:
    """Another database of the same server, made of this one."""

    def __init__(self, folder: Path) -> None:
        settings = connections["default"].settings_dict
        self._server = f"postgresql://{settings['USER']}@{settings['HOST']}:{settings['PORT']}"
        connections.close_all()
        self._original = settings["NAME"]
        self._on("postgres", f'CREATE DATABASE staging TEMPLATE "{settings["NAME"]}"')
        self.processes = Processes(folder, f"{self._server}/staging")

    def _on(self, database: str, sql: str) -> list[Any]:
        with psycopg.connect(f"{self._server}/{database}", autocommit=True) as connection:
            cursor = connection.execute(sql)  # type: ignore[call-overload]
            return list(cursor.fetchall()) if cursor.description else []

    def ask(self, sql: str) -> Any:
        return self._on("staging", sql)[0][0]

    def change(self, sql: str) -> None:
        self._on("staging", sql)

    def end(self) -> None:
        self.processes.stop()
        self._on("postgres", "DROP DATABASE staging WITH (FORCE)")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "staging"
    made.mkdir(mode=0o700)
    return made


def test_a_copy_beside_production_leaves_its_jobs_alone_and_says_so(
    real: Cluster, kubelet: Kubelet, processes: Processes, folder: Path
) -> None:
    add_node(real, kubelet, "twin", script=Script(PASSED, hangs=True))
    run, _ = request_run(wish(node="twin"))
    drive(real, run, lambda: run.state == "running")
    copy = Copy(folder)
    try:
        copy.change("UPDATE validations_run SET cancel_requested_at = now()")
        copy.processes.start("copy", WORKER, {})
        wait_until(lambda: copy.ask("SELECT lock_state FROM validations_launcher") == "other", "the copy knows", 60)
        passes = copy.ask("SELECT token FROM validations_launcher")
        processes.start("production", WORKER, {})
        wait_until(lambda: copy.ask("SELECT token FROM validations_launcher") > passes + 5, "it passes on", 60)
        assert jobs(kubelet) == [run.job_name]
        assert "take-over real" in copy.processes.call("cluster", "list")
        kubelet.scripts["twin"] = Script(PASSED)
        wait_until(lambda: Run.objects.filter(pk=run.pk, job_removed=True).exists(), "production ends its run", 60)
        run.refresh_from_db()
        assert (run.verdict, run.log_complete) == ("passed", True), run.reasons
        assert copy.ask("SELECT state FROM validations_run") == "running"
        processes.stop()
        assert "launches here" in copy.processes.call("cluster", "take-over", "real")
        wait_until(lambda: copy.ask("SELECT state FROM validations_run") == "ended", "the copy took over", 60)
    finally:
        copy.end()


def test_a_kubelet_that_swallows_bytes_holds_up_only_its_own_runs(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "deaf", script=Script(PASSED, swallows=True))
    add_node(real, kubelet, "hears")
    hung, _ = request_run(wish(node="deaf"))
    drive(real, hung, lambda: hung.log_tries > 0 or hung.state == "collecting")
    for _ in range(2):
        good, _ = request_run(wish(node="hears"))
        drive(real, good)
        assert good.verdict == "passed"
    hung.refresh_from_db()
    assert hung.active
    kubelet.scripts["deaf"] = Script(PASSED)
    drive(real, hung, patience_s=150)
    assert (hung.verdict, hung.log_complete) == ("passed", True), hung.reasons
