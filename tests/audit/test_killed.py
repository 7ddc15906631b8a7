"""Who is killed amid an act leaves both the act and its entry, or neither; and each entry is a log line, in their order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.web import SECRET_KEY

ACTS = ("launcher", "cluster", "usage", "user", "token", "two-factor")


#: A process of its own for each step.
pytestmark = pytest.mark.sweep


@pytest.fixture(scope="module")
def rounds(migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("killed")
    database, lines = folder / "own.sqlite3", folder / "lines"
    shutil.copy(migrated_file, database)
    lines.touch()
    told = {
        "GPUDASH_DATABASE_URL": f"sqlite:///{database}",
        "GPUDASH_SECRET_KEY": SECRET_KEY,
        "GPUDASH_DATA_DIR": str(folder),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.audit.killed_at_each_step", str(lines)],
        env=os.environ | told, capture_output=True, text=True, timeout=400, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.timeout(420)
@pytest.mark.parametrize("act", ACTS)
def test_at_whatever_step_it_is_killed_act_and_entry_are_there_or_neither(
    act: str, rounds: list[dict[str, Any]]
) -> None:
    own = [one for one in rounds if one["act"] == act]
    assert len(own) > 8, "so many steps it has at least"
    assert [one for one in own if one["in_force"] != one["told"]] == []
    assert own[-1]["in_force"]
    for one in own:
        firsts = list(dict.fromkeys(one["lines"]))
        assert firsts == list(range(1, one["entries"] + 1)), "each committed entry, in order, and no other"
    twice = [len(one["lines"]) - one["entries"] for one in own]
    assert twice[-1] > twice[0], "killed between line and mark it comes again"


def test_every_act_is_done(rounds: list[dict[str, Any]]) -> None:
    assert {one["act"] for one in rounds} == set(ACTS)
