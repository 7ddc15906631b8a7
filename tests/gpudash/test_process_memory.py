"""A worker whose threads come and go keeps one heap, and its memory stays where it was."""

from __future__ import annotations

import gc
import json
import linecache
import subprocess
import sys
import traceback
import weakref

import pytest

from runtime.process_memory import let_go
from runtime.telemetry import report

#: Threads that each fill and leave a heap; how many MiB are resident before and after.
PROGRAM = """
import json, sys, threading
sys.path.insert(0, {root!r})
from runtime.process_memory import limit_arenas
limited = limit_arenas(1) if {limit} else True
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20
ready = threading.Barrier(41)
def work():
    rows = [bytes(700 + number % 300) for number in range(6000)]
    ready.wait()
    ready.wait()
    del rows[::2]
    ready.wait()
def turn():
    threads = [threading.Thread(target=work) for _ in range(40)]
    for thread in threads:
        thread.start()
    for _ in range(3):
        ready.wait()
    for thread in threads:
        thread.join()
turn()
heaps = sum(1 for line in open("/proc/self/maps") if line.split()[-1] not in ("[stack]",) and line.split()[1] == "---p")
print(json.dumps([limited, heaps]))
"""


def _heaps(limit: bool) -> int:
    """Address ranges that are set aside and not used: the tops of heaps (and the guards of stacks, equal in both)."""
    program = PROGRAM.format(root=".", limit=limit)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True, timeout=60)
    limited, heaps = json.loads(done.stdout)
    if not limited:
        pytest.skip("this C library has no arenas")
    return int(heaps)


def test_threads_share_one_heap() -> None:
    assert _heaps(limit=True) < _heaps(limit=False)


#: A block of 20 MB is let go; then another one is, behind which lies what stays. How many MiB are resident then.
LARGE = """
import json, sys
sys.path.insert(0, {root!r})
from runtime.process_memory import give_back_large
given = give_back_large() if {given} else True
block = bytearray(20 << 20)
del block
block = bytearray(b"x") * (20 << 20)
stays = [bytes(1000) for _ in range(20000)]
del block
print(json.dumps([given, int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20]))
"""


def _resident(given: bool) -> float:
    program = LARGE.format(root=".", given=given)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True, timeout=60)
    told, resident = json.loads(done.stdout)
    if not told:
        pytest.skip("this C library has no such limit")
    return float(resident)


def test_a_large_block_goes_back_to_the_system() -> None:
    assert _resident(given=True) < _resident(given=False) - 15


class _Circle:
    def __init__(self) -> None:
        self.self = self


def test_a_process_that_reports_lets_memory_go_each_minute(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection that the database broke lies in one, with its buffers; the collector alone comes after hours."""
    waits: list[float] = []
    reporter = report.Reporter("test")
    monkeypatch.setattr(reporter, "write", lambda: None)
    monkeypatch.setattr(report.connection, "close", lambda: None)
    monkeypatch.setattr(reporter._ended, "wait", lambda seconds: waits.append(seconds) or sum(waits) >= 60)
    held = weakref.ref(_Circle())
    gc.disable()
    try:
        reporter._run()
    finally:
        gc.enable()
    assert held() is None
    assert sum(waits) == 60


def test_sources_that_a_traceback_quoted_go_too() -> None:
    try:
        raise ValueError
    except ValueError:
        traceback.format_exc()
    assert __file__ in linecache.cache
    let_go()
    assert linecache.cache == {}


#: A peak of which every thousandth block stays; MiB that the process has of its own, before and after.
PEAK = """
import json, sys
sys.path.insert(0, {root!r})
from runtime.process_memory import let_go
def own():
    resident, files = open("/proc/self/statm").read().split()[1:3]
    return (int(resident) - int(files)) * 4096 / 2**20
blocks = [bytes(700 + number % 300) for number in range(100_000)]
kept = blocks[::1000]
del blocks
before = own()
let_go()
print(json.dumps([before, own()]))
"""


def test_the_heap_that_a_peak_left_goes_back() -> None:
    program = PEAK.format(root=".")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True, timeout=60)
    before, after = json.loads(done.stdout)
    assert before - after > 50
