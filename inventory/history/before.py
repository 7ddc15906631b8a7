"""What was allocated of pools in the last day, from the days that are kept: one query, whatever their number."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from inventory.history import packed
from inventory.models import HistoryDay
from inventory.models.history import Subject
from inventory.queries.totals import PoolKey

_DAY = timedelta(days=1)
#: Parts of the day, and the slots of each.
STEPS = 48
_SLOTS = packed.SLOTS // STEPS

#: Bytes allocated and bytes in all, of each step; None where either is not known.
Lately = list[tuple[int, int] | None]


def allocated_lately(pools: Collection[PoolKey], end: datetime) -> dict[PoolKey, Lately]:
    """Pool → the STEPS of the 24 h before `end`, each as it was at its last slot that is known; pools without any are absent."""
    days = HistoryDay.objects.filter(
        subject=Subject.POOL,
        day__in=(end.date() - _DAY, end.date()),
        cluster_id__in={cluster for cluster, _ in pools},
        key__in={pool for _, pool in pools},
    )
    slots: dict[PoolKey, Lately] = {}
    for cluster, pool, day, data in days.order_by().values_list("cluster_id", "key", "day", "data") if pools else ():
        try:
            columns = packed.unpack_day(data)
        except packed.Unreadable:  # somebody wrote into the table
            continue
        unknown = [None] * packed.SLOTS
        pairs = zip(columns.get(packed.ALLOCATED, unknown), columns.get(packed.TOTAL, unknown), strict=True)
        begin = packed.SLOTS if day == end.date() else 0
        whole = slots.setdefault((cluster, pool), [None] * (2 * packed.SLOTS))
        whole[begin : begin + packed.SLOTS] = [
            None if held is None or not total else (held * packed.MIB, total * packed.MIB) for held, total in pairs
        ]
    first = (end.hour * 3600 + end.minute * 60) // packed.SLOT_S
    made = {pool: _steps(whole[first : first + packed.SLOTS]) for pool, whole in slots.items()}
    return {pool: steps for pool, steps in made.items() if any(steps)}


def _steps(slots: Lately) -> Lately:
    parts = (slots[at : at + _SLOTS] for at in range(0, len(slots), _SLOTS))
    return [next((one for one in reversed(part) if one is not None), None) for part in parts]
