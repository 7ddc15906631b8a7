"""Slows down guessing: after a few failed sign-ins of one name from one address, that pair waits. Knows nothing of views."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone

from gpudash.access.models import FailedSignIn

TRIES = 5
WINDOW = timedelta(minutes=15)


def wait_of(username: str, address: str, now: datetime | None = None) -> timedelta:
    """How long this pair has to wait; nothing when it may try."""
    moment = now or timezone.now()
    name, place = _cut(username, address)
    recent = FailedSignIn.objects.filter(username=name, address=place, failed_at__gt=moment - WINDOW)
    times = list(recent.order_by("-failed_at").values_list("failed_at", flat=True)[:TRIES])
    return times[-1] + WINDOW - moment if len(times) >= TRIES else timedelta(0)


def note_failure(username: str, address: str, now: datetime | None = None) -> None:
    moment = now or timezone.now()
    name, place = _cut(username, address)
    FailedSignIn.objects.filter(failed_at__lte=moment - WINDOW).delete()
    FailedSignIn.objects.create(username=name, address=place, failed_at=moment)


def forget_failures(username: str, address: str) -> None:
    name, place = _cut(username, address)
    FailedSignIn.objects.filter(username=name, address=place).delete()


def _cut(username: str, address: str) -> tuple[str, str]:
    return username.casefold().replace("\x00", "")[:150], address[:64]
