"""Waste of memory over days (UTC): allocated without GPU activity, and allocated but not used, as it is kept of namespaces.

Of namespaces seven queries, whatever the size; all through the reader's scope.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.db.models import QuerySet, Sum
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.charges.exact import amounts_of
from inventory.charges.idle import rounded
from inventory.charges.now import WEEK
from inventory.charges.prices import Money
from inventory.charges.waste import Wasted as Row
from inventory.charges.waste import waste as read_waste
from inventory.models import NamespaceDay
from inventory.models.charges import By
from inventory.models.idle import Confidence
from pages.charts import plot
from pages.charts.plot import Chart, Line, Scale
from pages.frame import amounts
from pages.frame.labels import label_of
from pages.frame.links import with_query

#: Namespaces and owners that are named.
SHOWN, OWNERS_SHOWN = 6, 10
_GIB_HOUR = 1024 * 3600
#: Look and title of a line of the chart, in the order of the sums.
_LINES = (("idle", gettext_lazy("idle")), ("unused", gettext_lazy("unused")))


@dataclass(frozen=True)
class Wasted:
    """A namespace in the last 7 and 30 days, in GiB h; "" where it is not collected. share: of what it had allocated, in percent."""

    name: str
    cluster: str
    idle: str
    idle_month: str
    share: str
    unused: str
    unused_month: str
    idle_url: str
    history_url: str


@dataclass(frozen=True)
class OwnerWaste:
    """An owner in the last 30 days, until yesterday. idle, unused: in GiB h; cost, unused_cost: of these. "" for none.

    asked, peak, suggestion: of one card.
    """

    name: str
    namespace: str
    cluster: str
    url: str
    idle: str
    unused: str
    cost: str
    unused_cost: str
    asked: str
    peak: str
    suggestion: str
    confidence: str
    days: int
    samples: int


@dataclass(frozen=True)
class Waste:
    """Of all namespaces that the reader sees; "" where it is not collected. rows: the most idle first, SHOWN of them.

    chart: None for less than two days.
    """

    idle: str
    share: str
    unused: str
    rows: list[Wasted]
    more: int
    chart: Chart | None


def waste(now: datetime) -> Waste | None:
    """None where nothing of the last week is collected."""
    month = read_waste(now, 30, By.NAMESPACE, costs=False)
    week = {(one.cluster, one.namespace): one for one in read_waste(now, WEEK, By.NAMESPACE, costs=False)}
    if not week:
        return None
    month.sort(key=lambda one: _most_idle(week.get((one.cluster, one.namespace))), reverse=True)
    idle = [one for one in week.values() if one.idle is not None]
    unused = [one.unused for one in week.values() if one.unused is not None]
    idle_sum = sum(one.idle or 0 for one in idle)
    return Waste(
        idle=_known(idle_sum if idle else None),
        share=_share(idle_sum, sum(one.allocated for one in idle)),
        unused=_known(sum(unused) if unused else None),
        rows=[_wasted(one, week.get((one.cluster, one.namespace))) for one in month[:SHOWN]],
        more=len(month[SHOWN:]),
        chart=_chart(now, NamespaceDay.objects.order_by()),
    )


def owners_waste(now: datetime) -> list[OwnerWaste]:
    """Those with the most of it in 30 days, OWNERS_SHOWN of them. It reads a row for each owner and day."""
    return [_owner(one) for one in read_waste(now, 30, By.OWNER)[:OWNERS_SHOWN]]


def _most_idle(one: Row | None) -> tuple[int, int]:
    return (-1, -1) if one is None else (one.idle or 0, one.unused or 0)


def _wasted(month: Row, week: Row | None) -> Wasted:
    here = {"cluster": month.cluster, "namespace": month.namespace}
    return Wasted(
        name=month.namespace,
        cluster=month.cluster,
        idle=_known(week.idle if week else None),
        idle_month=_known(month.idle),
        share="" if week is None or week.idle is None else _share(week.idle, week.allocated),
        unused=_known(week.unused if week else None),
        unused_month=_known(month.unused),
        idle_url=with_query(reverse("idle"), **here),
        history_url=with_query(reverse("history"), **here, window="7d"),
    )


def _owner(one: Row) -> OwnerWaste:
    found = one.suggestion
    return OwnerWaste(
        name=f"{one.owner_kind} {one.owner}".strip() or _("pods without an owner"),
        namespace=one.namespace,
        cluster=one.cluster,
        url=with_query(reverse("allocations"), cluster=one.cluster, namespace=one.namespace, owner=one.owner),
        idle=_known(one.idle),
        unused=_known(one.unused),
        cost=_cost(one.idle, one.idle_cost),
        unused_cost=_cost(one.unused, one.unused_cost),
        asked=_memory(one.asked),
        peak=_memory(one.peak),
        suggestion=_memory(None if found is None else found.memory),
        confidence="" if found is None else label_of(Confidence, found.sure.value),
        days=one.days,
        samples=one.samples,
    )


def _known(mib_s: int | None) -> str:
    return "" if mib_s is None else _hours(mib_s)


def _cost(mib_s: int | None, money: Money) -> str:
    return "" if mib_s is None else amounts.money(amounts_of(rounded(money)), not money.unknown)


def _memory(mib: int | None) -> str:
    return "" if mib is None else amounts.gib(mib * amounts.MIB)


def _hours(mib_s: int) -> str:
    return amounts.figure(mib_s / _GIB_HOUR)


def _share(part: int, whole: int) -> str:
    percent = amounts.percent(part, whole)
    return "" if percent is None else f"{percent}%"


def _chart(now: datetime, days: QuerySet[NamespaceDay]) -> Chart | None:
    """Means over days, the one that goes on as far as it has gone."""
    today = now.astimezone(UTC).date()
    rows = days.filter(day__gt=today - timedelta(days=WEEK)).values_list("day")
    sums = {day: held for day, *held in rows.annotate(Sum("idle_mib_s"), Sum("unused_mib_s"))}
    if len(sums) < 2:
        return None
    spans = [(_begin(day), min(_begin(day) + timedelta(days=1), now), sums.get(day)) for day in _last(today)]
    means = [_means(held, (end - begin).total_seconds()) for begin, end, held in spans]
    high = max((mean for day in means for mean in day if mean is not None), default=0)
    scale = Scale(spans[0][0], now, 0, max(high * 1.05, amounts.GIB))
    lines, readings = [], []
    for place, (look, title) in enumerate(_LINES):
        points = [(at, day[place]) for (begin, end, _), day in zip(spans, means, strict=True) for at in (begin, end)]
        last = means[-1][place]
        lines.append(Line(look, points, str(title), "" if last is None else amounts.gib(last), area=look == "idle"))
    for (begin, end, _sums), day in zip(spans, means, strict=True):
        told = [
            f"{title} {amounts.gib(mean)}" for (_look, title), mean in zip(_LINES, day, strict=True) if mean is not None
        ]
        readings.append(
            (scale.x(begin + (end - begin) / 2), "\n".join([f"{begin:%Y-%m-%d} UTC", *(told or [_("no data")])]))
        )
    levels = plot.levels(scale.high, [2.0**power for power in range(30, 70)], lambda value: amounts.gib(round(value)))
    label = _("Chart of idle and unused memory by day. The table below has the sums of a week.")
    return Chart("chart-waste", label, [plot.plot(scale, lines, levels, tall=130)], plot.ticks(scale), readings)


def _means(sums: list[int | None] | None, seconds: float) -> list[int | None]:
    """Bytes on average, of MiB-seconds in the order of `_LINES`."""
    return [None if one is None else round(one / max(seconds, 1) * amounts.MIB) for one in sums or [None] * len(_LINES)]


def _last(today: date) -> list[date]:
    return [today - timedelta(days=back) for back in range(WEEK - 1, -1, -1)]


def _begin(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)
