"""A chart of a subject's history: what a template wants to draw it. The numbers come from REST, without a script from a table."""

from __future__ import annotations

import json
from dataclasses import dataclass

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.history.named import Named
from inventory.history.series import WINDOWS, Window, window_named
from inventory.models import Subject
from pages.frame.links import state_url, with_query
from pages.frame.refusals import BadParameter

DEFAULT = "1d"
TITLES = {
    "1h": gettext_lazy("1 hour"),
    "6h": gettext_lazy("6 hours"),
    "1d": gettext_lazy("1 day"),
    "7d": gettext_lazy("7 days"),
    "30d": gettext_lazy("30 days"),
    "90d": gettext_lazy("90 days"),
}


@dataclass(frozen=True)
class Chart:
    """data: where its numbers are. numbers: the same as a page. words: what the script prints."""

    id: str
    data: str
    numbers: str
    words: dict[str, str]

    @property
    def words_json(self) -> str:
        """For an attribute of the page."""
        return json.dumps(self.words, ensure_ascii=False)


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


def chart_of(named: Named, window: Window) -> Chart:
    query = named.parameters | {"window": window.name}
    return Chart(
        id=f"chart-{named.subject.value}-{window.name}",
        data=_data(named, window),
        numbers=with_query(reverse("history"), **query),
        words=_words(),
    )


def _data(named: Named, window: Window) -> str:
    if named.subject == Subject.CARD:
        return with_query(reverse("api-card-history", args=[named.key]), window=window.name)
    part = {} if named.subject == Subject.CLUSTER else {named.subject.value: named.key}
    return with_query(reverse("api-cluster-history", args=[named.cluster.name]), window=window.name, **part)


def _words() -> dict[str, str]:
    return {
        "memory_allocated_bytes": _("allocated"),
        "memory_used_bytes": _("used"),
        "memory_used_peak_bytes": _("peak used"),
        "memory_total_bytes": _("capacity"),
        "utilization_ratio": _("utilization"),
        "activity_ratio": _("activity"),
        "measured": _("%(measured)s of %(cards)s cards measured"),
        "unknown": _("excluding %(n)s of unknown size"),
        "nothing": _("no data"),
        "empty": _("No data for this time yet. Data is recorded each minute."),
        "lost": _("No answer from gpudash. Next try in a minute."),
        "missing": _("The chart library is not installed (tools/browser_packages.py). The table has the numbers."),
        "memory": _("Memory"),
        "work": _("Activity"),
    }
