"""Amounts that add up, also when they are rounded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import msgspec


class Amount(msgspec.Struct, frozen=True):
    """Of money, as text with two decimals: no reader makes a float of it."""

    currency: str
    amount: str


def amounts_of(costs: Mapping[str, Decimal]) -> list[Amount]:
    return [Amount(currency, f"{amount:.2f}") for currency, amount in costs.items()]


def in_units(amounts: Sequence[int], whole: int, unit: int, per: int) -> tuple[list[int], int]:
    """Amounts and their sum in whole multiples of unit ÷ per, so that they still add up: the largest remainders are rounded up."""
    total = (2 * whole * per + unit) // (2 * unit)
    made = [amount * per // unit for amount in amounts]
    by_remainder = sorted(range(len(amounts)), key=lambda place: (-(amounts[place] * per % unit), place))
    missing = total - sum(made)
    for place in by_remainder[: max(0, missing)]:
        made[place] += 1
    return made, total
