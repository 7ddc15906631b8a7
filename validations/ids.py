"""Ids of runs and campaigns: short, URL-safe, valid as a Kubernetes label, and in the order of their making."""

from __future__ import annotations

import re
import secrets
import time
from typing import TypeVar

from django.db.models import Model, QuerySet

#: Digits and letters without those that are easily misread (Crockford's base 32), in ASCII order.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_DIGITS = 9
_RANDOM_DIGITS = 6
LENGTH = _TIME_DIGITS + _RANDOM_DIGITS


#: What an id can look like; anything else that stands in an address is none.
_ID = re.compile(r"[0-9a-z]{1,16}")
T = TypeVar("T", bound=Model)


class ById(QuerySet[T]):
    """Rows that are named by such an id."""

    def of_id(self, text: str) -> T | None:
        """The row of this id, which may come from anybody; None when there is none, or the text is no id at all."""
        return self.filter(pk=text).first() if _ID.fullmatch(text) else None


def new_id() -> str:
    """15 characters: milliseconds since 1970, then 30 random bits. Sorting ids sorts by time."""
    moment = _digits(time.time_ns() // 1_000_000, _TIME_DIGITS)
    return moment + _digits(secrets.randbits(5 * _RANDOM_DIGITS), _RANDOM_DIGITS)


def _digits(number: int, length: int) -> str:
    found = ""
    for _ in range(length):
        number, digit = divmod(number, 32)
        found = _ALPHABET[digit] + found
    return found
