"""A month's chargeback as programs and spreadsheets read it."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

from inventory.charges.month import Charge
from resources.csv_export import harmless
from resources.declared import Shape

HEAD = (
    *("cluster", "month", "row", "namespace", "card_hours", "card_share_percent", "memory_gib_hours"),
    *("memory_share_percent", "recorded_since_utc", "until_utc"),
)


class ChargeRow(Shape):
    """One row of a month. All rows together are the cluster."""

    row: Annotated[
        str,
        Meta(
            description="namespace; others: namespaces that are not seen; free: held by nobody; unplaced: held, and neither card nor "
            "amount is known; unmetered: on shared cards, and nobody meters whose it is; not-known: nobody watched."
        ),
    ]
    namespace: str | None
    card_hours: float
    card_share_percent: float
    memory_gib_hours: float
    memory_share_percent: float


class Chargeback(Shape):
    """A month of a cluster (UTC)."""

    cluster: str
    month: str
    recorded_since: Annotated[
        datetime | None, Meta(description="Nothing is known of before; null: nothing is recorded.")
    ]
    until: Annotated[datetime | None, Meta(description="Summed until then; null: nothing of this month is.")]
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
        total_card_hours=float(found.card_hours),
        total_memory_gib_hours=float(found.memory_hours),
        rows=[
            ChargeRow(
                row=one.kind,
                namespace=one.namespace or None,
                card_hours=float(one.card_hours),
                card_share_percent=float(one.card_share),
                memory_gib_hours=float(one.memory_hours),
                memory_share_percent=float(one.memory_share),
            )
            for one in found.rows
        ],
    )


def as_csv(found: Charge) -> str:
    """One line a namespace and one for each part that is nobody's; the columns add up to the cluster's."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(HEAD)
    since, until = _time(found.since), _time(found.until)
    for one in found.rows:
        amounts = (one.card_hours, one.card_share, one.memory_hours, one.memory_share)
        place = (found.cluster, found.month, one.kind, harmless(one.namespace))
        writer.writerow((*place, *(f"{amount:f}" for amount in amounts), since, until))
    return text.getvalue()


def _time(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def file_name(found: Charge) -> str:
    """What the file is called."""
    return f"gpudash-chargeback-{found.cluster}-{found.month}.csv"
