"""beat or the tasks worker is killed: /readyz and `cluster list` say so within 30 seconds. Real processes, PostgreSQL and Redis."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from django.db import connections

from tests import services
from tests.processes import Processes, kill
from tests.services import Missing, free_port, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]
TOLD_S = 30.0


@pytest.fixture
def team(tmp_path: Path, transactional_db: None) -> Iterator[Processes]:
    """Processes that share this database and a broker."""
    settings = connections["default"].settings_dict
    url = f"postgresql://{settings['USER']}@{settings['HOST']}:{settings['PORT']}/{settings['NAME']}"
    with ExitStack() as stack:
        try:
            broker = stack.enter_context(services.redis())
        except Missing as missing:
            services.or_skip(missing)
        started = Processes(tmp_path, url, broker)
        stack.callback(started.stop)
        yield started


def parts(port: int) -> dict[str, Any]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=10) as answer:
            found: dict[str, Any] = json.load(answer)["parts"]
    except urllib.error.HTTPError as error:
        found = json.load(error)["parts"]
    except OSError:
        return {}
    return found


def start(team: Processes) -> tuple[int, dict[str, subprocess.Popen[bytes]]]:
    port = free_port()
    team.manage("serve", "--listen", f"127.0.0.1:{port}")
    workers = {
        "tasks": team.celery("default", "worker", "-Q", "default", "-c", "1", "-n", "default@test"),
        "schedule": team.celery("beat", "beat", "-s", str(team.folder / "beat"), "--pidfile", ""),
    }
    wait_until(lambda: all(parts(port).get(name, {}).get("ok") for name in workers), "both are seen", 90.0)
    return port, workers


@pytest.mark.parametrize("name", ["tasks", "schedule"])
def test_a_process_that_is_killed_is_missed_within_thirty_seconds(team: Processes, name: str) -> None:
    port, workers = start(team)
    killed_at = kill(workers[name])
    wait_until(lambda: not parts(port)[name]["ok"], f"{name} is missed", TOLD_S)
    print(f"{name} missed after {time.monotonic() - killed_at:.1f} s: {parts(port)[name]['reason']}")
    assert "has not been seen for" in team.call("cluster", "list")
    # The tasks worker is told by messages of the schedule: without it nobody knows.
    assert parts(port)["schedule"]["ok"] is (name == "tasks")
