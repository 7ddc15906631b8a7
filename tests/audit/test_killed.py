"""Who is killed amid an act leaves both the act and its entry, or neither; and each entry is a log line, in their order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.web import SECRET_KEY

ACTS = ("launcher", "cluster", "usage", "user", "token", "two-factor")


@pytest.mark.parametrize("act", ACTS)
def test_at_whatever_step_it_is_killed_act_and_entry_are_there_or_neither(
    act: str, migrated_file: Path, tmp_path: Path
) -> None:
    database, lines = tmp_path / "own.sqlite3", tmp_path / "lines"
    shutil.copy(migrated_file, database)
    lines.touch()
    told = {
        "GPUDASH_DATABASE_URL": f"sqlite:///{database}",
        "GPUDASH_SECRET_KEY": SECRET_KEY,
        "GPUDASH_DATA_DIR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-m", "tests.audit.killed_at_each_step", act, str(lines)],
        env=os.environ | told, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rounds) > 8, "so many steps it has at least"
    assert [one for one in rounds if one["in_force"] and not one["told"]] == []
    assert rounds[-1]["in_force"]
    assert rounds[-1]["told"]
    before = [one for one in rounds if one["told"] and not one["in_force"]]
    assert before == []
    for one in rounds:
        firsts = list(dict.fromkeys(one["lines"]))
        assert firsts == list(range(1, one["entries"] + 1)), "each committed entry, in order, and no other"
    assert any(len(one["lines"]) > one["entries"] for one in rounds), "killed between line and mark it comes again"
