"""What a benchmark says: one JSON object per line on stdout, progress on stderr; and how processes are measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import IO, NamedTuple

from bench.answers import Answers
from bench.promises import PROMISES

MIB = 2**20

#: Lines of this process so far: all that were judged, and those of them that were not ok. Its exit code is made of them.
SAID: Counter[str] = Counter()
FAILED: Counter[str] = Counter()


def emit(line: str, answers: Answers, **figures: object) -> bool:
    """One line that is judged, and whether it is ok: at least one answer, all of them right, each promised figure within its bound.

    line: one of `promises.PROMISES`. figures: those promised, and what else is to be said; seconds and ratios to three digits.
    Raises KeyError for a line that promises nothing, ValueError for a figure that would judge itself.
    """
    promised = PROMISES[line]
    if taken := figures.keys() & {"bench", "bounds", "missed", "ok", "right", "wrong"}:
        raise ValueError(f"{line}: {', '.join(sorted(taken))} is said by the report itself")
    missed = [name for name, bound in promised.items() if not bound.holds(figures.get(name))]
    ok = answers.right > 0 and not answers.wrong and not missed
    SAID[line] += 1
    FAILED[line] += not ok
    bounds = {name: str(bound) for name, bound in promised.items()}
    wrong = {"wrong": dict(answers.wrong)} if answers.wrong else {}
    _print(line, figures, right=answers.right, **wrong, bounds=bounds, missed=missed, ok=ok)
    return ok


def note(line: str, **figures: object) -> None:
    """One line that is not judged, and does not say "ok": what others are compared with."""
    if line in PROMISES or "ok" in figures:
        raise ValueError(f"{line} is judged: emit it")
    _print(line, figures)


def _print(line: str, figures: Mapping[str, object], **judged: object) -> None:
    shown = {name: round(value, 3) if isinstance(value, float) else value for name, value in figures.items()}
    print(json.dumps({"bench": line, **shown, **judged}), flush=True)


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
