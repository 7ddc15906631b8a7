"""What a benchmark says: one JSON object per line on stdout, progress on stderr; and how processes are measured."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import IO, NamedTuple

MIB = 2**20


def emit(bench: str, **figures: object) -> None:
    """One line. Seconds and ratios to three digits; `target` and `ok` where the project has promised something."""
    shown = {name: round(value, 3) if isinstance(value, float) else value for name, value in figures.items()}
    print(json.dumps({"bench": bench, **shown}), flush=True)


def progress(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


class Measured(NamedTuple):
    """A process that has ended: wall seconds, its peak resident bytes, its CPU seconds, its output."""

    seconds: float
    peak_bytes: int
    cpu_s: float
    output: str


def measure(command: Sequence[str], environment: dict[str, str], cwd: str, output: str = "") -> Measured:
    """Run to the end. output: a file for stdout ("" keeps it). Raises CalledProcessError."""
    started = time.perf_counter()
    with open(output, "wb") if output else tempfile.TemporaryFile() as target:
        process = subprocess.Popen(command, env=environment, cwd=cwd, stdout=target, stderr=sys.stderr)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, list(command))
        text = "" if output else _whole(target)
    return Measured(seconds, usage.ru_maxrss * 1024, usage.ru_utime + usage.ru_stime, text)


def _whole(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode()


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0–1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def median_ms(seconds: Sequence[float]) -> float:
    return statistics.median(seconds) * 1000
