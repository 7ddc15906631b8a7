"""Forecasts of pools: what is free of each over the next days, and until when a request fits.

One query reads the daily means of all pools that the scope sees (`HistoryDay`), a second their size now.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime, timedelta

import msgspec

from inventory.forecast.method import MOST_DAYS, Forecast, forecast
from inventory.history.packed import MIB
from inventory.models import Cluster, HistoryDay
from inventory.models.history import Subject
from inventory.queries.totals import PoolKey, PoolTotals, totals_by_pool

#: Memory that is free on cards that are partly allocated: more than this share of a card says that the stack allocates parts.
_PART = 0.01


class Fits(msgspec.Struct, frozen=True):
    """Until when a request fits a pool, by what is free in all of it: an upper limit, since one node must have it.

    by_memory: limited by free memory, in bytes, else by free cards. need: of that. until: the first day on which less is forecast;
    None: not within the forecast. maybe: the first on which the band is lower.
    """

    by_memory: bool
    need: float
    until: date | None
    maybe: date | None


class PoolForecast(msgspec.Struct, frozen=True):
    """begin: the first day (UTC) of `ahead`. memory: in bytes. past: the same of the last days, oldest first; None: not known.

    memory_total, cards_total: now; None: not known.
    """

    cluster: str
    pool: str
    begin: date
    memory: Forecast
    cards: Forecast
    past_memory: tuple[float | None, ...]
    past_cards: tuple[float | None, ...]
    memory_total: int | None
    cards_total: int | None

    @property
    def in_parts(self) -> bool:
        """Whether memory is free on cards that are not free: its stack allocates parts of cards."""
        if not self.memory_total or not self.cards_total:
            return False
        card = self.memory_total / self.cards_total
        known = zip(self.past_memory, self.past_cards, strict=True)
        return any(
            memory is not None and cards is not None and memory - cards * card > card * _PART for memory, cards in known
        )

    def fits(self, cards: int, memory: int | None) -> Fits | None:
        """memory: bytes of each card; None: whatever a card has. None: nothing is forecast, or no card is known to be that large."""
        if memory is not None and not (
            self.memory_total and self.cards_total and memory * self.cards_total <= self.memory_total
        ):
            return None
        by_memory = memory is not None and bool(self.memory.ahead) and self.in_parts
        of, need = (self.memory, float(cards * (memory or 0))) if by_memory else (self.cards, float(cards))
        if not of.ahead:
            return None
        until, maybe = of.first_below(need)
        return Fits(by_memory, need, self._day(until), self._day(maybe))

    def _day(self, number: int | None) -> date | None:
        return None if number is None else self.begin + timedelta(days=number)


def asked(clusters: Sequence[Cluster], models: Sequence[str], now: datetime) -> list[PoolForecast]:
    """Of all pools of these clusters. models: parts of names, in lower case, any of them; () for all. Four queries at most."""
    pools = [
        one
        for one in totals_by_pool(clusters)
        if not models or any(model in one.pool.rpartition(" · ")[2].lower() for model in models)
    ]
    return forecasts(pools, now)


def forecasts(pools: Sequence[PoolTotals], now: datetime) -> list[PoolForecast]:
    """Of these pools, in their order. One query, whatever their number."""
    today = now.astimezone(UTC).date()
    past = _past({(one.cluster_id, one.pool) for one in pools}, today)
    made = []
    for one in pools:
        memory, cards = past.get((one.cluster_id, one.pool), ((), ()))
        memory_total, cards_total = one.totals.memory_metered.value, one.totals.cards_total.value
        made.append(
            PoolForecast(
                one.cluster,
                one.pool,
                today,
                forecast(memory, memory_total),
                forecast(cards, cards_total),
                tuple(memory),
                tuple(cards),
                memory_total,
                cards_total,
            )
        )
    return made


_Past = tuple[Sequence[float | None], Sequence[float | None]]


def _past(pools: Collection[PoolKey], today: date) -> dict[PoolKey, _Past]:
    """Bytes and cards of the days before today, from the first that is recorded on."""
    first = today - timedelta(days=MOST_DAYS)
    rows = HistoryDay.objects.filter(
        cluster_id__in={cluster for cluster, _pool in pools},
        subject=Subject.POOL,
        key__in={pool for _cluster, pool in pools},
        day__gte=first,
        day__lt=today,
    ).order_by()
    found: dict[PoolKey, tuple[list[float | None], list[float | None]]] = {}
    for cluster, pool, day, memory, cards in rows.values_list("cluster_id", "key", "day", "free_mib", "cards_free"):
        memories, numbers = found.setdefault((cluster, pool), ([None] * MOST_DAYS, [None] * MOST_DAYS))
        memories[(day - first).days] = None if memory is None else memory * MIB
        numbers[(day - first).days] = cards
    return {pool: _begun(*values) for pool, values in found.items()}


def _begun(memory: list[float | None], cards: list[float | None]) -> _Past:
    """Without the days before the first of which something is known; the last is yesterday."""
    pairs = zip(memory, cards, strict=True)
    first = next((place for place, pair in enumerate(pairs) if pair != (None, None)), MOST_DAYS)
    return memory[first:], cards[first:]
