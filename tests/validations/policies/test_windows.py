"""Windows are kept in local time: over both changes of the clock, over midnight, and where they meet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from validations.policies.windows import BadWindow, Window, Windows, checked

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


NIGHTS = Windows(cron="0 22 * * *", minutes=8 * 60, zone=BERLIN)


@pytest.mark.parametrize(
    ("moment", "start"),
    [
        ("2026-01-10 20:59", None),
        ("2026-01-10 21:00", "2026-01-10 21:00"),  # 22:00 in winter
        ("2026-01-11 04:59", "2026-01-10 21:00"),  # over midnight
        ("2026-01-11 05:00", None),
        ("2026-07-10 20:00", "2026-07-10 20:00"),  # 22:00 in summer
        # 29 March 2026, 02:00 → 03:00: eight hours are eight hours, until 07:00 local time.
        ("2026-03-29 04:59", "2026-03-28 21:00"),
        ("2026-03-29 05:00", None),
    ],
)
def test_a_window_opens_by_the_local_clock(moment: str, start: str | None) -> None:
    found = NIGHTS.open_at(at(moment))
    assert (found.start if found else None) == (at(start) if start else None)


def test_a_start_that_the_spring_skips_comes_right_after_it() -> None:
    """02:30 is not there on 29 March 2026 in Berlin."""
    window = Windows(cron="30 2 * * *", minutes=60, zone=BERLIN)
    starts = [one.start for one in window.between(at("2026-03-28 00:00"), at("2026-03-31 00:00"))]
    assert starts == [at("2026-03-28 01:30"), at("2026-03-29 01:00"), at("2026-03-30 00:30")]


def test_a_start_that_the_autumn_has_twice_counts_once() -> None:
    """02:30 comes twice on 25 October 2026 in Berlin."""
    window = Windows(cron="30 2 * * *", minutes=30, zone=BERLIN)
    starts = [one.start for one in window.between(at("2026-10-24 12:00"), at("2026-10-26 12:00"))]
    assert starts == [at("2026-10-25 00:30"), at("2026-10-26 01:30")]


def test_windows_that_meet_are_one_and_are_cut_to_what_is_asked() -> None:
    hourly = Windows(cron="0 * * * *", minutes=60)
    asked = at("2026-01-01 10:30"), at("2026-01-01 12:30")
    assert hourly.between(*asked) == [Window(*asked)]
    assert Windows().between(*asked) == [Window(*asked)]


def test_the_next_start_is_known() -> None:
    assert Windows(cron="0 2 * * 6", minutes=60).next_start(at("2026-11-26 12:00")) == at("2026-11-28 02:00")
    assert Windows().next_start(at("2026-11-26 12:00")) is None


@pytest.mark.parametrize(
    ("cron", "minutes", "zone", "field"),
    [
        ("0 22 * *", 60, "UTC", "window_cron"),
        ("* * * * * *", 60, "UTC", "window_cron"),
        ("0 25 * * *", 60, "UTC", "window_cron"),
        ("0 0 31 2 *", 60, "UTC", "window_cron"),
        ("x" * 5000, 60, "UTC", "window_cron"),
        ("0 22 * * *", None, "UTC", "window_minutes"),
        ("0 22 * * *", 0, "UTC", "window_minutes"),
        ("", 60, "UTC", "window_cron"),
        ("0 22 * * *", 60, "Mars/Phobos", "time_zone"),
        ("0 22 * * *", 60, "../../etc/passwd", "time_zone"),
        ("0 22 * * *", 60, "", "time_zone"),
    ],
)
def test_what_is_no_window_is_refused_at_its_field(cron: str, minutes: int | None, zone: str, field: str) -> None:
    with pytest.raises(BadWindow) as error:
        checked(cron, minutes, zone)
    assert error.value.field == field


def test_a_window_is_found_within_moments() -> None:
    """Each minute of a year has a window: the search looks back no further than its length."""
    begin = at("2026-01-01 00:00")
    window = Windows(cron="* * * * *", minutes=1)
    assert window.open_at(begin + timedelta(seconds=30)) == Window(begin, begin + timedelta(minutes=1))
