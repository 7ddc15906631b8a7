"""Chargeback: what was allocated in a month to each namespace or owner, and what was not, so that it adds up."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from inventory.charges import month as months
from inventory.charges.month import ChargeRow, charge, first_of, month_before, month_of, next_month, this_month
from inventory.models import ChargeDay, Cluster
from inventory.models.charges import By
from pages.frame import amounts
from pages.frame.freshness import notices
from pages.frame.links import with_query
from pages.frame.refusals import BadParameter, answered
from resources.charge import as_csv, file_name
from runtime.clock import database_now

#: Namespaces or owners that the page names; CSV and REST have all.
MOST = 200
#: Kind → what it is called, and what it is.
WORDS = {
    months.OTHERS: (gettext_lazy("other namespaces"), gettext_lazy("namespaces outside your scope")),
    months.NOT_RECORDED: (
        gettext_lazy("owner not recorded"),
        gettext_lazy("allocated on days without owner records"),
    ),
    months.UNALLOCATED: (gettext_lazy("unallocated"), gettext_lazy("not allocated")),
    months.UNIDENTIFIED: (gettext_lazy("unidentified"), gettext_lazy("allocated, card and amount unknown")),
    months.NOT_METERED: (gettext_lazy("not metered"), gettext_lazy("on shared cards without metering")),
    months.NO_DATA: (gettext_lazy("no data"), gettext_lazy("cluster not watched at that time")),
}
_NAMES = {"cluster", "month", "by", "format"}


_WAYS = {By.NAMESPACE: gettext_lazy("By namespace"), By.OWNER: gettext_lazy("By owner")}


@dataclass(frozen=True)
class Line:
    """A row. url: of its allocations, also those that ended; "" where there is no such list.

    memory_hours: "" of a namespace that held only cards of which nobody meters the memory; that is in a row of its own.
    """

    row: ChargeRow
    title: str
    about: str
    card_hours: str
    memory_hours: str
    url: str

    @property
    def cost(self) -> str:
        return amounts.money(
            self.row.amounts, self.row.cost_complete, bool(self.row.card_hours or self.row.memory_hours)
        )


@require_safe
@answered
def chargeback(request: HttpRequest) -> HttpResponseBase:
    cluster, now = _cluster(request), database_now()
    if cluster is None:
        return render(request, "history/none.html", {})
    first, by = _month(request, this_month(now)), _by(request)
    found = charge(cluster, first, by)
    if request.GET.get("format") == "csv":
        response = HttpResponse(as_csv(found), content_type="text/csv; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="{file_name(found)}"'
        return response
    named = [row for row in found.rows if row.namespace]
    shown = [*named[:MOST], *(row for row in found.rows if not row.namespace)]
    context = {
        "found": found,
        "card_hours": amounts.figure(float(found.card_hours)),
        "memory_hours": amounts.figure(float(found.memory_hours)),
        "lines": [_line(row, cluster) for row in shown],
        "more": len(named) - len(named[:MOST]),
        "cost": amounts.money(found.amounts, found.cost_complete, bool(found.card_hours)),
        "going_on": first == this_month(now),
        "months": _months(cluster, first, by, now),
        "clusters": [
            (one.name, _url(one, first, by), one.pk == cluster.pk) for one in Cluster.objects.order_by("name")
        ],
        "of_owners": by == By.OWNER,
        "ways": [(str(title), _url(cluster, first, way), way == by) for way, title in _WAYS.items()],
        "csv_url": _url(cluster, first, by) + "&format=csv",
        "notices": notices(request, {cluster.pk}),
    }
    return render(request, "namespaces/chargeback.html", context)


def _cluster(request: HttpRequest) -> Cluster | None:
    """What the address names, else the first; None: there is none."""
    if unknown := sorted(set(request.GET) - _NAMES):
        told = {"names": ", ".join(sorted(_NAMES))}
        raise BadParameter({name: [_("Unknown filter. Valid filters: %(names)s.") % told] for name in unknown})
    if request.GET.get("format", "") not in ("", "html", "csv"):
        raise BadParameter({"format": [_("Must be one of: %(names)s.") % {"names": "html, csv"}]})
    rows = {row.name: row for row in Cluster.objects.order_by("name")}
    name = request.GET.get("cluster", "")
    if name and name not in rows:
        told = {"name": repr(name[:64]), "known": ", ".join(rows)}
        raise BadParameter({"cluster": [_("Unknown cluster: %(name)s. Known clusters: %(known)s.") % told]})
    return rows[name] if name else next(iter(rows.values()), None)


def _by(request: HttpRequest) -> By:
    name = request.GET.get("by", "") or By.NAMESPACE.value
    if name not in By.values:
        raise BadParameter({"by": [_("Must be one of: %(names)s.") % {"names": ", ".join(By.values)}]})
    return By(name)


def _month(request: HttpRequest, usual: date) -> date:
    text = request.GET.get("month", "")
    first = first_of(text) if text else usual
    if first is None:
        raise BadParameter({"month": [_("Must be a month, such as 2026-11.")]})
    return first


def _line(row: ChargeRow, cluster: Cluster) -> Line:
    # CSV and REST are exact, and add up.
    hours = (amounts.figure(float(row.card_hours)), amounts.figure(float(row.memory_hours)))
    if row.namespace:
        here: dict[str, Any] = {"cluster": cluster.name, "namespace": row.namespace, "owner": row.owner, "ended": "any"}
        metered = row.memory_hours or not row.card_hours
        # Pods that nothing controls cannot be asked for.
        url = "" if row.kind == months.NO_OWNER else with_query(reverse("allocations"), **here)
        owner = f"{row.owner_kind} {row.owner}".strip() if row.owner else _("pods without an owner")
        about = "" if row.kind == "namespace" else owner
        return Line(row, row.namespace, about, hours[0], hours[1] if metered else "", url)
    title, what = WORDS[row.kind]
    return Line(row, str(title), str(what), *hours, "")


def _months(cluster: Cluster, chosen: date, by: By, now: datetime) -> list[tuple[str, str, bool]]:
    """(month, address, whether it is chosen) from the first that is recorded on, the newest first; at most a year."""
    oldest = ChargeDay.objects.filter(cluster=cluster).order_by("day").values_list("day", flat=True).first()
    last = this_month(now)
    # "Last month" is there from the beginning, so that nobody looks for it.
    first = min((oldest or last).replace(day=1), month_before(last))
    found: list[date] = []
    while last >= first and len(found) < 12:
        found.append(last)
        last = month_before(last)
    if chosen not in found and chosen < next_month(now.date().replace(day=1)):
        found.append(chosen)
    return [(month_of(one), _url(cluster, one, by), one == chosen) for one in found]


def _url(cluster: Cluster, first: date, by: By) -> str:
    of = by.value if by == By.OWNER else ""
    return with_query(reverse("chargeback"), cluster=cluster.name, month=month_of(first), by=of)
