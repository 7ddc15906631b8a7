"""A watcher that is paused inside a transaction, also inside COPY: another takes over, and no session waits for its lock."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from django.db import connection

from inventory.mirror.lease import acquire
from inventory.models import Cluster, Watch
from tests.cluster.test_takeover import TAKEOVER_S
from tests.processes import ROOT, Processes, state
from tests.services import end, wait_until

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(120, func_only=True)]
#: A watcher that stops itself after it has locked the row of its lease: inside COPY, or between two statements.
FREEZES = """
import os, signal, sys, django
django.setup()
from django.db import connection, transaction
from inventory.mirror.lease import acquire
lease = acquire(int(sys.argv[1]), "pods")
with transaction.atomic():
    lease.update(reason="about to freeze")
    if sys.argv[2] == "copy":
        with connection.cursor() as cursor, cursor.copy("COPY inventory_dirtynode (cluster_id, node_name) FROM STDIN") as copy:
            copy.write_row((lease.cluster_id, "n"))
            os.kill(os.getpid(), signal.SIGSTOP)
    os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.fixture
def frozen(cluster: Cluster, processes: Processes) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """frozen("copy") or frozen("between"): the process that holds the lease of pods, stopped."""
    started: list[subprocess.Popen[bytes]] = []

    def freeze(where: str) -> subprocess.Popen[bytes]:
        settings = {"DJANGO_SETTINGS_MODULE": "gpudash.settings", "GPUDASH_LEASE_S": "10"}
        environment = processes.environment | settings
        process = subprocess.Popen([sys.executable, "-c", FREEZES, str(cluster.pk), where], cwd=ROOT, env=environment)
        started.append(process)
        wait_until(lambda: state(process.pid) in ("T", "t"), "it has stopped itself")
        return process

    yield freeze
    for process in started:
        process.send_signal(signal.SIGCONT)
        end(process)


def sessions_that_wait() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        (count,) = cursor.fetchone() or (0,)
    return int(count)


@pytest.mark.parametrize("where", ["copy", "between"])
def test_its_lease_is_taken_over_and_nobody_waits_for_its_lock(
    where: str, cluster: Cluster, frozen: Callable[[str], subprocess.Popen[bytes]], fault: Callable[[str, float], None]
) -> None:
    process = frozen(where)
    started = time.monotonic()
    waiting = 0
    while (taken := acquire(cluster.pk, "pods")) is None:
        waiting = max(waiting, sessions_that_wait())
        assert time.monotonic() - started < 4 * TAKEOVER_S
        time.sleep(0.5)
    seconds = time.monotonic() - started
    fault(f"watcher frozen in a transaction ({where}), its lease is taken over", seconds)
    assert waiting == 0
    assert seconds <= TAKEOVER_S + 3  # looked at more often than the schedule does
    taken.update(reason="ours")
    os.kill(process.pid, signal.SIGCONT)
    assert process.wait(20) != 0  # its session is gone: it writes nothing more
    assert Watch.objects.get(pk=taken.pk).reason == "ours"
