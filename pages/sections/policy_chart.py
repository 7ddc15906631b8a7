"""The share of valid cards over two weeks, and where a new driver came. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from pages.charts import plot
from pages.charts.plot import Chart, Line, Scale
from pages.frame import amounts, times
from validations.policies.reading import Counts, Hour

SPAN = timedelta(days=14)
#: A driver has come once more than this share of the cards has it.
_NEW = 0.1
#: Hours without counts for longer than this are a gap in the line.
_GAP = timedelta(hours=2)
_MOST_MARKS = 4
#: Parameter of the address, and as many lines as there are colours for.
DRIVER, MOST_DRIVERS = "driver", 5


@dataclass(frozen=True)
class Change:
    """A new driver. before: the one that most cards had instead. counts: of the cards that have it now."""

    at: datetime
    before: str
    driver: str
    counts: Counts


def chart(hours: Sequence[Hour], at: datetime, *, by_driver: bool = False) -> Chart | None:
    """by_driver: a line for each of the drivers with most cards. None where nothing was counted."""
    counted = [hour for hour in hours if hour.counts.cards]
    if not counted:
        return None
    scale = Scale(max(at - SPAN, counted[0].at), at, 0, 100)
    drivers = _most_cards(counted) if by_driver else []
    marks = [plot.mark(scale, came, driver, f"{_('driver')} {driver}") for came, driver in _arrivals(counted)]
    drawn = plot.plot(
        scale,
        [_of_driver(number, one, counted) for number, one in enumerate(drivers)] or [_of_all(counted)],
        [(0, "0%"), (50, "50%"), (100, "100%")],
        tall=130,
        marks=marks[-_MOST_MARKS:],
    )
    readings = [(scale.x(hour.at), _words_of(hour, drivers) if drivers else _words(hour)) for hour in counted]
    label = _("Share of valid cards by driver, last 14 days") if drivers else _("Share of valid cards, last 14 days")
    return Chart("valid-cards", label, [drawn], plot.ticks(scale), readings)


def _of_all(hours: Sequence[Hour]) -> Line:
    counts = [(hour.at, hour.counts) for hour in hours]
    return Line("valid", _points(counts), title=_("valid"), text=_percent(counts[-1][1]), area=True)


def _of_driver(number: int, driver: str, hours: Sequence[Hour]) -> Line:
    """It has a gap while no card had the driver."""
    counts = [(hour.at, hour.drivers[driver]) for hour in hours if driver in hour.drivers]
    known = [one for one in counts if one[1].cards]
    return Line(f"driver{number}", _points(known), title=driver or _("unknown"), text=_percent(known[-1][1]))


def _points(counts: Sequence[tuple[datetime, Counts]]) -> list[tuple[datetime, float | None]]:
    points = list[tuple[datetime, float | None]]()
    for before, (at, one) in zip([None, *counts], counts, strict=False):
        if before is not None and at - before[0] > _GAP:
            points.append((before[0] + _GAP, None))
        points.append((at, one.valid / one.cards * 100))
    return points


def _percent(counts: Counts) -> str:
    return f"{amounts.percent(counts.valid, counts.cards)}%"


def _most_cards(hours: Sequence[Hour]) -> list[str]:
    """The drivers of the most cards over the whole time, in the order of their names; unknown is one of them, and last."""
    found = Counter[str]()
    for hour in hours:
        found.update({driver: counts.cards for driver, counts in hour.drivers.items() if counts.cards})
    return sorted((driver for driver, _cards in found.most_common(MOST_DRIVERS)), key=lambda one: (not one, one))


def change_of(hours: Sequence[Hour]) -> Change | None:
    """The newest driver, with what its cards are now."""
    found = _arrivals(hours)
    if not found:
        return None
    at, driver = found[-1]
    first, last = ({one: counts.cards for one, counts in hour.drivers.items()} for hour in (hours[0], hours[-1]))
    before = max(first, key=lambda one: first[one] - last.get(one, 0), default="")
    return Change(at, before, driver, hours[-1].drivers.get(driver, Counts()))


def _arrivals(hours: Sequence[Hour]) -> list[tuple[datetime, str]]:
    """When a driver came that was not there in the first hour; of several in one hour that of most cards."""
    known, found = set[str](), list[tuple[datetime, str]]()
    for number, hour in enumerate(hours):
        common = {one for one, counts in hour.drivers.items() if one and counts.cards > _NEW * hour.counts.cards}
        if number and common - known:
            found.append((hour.at, max(common - known, key=lambda one: hour.drivers[one].cards)))
        known |= common
    return found


def _words(hour: Hour) -> str:
    one = hour.counts
    parts = (
        (_("%(n)s valid"), one.valid),
        (_("%(n)s due"), one.due),
        (_("%(n)s running"), one.running),
        (_("%(n)s failed"), one.failed),
        (_("%(n)s excluded"), one.excluded),
    )
    return "\n".join(
        [times.with_zone(hour.at), *(text % {"n": amounts.count(number)} for text, number in parts if number)]
    )


def _words_of(hour: Hour, drivers: Sequence[str]) -> str:
    lines = [times.with_zone(hour.at)]
    for driver in drivers:
        one = hour.drivers.get(driver)
        if one is not None and one.cards:
            told = {"valid": amounts.count(one.valid), "all": amounts.count(one.cards)}
            lines.append(f"{driver or _('unknown')}: " + _("%(valid)s of %(all)s valid") % told)
    return "\n".join(lines)
