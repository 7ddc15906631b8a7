"""A month of a cluster, by namespace: its rows add up to what the cluster was, exactly, also in the units they are told in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import msgspec
from django.db.models import F, Max, Min, Sum

from inventory.models import ChargeDay, Cluster, NamespaceDay
from inventory.scope import current

#: Card-microseconds of a thousandth of a card-hour; MiB-seconds of ten thousandths of a GiB-hour.
CARD_US, TEN_MIB_S = 3_600_000, 36_864
_MONTH = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])")
#: Kinds of rows that are of no namespace, in their order.
OTHERS, FREE, UNPLACED, UNMETERED, UNKNOWN = "others", "free", "unplaced", "unmetered", "not-known"
_SPECIAL = ((FREE, "free"), (UNPLACED, "unplaced"), (UNMETERED, "unmetered"), (UNKNOWN, "unknown"))
_AMOUNTS = [f"{name}_{unit}" for name in ("total", *(one for _, one in _SPECIAL)) for unit in ("card_us", "mib_s")]


#: Kind, namespace, card-microseconds, MiB-seconds.
_Row = tuple[str, str, int, int]
_TRIES = 3


class ChargeRow(msgspec.Struct, frozen=True):
    """kind: "namespace", else one of the parts that no namespace held. Hours have three decimals, shares are % with two."""

    kind: str
    namespace: str
    card_hours: Decimal
    card_share: Decimal
    memory_hours: Decimal
    memory_share: Decimal


class Charge(msgspec.Struct, frozen=True):
    """since: from when on something is recorded; None: nothing is. until: summed until then. rows: the largest namespace first."""

    cluster: str
    month: str
    since: datetime | None
    until: datetime | None
    rows: list[ChargeRow]
    card_hours: Decimal
    memory_hours: Decimal


def month_of(day: date) -> str:
    """ "2026-11"."""
    return f"{day.year}-{day.month:02}"


def first_of(month: str) -> date | None:
    """The first day of a month that is written as 2026-11; None for what is none."""
    found = _MONTH.fullmatch(month)
    return date(int(found[1]), int(found[2]), 1) if found else None


def next_month(first: date) -> date:
    return (first + timedelta(days=31)).replace(day=1)


def month_before(first: date) -> date:
    return (first - timedelta(days=1)).replace(day=1)


def charge(cluster: Cluster, first: date) -> Charge:
    """Three queries. first: of the month. What the scope does not let see stands in one row."""
    since = ChargeDay.objects.filter(cluster=cluster).aggregate(since=Min("since"))["since"]
    whole_scope = current().sees_whole(cluster.pk)
    for _ in range(_TRIES):
        named, special, whole, until = _read(cluster, first)
        rows = [*named, *special]
        rest = (whole[0] - sum(row[2] for row in rows), whole[1] - sum(row[3] for row in rows))
        # A day that was summed anew between two queries: the next look finds both of one sum.
        if rest == (0, 0) or (not whole_scope and min(rest) >= 0):
            break
    if not whole_scope:
        special.insert(0, (OTHERS, "", *rest))
    return _told(cluster, first, since, until, [*named, *special], whole)


def _read(cluster: Cluster, first: date) -> tuple[list[_Row], list[_Row], tuple[int, int], datetime | None]:
    """Rows of namespaces that are seen, the others, the whole, and until when that is."""
    span = {"cluster": cluster, "day__gte": first, "day__lt": next_month(first)}
    sums = ChargeDay.objects.filter(**span).aggregate(until=Max("until"), **{name: Sum(name) for name in _AMOUNTS})
    mine = NamespaceDay.objects.filter(**span).order_by().values("namespace")
    told = mine.annotate(cards=Sum("card_us"), memory=Sum("mib_s")).order_by(F("cards").desc(), "namespace")
    named = [("namespace", row["namespace"], int(row["cards"]), int(row["memory"])) for row in told]
    special = [
        (kind, "", int(sums[f"{name}_card_us"] or 0), int(sums[f"{name}_mib_s"] or 0)) for kind, name in _SPECIAL
    ]
    whole = (int(sums["total_card_us"] or 0), int(sums["total_mib_s"] or 0))
    return named, special, whole, sums["until"]


def _told(
    cluster: Cluster,
    first: date,
    since: datetime | None,
    until: datetime | None,
    rows: list[_Row],
    whole: tuple[int, int],
) -> Charge:
    cards, card_total = in_units([row[2] for row in rows], whole[0], CARD_US, 1)
    memory, memory_total = in_units([row[3] for row in rows], whole[1], TEN_MIB_S, 10)
    card_shares, _ = in_units([row[2] * 10_000 for row in rows], whole[0] * 10_000, whole[0] or 1, 1)
    memory_shares, _ = in_units([row[3] * 10_000 for row in rows], whole[1] * 10_000, whole[1] or 1, 1)
    made = [
        ChargeRow(kind, name, _decimal(card, 3), _decimal(part, 2), _decimal(size, 3), _decimal(share, 2))
        for (kind, name, _, _), card, part, size, share in zip(
            rows, cards, card_shares, memory, memory_shares, strict=True
        )
    ]
    return Charge(cluster.name, month_of(first), since, until, made, _decimal(card_total, 3), _decimal(memory_total, 3))


def in_units(amounts: Sequence[int], whole: int, unit: int, per: int) -> tuple[list[int], int]:
    """Amounts and their sum in whole multiples of unit ÷ per, so that they still add up: the largest remainders are rounded up."""
    total = (2 * whole * per + unit) // (2 * unit)
    made = [amount * per // unit for amount in amounts]
    by_remainder = sorted(range(len(amounts)), key=lambda place: (-(amounts[place] * per % unit), place))
    missing = total - sum(made)
    for place in by_remainder[: max(0, missing)]:
        made[place] += 1
    return made, total


def _decimal(amount: int, places: int) -> Decimal:
    return Decimal(amount).scaleb(-places)


def this_month(now: datetime) -> date:
    return now.astimezone(UTC).date().replace(day=1)
