"""Golden files: a recorded input beside the expected JSON. `GOLDEN=rewrite` writes them anew; the diff is then read.

A case is `golden/<suite>/<case>.log`, how its container ended in `<case>.outcome.json` (exit code 0 where there is none),
and what is expected in `<case>.json`. `verdict_line.txt` is a pattern of the last line that a pass
cannot do without. `sources.txt` says where the format of a log is read that was written by hand.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from validations.suites import registry
from validations.suites.engine.base import Outcome, Suite

ROOT = Path(__file__).parent / "golden"


class Case(NamedTuple):
    """One recorded log."""

    suite: Suite
    path: Path

    @property
    def name(self) -> str:
        return f"{self.suite.id}/{self.path.stem}"

    @property
    def raw(self) -> bytes:
        return self.path.read_bytes()

    @property
    def outcome(self) -> Outcome:
        path = self.path.with_suffix(".outcome.json")
        return msgspec.json.decode(path.read_bytes(), type=Outcome) if path.exists() else Outcome(exit_code=0)

    @property
    def expected(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path.with_suffix(".json").read_text("utf-8"))
        return found


def cases() -> list[Case]:
    """All recorded logs of all suites."""
    return [Case(suite, path) for suite in registry().values() for path in sorted((ROOT / suite.id).glob("*.log"))]


def check(path: Path, found: object) -> None:
    """Compare with the file, or write it when asked to."""
    text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=False) + "\n"
    if os.environ.get("GOLDEN") == "rewrite":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    assert json.loads(path.read_text("utf-8")) == json.loads(text)
