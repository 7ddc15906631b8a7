"""A month of a cluster by namespace or owner: its rows add up to what the cluster was, exactly, in the units they are told in too."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import msgspec
from django.db.models import CharField, F, Max, Min, QuerySet, Sum, Value

from inventory.charges.costs import Costs
from inventory.charges.exact import Amount, amounts_of, in_units
from inventory.models import ChargeDay, Cluster, NamespaceDay, OwnerDay
from inventory.models.charges import By
from runtime.scope import current

#: Card-microseconds of a thousandth of a card-hour; MiB-seconds of ten thousandths of a GiB-hour.
CARD_US, TEN_MIB_S = 3_600_000, 36_864
_MONTH = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])")
#: Kinds of rows that are of no namespace, in their order.
OTHERS, UNALLOCATED, UNIDENTIFIED, NOT_METERED, NO_DATA = (
    "others",
    "unallocated",
    "unidentified",
    "not-metered",
    "no-data",
)
#: Kinds of rows by owner: of one; of pods of a namespace that nothing controls; and what was held while owners were not recorded.
OWNER, NO_OWNER, NOT_RECORDED = "owner", "no-owner", "owner-not-recorded"
_SPECIAL = (
    (UNALLOCATED, "free"),
    (UNIDENTIFIED, "unplaced"),
    (NOT_METERED, "unmetered"),
    (NO_DATA, "unknown"),
)
_AMOUNTS = [f"{name}_{unit}" for name in ("total", *(one for _, one in _SPECIAL)) for unit in ("card_us", "mib_s")]


#: Kind, namespace, kind and name of the owner, card-microseconds, MiB-seconds.
_Row = tuple[str, str, str, str, int, int]
_TRIES = 3


class ChargeRow(msgspec.Struct, frozen=True):
    """kind: "namespace", OWNER or NO_OWNER, else one of the parts that none of them held. Hours have three decimals, shares are %
    with two.

    costs: by currency, with two decimals. cost_complete: all of it has a price.
    """

    kind: str
    namespace: str
    card_hours: Decimal
    card_share: Decimal
    memory_hours: Decimal
    memory_share: Decimal
    owner_kind: str = ""
    owner: str = ""
    costs: dict[str, Decimal] = {}
    cost_complete: bool = False

    @property
    def amounts(self) -> list[Amount]:
        return amounts_of(self.costs)


class Charge(msgspec.Struct, frozen=True):
    """since: from when on something is recorded; None: nothing is. until: summed until then. rows: the largest first.

    owners_since: the first day of the month of which owners are known; None: of none, or it is by namespace. priced: there are
    prices. costs: of all rows; cost_complete: all of them have a price.
    """

    cluster: str
    month: str
    since: datetime | None
    until: datetime | None
    rows: list[ChargeRow]
    card_hours: Decimal
    memory_hours: Decimal
    by: By = By.NAMESPACE
    owners_since: date | None = None
    costs: dict[str, Decimal] = {}
    cost_complete: bool = False
    priced: bool = False

    @property
    def amounts(self) -> list[Amount]:
        return amounts_of(self.costs)


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


def charge(cluster: Cluster, first: date, by: By = By.NAMESPACE) -> Charge:
    """Four queries, and three more where there are prices. first: of the month.

    Allocations outside the scope are one row; so are those of days whose owners are not recorded.
    """
    since = ChargeDay.objects.filter(cluster=cluster).aggregate(since=Min("since"))["since"]
    whole_scope = current().sees_whole(cluster.pk)
    for _ in range(_TRIES):
        named, special, whole, until, owners_since = _read(cluster, first, by)
        rows = [*named, *special]
        rest = (whole[0] - sum(row[-2] for row in rows), whole[1] - sum(row[-1] for row in rows))
        # A day that was summed anew between two queries: the next look finds both of one sum.
        if rest == (0, 0) or (not whole_scope and min(rest) >= 0):
            break
    if not whole_scope:
        special.insert(0, (OTHERS, "", "", "", *rest))
    told = _told(cluster, first, since, until, [*named, *special], whole)
    costs = Costs()
    span = first, next_month(first) - timedelta(days=1)
    costs.read(cluster.pk, span, by, _SPECIAL, (OTHERS, "", "", ""), (NOT_RECORDED, "", "", ""))
    return _with_costs(msgspec.structs.replace(told, by=by, owners_since=owners_since), costs)


def _with_costs(told: Charge, costs: Costs) -> Charge:
    keys = [(row.kind, row.namespace, row.owner_kind, row.owner) for row in told.rows]
    amounts, total = costs.told(keys)
    rows = [
        msgspec.structs.replace(row, costs=amount, cost_complete=costs.complete(key))
        for row, key, amount in zip(told.rows, keys, amounts, strict=True)
    ]
    complete = costs.priced and all(row.cost_complete for row in rows)
    return msgspec.structs.replace(told, rows=rows, costs=total, cost_complete=complete, priced=costs.priced)


def _span(cluster: Cluster, first: date) -> dict[str, Any]:
    return {"cluster": cluster, "day__gte": first, "day__lt": next_month(first)}


def _read(
    cluster: Cluster, first: date, by: By
) -> tuple[list[_Row], list[_Row], tuple[int, int], datetime | None, date | None]:
    """Rows of namespaces or owners that are seen, the others, the whole, until when that is, and from when owners are known."""
    span = _span(cluster, first)
    sums = ChargeDay.objects.filter(**span).aggregate(until=Max("until"), **{name: Sum(name) for name in _AMOUNTS})
    special: list[_Row] = [
        (kind, "", "", "", int(sums[f"{name}_card_us"] or 0), int(sums[f"{name}_mib_s"] or 0))
        for kind, name in _SPECIAL
    ]
    whole = (int(sums["total_card_us"] or 0), int(sums["total_mib_s"] or 0))
    if by == By.NAMESPACE:
        return _of_namespaces(span), special, whole, sums["until"], None
    named, before, since = _of_owners(span)
    return named, [before, *special], whole, sums["until"], since


def _summed(rows: QuerySet[Any], *names: str) -> Any:
    """Of the rows, by these columns: the columns, card-microseconds, MiB-seconds, the first day."""
    return rows.order_by().values_list(*names).annotate(cards=Sum("card_us"), memory=Sum("mib_s"), since=Min("day"))


def _of_namespaces(span: dict[str, Any]) -> list[_Row]:
    found = _summed(NamespaceDay.objects.filter(**span), "namespace")
    rows: list[_Row] = [("namespace", name, "", "", int(cards), int(memory)) for name, cards, memory, _ in found]
    return sorted(rows, key=lambda row: (-row[-2], row[1]))


def _of_owners(span: dict[str, Any]) -> tuple[list[_Row], _Row, date | None]:
    """Rows of owners, what else the namespaces held, and the first day of an owner. One query, so that all are of one moment."""
    nobody, whole, part = (Value(text, output_field=CharField()) for text in ("", "n", "o"))
    namespaces = NamespaceDay.objects.filter(**span).annotate(what=whole, kind=nobody, name=nobody)
    owners = OwnerDay.objects.filter(**span).annotate(what=part, kind=F("owner_kind"), name=F("owner_name"))
    columns = ("what", "namespace", "kind", "name")
    rows: list[_Row] = []
    left, first = [0, 0], None
    for what, space, kind, name, cards, memory, since in _summed(namespaces, *columns).union(
        _summed(owners, *columns), all=True
    ):
        sign = 1 if what == "n" else -1
        left = [left[0] + sign * int(cards), left[1] + sign * int(memory)]
        if what == "o":
            first = min(first or since, since)
            rows.append((OWNER if name else NO_OWNER, space, kind, name, int(cards), int(memory)))
    before: _Row = (NOT_RECORDED, "", "", "", left[0], left[1])
    return sorted(rows, key=lambda row: (-row[-2], row[1:4])), before, first


def _told(
    cluster: Cluster,
    first: date,
    since: datetime | None,
    until: datetime | None,
    rows: list[_Row],
    whole: tuple[int, int],
) -> Charge:
    amounts = [row[-2:] for row in rows]
    cards, card_total = in_units([card for card, _ in amounts], whole[0], CARD_US, 1)
    memory, memory_total = in_units([size for _, size in amounts], whole[1], TEN_MIB_S, 10)
    card_shares, _ = in_units([card * 10_000 for card, _ in amounts], whole[0] * 10_000, whole[0] or 1, 1)
    memory_shares, _ = in_units([size * 10_000 for _, size in amounts], whole[1] * 10_000, whole[1] or 1, 1)
    made = [
        ChargeRow(
            kind, space, _decimal(card, 3), _decimal(part, 2), _decimal(size, 3), _decimal(share, 2), owner_kind, owner
        )
        for (kind, space, owner_kind, owner, _, _), card, part, size, share in zip(
            rows, cards, card_shares, memory, memory_shares, strict=True
        )
    ]
    return Charge(cluster.name, month_of(first), since, until, made, _decimal(card_total, 3), _decimal(memory_total, 3))


def _decimal(amount: int, places: int) -> Decimal:
    return Decimal(amount).scaleb(-places)


def this_month(now: datetime) -> date:
    return now.astimezone(UTC).date().replace(day=1)
