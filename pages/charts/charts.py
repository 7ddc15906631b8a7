"""The chart of a subject's history: its windows, and what is drawn of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.history import packed
from inventory.history.asked import Past
from inventory.history.named import Named
from inventory.history.series import WINDOWS, Series, Window, window_named
from pages.charts import plot
from pages.charts.plot import Chart, Event, Line, Plot, Scale
from pages.frame import amounts, times
from pages.frame.links import state_url, with_query
from pages.frame.refusals import BadParameter
from pages.usage import percent

DEFAULT = "1d"
#: Seconds until a chart asks again: at once, and while a Prometheus is being asked.
_NOW, _SOON_S, _MOST_TRIES = -1, 1, 10
TITLES = {
    "1h": gettext_lazy("1 hour"),
    "6h": gettext_lazy("6 hours"),
    "1d": gettext_lazy("1 day"),
    "7d": gettext_lazy("7 days"),
    "30d": gettext_lazy("30 days"),
    "90d": gettext_lazy("90 days"),
}


def window_of(request: HttpRequest) -> Window:
    """The one that the address names. Raises BadParameter."""
    found = window_named(request.GET.get("window", DEFAULT))
    if found is None:
        names = ", ".join(one.name for one in WINDOWS)
        raise BadParameter({"window": [_("Must be one of: %(names)s.") % {"names": names}]})
    return found


def windows(request: HttpRequest, current: Window) -> list[tuple[str, str, bool]]:
    """(title, this page with that window, whether it is this one)."""
    return [(str(TITLES[one.name]), state_url(request, window=one.name), one == current) for one in WINDOWS]


def chart_of(
    named: Named, window: Window, past: Past | None = None, tries: int = 0, events: Sequence[Event] = ()
) -> Chart:
    """past: without it the chart is not drawn yet, and asks for itself. tries: how often it has, while Prometheus is asked."""
    query = named.parameters | {"window": window.name}
    asking = past is not None and past.asking and tries < _MOST_TRIES
    again = {"tries": str(tries + 1)} if asking else {}
    made = Chart(
        id=f"chart-{named.subject.value}-{window.name}",
        label=_("Chart of memory and activity. Left and right arrow keys move along it, Home and End go to its ends."),
        url=with_query(reverse("history"), part="chart", **query, **again),
        wait=_SOON_S if asking else 0,
        page=with_query(reverse("history"), **query),
    )
    if past is None:
        return replace(made, wait=_NOW, says=_("Chart and table"))
    if not any(one.column in past.series.columns for one in (*_MEMORY, *_WORK)):
        return replace(made, says=_("No data for this time yet. Data is recorded each minute."))
    told = past.series
    moments = [told.begin + timedelta(seconds=told.step_s * step) for step in range(told.length)]
    scale = Scale(moments[0], moments[-1], 0, 1)
    step = timedelta(seconds=told.step_s)
    readings = [
        (scale.x(at), _reading(told, number, at, [one.text for one in events if at <= one.at < at + step]))
        for number, at in enumerate(moments)
    ]
    return replace(
        made,
        plots=_plots(told, moments),
        ticks=plot.ticks(scale),
        signs=plot.signs(scale, events),
        readings=readings,
    )


class _Quantity(NamedTuple):
    """column: of the history. look: in charts.css."""

    column: str
    look: str
    title: str | Promise
    stepped: bool = False


_MEMORY = (
    _Quantity(packed.TOTAL, "total", gettext_lazy("capacity")),
    _Quantity(packed.USED_MOST, "peak", gettext_lazy("peak used")),
    _Quantity(packed.ALLOCATED, "allocated", gettext_lazy("allocated"), stepped=True),
    _Quantity(packed.IDLE, "idle", gettext_lazy("idle")),
    _Quantity(packed.USED, "used", gettext_lazy("used")),
)
_WORK = (
    _Quantity(packed.UTILIZATION, "utilization", gettext_lazy("utilization")),
    _Quantity(packed.ACTIVITY, "activity", gettext_lazy("activity")),
)


def _gib(value: float) -> str:
    return amounts.gib(round(value))


def _plots(told: Series, moments: Sequence[datetime]) -> list[Plot]:
    made = []
    for title, tall, quantities, form, steps in (
        (_("Memory"), 180, _MEMORY, _gib, [2.0**power for power in range(20, 70)]),
        (_("Activity"), 100, _WORK, percent, [0.5]),
    ):
        known = [one for one in quantities if one.column in told.columns]
        if not known:
            continue
        top = max(value for one in known for value in told.columns[one.column] if value is not None)
        high = 1.0 if form is percent else max(top * 1.05, 2.0**20)
        lines = [_line(one, told, moments, form, area=one is known[-1]) for one in known]
        scale = Scale(moments[0], moments[-1], 0, high)
        made.append(plot.plot(scale, lines, plot.levels(high, steps, form), tall=tall, title=title))
    return made


def _line(one: _Quantity, told: Series, moments: Sequence[datetime], form: Callable[[float], str], area: bool) -> Line:
    values = told.columns[one.column]
    points = list(zip(moments, values, strict=True))
    if one.stepped:  # it holds until the next step begins
        pairs = zip(values[:-1], pairwise(moments), strict=True)
        points = [(at, value) for value, pair in pairs for at in pair] + points[-1:]
    last = next((value for value in reversed(values) if value is not None), None)
    return Line(one.look, points, str(one.title), "" if last is None else form(last), area)


def _reading(told: Series, step: int, at: datetime, happened: Sequence[str]) -> str:
    """All that is known of one step, and what happened in it, a line each."""

    def value(column: str) -> float | None:
        return told.columns[column][step] if column in told.columns else None

    lines = [
        f"{one.title} {form(known)}"
        for quantities, form in ((_MEMORY, _gib), (_WORK, percent))
        for one in quantities
        if (known := value(one.column)) is not None
    ] or [_("no data")]
    cards, measured, unknown = value(packed.CARDS), value(packed.MEASURED), value(packed.UNKNOWN)
    if cards is not None and measured is not None and measured < cards:
        lines.append(
            _("%(measured)s of %(cards)s cards measured") % {"measured": round(measured), "cards": round(cards)}
        )
    if unknown:
        lines.append(_("excluding %(n)s of unknown size") % {"n": round(unknown)})
    return "\n".join([times.with_zone(at), *lines, *happened])
