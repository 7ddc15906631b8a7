"""Is it slower than the last time, or than the others? A run's measurements beside those of good runs that are like it.

The last good run: same suite, same workload (image, command, resources), same card model, same driver, both known: what is not
known is not the same. The same card first, then any other of the model. Without such a run nothing is compared, and nothing is said.

The others: the baseline of its pool, see `pool_baseline`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from django.conf import settings
from django.db.models import QuerySet

from validations.below_floor import has_floor, source_of
from validations.floors import Floor
from validations.floors.table import UNITS
from validations.models import Measurement as Row
from validations.models import Run
from validations.spread import Spread, is_outlier, spread
from validations.suites import find
from validations.suites.engine.base import Measurement, Reason, Result
from wording.said import sentence

#: Units in which more is better, and in which less is. Numbers in other units are kept and not compared.
MORE_IS_BETTER = frozenset(UNITS)
LESS_IS_BETTER = frozenset(("ms", "s"))


class Compared(msgspec.Struct, frozen=True):
    """A measurement beside its baseline. slower_percent: by how much longer it took; below zero: it was faster."""

    name: str
    value: float
    unit: str
    baseline_value: float
    slower_percent: float


def share(suite: str) -> float:
    """Percent above which a run is called slower: the suite's own, else the setting's."""
    found = find(suite)
    own = found.slower_percent if found is not None else None
    return float(settings.RUN_SLOWER_PERCENT if own is None else own)


def not_compared(suite: str) -> frozenset[str]:
    """Measurements of the suite that depend on disk, start-up or the processor more than on the card."""
    found = find(suite)
    return found.not_compared if found is not None else frozenset()


def baseline_of(run: Run) -> Run | None:
    """The run to compare with; None when there is none. Two queries."""
    if not run.workload_key or not run.card_model or not run.driver_version:
        return None
    good = Run.objects.select_related("cluster").filter(
        suite=run.suite, workload_key=run.workload_key, verdict="passed"
    )
    good = good.filter(card_model=run.card_model, driver_version=run.driver_version).exclude(pk=run.pk)
    if run.ended_at is not None:
        good = good.filter(ended_at__lte=run.ended_at)
    same = good.filter(cluster_id=run.cluster_id, node_name=run.node_name, card_key=run.card_key)
    return _newest(same) or _newest(good)


def spreads(result: Result, others: Mapping[tuple[str, str], list[float]]) -> dict[str, Spread]:
    """Measurement → the baseline of its pool, where ten targets or more have passed."""
    found = {name: spread(others.get((name, one.unit), ())) for name, one in result.measurements.items()}
    return {name: one for name, one in found.items() if one is not None}


def with_spreads(result: Result, found: Mapping[str, Spread]) -> Result:
    """A pass with a number far from those of its pool becomes a warning. It blames no card."""
    odd = [
        name
        for name, one in found.items()
        if is_odd(result.measurements[name].value, result.measurements[name].unit, one)
    ]
    if result.verdict not in ("passed", "warning") or not odd:
        return result
    reasons = [Reason("outlier", _odd_text(name, result.measurements[name], found[name])) for name in odd]
    # What decided before stays first; of a pass the reasons are remarks.
    reasons = [*reasons, *result.reasons] if result.verdict == "passed" else [*result.reasons, *reasons]
    return msgspec.structs.replace(result, verdict="warning", reasons=reasons)


def is_odd(value: float, unit: str, of: Spread) -> bool:
    """Whether a measurement is an outlier of its pool."""
    return is_outlier(value, of, more_is_better=unit in MORE_IS_BETTER)


def _odd_text(name: str, one: Measurement, of: Spread) -> str:
    return sentence(
        "{name} is an outlier: {value} {unit}, the median of {targets} other targets of this pool is {median} {unit} "
        "(spread {mad}).",
        name=name,
        value=f"{one.value:g}",
        unit=one.unit,
        targets=of.targets,
        median=f"{of.median:g}",
        mad=f"{of.mad:.3g}",
    )


def alike(run: Run, other: Run) -> bool:
    """Whether card model and driver of both are known and the same."""
    known = bool(run.card_model) and bool(run.driver_version)
    return known and (run.card_model, run.driver_version) == (other.card_model, other.driver_version)


def _newest(runs: QuerySet[Run]) -> Run | None:
    return runs.order_by("-ended_at", "-id").first()


def compare(suite: str, found: Mapping[str, Measurement], before: Mapping[str, Measurement]) -> list[Compared]:
    """All measurements that both runs have in one unit and that say something about speed."""
    compared = []
    left_out = not_compared(suite)
    for name, now in found.items():
        old = before.get(name)
        if old is None or old.unit != now.unit or name in left_out:
            continue
        percent = slower_percent(now.value, old.value, now.unit)
        if percent is not None:
            compared.append(Compared(name, now.value, now.unit, old.value, percent))
    return compared


def slower_percent(value: float, before: float, unit: str) -> float | None:
    """By how many percent longer the same work took. None when the unit does not say, or a value is not above zero."""
    if value <= 0 or before <= 0:
        return None
    if unit in LESS_IS_BETTER:
        return (value / before - 1) * 100
    return (before / value - 1) * 100 if unit in MORE_IS_BETTER else None


def stored(run: Run) -> dict[str, Measurement]:
    """The measurements of a stored run."""
    return {row.name: Measurement(row.value, row.unit) for row in Row.objects.filter(run=run)}


def with_baseline(result: Result, baseline: Run | None, compared: list[Compared]) -> Result:
    """A pass that is slower than the share allows becomes a warning that says by how much."""
    slow = [one for one in compared if one.slower_percent > share(result.suite)]
    if result.verdict not in ("passed", "warning") or baseline is None or not slow:
        return result
    reasons = [Reason("slower", _text(one, baseline)) for one in sorted(slow, key=lambda one: -one.slower_percent)]
    return msgspec.structs.replace(result, verdict="warning", reasons=[*reasons, *result.reasons])


def _text(one: Compared, baseline: Run) -> str:
    times = 1 + one.slower_percent / 100
    amounts = {
        "name": one.name,
        "id": baseline.id,
        "target_text": baseline.target_text,
        "value": f"{one.value:g}",
        "unit": one.unit,
        "baseline_value": f"{one.baseline_value:g}",
    }
    if times >= 10:
        return sentence(
            "{name} is {times}× slower: {value} {unit}, {baseline_value} {unit} in the last pass (run {id} "
            "on {target_text}).",
            times=f"{times:,.0f}",
            **amounts,
        )
    return sentence(
        "{name} is {slower_percent}% slower: {value} {unit}, {baseline_value} {unit} in the last pass (run {id} "
        "on {target_text}).",
        slower_percent=f"{one.slower_percent:.0f}",
        **amounts,
    )


class Against(msgspec.Struct, frozen=True):
    """What the measurements of a result were judged against, by their names; what is absent there was not."""

    before: Run | None = None
    compared: list[Compared] = []
    floors: Mapping[str, Floor] = {}
    spreads: Mapping[str, Spread] = {}

    def told(self, result: Result) -> str:
        """ "gflops: no floor, baseline of 14 targets 467 ± 2 GFLOP/s"; of all that can have a floor or have a baseline."""
        return "; ".join(
            f"{name}: {', '.join(parts)}"
            for name, one in result.measurements.items()
            if (parts := self._told(name, one.unit))
        )

    def _told(self, name: str, unit: str) -> list[str]:
        floor, pool, parts = self.floors.get(name), self.spreads.get(name), list[str]()
        if floor is not None:
            parts.append(f"floor {floor.least:g} {unit} ({source_of(floor)})")
        elif has_floor(unit):
            parts.append("no floor")
        if pool is not None:
            parts.append(f"baseline of {pool.targets} targets {pool.median:g} ± {pool.mad:.3g} {unit}")
        return parts


def rows(run: Run, result: Result, against: Against) -> list[Row]:
    """The measurements as rows, not written yet."""
    beside: dict[str, Compared] = {one.name: one for one in against.compared}
    made = []
    for name, one in result.measurements.items():
        more: dict[str, Any] = {}
        if (other := beside.get(name)) is not None:
            more = {
                "baseline": against.before,
                "baseline_value": other.baseline_value,
                "slower_percent": other.slower_percent,
            }
        if (floor := against.floors.get(name)) is not None:
            more |= {"floor": floor.least, "floor_source": source_of(floor)}
        if (pool := against.spreads.get(name)) is not None:
            more |= {"pool_median": pool.median, "pool_spread": pool.mad, "pool_targets": pool.targets}
        made.append(Row(run=run, name=name[:100], value=one.value, unit=one.unit[:16], **more))
    return made
