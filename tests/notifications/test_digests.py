"""Digests keep the local hour through both changes of the clock; a missed one is due at once, once."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from notifications.digests import boundary


class Times(msgspec.Struct):
    digest: str = "daily"
    digest_hour: int = 8
    time_zone: str = "UTC"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("times", "at", "due"),
    [
        (Times(), "2026-11-26T08:00:00", "2026-11-26T08:00:00"),
        (Times(), "2026-11-26T07:59:59", "2026-11-25T08:00:00"),
        (Times(digest="hourly"), "2026-11-26T07:59:59", "2026-11-26T07:00:00"),
        (Times(time_zone="Asia/Shanghai"), "2026-11-26T00:00:00", "2026-11-26T00:00:00"),
        (Times(time_zone="Asia/Shanghai"), "2026-11-25T23:59:59", "2026-11-25T00:00:00"),
        # Berlin leaves 02:00 out on 29 March 2026: due when the clock changes.
        (Times(digest_hour=2, time_zone="Europe/Berlin"), "2026-03-29T01:00:00", "2026-03-29T01:00:00"),
        (Times(digest_hour=2, time_zone="Europe/Berlin"), "2026-03-29T00:59:59", "2026-03-28T01:00:00"),
        # and has it twice on 25 October 2026: due the first time only.
        (Times(digest_hour=2, time_zone="Europe/Berlin"), "2026-10-25T00:00:00", "2026-10-25T00:00:00"),
        (Times(digest_hour=2, time_zone="Europe/Berlin"), "2026-10-25T01:30:00", "2026-10-25T00:00:00"),
        (Times(digest_hour=8, time_zone="Europe/Berlin"), "2026-10-25T07:00:00", "2026-10-25T07:00:00"),
    ],
)
def test_boundary(times: Times, at: str, due: str) -> None:
    assert boundary(times, utc(at)) == utc(due)


def test_each_day_of_years_has_one_in_every_zone() -> None:
    for zone in ("Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia", "Asia/Kathmandu"):
        for hour in (0, 2, 23):
            times, found = Times(digest_hour=hour, time_zone=zone), set()
            for half in range(366 * 48):
                at = datetime.fromtimestamp(1_767_225_600 + half * 1800, UTC)
                due = boundary(times, at)
                assert due <= at
                found.add(due)
            assert 365 <= len(found) <= 368
