"""One person's SQLite file is put back from a copy while watchers have it open: the new file gets what the cluster has."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.processes import Processes
from tests.services import wait_until

pytestmark = [pytest.mark.timeout(120, func_only=True), pytest.mark.sweep]
PODS = "SELECT count(*) FROM inventory_pod"
#: A kind may be one that the cluster does not serve.
IN_STEP = (
    "SELECT count(*) >= 4 AND sum(state = 'watching' AND kind = 'cards') = 1 "
    "AND sum(state NOT IN ('watching', 'not-served') OR relist_reason != '') = 0 FROM inventory_watch"
)
CARDS = "SELECT count(*) FROM inventory_card WHERE removed_at IS NULL"


def ask(file: Path, question: str) -> int:
    with closing(sqlite3.connect(file, timeout=30)) as connection:
        return int(connection.execute(question).fetchone()[0])


def test_a_file_that_is_put_back_under_running_watchers_is_brought_in_step(kubeconfig: str, tmp_path: Path) -> None:
    file, backup = tmp_path / "gpudash.sqlite3", tmp_path / "backup.sqlite3"
    processes = Processes(tmp_path, f"sqlite:///{file}")
    processes.call("migrate")
    processes.call("cluster", "add", "demo", "--kubeconfig", kubeconfig)
    try:
        processes.manage("sync")
        wait_until(lambda: bool(ask(file, IN_STEP)), "all kinds are in sync", 60)
        pods, cards = ask(file, PODS), ask(file, CARDS)
        with closing(sqlite3.connect(file, timeout=30)) as connection:
            connection.execute("VACUUM INTO ?", [str(backup)])
        with closing(sqlite3.connect(backup)) as connection, connection:
            connection.execute("PRAGMA foreign_keys = OFF")
            for table in ("allocation", "card", "pod", "nodetotals"):
                connection.execute(f"DELETE FROM inventory_{table}")
        for beside in ("-wal", "-shm"):
            Path(f"{file}{beside}").unlink(missing_ok=True)
        backup.rename(file)
        assert ask(file, PODS) == 0

        def same() -> bool:
            return (ask(file, PODS), ask(file, CARDS), ask(file, IN_STEP)) == (pods, cards, 1)

        wait_until(same, f"the new file has {pods} pods and {cards} cards", 60, every_s=0.2)
    finally:
        processes.stop()
