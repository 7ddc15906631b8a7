"""`gpudash parse_log` and `gpudash validate`, as a shell and a pipeline meet them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from inventory.models import Cluster, Node
from runtime.heartbeats import beat
from runtime.models import Role
from tests.pages.validations.rows import make_run
from tests.processes import ROOT
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED
from validations import tasks
from validations.management.commands.validate import Command
from validations.models import Run

GOLDEN = ROOT / "tests/validations/suites/golden"
CASES = [
    (folder.name, log, json.loads(log.with_suffix(".json").read_text()))
    for folder in sorted(GOLDEN.iterdir())
    if folder.is_dir()
    for log in sorted(folder.glob("*.log"))
    if log.with_suffix(".json").exists() and not log.with_suffix(".outcome.json").exists()
]


def parse(*args: str) -> str:
    out = io.StringIO()
    call_command("parse_log", *args, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize(("suite", "log", "expected"), CASES, ids=[f"{suite}-{log.stem}" for suite, log, _ in CASES])
def test_the_command_gives_what_the_golden_file_says(suite: str, log: Path, expected: dict[str, Any]) -> None:
    found = json.loads(parse(suite, str(log), "--exit-code", "0", "-o", "json"))
    assert set(found) == {"suite", "parser_version", "verdict", "reasons", "facts", "measurements"}
    assert (found["verdict"], found["facts"]) == (expected["verdict"], expected["facts"])


def test_without_an_exit_code_the_text_alone_is_judged_and_the_result_says_so(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(PASSED)
    found = json.loads(parse("cuda-vectoradd", str(log), "-o", "json"))
    assert found["verdict"] == "passed"
    assert "exit-code-unknown" in [reason["code"] for reason in found["reasons"]]


@pytest.mark.parametrize("code", ["1", "-2005270523", "2289696773", "137"])
def test_an_exit_code_takes_the_pass_away(tmp_path: Path, code: str) -> None:
    log = tmp_path / "log"
    log.write_bytes(PASSED)
    text = parse("cuda-vectoradd", str(log), "--exit-code", code)
    assert "passed" not in text.splitlines()[0]


def test_it_says_what_is_wrong_with_the_call(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cuda-vectoradd"):
        parse("nope", str(tmp_path / "log"))
    with pytest.raises(CommandError, match="cannot read"):
        parse("cuda-vectoradd", str(tmp_path / "missing"))
    with pytest.raises(CommandError, match="cannot read"):
        parse("cuda-vectoradd", str(tmp_path))


def test_it_reads_standard_input_and_needs_no_database(tmp_path: Path) -> None:
    environment = os.environ | {
        "GPUDASH_DATA_DIR": str(tmp_path / "data"),
        "GPUDASH_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none",
    }
    command = [sys.executable, "manage.py", "parse_log", "cuda-vectoradd", "-", "-o", "json", "--exit-code", "0"]
    done = subprocess.run(command, input=PASSED, capture_output=True, cwd=ROOT, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "passed"


def validate(*args: str) -> str:
    out = io.StringIO()
    call_command("validate", *args, stdout=out)
    return out.getvalue()


class Playing(Command):
    """The command, with the cluster's next step instead of each second of waiting."""

    poll_s = 0.0
    cluster: Cluster
    fake: FakeCluster
    log: bytes
    exit_code: int

    def _tell(self, run: Run, told: str) -> str:
        told = super()._tell(run, told)
        tasks.reconcile(self.cluster.pk)
        run.refresh_from_db()
        if run.state == "pending":
            self.fake.pod(run.job_name, node="gpu-1", waiting="ContainerCreating")
        elif run.state == "pulling":
            self.fake.end(run.job_name, self.log, self.exit_code)
        return told


def playing(prod: Cluster, fake: FakeCluster, log: bytes, exit_code: int) -> Playing:
    command = Playing(stdout=io.StringIO())
    command.cluster, command.fake, command.log, command.exit_code = prod, fake, log, exit_code
    return command


def test_a_launch_writes_the_row_and_says_its_id(prod: Cluster) -> None:
    text = validate("cuda-vectoradd", "--node", "gpu-1", "--option", "deadline_s=90", "--option", "host_memory=2Gi")
    run = Run.objects.get()
    assert text == f"{run.pk} cuda-vectoradd on any card of node gpu-1\n"
    assert run.options == {"deadline_s": 90, "host_memory": "2Gi"}
    assert run.state == "queued"


def test_a_cordoned_node_is_warned_of_where_no_pipeline_reads_it(prod: Cluster) -> None:
    Node.objects.filter(name="gpu-1").update(unschedulable=True)
    out, told = io.StringIO(), io.StringIO()
    call_command("validate", "cuda-vectoradd", "--node", "gpu-1", stdout=out, stderr=told)
    assert out.getvalue().count("\n") == 1
    assert told.getvalue().startswith("warning: Node gpu-1 is cordoned. ")


def test_waiting_prints_the_states_and_ends_quietly_for_a_pass(prod: Cluster, fake: FakeCluster) -> None:
    command = playing(prod, fake, PASSED, 0)
    call_command(command, "cuda-vectoradd", "--node", "gpu-1", "--wait")
    text = command.stdout.getvalue()  # type: ignore[attr-defined]
    for word in ("queued", "  pending", "pulling image (ContainerCreating", "passed"):
        assert word in text


@pytest.mark.parametrize(("log", "exit_code", "word"), [(FAILED, 1, "failed"), (b"", 0, "errored")])
def test_only_a_pass_is_exit_code_0(prod: Cluster, fake: FakeCluster, log: bytes, exit_code: int, word: str) -> None:
    command = playing(prod, fake, log, exit_code)
    with pytest.raises(SystemExit) as caught:
        call_command(command, "cuda-vectoradd", "--node", "gpu-1", "--wait")
    assert caught.value.code == 1
    assert word in command.stdout.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("args", "text"),
    [
        (["nope", "--node", "gpu-1"], "suite"),
        (["cuda-vectoradd", "--node", "gone"], "gone"),
        (["cuda-vectoradd", "--node", "gpu-1", "--card", "9"], "card"),
        (["cuda-vectoradd", "--node", "gpu-1", "--cluster", "other"], "other"),
        (["cuda-vectoradd", "--node", "gpu-1", "--option", "x"], "NAME=VALUE"),
        (["cuda-vectoradd", "--node", "gpu-1", "--option", "deadline_s=soon"], "deadline_s"),
    ],
)
def test_what_cannot_be_launched_is_said(prod: Cluster, args: list[str], text: str) -> None:
    with pytest.raises(CommandError, match=text) as caught:
        validate(*args)
    assert caught.value.returncode == 2
    assert Run.objects.count() == 0


def test_a_wait_that_lasts_too_long_leaves_the_run_alone(prod: Cluster) -> None:
    with pytest.raises(CommandError, match="run continues"):
        validate("cuda-vectoradd", "--node", "gpu-1", "--wait", "--timeout", "-1")
    assert Run.objects.get().state == "queued"


def test_a_run_that_stays_queued_while_a_launch_worker_runs_blames_no_worker(prod: Cluster) -> None:
    beat(Role.LAUNCH)
    run = make_run(prod, state="queued", minutes_ago=5)
    told = Command(stdout=io.StringIO())._tell(run, "")
    assert "no launch worker" not in told
    assert "gpudash cluster list shows whether schedule, tasks and launch run" in told
