"""Ids of runs and campaigns: short, URL-safe, valid as a Kubernetes label, and in the order of their making."""

from __future__ import annotations

import re
import secrets
import time
from datetime import datetime
from typing import TypeVar

from django.db.models import Model

from runtime.scoped import ScopedManager, ScopedQuerySet

#: Digits and letters without those that are easily misread (Crockford's base 32), in ASCII order.
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_TIME_DIGITS = 9
_RANDOM_DIGITS = 6
LENGTH = _TIME_DIGITS + _RANDOM_DIGITS


#: What an id can look like; anything else that stands in an address is none.
_ID = re.compile(r"[0-9a-z]{1,16}")
T = TypeVar("T", bound=Model)


class ById(ScopedQuerySet[T]):
    """Rows that are named by such an id."""

    def of_id(self, text: str) -> T | None:
        """The row of this id, which may come from anybody; None when there is none, or the text is no id at all."""
        found: T | None = self.filter(pk=text).first() if _ID.fullmatch(text) else None
        return found


class ByIdManager(ScopedManager[T]):
    """`of_id` beside what every manager has."""

    _queryset_class = ById

    def get_queryset(self) -> ById[T]:
        rows: ById[T] = super().get_queryset()
        return rows

    def of_id(self, text: str) -> T | None:
        return self.get_queryset().of_id(text)


def new_id(at: datetime | None = None) -> str:
    """15 characters: milliseconds since 1970, then 30 random bits. Sorting ids sorts by time. at: of what was made then."""
    milliseconds = time.time_ns() // 1_000_000 if at is None else int(at.timestamp() * 1000)
    moment = _digits(milliseconds, _TIME_DIGITS)
    return moment + _digits(secrets.randbits(5 * _RANDOM_DIGITS), _RANDOM_DIGITS)


def _digits(number: int, length: int) -> str:
    found = ""
    for _ in range(length):
        number, digit = divmod(number, 32)
        found = _ALPHABET[digit] + found
    return found
