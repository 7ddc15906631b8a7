"""When may runs of a policy start? A cron expression gives the start of each window, in the local time of its zone. Pure.

Both changes of the clock are `cronsim`'s: a start that a change skips comes right after it, one that comes twice counts once.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import chain
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from cronsim import CronSim, CronSimError

from wording.said import sentence

#: No window is longer: with one a day there would be no time without.
MOST_MINUTES = 7 * 24 * 60
#: How far ahead a window is looked for.
AHEAD = timedelta(days=400)


class BadWindow(Exception):
    """field: "window_cron", "window_minutes" or "time_zone"; the text says what is wrong with it."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


class Window(msgspec.Struct, frozen=True):
    """From and until, in UTC. until is not part of it."""

    start: datetime
    end: datetime


class Windows(msgspec.Struct, frozen=True, kw_only=True):
    """The windows of a policy. cron "": at any time."""

    cron: str = ""
    minutes: int = 0
    zone: str = "UTC"

    def open_at(self, at: datetime) -> Window | None:
        """The window that this moment is in; None outside of all. Without a cron expression each moment is in one without an end."""
        if not self.cron:
            return Window(at, at + AHEAD)
        start = self._last_start(at)
        end = start + timedelta(minutes=self.minutes) if start is not None else at
        return Window(start, end) if start is not None and at < end else None

    def between(self, at: datetime, until: datetime) -> list[Window]:
        """The windows that are open between two moments, cut to them; windows that meet are one."""
        if not self.cron:
            return [Window(at, until)]
        length, found, now = timedelta(minutes=self.minutes), list[Window](), self.open_at(at)
        for start in chain([now.start] if now is not None else (), self._starts(at)):
            if start >= until:
                break
            begin, end = max(start, at), min(start + length, until)
            if found and begin <= found[-1].end:
                found[-1] = Window(found[-1].start, end)
            else:
                found.append(Window(begin, end))
        return found

    def next_start(self, at: datetime) -> datetime | None:
        """When the next window begins; None when there is none for a year, or it is always open."""
        if not self.cron:
            return None
        return next(iter(self._starts(at)), None)

    def _last_start(self, at: datetime) -> datetime | None:
        """In UTC: at this moment, or the last one before."""
        # Cron has no seconds: a start at this moment is found from a moment later.
        later = (at + timedelta(seconds=1)).astimezone(ZoneInfo(self.zone))
        found = next(CronSim(self.cron, later, reverse=True), None)
        return found.astimezone(UTC) if found is not None else None

    def _starts(self, after: datetime) -> Iterator[datetime]:
        """In UTC, in order, each later than `after`."""
        most = after + AHEAD
        for start in CronSim(self.cron, after.astimezone(ZoneInfo(self.zone))):
            moment = start.astimezone(UTC)
            if moment > most:
                return
            if moment > after:
                yield moment


def checked(cron: str, minutes: int | None, zone: str) -> Windows:
    """The windows. Raises BadWindow."""
    try:
        ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise BadWindow(
            "time_zone", sentence("There is no time zone {zone}. Example: Europe/Berlin.", zone=f"{zone[:64]!r}")
        ) from None
    if not cron:
        if minutes is not None:
            raise BadWindow("window_cron", sentence("A length needs a start. Example: 0 22 * * 1-5."))
        return Windows(zone=zone)
    if minutes is None or not 1 <= minutes <= MOST_MINUTES:
        raise BadWindow("window_minutes", sentence("Must be an integer from 1 to {most}.", most=MOST_MINUTES))
    try:
        if len(cron.split()) != 5:
            raise CronSimError("five fields")
        found = Windows(cron=cron, minutes=minutes, zone=zone)
        if found.next_start(datetime(2026, 1, 1, tzinfo=UTC)) is None:
            raise CronSimError("never")
    except CronSimError:
        text = sentence("Must be minute, hour, day, month and weekday, and occur within a year. Example: 0 22 * * 1-5.")
        raise BadWindow("window_cron", text) from None
    return found
