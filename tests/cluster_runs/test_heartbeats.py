"""beat or a worker is killed: /readyz and `cluster list` say so within 30 seconds, of the usage worker within 75.

Real processes, PostgreSQL and Redis.
"""

from __future__ import annotations

import json
import signal
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

from inventory.collect.sources import set_prometheus
from inventory.models import UsageSource
from tests import services
from tests.factories import make_cluster
from tests.processes import Processes, kill
from tests.services import Missing, free_port, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(240, func_only=True)]
TOLD_S = 30.0
#: A usage worker may wait for a Prometheus for a minute; it hangs when it does not come back.
USAGE_TOLD_S = 75.0


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
        "launch": team.launch_worker(),
        "schedule": team.celery("beat", "beat", "-s", str(team.folder / "beat"), "--pidfile", ""),
    }
    wait_until(lambda: all(parts(port).get(name, {}).get("ok") for name in workers), "all are seen", 90.0)
    return port, workers


@pytest.mark.parametrize("name", ["tasks", "launch", "schedule"])
def test_a_process_that_is_killed_is_missed_within_thirty_seconds(team: Processes, name: str) -> None:
    port, workers = start(team)
    killed_at = kill(workers[name])
    wait_until(lambda: not parts(port)[name]["ok"], f"{name} is missed", TOLD_S)
    print(f"{name} missed after {time.monotonic() - killed_at:.1f} s: {parts(port)[name]['reason']}")
    assert "not seen for" in team.call("cluster", "list")
    # Workers are told by messages of the schedule: without it nobody knows.
    assert parts(port)["schedule"]["ok"] is (name != "schedule")
    if name == "launch":
        assert parts(port)["tasks"]["ok"], "the others go on"


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
def test_a_usage_worker_that_is_killed_or_hangs_is_missed(team: Processes, sign: signal.Signals) -> None:
    set_prometheus(make_cluster("prod"), "http://127.0.0.1:1")
    port, _ = start(team)
    assert not parts(port)["usage"]["ok"]
    worker = team.celery("usage", "worker", "-Q", "usage", "-P", "threads", "-n", "usage@test")
    wait_until(lambda: parts(port)["usage"]["ok"], "the usage worker is seen", 60.0)
    # Nothing answers at that address: the round failed, and that is the source's word, not the worker's.
    wait_until(lambda: UsageSource.objects.get().state == "backing-off", "a round was tried", 30.0)
    stopped_at = time.monotonic()
    worker.send_signal(sign)
    wait_until(lambda: not parts(port)["usage"]["ok"], "the usage worker is missed", USAGE_TOLD_S)
    print(f"usage missed after {time.monotonic() - stopped_at:.1f} s: {parts(port)['usage']['reason']}")
    assert "usage worker (queue usage) not seen for" in team.call("cluster", "list")
    assert parts(port)["tasks"]["ok"]
    if sign == signal.SIGSTOP:
        worker.send_signal(signal.SIGCONT)
        wait_until(lambda: parts(port)["usage"]["ok"], "it is seen again", 60.0)
