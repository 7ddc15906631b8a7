"""Numbers as words, for sentences and pages. None is "not known" and is for the caller to show: nothing here turns it into 0."""

from __future__ import annotations

MIB, GIB, TIB = 2**20, 2**30, 2**40


def gib(amount: int) -> str:
    """Bytes as GiB (MiB below one GiB, TiB from one TiB on). A whole number is printed only when it is exact: 15 GiB, 7.43 GiB.

    What is not zero is never printed as zero.
    """
    size = abs(amount)
    if size >= TIB:
        return f"{scaled(amount, TIB)} TiB"
    if size >= GIB or amount == 0:
        return f"{scaled(amount, GIB)} GiB"
    return f"{scaled(amount, MIB)} MiB" if size >= MIB else f"{amount} B"


def scaled(amount: int, unit: int) -> str:
    """amount ÷ unit: exact when whole, else two digits after the point (one from a hundred on)."""
    whole, rest = divmod(abs(amount), unit)
    sign = "−" if amount < 0 else ""
    if not rest:
        return f"{sign}{whole:,}"
    digits = 2 if whole < 100 else 1
    return f"{sign}{abs(amount) / unit:,.{digits}f}"


def count(number: int) -> str:
    """1234567 as 1,234,567."""
    return f"{number:,}"
