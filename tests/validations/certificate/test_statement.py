"""The statement of one fixed report, to the byte: who reads certificates relies on its form."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from validations.certificate.statement import Issued, statement
from validations.report import canonical

GOLDEN = Path(__file__).with_name("statement.json")
_EMPTY: dict[str, Any] = dict.fromkeys(
    ("run", "verdict", "level", "reason", "reason_text", "driver", "started_at", "ended_at", "tested_card", "why_not")
)


def place(position: int, outcome: str, uuid: str | None, **more: Any) -> dict[str, Any]:
    where = {"position": position, "cluster": "prod", "node": "h", "card": str(position), "model": "Tesla T4"}
    return _EMPTY | where | {"outcome": outcome, "uuid": uuid, "tried": None} | more


def a_report() -> dict[str, Any]:
    times = {"started_at": "2026-11-20T10:00:00Z", "ended_at": "2026-11-20T10:00:40Z"}
    return {
        "format": "gpudash-campaign-report/1",
        "campaign": {"id": "c1", "name": "T4s", "started_by": "olga"},
        "drivers": ["550.54.15"],
        "targets": [
            place(0, "validated", "GPU-0", run="r0", verdict="passed", level="checked", **times),
            place(1, "inconclusive", None, run="r1", verdict="passed", level="ran", **times),
            place(2, "not-ready", "GPU-2", why_not="Node h is not ready. (not-ready)", tried="r2"),
        ],
        "other_runs": [],
    }


def test_golden() -> None:
    runs: dict[str, Any] = {
        name: {"log": {"sha256": name * 32}, "measurements": []} for name in ("r0", "r1", "r2", "r9")
    }
    found = statement(a_report(), runs, Issued("2026-11-21T08:00:00Z", "olga", "1.0"))
    if os.environ.get("GOLDEN") == "rewrite":
        GOLDEN.write_text(json.dumps(found, indent=2) + "\n")
    assert found == json.loads(GOLDEN.read_text())
    assert canonical(found) == canonical(json.loads(GOLDEN.read_text()))


def test_only_tested_cards_are_subjects_and_the_result_counts_all() -> None:
    report = a_report()
    found = statement(report, {}, Issued("", "", ""))
    assert [one["name"] for one in found["subject"]] == ["card-uuid:GPU-0"]
    assert found["predicate"]["result"] == "INCOMPLETE"
    report["targets"] = report["targets"][:1]
    assert statement(report, {}, Issued("", "", ""))["predicate"]["result"] == "PASSED"
    report["other_runs"] = [report["targets"][0] | {"verdict": "failed", "uuid": "GPU-7"}]
    found = statement(report, {}, Issued("", "", ""))
    assert found["predicate"]["result"] == "FAILED"
    assert len(found["subject"]) == 2
