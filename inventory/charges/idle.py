"""What idle allocations cost: their card-hours and GiB-hours, spread evenly over the idle time, at the price of each day."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import reduce
from operator import or_

from django.db.models import Q

from inventory.charges.exact import in_units
from inventory.charges.hardware import labels_of
from inventory.charges.prices import PER_UNIT, Hardware, Money, Rates
from inventory.charges.rates import rates
from inventory.models import IdleAllocation, NodeTotals

_MIB, _MICRO = 1 << 20, 1_000_000


def idle_costs(rows: Sequence[IdleAllocation]) -> list[Money] | None:
    """Of each row. None: there are no prices. Two queries, and one more with prices by label."""
    prices = rates()
    if not prices:
        return None
    nodes = sorted({(row.cluster_id, row.node_name) for row in rows})
    pools, labels = _pools(nodes), labels_of(nodes, prices.label_keys)
    found = []
    for row in rows:
        at = (row.cluster_id, row.node_name)
        found.append(_of(row, prices, Hardware(pools.get(at, ""), row.model, labels.get(at, ()))))
    return found


def rounded(money: Money) -> dict[str, Decimal]:
    """By currency with two decimals."""
    return {
        currency: Decimal(in_units([part], part, PER_UNIT, 100)[1]).scaleb(-2)
        for currency, part in sorted(money.parts.items())
    }


def _pools(nodes: Sequence[tuple[int, str]]) -> dict[tuple[int, str], str]:
    names: dict[int, list[str]] = {}
    for cluster, name in nodes:
        names.setdefault(cluster, []).append(name)
    if not names:
        return {}
    chosen = reduce(or_, (Q(cluster_id=cluster, node_name__in=some) for cluster, some in names.items()))
    columns = ("cluster_id", "node_name", "pool")
    return {(cluster, name): pool for cluster, name, pool in NodeTotals.objects.filter(chosen).values_list(*columns)}


def _of(row: IdleAllocation, prices: Rates, hardware: Hardware) -> Money:
    cards = None if row.card_seconds is None else round(row.card_seconds * _MICRO)
    memory = None if row.byte_seconds is None else round(row.byte_seconds / _MIB)
    money = Money()
    for day, done, before, whole in _days(row.idle_since, row.written_at):
        rate = prices.of(hardware, day)
        # The amount until the end of this day minus that until its start, so that the days add up.
        card_us, mib_s = (
            0 if amount is None else amount * done // whole - amount * before // whole for amount in (cards, memory)
        )
        money.add(rate, card_us, mib_s)
        if rate is not None and (
            (cards is None and rate.card_hour is not None) or (memory is None and rate.gib_hour is not None)
        ):
            money.unknown += 1
    return money


def _days(since: datetime, until: datetime) -> Iterator[tuple[date, int, int, int]]:
    """Days (UTC), each with the microseconds of the span that are over at its end and at its start, and those of all."""
    begin, end = since.astimezone(UTC), max(until, since + timedelta(microseconds=1)).astimezone(UTC)
    whole, at = (end - begin) // timedelta(microseconds=1), begin
    while at < end:
        midnight = datetime(at.year, at.month, at.day, tzinfo=UTC) + timedelta(days=1)
        to = min(midnight, end)
        yield at.date(), (to - begin) // timedelta(microseconds=1), (at - begin) // timedelta(microseconds=1), whole
        at = to
