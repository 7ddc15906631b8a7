"""Numbers and spans of time as words for the pages. Pure: knows neither tables nor requests.

None is "not known" and is for the caller to show as such: no function here turns it into 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from django.utils.translation import gettext as _

from inventory.charges.exact import Amount
from wording.amounts import GIB, MIB, TIB, count, gib, scaled

__all__ = ["GIB", "MIB", "TIB", "count", "gib", "gib_number", "percent", "width"]


def gib_number(amount: int) -> str:
    """Bytes in GiB without the unit, for columns whose head names it."""
    if amount and abs(amount) < GIB // 100:
        return "−0.01" if amount < 0 else "< 0.01"
    return scaled(amount, GIB)


def figure(amount: float) -> str:
    """An amount that was measured or added up, by three digits: 1,235, 123, 12.3, 1.23. What is not zero is never printed as zero."""
    if 0 < abs(amount) < 0.005:
        return "< 0.01"
    digits = 0 if abs(amount) >= 99.95 else 1 if abs(amount) >= 9.995 else 2
    text = f"{amount:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits else text


def percent(part: int, whole: int) -> int | None:
    """part of whole in percent, rounded so that only all is 100 and only nothing is 0; None when there is no whole."""
    if whole <= 0:
        return None
    if part <= 0 or part >= whole:
        return part * 100 // whole
    return min(99, max(1, round(part * 100 / whole)))


def width(part: int, whole: int) -> str:
    """part ÷ whole between 0 and 1, as a style attribute takes it."""
    return f"{min(1.0, max(0.0, part / whole)):.4f}" if whole > 0 else "0"


def money(parts: Sequence[Amount], complete: bool, some: bool = True) -> str:
    """ "12.00 EUR · 3.00 USD · unknown". What has no price is unknown, never 0; – for nothing. some: whether there is any hour."""
    told = [f"{Decimal(one.amount):,} {one.currency}" for one in parts]
    return (" · ".join([*told, *([] if complete else [_("unknown")])]) if some else "") or "–"
