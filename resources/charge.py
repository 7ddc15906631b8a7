"""A month's chargeback as programs and spreadsheets read it."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime
from typing import Annotated

from inventory.charges.month import Charge
from inventory.charges.month import ChargeRow as Row
from inventory.models.charges import By
from resources.cost import Cost, costs_told
from resources.csv_export import harmless
from resources.declared import Shape, fact

_AMOUNTS = (
    "card_hours",
    "card_share_percent",
    "memory_gib_hours",
    "memory_share_percent",
    "recorded_since_utc",
    "until_utc",
)
HEAD = ("cluster", "month", "row", "namespace", *_AMOUNTS)
HEAD_OF_OWNERS = ("cluster", "month", "row", "namespace", "owner_kind", "owner", *_AMOUNTS, "owners_since")


_COSTS = fact("By currency; currencies are never added.", of="amounts", by=costs_told)


class ChargeRow(Shape):
    """One row of a month. All rows add up to the cluster."""

    row: Annotated[
        str,
        fact(
            "namespace, or by owner: owner, no-owner (pods without a controller), owner-not-recorded (allocated before "
            "owners were recorded). others: other namespaces. unallocated. unidentified: allocated, card and amount "
            "unknown. not-metered: on shared cards without memory metering. no-data: not watched.",
            of="kind",
        ),
    ]
    namespace: str | None
    owner_kind: Annotated[str | None, fact("Kind of the owner, for rows by owner.")]
    owner: str | None
    card_hours: Annotated[float, fact(by=float)]
    card_share_percent: Annotated[float, fact(of="card_share", by=float)]
    memory_gib_hours: Annotated[float, fact(of="memory_hours", by=float)]
    memory_share_percent: Annotated[float, fact(of="memory_share", by=float)]
    costs: Annotated[list[Cost], _COSTS]
    cost_complete: Annotated[bool, fact("false: a part, or all, has no price.")]


class Chargeback(Shape):
    """A month of a cluster (UTC)."""

    cluster: Annotated[str, fact(by=str)]
    month: str
    recorded_since: Annotated[datetime | None, fact("Start of the records; null: no data.", of="since")]
    until: Annotated[datetime | None, fact("Summed until this time; null: no data for this month.")]
    by: Annotated[str, fact("namespace or owner.", of="by.value")]
    owners_since: Annotated[date | None, fact("By owner: first day of the month with recorded owners; null: none.")]
    total_card_hours: Annotated[float, fact(of="card_hours", by=float)]
    total_memory_gib_hours: Annotated[float, fact(of="memory_hours", by=float)]
    total_costs: Annotated[list[Cost], _COSTS]
    cost_complete: Annotated[bool, fact("false: a part, or all, has no price.")]
    rows: list[ChargeRow]


def as_csv(found: Charge) -> str:
    """One line a namespace or owner and one for each part that is nobody's; the columns add up to the cluster's."""
    text = io.StringIO()
    writer, of_owners = csv.writer(text), found.by == By.OWNER
    writer.writerow((*(HEAD_OF_OWNERS if of_owners else HEAD), *money_head(found)))
    since, until = _time(found.since), _time(found.until)
    for one in found.rows:
        amounts = (one.card_hours, one.card_share, one.memory_hours, one.memory_share)
        place = (found.cluster, found.month, one.kind, harmless(one.namespace))
        owner = (harmless(one.owner_kind), harmless(one.owner)) if of_owners else ()
        known = (found.owners_since or "",) if of_owners else ()
        writer.writerow(
            (*place, *owner, *(f"{amount:f}" for amount in amounts), since, until, *known, *_money(found, one))
        )
    return text.getvalue()


def money_head(found: Charge) -> tuple[str, ...]:
    """A column for each currency, so that each can be summed; none without prices."""
    return (*(f"cost_{one}" for one in found.costs), "cost_complete") if found.priced else ()


def _money(found: Charge, row: Row) -> tuple[str, ...]:
    """ "" where nothing of the row has a price in that currency."""
    if not found.priced:
        return ()
    amounts = [f"{row.costs[one]:.2f}" if one in row.costs else "" for one in found.costs]
    return (*amounts, "yes" if row.cost_complete else "no")


def _time(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def file_name(found: Charge) -> str:
    """What the file is called."""
    of = "-by-owner" if found.by == By.OWNER else ""
    return f"gpudash-chargeback-{found.cluster}-{found.month}{of}.csv"
