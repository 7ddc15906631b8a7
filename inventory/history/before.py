"""What was allocated of pools at one moment of the past, from the days that are kept: one query, whatever their number."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from inventory.history import packed
from inventory.models import HistoryDay
from inventory.models.history import Subject
from inventory.queries.totals import PoolKey


def allocated_then(pools: Collection[PoolKey], at: datetime) -> dict[PoolKey, tuple[int, int]]:
    """Pool → (bytes allocated, bytes in all) in the slot of that time; pools of which either is not known are absent."""
    days = HistoryDay.objects.filter(
        subject=Subject.POOL,
        day=at.date(),
        cluster_id__in={cluster for cluster, _ in pools},
        key__in={pool for _, pool in pools},
    )
    slot = (at.hour * 3600 + at.minute * 60) // packed.SLOT_S
    made: dict[PoolKey, tuple[int, int]] = {}
    for cluster, pool, data in days.order_by().values_list("cluster_id", "key", "data") if pools else ():
        try:
            columns = packed.unpack_day(data)
        except packed.Unreadable:  # somebody wrote into the table
            continue
        held, total = (columns.get(name, [None] * packed.SLOTS)[slot] for name in (packed.ALLOCATED, packed.TOTAL))
        if held is not None and total is not None:
            made[cluster, pool] = held * packed.MIB, total * packed.MIB
    return made
