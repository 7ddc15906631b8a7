"""A month's chargeback as programs and spreadsheets read it."""

from __future__ import annotations

import csv
import io
from datetime import UTC, date, datetime
from typing import Annotated

from msgspec import Meta

from inventory.charges.month import Charge
from inventory.models.charges import By
from resources.csv_export import harmless
from resources.declared import Shape

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


class ChargeRow(Shape):
    """One row of a month. All rows add up to the cluster."""

    row: Annotated[
        str,
        Meta(
            description="namespace, or by owner: owner, no-owner (pods without a controller), owner-not-recorded "
            "(allocated before owners were recorded). others: other namespaces. unallocated. "
            "unidentified: allocated, card and amount unknown. not-metered: on shared cards without "
            "memory metering. no-data: not watched."
        ),
    ]
    namespace: str | None
    owner_kind: Annotated[str | None, Meta(description="Kind of the owner, for rows by owner.")]
    owner: str | None
    card_hours: float
    card_share_percent: float
    memory_gib_hours: float
    memory_share_percent: float


class Chargeback(Shape):
    """A month of a cluster (UTC)."""

    cluster: str
    month: str
    recorded_since: Annotated[datetime | None, Meta(description="Start of the records; null: no data.")]
    until: Annotated[datetime | None, Meta(description="Summed until this time; null: no data for this month.")]
    by: Annotated[str, Meta(description="namespace or owner.")]
    owners_since: Annotated[
        date | None, Meta(description="By owner: first day of the month with recorded owners; null: none.")
    ]
    total_card_hours: float
    total_memory_gib_hours: float
    rows: list[ChargeRow]


def told(found: Charge) -> Chargeback:
    """As REST has it."""
    return Chargeback(
        cluster=found.cluster,
        month=found.month,
        recorded_since=found.since,
        until=found.until,
        by=found.by.value,
        owners_since=found.owners_since,
        total_card_hours=float(found.card_hours),
        total_memory_gib_hours=float(found.memory_hours),
        rows=[
            ChargeRow(
                row=one.kind,
                namespace=one.namespace or None,
                owner_kind=one.owner_kind or None,
                owner=one.owner or None,
                card_hours=float(one.card_hours),
                card_share_percent=float(one.card_share),
                memory_gib_hours=float(one.memory_hours),
                memory_share_percent=float(one.memory_share),
            )
            for one in found.rows
        ],
    )


def as_csv(found: Charge) -> str:
    """One line a namespace or owner and one for each part that is nobody's; the columns add up to the cluster's."""
    text = io.StringIO()
    writer, of_owners = csv.writer(text), found.by == By.OWNER
    writer.writerow(HEAD_OF_OWNERS if of_owners else HEAD)
    since, until = _time(found.since), _time(found.until)
    for one in found.rows:
        amounts = (one.card_hours, one.card_share, one.memory_hours, one.memory_share)
        place = (found.cluster, found.month, one.kind, harmless(one.namespace))
        owner = (harmless(one.owner_kind), harmless(one.owner)) if of_owners else ()
        known = (found.owners_since or "",) if of_owners else ()
        writer.writerow((*place, *owner, *(f"{amount:f}" for amount in amounts), since, until, *known))
    return text.getvalue()


def _time(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def file_name(found: Charge) -> str:
    """What the file is called."""
    of = "-by-owner" if found.by == By.OWNER else ""
    return f"gpudash-chargeback-{found.cluster}-{found.month}{of}.csv"
