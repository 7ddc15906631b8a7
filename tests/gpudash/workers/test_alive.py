"""The file of the liveness probe is young while a process works, with and without its broker, and grows old when it hangs."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests import services
from tests.lossy import Lossy, Mode
from tests.processes import Processes, freeze, thaw
from tests.services import Missing, wait_until

pytestmark = [pytest.mark.sweep, pytest.mark.timeout(300)]

#: Longer than it takes to notice that packets are dropped (21 s), with room for a busy machine; shorter than the probe's ten minutes.
YOUNG_S = 30.0


@pytest.fixture
def broker() -> Iterator[str]:
    with ExitStack() as stack:
        try:
            yield stack.enter_context(services.redis())
        except Missing as missing:
            services.or_skip(missing)


def age_s(file: Path) -> float:
    return time.time() - file.stat().st_mtime if file.exists() else float("inf")


@pytest.fixture
def started(tmp_path: Path, broker: str) -> Iterator[tuple[Lossy, dict[str, subprocess.Popen[bytes]]]]:
    """The line to the broker, and a worker and the schedule with their files."""
    with Lossy(int(urlsplit(broker).port or 0)) as line:
        url = f"redis://127.0.0.1:{line.port}/0"
        processes = Processes(tmp_path, f"sqlite:///{tmp_path / 'gpudash.sqlite3'}", url)
        processes.call("migrate", "--noinput")
        running = {}
        try:
            for name, words in (
                ("worker", ("worker", "-Q", "default", "-P", "threads")),
                ("beat", ("beat", "--pidfile=")),
            ):
                processes.environment["GPUDASH_ALIVE_FILE"] = str(tmp_path / f"alive-{name}")
                running[name] = processes.celery(name, *words)
            yield line, running
        finally:
            processes.stop()


def test_it_is_young_while_the_loop_turns_and_old_when_it_hangs(
    started: tuple[Lossy, dict[str, subprocess.Popen[bytes]]], tmp_path: Path
) -> None:
    line, running = started
    for name in running:
        wait_until(lambda file=tmp_path / f"alive-{name}": age_s(file) < YOUNG_S, f"{name} lives", 60)  # type: ignore[misc]
    line.mode = Mode.DROP
    files = [tmp_path / f"alive-{name}" for name in running]
    until = time.monotonic() + YOUNG_S + 10
    while time.monotonic() < until:
        assert max(map(age_s, files)) < YOUNG_S, "the broker is away"
        time.sleep(0.2)
    line.mode = Mode.FORWARD
    for process in running.values():
        assert process.poll() is None
        freeze(process)
    for name in running:
        file = tmp_path / f"alive-{name}"
        wait_until(lambda file=file: age_s(file) > YOUNG_S, f"{name} is told to hang", 90)  # type: ignore[misc]
    for process in running.values():
        thaw(process)
