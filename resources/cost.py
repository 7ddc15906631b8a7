"""Money as REST has it."""

from __future__ import annotations

from inventory.charges.exact import Amount
from resources.declared import Shape


class Cost(Shape):
    """An amount of money, as text with two decimals."""

    currency: str
    amount: str


def costs_told(found: list[Amount]) -> list[Cost]:
    return [Cost(one.currency, one.amount) for one in found]
