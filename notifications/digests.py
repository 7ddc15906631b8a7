"""When a digest is due: whole hours, or once a day at an hour of the rule's time zone. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Protocol
from zoneinfo import ZoneInfo

HOURLY = "hourly"


class Times(Protocol):
    """Of a rule. digest: "hourly" or "daily"; digest_hour: local, of a daily one."""

    digest: str
    digest_hour: int
    time_zone: str


def boundary(times: Times, at: datetime) -> datetime:
    """The last moment at or before `at` at which a digest was due, in UTC.

    A local hour that a change of the clock leaves out is due at the moment of the change; one that comes twice, the first time.
    """
    if times.digest == HOURLY:
        return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    zone = ZoneInfo(times.time_zone)
    local = at.astimezone(zone)
    for days in (0, 1, 2):
        day = local.date() - timedelta(days=days)
        due = datetime(day.year, day.month, day.day, times.digest_hour, tzinfo=zone).astimezone(UTC)
        if due <= at:
            return due
    raise AssertionError("a day has at most 25 hours")
