"""How much of a pool's memory was allocated a day ago."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from django.utils import timezone

from inventory.history.before import allocated_then
from inventory.queries.totals import PoolKey
from runtime.cached import shared

_DAY = timedelta(days=1)


def trends(pools: Collection[PoolKey]) -> dict[PoolKey, float]:
    """Pool → the share of its memory that was allocated a day ago, 0 to 1 and more; absent where it is not known. One query."""
    found = shared("allocated a day ago", tuple(pools), lambda: allocated_then(pools, timezone.now() - _DAY))
    return {pool: held / total for pool, (held, total) in found.items() if total > 0}
