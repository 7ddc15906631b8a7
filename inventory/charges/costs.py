"""What rows of days cost: each day's hardware at the price of that day, so a new price counts from its day on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from django.db.models import Aggregate, Count, QuerySet, Sum

from inventory.charges.exact import in_units
from inventory.charges.prices import PER_UNIT, Money, Rates, unpacked
from inventory.charges.rates import rates
from inventory.models import ChargeDay, NamespaceDay, OwnerDay
from inventory.models.charges import By
from runtime.scope import counting, current

#: Kind, namespace, kind and name of the owner: of a row of a month.
Key = tuple[str, str, str, str]
#: The first and the last day.
Span = tuple[date, date]
#: Columns of an owner.
OWNER = ("namespace", "owner_kind", "owner_name")
CENTS = 100


class Costs:
    """Of the rows of a month. Without any price there is none, and nothing is read."""

    def __init__(self) -> None:
        self._money: dict[Key, Money] = defaultdict(Money)
        self.priced = False

    def told(self, keys: Sequence[Key]) -> tuple[list[dict[str, Decimal]], dict[str, Decimal]]:
        return in_cents([self._money.get(key, Money()) for key in keys])

    def complete(self, key: Key) -> bool:
        """Whether all of a row has a price."""
        return self.priced and (key not in self._money or not self._money[key].unknown)

    def read(
        self, cluster_id: int, span: Span, by: By, special: Sequence[tuple[str, str]], other: Key, left: Key
    ) -> None:
        """Three queries, and none without prices; two more for each day of the span on which a price begins. special: kind of a row
        → its columns. other, left: keys of what the scope does not see, and of what has no recorded owner.
        """
        prices = rates()
        self.priced = bool(prices)
        if not prices:
            return
        scope = current()
        with counting():
            spaces = NamespaceDay.objects.filter(cluster_id=cluster_id)
            for (name,), money, _ in by_price(spaces, prices, span, ("namespace",)):
                if not scope.sees_pods(cluster_id, name):
                    self._money[other].plus(money)
                elif by == By.OWNER:
                    self._money[left].plus(money)
                else:
                    self._money[("namespace", name, "", "")].plus(money)
        if by == By.OWNER:
            owners = OwnerDay.objects.filter(cluster_id=cluster_id)
            for (space, kind, name), money, _ in by_price(owners, prices, span, OWNER):
                self._money[("owner" if name else "no-owner", space, kind, name)].plus(money)
                self._money[left].plus(money, -1)
        columns = [f"{name}_{unit}" for _, name in special for unit in ("card_us", "mib_s", "by_hardware")]
        found: list[Any]
        days = ChargeDay.objects.filter(cluster_id=cluster_id, day__range=span).order_by()
        for day, *found in days.values_list("day", *columns):
            for place, (kind, _) in enumerate(special):
                self._money[(kind, "", "", "")].plus(_priced(prices, day, *found[3 * place : 3 * place + 3]))


def by_price(
    rows: QuerySet[Any], prices: Rates, span: Span, names: Sequence[str], **sums: Aggregate
) -> Iterator[tuple[tuple[Any, ...], Money, list[Any]]]:
    """(values of these columns, what their days cost, card_us, mib_s and `sums`), several times where prices or hardware change.

    One query for each stretch of days between which no price begins: the database adds up days of the same hardware. Without prices
    that is one, and all of it is unknown.
    """
    columns = (*names, "by_hardware") if prices else names
    for stretch in prices.stretches(*span):
        found = rows.filter(day__range=stretch).order_by().values_list(*columns)
        own = found.annotate(cards=Sum("card_us"), memory=Sum("mib_s"), days=Count("id"), **sums)
        for row in own.iterator(5000):
            cards, memory, days, *more = row[len(columns) :]
            text = row[len(names)] if prices else ""
            money = _priced(prices, stretch[0], int(cards), int(memory), text, days)
            yield row[: len(names)], money, [cards, memory, *more]


def in_cents(rows: Sequence[Money]) -> tuple[list[dict[str, Decimal]], dict[str, Decimal]]:
    """Each by currency with two decimals, and their sums: the rows add up, also after rounding."""
    made: list[dict[str, Decimal]] = [{} for _ in rows]
    total: dict[str, Decimal] = {}
    for currency in sorted({name for one in rows for name in one.parts}):
        parts = [max(0, one.parts.get(currency, 0)) for one in rows]
        cents, whole = in_units(parts, sum(parts), PER_UNIT, CENTS)
        total[currency] = Decimal(whole).scaleb(-2)
        for one, row, amount in zip(rows, made, cents, strict=True):
            if currency in one.parts:
                row[currency] = Decimal(amount).scaleb(-2)
    return made, total


def _priced(prices: Rates, day: date, card_us: int, mib_s: int, by_hardware: str, days: int = 1) -> Money:
    """Of so many days with this hardware. What it does not name has an unknown price; so has a column that cannot be read."""
    money = Money()
    try:
        parts: Iterable[Any] = unpacked(by_hardware, card_us, mib_s, days)
    except (ValueError, TypeError):
        parts = ()
    for hardware, cards, memory in parts:
        money.add(prices.of(hardware, day), cards, memory)
        card_us, mib_s = card_us - cards, mib_s - memory
    if card_us > 0 or mib_s > 0:
        money.add(None, max(0, card_us), max(0, mib_s))
    return money
