"""History as the recorder would have written it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from inventory.history import packed
from inventory.history.moment import part_of
from inventory.history.packed import SLOTS, Minute
from inventory.models import Cluster, HistoryDay, HistoryMinute, Subject


def put_minute(
    cluster: Cluster, at: datetime, subject: Subject = Subject.CLUSTER, key: str = "", **columns: int | None
) -> None:
    """columns: as `packed` names them, in MiB, thousandths and counts. A subject of its own part only."""
    keys: list[int | str] = [int(key) if subject == Subject.CARD else key]
    data = packed.pack_minute(Minute(keys, {name: [value] for name, value in columns.items()}))
    HistoryMinute.objects.create(cluster=cluster, subject=subject, part=part_of(subject, key), at=at, data=data)


def put_day(
    cluster: Cluster,
    day: date,
    subject: Subject = Subject.CLUSTER,
    key: str = "",
    **columns: int | Sequence[int | None] | None,
) -> None:
    """columns: one value for the whole day, or one for each slot."""
    whole = {
        name: [value] * SLOTS if value is None or isinstance(value, int) else list(value)
        for name, value in columns.items()
    }
    HistoryDay.objects.create(cluster=cluster, subject=subject, key=key, day=day, data=packed.pack_day(whole))
