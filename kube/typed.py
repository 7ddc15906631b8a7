"""Amounts of memory as people type them: "20 GiB", "20gib", "20000 MiB", "7,5".

What a number without a unit means is for the caller to say. Units of Kubernetes mean here what they mean
there: G is 10⁹ bytes, Gi 2³⁰.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kube import quantity

_UNITS = {"b": "", "k": "k", "kb": "k", "ki": "Ki", "kib": "Ki"} | {
    spelling: unit
    for letter in "mgtpe"
    for spelling, unit in (
        (letter, letter.upper()),
        (f"{letter}b", letter.upper()),
        (f"{letter}i", f"{letter.upper()}i"),
        (f"{letter}ib", f"{letter.upper()}i"),
    )
}
_TYPED = re.compile(r"([0-9]{1,20}(?:[.,][0-9]{1,9})?)\s*([A-Za-z]{0,3})")
#: No card has more: a larger number of GiB was meant in another unit.
MOST_BYTES = 2**44


class Amount(NamedTuple):
    """number: with a point. unit: the suffix of a quantity of Kubernetes, "" for bytes. typed: whether a unit was given."""

    number: str
    unit: str
    typed: bool


def amount(text: str) -> Amount | None:
    """None when it is no amount."""
    match = _TYPED.fullmatch(text.strip())
    unit = match and _UNITS.get(match[2].lower(), "" if not match[2] else None)
    if match is None or unit is None:
        return None
    return Amount(match[1].replace(",", "."), unit, bool(match[2]))


def gib_by_default(text: str) -> int | None:
    """Bytes; a number without a unit is GiB, never bytes. None when it is no amount, nothing, or more than a card can have."""
    found = amount(text)
    if found is None:
        return None
    size = quantity.size(f"{found.number}{found.unit if found.typed else 'Gi'}")
    return size if size is not None and 0 < size <= MOST_BYTES else None
