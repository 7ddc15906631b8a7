"""Namespaces: allocations, waste of a week, oldest allocation, and card hours of this month."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import BigIntegerField, Min, Value
from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from inventory.charges.month import month_before, this_month
from inventory.models import Allocation, NamespaceAllocation, NamespaceDay, OwnerDay
from inventory.models.charges import By
from pages.charts.plot import Path, spark
from pages.frame import amounts, choices
from pages.frame.links import pod_url, with_query
from pages.frame.listing import Field, ListSpec, list_page
from pages.frame.refusals import answered
from pages.frame.table import Column, columns_of
from resources.namespace import NAMESPACES
from runtime.clock import database_now

#: Days of the small chart.
DAYS = 14
_HOUR_US, _GIB_HOUR, _DAY_S = 3_600_000_000, 1024 * 3600, 86400


class _Amounts(NamedTuple):
    """Of a day: card-microseconds, MiB-seconds, and those of them without activity."""

    cards: int
    memory: int
    idle: int | None


@dataclass(frozen=True)
class Held:
    """What a namespace or owner held over time. words: how that compares with what was before, "" where nothing is known of that.

    memory_hours: "" where it held only cards of which nobody meters the memory. trend, idle: small charts of a fortnight, of cards
    and of memory without activity; None for less than two days.
    """

    card_hours: str
    memory_hours: str
    trend: Path | None
    words: str
    idle: Path | None = None

    @property
    def beside(self) -> str:
        """What stands behind the card hours: the memory, and how it compares."""
        memory = (
            gettext("%(n)s GiB h") % {"n": self.memory_hours} if self.memory_hours else gettext("memory not metered")
        )
        return f"{memory} · {self.words}" if self.words else memory


@dataclass(frozen=True)
class NamespaceLine:
    """What a template prints of a row. owner: in words, "" where it is of all owners. held: None where nothing of it is summed."""

    row: NamespaceAllocation
    owner: str
    cards: str
    pod_url: str
    allocations_url: str
    history_url: str
    idle_url: str
    held: Held | None

    @property
    def shares(self) -> str:
        """How many of the cards are whole, and how many shares; "" without shares."""
        row = self.row
        if not row.shares:
            return ""
        text = ngettext("%(whole)s whole, %(m)s share", "%(whole)s whole, %(m)s shares", row.shares)
        return text % {"whole": f"{row.cards_whole:,}", "m": f"{row.shares:,}"}

    @property
    def idle_week(self) -> str:
        """GiB h; "" where activity is not collected."""
        return gib_hours(self.row.idle_week_byte_seconds)

    @property
    def unused_week(self) -> str:
        return gib_hours(self.row.unused_week_byte_seconds)

    @property
    def beside(self) -> str:
        """What is to be known of the allocated memory: allocations that are not metered, and how much is used."""
        row, told = self.row, []
        if row.unmetered:
            text = ngettext("and %(m)s allocation not metered", "and %(m)s allocations not metered", row.unmetered)
            told.append(text % {"m": f"{row.unmetered:,}"})
        if row.memory_used_bytes is not None:
            told.append(gettext("%(used)s used") % {"used": amounts.gib(row.memory_used_bytes)})
        return " · ".join(told)


def _lines(rows: list[Any]) -> list[Any]:
    held = _held(rows)
    return [_line(row, held.get(_key(row))) for row in rows]


def _key(row: NamespaceAllocation) -> tuple[Any, ...]:
    return row.cluster_id, row.namespace, row.owner_kind, row.owner_name


def _line(row: NamespaceAllocation, held: Held | None) -> NamespaceLine:
    here: dict[str, Any] = {"cluster": row.cluster.name, "namespace": row.namespace}
    owner = {"owner": row.owner_name}
    return NamespaceLine(
        row=row,
        owner=_owner_words(row) if row.by == By.OWNER else "",
        cards=amounts.figure(row.cards),
        pod_url=pod_url(row.cluster.name, row.namespace, row.oldest_pod),
        allocations_url=with_query(reverse("allocations"), **here, **owner),
        history_url=with_query(reverse("history"), **here, window="7d"),
        idle_url=with_query(reverse("idle"), **here, **owner),
        held=held,
    )


def _owner_words(row: NamespaceAllocation) -> str:
    return f"{row.owner_kind} {row.owner_name}".strip() if row.owner_name else gettext("pods without an owner")


def gib_hours(byte_seconds: float | None) -> str:
    """ "1,234 GiB h"; "" of what is not known."""
    if byte_seconds is None:
        return ""
    return gettext("%(n)s GiB h") % {"n": amounts.figure(byte_seconds / amounts.GIB / 3600)}


def _held(rows: list[NamespaceAllocation]) -> dict[tuple[Any, ...], Held]:
    """One query for a page of rows, all of which are by the same; two where they are of owners."""
    now = database_now()
    month = this_month(now)
    if not rows:
        return {}
    clusters = {row.cluster_id for row in rows}
    of = {"cluster__in": clusters, "namespace__in": {row.namespace for row in rows}, "day__gte": month_before(month)}
    #: Cluster → the first day with owners: days before are not compared with.
    since: dict[int, date] = {}
    found: dict[tuple[Any, ...], dict[date, _Amounts]] = defaultdict(dict)
    if rows[0].by == By.OWNER:
        firsts = OwnerDay.objects.filter(cluster__in=clusters).order_by().values_list("cluster_id")
        since = dict(firsts.annotate(first=Min("day")))
        owners = OwnerDay.objects.filter(**of, owner_name__in={row.owner_name for row in rows})
        names = ("cluster_id", "namespace", "owner_kind", "owner_name", "day", "card_us", "mib_s")
        told: Any = owners.annotate(idle=Value(None, output_field=BigIntegerField())).values_list(*names, "idle")
    else:
        told = NamespaceDay.objects.filter(**of).values_list(
            "cluster_id", "namespace", Value(""), Value(""), "day", "card_us", "mib_s", "idle_mib_s"
        )
    for *key, day, cards, memory, idle in told:
        found[tuple(key)][day] = _Amounts(cards, memory, idle)
    return {key: _told(days, month, now, since.get(key[0])) for key, days in found.items()}


def _told(days: dict[date, _Amounts], month: date, now: datetime, since: date | None) -> Held:
    """since: the first day of which anything is known of such rows; None: that is not asked."""
    mine = [held for day, held in days.items() if day >= month]
    cards, memory = sum(held.cards for held in mine), sum(held.memory for held in mine)
    fortnight = now.date() - timedelta(days=DAYS)
    weeks = _week_trend(days, now.date()) if since is None or since <= fortnight else ""
    trend = _month_trend(days, cards, month, now) or weeks
    memory_hours = amounts.figure(memory / _GIB_HOUR) if memory or not cards else ""
    shown = [now.date() - timedelta(days=back) for back in range(DAYS, 0, -1)]
    few = sum(1 for day in shown if day in days) < 2
    return Held(
        amounts.figure(cards / _HOUR_US),
        memory_hours,
        None if few else spark([(_begin(day), days[day].cards if day in days else 0) for day in shown]),
        trend,
        None if few else spark([(_begin(day), days[day].idle if day in days else None) for day in shown], look="idle"),
    )


def _month_trend(days: dict[date, _Amounts], cards: int, month: date, now: datetime) -> str:
    """By the day, since a month that goes on is shorter than the one before. "" where of that one not all days are there."""
    before = [held.cards for day, held in days.items() if day < month]
    length = (month - month_before(month)).days
    if len(before) < length or not sum(before):
        return ""
    so_far = (now - datetime(month.year, month.month, 1, tzinfo=UTC)).total_seconds() / _DAY_S
    change = _percent(cards / max(so_far, 0.01), sum(before) / length)
    if change > 0:
        return gettext("+%(n)d%% per day vs the month before") % {"n": change}
    if change < 0:
        return gettext("−%(n)d%% per day vs the month before") % {"n": -change}
    return gettext("unchanged per day vs the month before")


def _week_trend(days: dict[date, _Amounts], today: date) -> str:
    """The last seven days that are over against the seven before."""
    last, before = (
        sum(days[day].cards for back in range(first, first + 7) if (day := today - timedelta(days=back)) in days)
        for first in (1, 8)
    )
    if not before:
        return ""
    change = _percent(last, before)
    if change > 0:
        return gettext("+%(n)d%% vs the week before") % {"n": change}
    if change < 0:
        return gettext("−%(n)d%% vs the week before") % {"n": -change}
    return gettext("unchanged vs the week before")


def _percent(amount: float, before: float) -> int:
    return round((amount / before - 1) * 100)


def _begin(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


_MONTH = Column("month", _("This month"), number=True)
_COLUMNS = columns_of(NAMESPACES)
_SPEC = ListSpec(
    resource=NAMESPACES,
    fields=(
        Field("q", _("Search"), placeholder=_("namespace, owner"), wide=True),
        Field("cluster", _("Cluster"), choices.clusters),
        Field("namespace", _("Namespace")),
        Field("owner", _("Owner")),
    ),
    shape=_lines,
    page="namespaces/page.html",
    part="namespaces/part.html",
    title=_("Namespaces"),
    caption=_("Allocations of each namespace"),
    cells="namespaces/cells",
    key=lambda line: f"holds-{line.row.pk}",
    columns=(*_COLUMNS[:3], _MONTH, *_COLUMNS[3:]),
)


@require_safe
@answered
def namespaces(request: HttpRequest) -> HttpResponseBase:
    tab = By.OWNER.value if request.GET.get("by") == By.OWNER else By.NAMESPACE.value
    return list_page(request, _SPEC, lambda _: {"tab": tab, "uncounted": _uncounted()})


def _uncounted() -> bool:
    """Whether something is held, and nothing of it is counted yet. At most two queries."""
    return not NamespaceAllocation.objects.exists() and Allocation.objects.filter(ended_at=None).exists()
