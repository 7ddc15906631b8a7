"""What must have held, from what was measured; pure. What has to be asked of the running system is in `settled`."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bench.report import percentile
from tests.soak.faults import Fault
from tests.soak.level import Line, line_of, rises
from tests.soak.parts import Death
from tests.soak.requests import BROKEN, Asked

Json = dict[str, Any]
#: Figure of a process → (most an hour, growth that means nothing, most growth at all).
LEVELS = {"rss_mib": (1.0, 4.0, 64.0), "fds": (1.0, 8.0, 60.0), "threads": (1.0, 4.0, 40.0)}
#: A table is never further behind than this, whatever happened to the parts (s); and in sync below IN_STEP_S.
MOST_LAG_S, IN_STEP_S = 90.0, 5.0
#: How much younger than the truth REST may say that the mirror is (s): it is asked each second, and a dead watcher counts 10 s.
MOST_HIDDEN_S = 30.0
#: After its end a fault explains an answer for so long (s): the database accepts again, but not all connections are made.
HEALED_S, KILLED_S = 15.0, 5.0
MOST_SHOWN = 12


class Check(NamedTuple):
    """ok, and the figure that shows it; details: what is wrong, line by line."""

    name: str
    ok: bool
    figure: str
    details: tuple[str, ...] = ()


def level(rows: Sequence[Json]) -> list[Check]:
    """No process that lived long enough uses more and more."""
    made = []
    for figure, (per_hour, noise, most) in LEVELS.items():
        lines = {life: line for life, points in lives(rows, figure).items() if (line := line_of(points))}
        bad = [f"{life}: {why}" for life, line in lines.items() if (why := rises(line, per_hour, noise, most))]
        made.append(Check(f"{figure} of each process is level", not bad and bool(lines), _steepest(lines), tuple(bad)))
    return made


def lives(rows: Sequence[Json], figure: str) -> dict[str, list[tuple[float, float]]]:
    """ "web-1/4711" → its points."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for row in rows:
        for part, usages in row["processes"].items():
            for usage in usages:
                if usage[figure]:
                    found[f"{part}/{usage['pid']}"].append((row["t"], float(usage[figure])))
    return found


def _steepest(lines: Mapping[str, Line]) -> str:
    if not lines:
        return "no process lived long enough"
    life, line = max(lines.items(), key=lambda item: item[1].growth)
    return f"most: {life} {line.growth:+.1f} in {line.seconds:.0f} s ({line.slope:+.1f}/h); {len(lines)} lives"


def lag(rows: Sequence[Json]) -> Check:
    worst, where, at = 0.0, "", 0.0
    for row in rows:
        for cluster, table, seconds in _lags(row):
            if seconds > worst:
                worst, where, at = seconds, f"{table} of {cluster}", row["t"]
    known = sum(1 for row in rows if row["lag_s"])
    figure = f"longest {worst:.1f} s ({where} at {at:.0f} s), allowed {MOST_LAG_S:.0f} s; {known} samples"
    return Check("the tables are never far behind", known > 0 and worst <= MOST_LAG_S, figure)


def _lags(row: Json) -> Iterable[tuple[str, str, float]]:
    for cluster, tables in (row["lag_s"] or {}).items():
        for table, seconds in tables.items():
            yield cluster, table, seconds


def honest(rows: Sequence[Json]) -> Check:
    """While a table is behind, REST says so: by an age, or by a state other than "watching"."""
    hidden, asked = [], 0
    for row in rows:
        for cluster, said in row["rest"].items():
            asked += 1
            behind = max(((row["lag_s"] or {}).get(cluster) or {"": 0.0}).values())
            age = said["age_seconds"] or 0.0
            if said["state"] == "watching" and row["t"] - said["t"] < 3 and behind - age > MOST_HIDDEN_S:
                hidden.append(
                    f"at {row['t']:.0f} s {cluster} is {behind:.0f} s behind; REST: watching, age {age:.0f} s"
                )
    figure = f"{len(hidden)} of {asked} answers hid more than {MOST_HIDDEN_S:.0f} s"
    return Check("REST does not hide that the mirror is behind", asked > 0 and not hidden, figure, _few(hidden))


def requests(asked: Sequence[Asked], faults: Sequence[Fault]) -> Check:
    bad: Counter[str] = Counter()
    excused: Counter[str] = Counter()
    for one in asked:
        if why := wrong(one):
            excuse = excused_by(one, faults)
            (excused if excuse else bad)[excuse or f"{one.kind.split()[0]}: {why}"] += 1
    figure = f"{sum(bad.values())} of {len(asked)} failed" + "".join(f"; {n} {why}" for why, n in excused.items())
    return Check("requests are answered", bool(asked) and not bad, figure, _counted(bad))


def wrong(one: Asked) -> str:
    """What is not as it should be with an answer, "" for nothing."""
    if one.status == BROKEN:
        return f"broke: {one.note[:120]}"
    if one.status >= 500:
        return f"{one.status} {one.note[:120]}"
    if one.status == 302 and one.kind != "sign-in":
        return "302: the session is lost"
    if one.status >= 400 and not (one.status == 404 and "nodes/" in one.target):
        return f"{one.status} {one.note[:120]}".strip()
    return ""


def excused_by(one: Asked, faults: Iterable[Fault]) -> str:
    """Why an answer may be wrong, "" for no reason."""
    if one.status == 503 and one.note.isdigit() and one.kind == "sign-in":
        return "503 to a sign-in, to come again"
    for fault in faults:
        until = (fault.ended or float("inf")) + HEALED_S
        if fault.kind == "database" and one.status == 503 and one.note.isdigit() and fault.began <= one.at <= until:
            return "503 with Retry-After while the database was away"
        dead = fault.kind == "token" and "launcher" in fault.part and fault.began <= one.at <= until
        if dead and one.status == 400 and one.kind == "rest POST campaigns":
            return "400 to a campaign while the launcher's token was dead"
        killed = fault.kind == "kill" and fault.part == "web" and fault.began <= one.at <= fault.began + KILLED_S
        if killed and one.status in (BROKEN, 502):
            return "broken off by the kill of their web process"
    return ""


def processes(deaths: Sequence[Death]) -> Check:
    lines = tuple(f"{death.part} ended with {death.code}: …{death.last_words[-300:]}" for death in deaths)
    return Check("no process died by itself", not deaths, f"{len(deaths)} deaths", lines)


def ended(late: Sequence[str]) -> Check:
    return Check("services end within 30 s when told", not late, f"{len(late)} were killed", tuple(late))


def carried_out(faults: Sequence[Fault]) -> Check:
    failed = [f"{fault.kind} {fault.part}: {fault.error}" for fault in faults if fault.error]
    kinds = Counter(fault.kind for fault in faults)
    figure = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"
    return Check("the faults were made", bool(faults) and not failed, figure, tuple(failed))


def load(rows: Sequence[Json], seconds: float, rate: float, mistakes: Sequence[str]) -> Check:
    """The load was there for all these seconds: without it nothing is proven. A third will do: servers are away now and then."""
    made = sum(row["events"] for row in rows) / seconds
    figure = f"{made:.1f} changes a second of {rate:.0f}; {len(mistakes)} mistakes of the churn"
    return Check("the cluster was busy", made >= rate / 3 and not mistakes, figure, _counted(Counter(mistakes)))


def healing(rows: Sequence[Json], faults: Sequence[Fault], zero: float) -> dict[str, Json]:
    """Kind of fault → how often, and the longest lag and the longest time until in sync that followed one (s)."""
    found: dict[str, Json] = {}
    for fault in faults:
        entry = found.setdefault(fault.kind, {"count": 0, "longest_lag_s": 0.0, "in_step_after_s": 0.0})
        began = fault.began - zero
        seconds, worst = _until_in_step(rows, began)
        entry["count"] += 1
        entry["longest_lag_s"] = max(entry["longest_lag_s"], worst)
        entry["in_step_after_s"] = max(entry["in_step_after_s"], seconds)
    return found


def _until_in_step(rows: Sequence[Json], began: float, window_s: float = 20.0) -> tuple[float, float]:
    """(seconds until the tables were in sync for good, longest lag): looks a window ahead, and on while they are behind."""
    last, worst = began, 0.0
    for row in rows:
        if row["t"] < began:
            continue
        behind = max((seconds for _, _, seconds in _lags(row)), default=None)
        if behind is None or behind > IN_STEP_S:
            last, worst = row["t"], max(worst, behind or 0.0)
        elif row["t"] > max(began, last) + window_s:
            break
    return round(last - began, 1), round(worst, 1)


def cores(rows: Sequence[Json]) -> dict[str, float]:
    """Service → cores that it kept busy on average, its processes together; "the soak": this process."""
    if len(rows) < 2:
        return {}
    used: dict[str, float] = defaultdict(float)
    for life, points in lives(rows, "cpu_s").items():
        used[life.split("/")[0]] += points[-1][1] - points[0][1]
    seconds = rows[-1]["t"] - rows[0]["t"]
    used["the soak"] = rows[-1]["soak_cpu_s"] - rows[0]["soak_cpu_s"]
    return {part: round(value / seconds, 2) for part, value in used.items()}


def latencies(asked: Sequence[Asked]) -> dict[str, Json]:
    """Kind of request → count, p50 and p95 in milliseconds, of those that were answered."""
    by_kind: dict[str, list[float]] = defaultdict(list)
    for one in asked:
        if one.status != BROKEN:
            by_kind[one.kind].append(one.seconds * 1000)
    return {
        kind: {"count": len(ms), "p50_ms": round(statistics.median(ms)), "p95_ms": round(percentile(ms, 0.95))}
        for kind, ms in sorted(by_kind.items())
    }


def _counted(found: Counter[str]) -> tuple[str, ...]:
    return tuple(f"{count} × {what}" for what, count in found.most_common(MOST_SHOWN))


def _few(lines: list[str]) -> tuple[str, ...]:
    more = [f"… and {len(lines) - MOST_SHOWN} more"] if len(lines) > MOST_SHOWN else []
    return (*lines[:MOST_SHOWN], *more)
