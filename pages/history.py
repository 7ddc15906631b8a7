"""Over time: allocated, used and work of a cluster, a pool, a namespace, a node or a card, as a chart and in numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from inventory.forecast.pools import forecasts
from inventory.history import named
from inventory.history.asked import with_past
from inventory.history.named import Named
from inventory.history.series import Series, series
from inventory.models import Cluster, Subject
from inventory.queries.totals import totals_by_pool
from pages.charts.charts import chart_of, window_of, windows
from pages.charts.plot import Event
from pages.frame.freshness import notices
from pages.frame.labels import pool_words
from pages.frame.links import card_url, node_url, with_query
from pages.frame.refusals import BadParameter, NotThere, answered
from pages.rows.cards import card_name
from pages.sections.events import events_of
from pages.sections.forecast import Outlook, outlook
from resources.history import COLUMNS
from runtime.clock import database_now

#: Pools and namespaces that are linked.
MOST_NAMES = 100


@dataclass(frozen=True)
class Step:
    """One line of the table. None: not known. partly: of a sum, "7 of 8" cards are in what is used; "" when all are."""

    begin: datetime
    allocated: int | None
    used: int | None
    used_most: int | None
    utilization: float | None
    activity: float | None
    partly: str
    unknown: int

    @property
    def known(self) -> bool:
        """Whether it tells anything."""
        return any(value is not None for value in (self.allocated, self.used, self.utilization, self.activity))


@require_safe
@answered
def history(request: HttpRequest) -> HttpResponseBase:
    window = window_of(request)
    found = _named(request)
    if found is None:
        return render(request, "history/none.html", {})
    now = database_now()
    own = series(found.cluster.pk, found.subject, found.key, window, now)
    past = with_past(found, window, own, now)
    told = past.series
    if request.GET.get("part") == "chart":
        tries = request.GET.get("tries", "0")
        chart = chart_of(found, window, past, int(tries) if tries.isdecimal() else 0, _events(found, told))
        return render(request, "parts/chart.html", {"chart": chart})
    if request.GET.get("format") == "csv":
        return _csv(found, window.name, told)
    if request.GET.get("format", "") not in ("", "html"):
        raise BadParameter({"format": [_("Must be one of: %(names)s.") % {"names": "html, csv"}]})
    query = found.parameters | {"window": window.name}
    steps = [step for step in steps_of(told) if step.known][::-1]
    context = {
        "named": found,
        "title": _title(found),
        "home": _home(found),
        "chart": chart_of(found, window, past, events=_events(found, told)),
        "windows": windows(request, window),
        "steps": steps,
        "excluded": max((step.unknown for step in steps), default=0),
        "csv_url": with_query(reverse("history"), format="csv", **query),
        "notices": notices(request, {found.cluster.pk}),
        "outlook": _outlook(found, now),
        "clusters": [_link(Named(one, Subject.CLUSTER, ""), window.name) for one in Cluster.objects.order_by("name")],
        "pools": [
            _link(Named(found.cluster, Subject.POOL, name), window.name)
            for name in named.pools_of(found.cluster, MOST_NAMES)
        ],
        "namespaces": [
            _link(Named(found.cluster, Subject.NAMESPACE, name), window.name)
            for name in named.namespaces_of(found.cluster, MOST_NAMES)
        ],
    }
    return render(request, "history/page.html", context)


def _outlook(found: Named, now: datetime) -> Outlook | None:
    """Of a pool that has nodes."""
    if found.subject != Subject.POOL:
        return None
    pools = [one for one in totals_by_pool([found.cluster]) if one.pool == found.key]
    return next(map(outlook, forecasts(pools, now)), None)


def _events(found: Named, told: Series) -> list[Event]:
    return events_of(found, told.begin, told.end)


def _named(request: HttpRequest) -> Named | None:
    """What the address names, else the first cluster; None: there is none."""
    parameters: dict[str, str] = {name: request.GET[name] for name in named.PARAMETERS if name in request.GET}
    if not parameters:
        first = Cluster.objects.order_by("name").first()
        return Named(first, Subject.CLUSTER, "") if first else None
    try:
        return named.find(parameters)
    except named.NotOne as error:
        raise BadParameter(
            {error.parameter: [_("Must name one subject: a card, or a cluster and a part of it.")]}
        ) from None
    except named.NothingThere:
        raise NotThere(
            _("Nothing has this name or a history."), "", [(_("All clusters"), reverse("history"))]
        ) from None


def steps_of(told: Series) -> Iterator[Step]:
    """Oldest first."""
    for at, values in _rows(told):
        measured, cards = values["cards_measured"], values["cards"]
        some = measured is not None and cards is not None and measured < cards
        yield Step(
            begin=at,
            allocated=_whole(values["memory_allocated_bytes"]),
            used=_whole(values["memory_used_bytes"]),
            used_most=_whole(values["memory_used_peak_bytes"]),
            utilization=values["utilization_ratio"],
            activity=values["activity_ratio"],
            partly=f"{measured:.0f} / {cards:.0f}" if some else "",
            unknown=round(values["unknown"] or 0),
        )


def _rows(told: Series) -> Iterator[tuple[datetime, dict[str, float | None]]]:
    """Beginning of each step, and its values by the names that programs know."""
    nothing = [None] * told.length
    columns = [told.columns.get(name, nothing) for name in COLUMNS.values()]
    for place, values in enumerate(zip(*columns, strict=True)):
        yield told.begin + timedelta(seconds=told.step_s * place), dict(zip(COLUMNS, values, strict=True))


def _whole(size: float | None) -> int | None:
    return None if size is None else round(size)


def _csv(found: Named, window: str, told: Series) -> HttpResponse:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("begins_at", *COLUMNS))
    for at, values in _rows(told):
        writer.writerow((at.isoformat(), *map(_number, values.values())))
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="history-{found.subject.value}-{window}.csv"'
    return response


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f}" if value == int(value) else f"{value:.3f}"


def _title(found: Named) -> str:
    if found.card is not None:
        return f"{found.card.node_name} {card_name(found.card)}"
    return pool_words(found.key) if found.subject == Subject.POOL else found.key or found.cluster.name


def _home(found: Named) -> tuple[str, str] | None:
    """(title, address) of its own page."""
    if found.card is not None:
        return _("Card"), card_url(found.card.pk)
    if found.subject == Subject.NODE:
        return _("Node"), node_url(found.cluster.name, found.key)
    here: dict[str, Any] = {"cluster": found.cluster.name}
    if found.subject == Subject.NAMESPACE:
        return _("Allocations"), with_query(reverse("allocations"), namespace=found.key, **here)
    if found.subject == Subject.CLUSTER:
        return _("Cards"), with_query(reverse("cards"), **here)
    return None


def _link(one: Named, window: str) -> tuple[str, str]:
    return _title(one), with_query(reverse("history"), **one.parameters, window=window)
