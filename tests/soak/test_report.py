"""The end of a soak: its exit code, its table and its files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.soak import report
from tests.soak.checks import Check
from tests.soak.faults import Fault
from tests.soak.report import Measured
from tests.soak.requests import Asked
from tests.soak.test_checks import SESSIONS, sample


@pytest.fixture(autouse=True)
def _no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.soak.report.shutil.which", lambda _: None)
    monkeypatch.delenv("CHROMIUM", raising=False)


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "web-1.log").write_text("2026-11-21 10:00:00,000 INFO gpudash.request GET / 200\n")
    return folder


def measured(logs: Path, **more: Any) -> Measured:
    made: dict[str, Any] = {
        "zero": 1000.0,
        "seed": 1,
        "seconds": 400.0,
        "rate": 50.0,
        "rows": [sample(float(t), **SESSIONS) for t in range(400)],
        "faults": [Fault("broker", "broker", 1020.0, 1025.0, hit=True)],
        "asked": [
            Asked("page nodes", 1001.0, 0.2, 200, "", "/nodes"),
            Asked("sign-in", 1001.0, 0.2, 302, "", "/sign-in"),
        ],
        "people": 1,
        "measured_cards": 8,
        "mistakes": [],
        "checks": [Check("mirror of near = cluster", True, "after 1 s")],
        "logs": logs,
    }
    return Measured(**{**made, **more})


def test_a_soak_in_which_all_is_well(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report.tell(measured(logs), tmp_path) == 0
    printed = capsys.readouterr().out
    assert "FAILED" not in printed
    summary = json.loads(printed.splitlines()[-1])
    assert summary == json.loads((tmp_path / "summary.json").read_text())
    assert summary["soak"] == "ok"
    assert summary["faults"] == {"broker": {"count": 1, "longest_lag_s": 0.0, "in_step_after_s": 0.0}}
    assert summary["latency"]["page nodes"] == {"count": 1, "p50_ms": 200, "p95_ms": 200}
    assert "broker" in (tmp_path / "chart.html").read_text()


def test_one_failed_check_fails_the_soak(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = Check("mirror of near = cluster", False, "1 difference", ("pod a is missing",))
    assert report.tell(measured(logs, checks=[bad]), tmp_path) == 1
    printed = capsys.readouterr().out
    assert "FAILED  mirror of near = cluster: 1 difference" in printed
    assert "pod a is missing" in printed


def test_a_traceback_in_a_log_fails_the_soak(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (logs / "tasks-1.log").open("w") as log:
        log.write(
            "2026-11-21 10:00:00,000 ERROR celery it failed\n    Traceback (most recent call last):\n    KeyError: 1\n"
        )
    assert report.tell(measured(logs), tmp_path) == 1
    assert "1 × tasks-1: ERROR celery it failed | " in capsys.readouterr().out
