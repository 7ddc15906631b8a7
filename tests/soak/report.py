"""What a soak says at its end: each check with its figure, latencies, healing, the chart; then all of it as one line of JSON."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.soak import chart, checks, logs
from tests.soak.checks import Check
from tests.soak.faults import Fault
from tests.soak.parts import Death
from tests.soak.requests import Asked

Json = dict[str, Any]


@dataclass
class Measured:
    """All that was seen. zero: the moment (monotonic) from which `rows` count. checks: those of the end, already made."""

    zero: float
    seed: int
    seconds: float
    rate: float
    rows: Sequence[Json]
    faults: Sequence[Fault]
    asked: Sequence[Asked]
    mistakes: Sequence[str]
    checks: list[Check]
    #: Who signs in, and the cards that the exporters speak of.
    people: int = 0
    measured_cards: int = 0
    deaths: Sequence[Death] = ()
    late: Sequence[str] = ()
    logs: Path = field(default_factory=Path)


def tell(seen: Measured, folder: Path) -> int:
    """Print and write it; the exit code."""
    found = all_checks(seen)
    latencies = checks.latencies(seen.asked)
    healing = checks.healing(seen.rows, seen.faults, seen.zero)
    _table(found, latencies, healing, seen)
    ok = all(check.ok for check in found)
    summary = {
        "soak": "ok" if ok else "failed",
        "minutes": round(seen.seconds / 60, 2),
        "seed": seen.seed,
        "checks": {check.name: {"ok": check.ok, "figure": check.figure, "details": check.details} for check in found},
        "faults": healing,
        "latency": latencies,
        "cores": checks.cores(seen.rows),
    }
    (folder / "summary.json").write_text(json.dumps(summary, indent=1))
    _chart(seen, found, folder)
    print(json.dumps(summary), flush=True)
    return 0 if ok else 1


def all_checks(seen: Measured) -> list[Check]:
    return [
        *seen.checks,
        *checks.level(seen.rows),
        checks.lag(seen.rows),
        checks.honest(seen.rows),
        checks.requests(seen.asked, seen.faults),
        checks.sign_ins(seen.asked, seen.people),
        checks.measured(seen.rows, seen.measured_cards),
        checks.processes(seen.deaths),
        checks.ended(seen.late),
        tracebacks(seen.logs),
        checks.carried_out(seen.faults),
        checks.load(seen.rows, seen.seconds, seen.rate, seen.mistakes),
    ]


def tracebacks(folder: Path) -> Check:
    """In the logs of all services."""
    found: Counter[str] = Counter()
    files = sorted(folder.glob("*.log"))
    for file in files:
        with file.open(errors="replace") as lines:
            for kind, count in logs.unexplained(logs.tracebacks(lines)).items():
                found[f"{file.stem}: {kind}"] += count
    figure = f"{sum(found.values())} of {len(found)} kinds in {len(files)} logs"
    details = tuple(f"{count} × {what}" for what, count in found.most_common(30))
    return Check("no traceback that nobody explains", bool(files) and not found, figure, details)


def _table(found: Sequence[Check], latencies: Json, healing: Json, seen: Measured) -> None:
    print(f"\nSoak of {seen.seconds / 60:g} min, seed {seen.seed}\n")
    for check in found:
        print(f"  {'ok    ' if check.ok else 'FAILED'}  {check.name}: {check.figure}")
        for line in () if check.ok else check.details:
            print(f"            {line}")
    print("\n  request                                count    p50 ms    p95 ms")
    for kind, figures in latencies.items():
        print(f"  {kind:<36}{figures['count']:>8}{figures['p50_ms']:>10}{figures['p95_ms']:>10}")
    print("\n  fault                 count   longest lag s   in sync after s")
    for kind, figures in sorted(healing.items()):
        print(f"  {kind:<20}{figures['count']:>7}{figures['longest_lag_s']:>16}{figures['in_step_after_s']:>18}")
    print("\n  cores kept busy: " + ", ".join(f"{part} {used}" for part, used in checks.cores(seen.rows).items()))
    print("\n  loudest lines of the logs (WARNING and above)")
    for file in sorted(seen.logs.glob("*.log")):
        lines = file.read_text(errors="replace").splitlines()
        print(f"  {file.stem}: {dict(logs.levels(lines))}")
        for text, count in logs.loudest(lines):
            print(f"      {count} × {text}")


def _chart(seen: Measured, found: Sequence[Check], folder: Path) -> None:
    marks = [
        chart.Mark(fault.began - seen.zero, (fault.ended or fault.began) - seen.zero, _name(fault))
        for fault in seen.faults
    ]
    failed = [check.name for check in found if not check.ok]
    summary = f"{len(found)} checks, {len(failed)} failed{': ' if failed else ''}{', '.join(failed)}"
    html = chart.page(f"Soak of {seen.seconds / 60:g} min, seed {seen.seed}", summary, chart.panels(seen.rows), marks)
    (folder / "chart.html").write_text(html)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium:
        chart.picture(html, str(folder / "chart.png"), chromium)
    else:
        print("no chart.png: there is no Chromium (package chromium, or its path in CHROMIUM)")


def _name(fault: Fault) -> str:
    return f"{fault.kind} {fault.note.split(',')[0]}" if fault.kind in ("kill", "freeze") else fault.kind
