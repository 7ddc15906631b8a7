"""Slows down guessing. Knows nothing of requests and views.

A limit allows some tries in a row and then one each `step`; it is a leaky bucket, kept as the moment from which on it is empty.
A try is counted before the password is looked at, with its rows locked, so tries at the same moment are counted one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import SignInAllowance

#: Rows that say nothing any more are deleted, this many at each try: more than a try makes.
SWEPT_AT_ONCE = 50


class TooManyTries(Exception):
    """No try now; `wait` is when there may be one."""

    def __init__(self, wait: timedelta) -> None:
        super().__init__(str(wait))
        self.wait = wait


@dataclass(frozen=True)
class Limit:
    """So many tries in a row, and so many again in each window."""

    tries: int
    window: timedelta

    @property
    def step(self) -> timedelta:
        return self.window / self.tries


#: An account at an address. What somebody guesses there holds nobody up elsewhere.
PAIR = Limit(5, timedelta(minutes=15))
#: All names from one address, and one account from all addresses. They are slow, and do not hold up who is known there.
ADDRESS = Limit(50, timedelta(minutes=15))
ACCOUNT = Limit(20, timedelta(hours=1))
#: A browser that this account has signed in with: only it can use this up.
DEVICE = Limit(10, timedelta(minutes=15))


@dataclass(frozen=True)
class Use:
    """One limit that a try counts against. lasting: a good try gives back only itself; else it clears what was before."""

    key: str
    limit: Limit
    lasting: bool = False


def check(uses: Sequence[Use]) -> None:
    """Raises TooManyTries where `take` would. Writes nothing: what is refused costs little."""
    free = dict(SignInAllowance.objects.filter(key__in=[use.key for use in uses]).values_list("key", "free_at"))
    _refuse(uses, free, timezone.now())


@transaction.atomic
def take(uses: Sequence[Use]) -> None:
    """Count one try against all of them, or, raising TooManyTries, against none."""
    now = timezone.now()
    rows = _locked(uses, now)
    _refuse(uses, {key: row.free_at for key, row in rows.items()}, now)
    for use in uses:
        rows[use.key].free_at = max(rows[use.key].free_at, now) + use.limit.step
    SignInAllowance.objects.bulk_update(rows.values(), ["free_at"])
    _sweep(now)


def forgive(uses: Sequence[Use]) -> None:
    """The try that was counted was a good one."""
    for use in uses:
        rows = SignInAllowance.objects.filter(key=use.key)
        if use.lasting:
            rows.update(free_at=F("free_at") - use.limit.step)
        else:
            rows.delete()


def _refuse(uses: Sequence[Use], free: dict[str, datetime], now: datetime) -> None:
    waits = [max(free.get(use.key, now), now) + use.limit.step - now - use.limit.window for use in uses]
    if (wait := max(waits)) > timedelta(0):
        raise TooManyTries(wait)


def _locked(uses: Sequence[Use], now: datetime) -> dict[str, SignInAllowance]:
    """The rows, made where they are missing. The update of nothing locks those that are there; the order rules out deadlocks."""
    made = [SignInAllowance(key=key, free_at=now) for key in sorted(use.key for use in uses)]
    SignInAllowance.objects.bulk_create(made, update_conflicts=True, unique_fields=["key"], update_fields=["key"])
    return {row.key: row for row in SignInAllowance.objects.filter(key__in=[row.key for row in made])}


def _sweep(now: datetime) -> None:
    """Rows that another try holds are left to it."""
    empty = SignInAllowance.objects.select_for_update(skip_locked=True).filter(free_at__lte=now)
    SignInAllowance.objects.filter(pk__in=list(empty.values_list("pk", flat=True)[:SWEPT_AT_ONCE])).delete()
