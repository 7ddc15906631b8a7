"""Numbers and spans of time as words for the pages. Pure: knows neither tables nor requests.

None is "not known" and is for the caller to show as such: no function here turns it into 0.
"""

from __future__ import annotations

MIB, GIB, TIB = 2**20, 2**30, 2**40


def gib(amount: int) -> str:
    """Bytes as GiB (MiB below one GiB, TiB from one TiB on). A whole number is printed only when it is exact: 15 GiB, 7.43 GiB.

    What is not zero is never printed as zero.
    """
    size = abs(amount)
    if size >= TIB:
        return f"{_scaled(amount, TIB)} TiB"
    if size >= GIB or amount == 0:
        return f"{_scaled(amount, GIB)} GiB"
    return f"{_scaled(amount, MIB)} MiB" if size >= MIB else f"{amount} B"


def gib_number(amount: int) -> str:
    """Bytes in GiB without the unit, for columns whose head names it."""
    if amount and abs(amount) < GIB // 100:
        return "−0.01" if amount < 0 else "< 0.01"
    return _scaled(amount, GIB)


def _scaled(amount: int, unit: int) -> str:
    """amount ÷ unit: exact when whole, else two digits after the point (one from a hundred on)."""
    whole, rest = divmod(abs(amount), unit)
    sign = "−" if amount < 0 else ""
    if not rest:
        return f"{sign}{whole:,}"
    digits = 2 if whole < 100 else 1
    return f"{sign}{abs(amount) / unit:,.{digits}f}"


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


def count(number: int) -> str:
    """1234567 as 1,234,567."""
    return f"{number:,}"
