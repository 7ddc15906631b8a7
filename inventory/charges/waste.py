"""Waste over days: allocated without activity, and allocated but not used, by namespace or owner, what that cost, and how much would
be enough. Reads `NamespaceDay` and `OwnerDay`, whatever the number of pods and cards.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec
from django.db.models import Aggregate, Count, Max, Sum

from inventory.charges.costs import OWNER, by_price
from inventory.charges.prices import Money, Rates
from inventory.charges.rates import rates
from inventory.models import NamespaceDay, OwnerDay
from inventory.models.charges import By

#: Days that can be asked for, with today.
WINDOWS = (7, 30)
#: Rows of an answer.
MOST = 200
#: Values of five minutes: a day of one card. Days that a suggestion rests on at least, and those that make it certain.
_DAY, _LEAST_DAYS, SURE_DAYS = 288, 3, 7
#: A suggestion leaves a fifth more than was used, and is not made to save less than a fifth.
_ROOM, _WORTH = 1.2, 0.8
_GIB = 1024


class Sure(StrEnum):
    """How sure a suggestion is: certain after a week."""

    CERTAIN = "certain"
    LIKELY = "likely"


class Suggestion(msgspec.Struct, frozen=True):
    """MiB of one card that would have been enough on all days."""

    memory: int
    sure: Sure


def suggest(asked: int | None, peak: int | None, days: int, samples: int) -> Suggestion | None:
    """asked, peak: MiB of one card; the highest of the daily 99th percentiles of used memory. None: too few data."""
    if asked is None or peak is None or days < _LEAST_DAYS or samples < _LEAST_DAYS * _DAY // 2:
        return None
    enough = -(-round(peak * _ROOM) // _GIB) * _GIB or _GIB
    if enough > asked * _WORTH:
        return None
    sure = days >= SURE_DAYS and samples >= SURE_DAYS * _DAY // 2
    return Suggestion(enough, Sure.CERTAIN if sure else Sure.LIKELY)


@dataclass
class Wasted:
    """MiB-seconds; None: not collected. asked, peak: MiB of one card, of owners. days, samples: that peak rests on.

    cost: of all that was allocated, as the chargeback of the same days has it. idle_cost, unused_cost: of an owner, the part of it
    that the idle and the unused memory are of the allocated memory; of a namespace, those of its owners. Empty without prices.
    """

    cluster: str
    namespace: str
    owner_kind: str
    owner: str
    allocated: int = 0
    idle: int | None = None
    unused: int | None = None
    asked: int | None = None
    peak: int | None = None
    days: int = 0
    samples: int = 0
    cost: Money = field(default_factory=Money)
    idle_cost: Money = field(default_factory=Money)
    unused_cost: Money = field(default_factory=Money)

    @property
    def suggestion(self) -> Suggestion | None:
        return suggest(self.asked, self.peak, self.days, self.samples)

    @property
    def rank(self) -> tuple[Any, ...]:
        """The most idle first, then the most unused; unknown last."""
        known = [(one is None, -(one or 0)) for one in (self.idle, self.unused)]
        return *known, self.namespace, self.owner, self.owner_kind, self.cluster


def waste(now: datetime, days: int, by: By, *, costs: bool = True, **of: object) -> list[Wasted]:
    """The last days (UTC, with today), the most idle first, then the most unused. Rows of which neither is collected are left out.

    costs: False leaves them out. of: filters. Owners have no values of today: they are read when a day is over.
    """
    found = allocated(now, days, by, costs=costs, **of)
    return sorted((one for one in found if _is_known(one)), key=lambda one: one.rank)


def allocated(now: datetime, days: int, by: By, *, costs: bool = True, **of: object) -> list[Wasted]:
    """Of all that had allocations in these days, in no order. Two queries, of namespaces with costs three; as many more as `by_price`
    says for each day on which a price begins.
    """
    today = now.astimezone(UTC).date()
    span, prices = (today - timedelta(days=days - 1), today), rates() if costs else Rates()
    model = NamespaceDay if by == By.NAMESPACE else OwnerDay
    names = ("cluster__name", *(("namespace",) if by == By.NAMESPACE else OWNER))
    sums: dict[str, Aggregate] = {"idle": Sum("idle_mib_s"), "unused": Sum("unused_mib_s")}
    if by == By.OWNER:
        sums |= {
            "asked": Max("asked_mib"),
            "peak": Max("peak_mib"),
            "measured": Count("samples"),
            "values": Sum("samples"),
        }
    found: dict[tuple[str, ...], Wasted] = {}
    for names_of, money, (_cards, memory, *more) in by_price(model.objects.filter(**of), prices, span, names, **sums):
        one = found.setdefault(names_of, Wasted(*names_of, *("",) * (4 - len(names_of))))
        one.cost.plus(money)
        _add(one, int(memory), *more)
        if by == By.OWNER:
            _add_costs(one, money, int(memory), *more[:2])
    if by == By.NAMESPACE and prices:
        # Which cards were idle is recorded of owners alone; the mean price of a namespace is not that of its idle cards.
        owners = OwnerDay.objects.filter(**of)
        for names_of, money, (_cards, memory, *wasted) in by_price(owners, prices, span, names, **sums):
            if (namespace := found.get(names_of)) is not None:
                _add_costs(namespace, money, int(memory), *wasted)
    return list(found.values())


def _add_costs(one: Wasted, money: Money, memory: int, idle: int | None, unused: int | None) -> None:
    """Of days of the same hardware and prices."""
    if idle is not None:
        one.idle_cost.plus(money.share(int(idle), memory))
    if unused is not None:
        one.unused_cost.plus(money.share(int(unused), memory))


def _add(
    one: Wasted,
    memory: int,
    idle: int | None,
    unused: int | None,
    asked: int | None = None,
    peak: int | None = None,
    days: int = 0,
    samples: int | None = None,
) -> None:
    one.allocated += memory
    if idle is not None:
        one.idle = (one.idle or 0) + int(idle)
    if unused is not None:
        one.unused = (one.unused or 0) + int(unused)
    one.asked, one.peak = _most(one.asked, asked), _most(one.peak, peak)
    one.days += days
    one.samples += int(samples or 0)


def _most(a: int | None, b: int | None) -> int | None:
    return max((one for one in (a, b) if one is not None), default=None)


def _is_known(one: Wasted) -> bool:
    return one.idle is not None or one.unused is not None
