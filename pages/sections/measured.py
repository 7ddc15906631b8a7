"""The numbers of a run beside those of the last good run that is like it. Two queries at most; unknown stays unknown."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from pages.rows.runs import card_words
from pages.words.names import plain_html
from validations import baseline
from validations.below_floor import has_floor
from validations.models import Measurement, Run
from validations.pool_baseline import spread_of


@dataclass(frozen=True)
class Number:
    """A measurement. then: of the run compared with, None when it has none in this unit. level: "warning" for slower or an outlier,
    "error" below its floor. floor: "460", "" for no floor, None where there can be none. usual: "467 ± 2" of its pool, None for none.
    """

    name: str
    value: str
    unit: str
    then: str | None
    ratio: str | None
    level: str
    floor: str | None = None
    floor_source: str = ""
    usual: str | None = None
    targets: int = 0


@dataclass(frozen=True)
class Measured:
    """All numbers of a run. before: the run compared with, None when there is none. before_on: its node and card in words."""

    numbers: list[Number]
    before: Run | None
    before_url: str
    before_on: str = ""

    @property
    def with_floor(self) -> list[Number]:
        """Those that were judged against a floor."""
        return [one for one in self.numbers if one.floor]

    @property
    def without_floor(self) -> list[Number]:
        """Those that could have a floor, and have none."""
        return [one for one in self.numbers if one.floor == ""]

    @property
    def of_pool(self) -> int:
        """Targets of the pool that they are beside; 0: of too few for a baseline."""
        return max((one.targets for one in self.numbers), default=0)


def measured(run: Run) -> Measured:
    rows = list(run.measurements.all())
    before = _before(run, rows) if rows else None
    then = baseline.stored(before) if before is not None else {}
    limit = baseline.share(run.suite)
    numbers = []
    for row in rows:
        old = then.get(row.name)
        same = old.value if old is not None and old.unit == row.unit else None
        low = row.floor is not None and row.value < row.floor
        of = spread_of(row)
        slow = row.slower_percent is not None and row.slower_percent > limit
        numbers.append(
            Number(
                name=plain_html(row.name),
                value=figure(row.value),
                unit=row.unit,
                then=None if same is None else figure(same),
                ratio=None if not same else f"{figure(row.value / same)}×",
                level="error"
                if low
                else "warning"
                if slow or (of is not None and baseline.is_odd(row.value, row.unit, of))
                else "",
                floor=(figure(row.floor) if row.floor is not None else "") if has_floor(row.unit) else None,
                floor_source=row.floor_source,
                usual=f"{figure(of.median)} ± {figure(of.mad)}" if of is not None else None,
                targets=of.targets if of is not None else 0,
            )
        )
    if before is None:
        return Measured(numbers, None, "")
    return Measured(numbers, before, reverse("run", args=[before.pk]), f"{before.node_name} · {card_words(before)}")


def _before(run: Run, rows: list[Measurement]) -> Run | None:
    """The run that the verdict was compared with; where nothing could be compared, the one that would have been."""
    kept = next((row.baseline_id for row in rows if row.baseline_id), None)
    if not kept:
        return baseline.baseline_of(run)
    found = Run.objects.filter(pk=kept).first()
    return found if found is not None and baseline.alike(run, found) else None


def figure(value: float) -> str:
    """Three digits and more: 14,890 · 117.8 · 8.20 · 0.000621. What is not zero is never printed as 0."""
    size = abs(value)
    if size >= 1e15 or (value and size < 1e-6):
        return f"{value:.3g}"
    if size >= 1000 or value == 0:
        return f"{value:,.0f}"
    if size >= 100:
        return f"{value:.1f}"
    if size >= 1:
        return f"{value:.2f}"
    return f"{value:.3g}"
