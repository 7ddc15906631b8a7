"""What must have held, from what was measured; pure. What has to be asked of the running system is in `settled`."""

from __future__ import annotations

import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from bench.report import percentile
from tests.soak.faults import Fault
from tests.soak.level import Points, Trend, rises, trend_of
from tests.soak.parts import Death
from tests.soak.requests import BROKEN, Asked

Json = dict[str, Any]
#: Figure of a process → (most an hour, growth that means nothing, most growth of one life). A leak shows in what is in use: blocks of
#: the C library (what each lost connection of 28 watchers left behind was 15 MiB an hour), and Python's in thousands (60 MiB are some
#: million). Resident memory rises by what peaks leave between them: seen at 39 MiB an hour in the first half hour, of 0.3 MiB in use.
LEVELS = {
    "heap_mib": (5.0, 1.5, 16.0),
    "kiloblocks": (15.0, 20.0, 200.0),
    "resident_mib": (50.0, 4.0, 32.0),
    "fds": (1.0, 8.0, 60.0),
    "threads": (1.0, 4.0, 40.0),
}
#: A table is never further behind than this, whatever happened to the parts (s); and in sync below IN_STEP_S.
MOST_LAG_S, IN_STEP_S = 90.0, 5.0
#: How much younger than the truth REST may say that the mirror is (s): it is asked each second, and a dead watcher counts 10 s.
MOST_HIDDEN_S = 30.0
#: After its end a fault explains an answer for so long (s): the database accepts again, but not all connections are made.
HEALED_S, KILLED_S = 15.0, 5.0
#: Of all samples so many must know how far each table is behind; the others fell into a restart of the database.
KNOWN_SHARE = 0.5
CLUSTERS = ("near", "far")
MEASURED = tuple((cluster, table) for cluster in CLUSTERS for table in ("pods", "allocations"))
#: A soak of so many seconds judges the memory of every kind of process.
ALL_JUDGED_S = 900.0
#: In a shorter one a process still fills what it keeps (seen: 5 MiB in three minutes). More an hour than this is a leak.
SHORT_PER_HOUR = {"heap_mib": 50.0, "kiloblocks": 800.0, "resident_mib": 150.0}
#: A watch process takes over the work of one that is gone, and gives it back: so many more or fewer threads begin another life.
OTHER_WORK = 8
#: After the first sign-in of the soak, when all sign in at once (s).
CROWD_S = 60.0
#: A round of the exporters comes each minute; one may fall into a fault, and the next comes later then (s).
USAGE_S = 240.0
#: The age of a round that was never made.
NEVER = 1e9
MOST_SHOWN = 12


class Check(NamedTuple):
    """ok, and the figure that shows it; details: what is wrong, line by line."""

    name: str
    ok: bool
    figure: str
    details: tuple[str, ...] = ()


def level(rows: Sequence[Json]) -> list[Check]:
    """No kind of process uses more and more: over all lives of all processes of a role together."""
    made = []
    short = not rows or rows[-1]["t"] < ALL_JUDGED_S
    for figure, (allowed, noise, most) in LEVELS.items():
        per_hour = SHORT_PER_HOUR.get(figure, allowed) if short else allowed
        by_role: dict[str, list[Points]] = defaultdict(list)
        for life, points in lives(rows, figure).items():
            by_role[role_of(life)].append(points)
        trends = {role: trend_of(points) for role, points in by_role.items()}
        known = {role: trend for role, trend in trends.items() if trend is not None}
        bad = [f"{role}: {why}" for role, trend in known.items() if (why := rises(trend, per_hour, noise, most))]
        unknown = sorted(trends.keys() - known.keys())
        if unknown and not short:
            bad.append(f"no life of {', '.join(unknown)} was long enough to be judged")
        made.append(
            Check(
                f"{figure} of each kind of process is level",
                not bad and bool(known),
                _steepest(known, unknown),
                tuple(bad),
            )
        )
    return made


def role_of(life: str) -> str:
    """ "web" of "web-1/4711", "schedule" of "schedule/12"."""
    return re.sub(r"-\d+$", "", life.split("/")[0])


def lives(rows: Sequence[Json], figure: str) -> dict[str, list[tuple[float, float]]]:
    """ "web-1/4711/0" → its points; "web-1/4711/1": those after its work became another."""
    found: dict[str, list[tuple[float, float]]] = defaultdict(list)
    work: dict[str, tuple[int, int]] = {}
    for row in rows:
        for part, usages in row["processes"].items():
            for usage in usages:
                process, threads = f"{part}/{usage['pid']}", usage["threads"]
                number, before = work.setdefault(process, (0, threads))
                if figure != "threads" and abs(threads - before) > OTHER_WORK:
                    work[process] = number, _ = number + 1, threads
                if usage[figure]:
                    found[f"{process}/{number}"].append((row["t"], float(usage[figure])))
    return found


def _steepest(trends: Mapping[str, Trend], unknown: Sequence[str]) -> str:
    left = f"; not known: {', '.join(unknown)}" if unknown else ""
    if not trends:
        return f"no process lived long enough{left}"
    role, trend = max(trends.items(), key=lambda item: item[1].growth)
    count = sum(one.lives for one in trends.values())
    return f"most: {role} {trend.slope:+.1f}/h, {trend.growth:+.1f} in {trend.seconds:.0f} s; {count} lives{left}"


def lag(rows: Sequence[Json]) -> Check:
    """Of all samples, those without an answer count as what they are: nothing is known then, and that may not be for long."""
    worst, where, at = 0.0, "", 0.0
    known: Counter[tuple[str, str]] = Counter()
    for row in rows:
        for cluster, table, seconds in _lags(row):
            known[cluster, table] += 1
            if seconds > worst:
                worst, where, at = seconds, f"{table} of {cluster}", row["t"]
    bad = [
        f"{table} of {cluster}: {known[cluster, table]} of {len(rows)} samples"
        for cluster, table in MEASURED
        if known[cluster, table] < KNOWN_SHARE * len(rows)
    ]
    blind = _longest_without(rows)
    if blind > MOST_LAG_S:
        bad.append(f"no sample for {blind:.0f} s")
    if worst > MOST_LAG_S:
        bad.append(f"{where} was {worst:.1f} s behind at {at:.0f} s")
    figure = f"longest {worst:.1f} s ({where} at {at:.0f} s), allowed {MOST_LAG_S:.0f} s; {len(rows)} samples"
    return Check("the tables are never far behind", bool(rows) and not bad, figure, tuple(bad))


def _longest_without(rows: Sequence[Json]) -> float:
    """The longest time for which it was not known how far the tables are behind (s)."""
    if not rows:
        return 0.0
    moments = [rows[0]["t"], *(row["t"] for row in rows if row["lag_s"]), rows[-1]["t"]]
    return float(max(later - earlier for earlier, later in pairwise(moments)))


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
    return Check("REST does not hide that the mirror is behind", asked > 0 and not hidden, figure, few(hidden))


def requests(asked: Sequence[Asked], faults: Sequence[Fault]) -> Check:
    crowd_until = min((one.at for one in asked if one.kind == "sign-in"), default=0.0) + CROWD_S
    bad: Counter[str] = Counter()
    excused: Counter[str] = Counter()
    for one in asked:
        if why := wrong(one):
            excuse = excused_by(one, faults, crowd_until)
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


def excused_by(one: Asked, faults: Iterable[Fault], crowd_until: float) -> str:
    """Why an answer may be wrong, "" for no reason."""
    if one.status == 503 and one.note.isdigit() and one.kind == "sign-in" and one.at <= crowd_until:
        return "503 to a sign-in, while all sign in at once"
    # It is asked for until it is taken: `each case is marked and returned once` says whether it was.
    if one.status == 400 and one.kind == "rest POST runs" and "(no-free)" in one.note:
        return "400 to a run whose card the run before still had"
    for fault in faults:
        until = (fault.ended or float("inf")) + HEALED_S
        if fault.kind == "database" and one.status == 503 and one.note.isdigit() and fault.began <= one.at <= until:
            return "503 with Retry-After while the database was away"
        streamed = fault.kind == "database" and one.status == BROKEN and "format=csv" in one.target
        if streamed and fault.began <= one.at <= until:
            return "CSV broken off while the database was away"
        dead = fault.kind == "token" and "launcher" in fault.part and fault.began <= one.at <= until
        if dead and one.status == 400 and one.kind == "rest POST campaigns":
            return "400 to a campaign while the launcher's token was dead"
        # It answers 403 to everybody until it has read the roles, and the refusal holds until the next pass.
        restarted = fault.kind == "api server" and fault.began <= one.at <= until
        if restarted and one.status == 400 and one.kind == "rest POST campaigns" and "not authorized" in one.note:
            return "400 to a campaign while the restarted API server had not read its roles"
        # What is asked to end finishes what it is answering: only a kill breaks that off.
        killed = fault.kind == "kill" and fault.part == "web" and fault.began <= one.at <= fault.began + KILLED_S
        if killed and one.status in (BROKEN, 502):
            return "broken off by the kill of their web process"
        starting = fault.kind in ("end", "kill") and fault.part == "web" and fault.began <= one.at <= until
        if starting and one.status == 503 and one.note.isdigit() and one.kind == "sign-in":
            return "503 to a sign-in while one web process did the work of two"
    return ""


def sign_ins(asked: Sequence[Asked], people: int) -> Check:
    """Everybody got in: an answer that one may come again does not excuse that one never gets in."""
    inside = sum(one.kind == "sign-in" and one.status == 302 for one in asked)
    return Check("everybody has signed in", inside >= people > 0, f"{inside} sign-ins of {people} people")


def processes(deaths: Sequence[Death]) -> Check:
    lines = tuple(f"{death.part} ended with {death.code}: …{death.last_words[-300:]}" for death in deaths)
    return Check("no process died by itself", not deaths, f"{len(deaths)} deaths", lines)


def ended(late: Sequence[str]) -> Check:
    return Check("services end within 30 s when told", not late, f"{len(late)} were killed", tuple(late))


def worked(troubles: str, campaigns: Sequence[str]) -> Check:
    """The clients ended well, and campaigns were taken. troubles: what the clients said at their end."""
    figure = troubles or f"{len(campaigns)} campaigns"
    return Check("clients and campaigns worked", not troubles and bool(campaigns), figure)


def carried_out(faults: Sequence[Fault]) -> Check:
    """Each was made, and has hit something: a kill of what was not there is none."""
    bad = [f"{fault.kind} {fault.part}: {fault.error}" for fault in faults if fault.error]
    bad += [
        f"{fault.kind} {fault.part}: hit nothing {fault.note}" for fault in faults if not fault.hit and not fault.error
    ]
    kinds = Counter(fault.kind for fault in faults if fault.hit)
    figure = ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none"
    return Check("the faults were made", bool(faults) and not bad, figure, tuple(bad))


def measured(rows: Sequence[Json], expected: int) -> Check:
    """What the exporters say of the cards is read all the time. expected: cards that they speak of."""
    known = [row["usage"] for row in rows if row["usage"]]
    late = [row for row in rows if row["t"] > USAGE_S and row["usage"] and row["usage"]["age_s"] > USAGE_S]
    most = max((one["cards"] for one in known), default=0)
    bad = [f"at {row['t']:.0f} s the last round was {row['usage']['age_s']:.0f} s ago" for row in late]
    if most != expected:
        bad.append(f"at most {most} cards were measured at once, of {expected}")
    if not any(one["age_s"] < USAGE_S for one in known):
        bad.append("no round was ever made")
    oldest = max((one["age_s"] for one in known if one["age_s"] != NEVER), default=0.0)
    figure = f"{most} cards; the oldest round {oldest:.0f} s, allowed {USAGE_S:.0f} s"
    return Check("what cards use is read all the time", not bad, figure, few(bad))


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


def few(lines: list[str]) -> tuple[str, ...]:
    more = [f"… and {len(lines) - MOST_SHOWN} more"] if len(lines) > MOST_SHOWN else []
    return (*lines[:MOST_SHOWN], *more)
