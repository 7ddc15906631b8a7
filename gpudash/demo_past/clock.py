"""How far back the past goes, and the times of which nothing is known."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from fleetsim.clock import DAY, HOUR

#: Days of past.
DAYS = 14
#: Nothing was recorded in one hour, so many days ago; an exporter was silent for some, later.
NOTHING_DAYS, NOTHING_S = 6, HOUR
SILENT_DAYS, SILENT_S = 4, 2 * HOUR
#: On a day of UTC, in seconds.
_NOTHING_AT, _SILENT_AT = 9 * HOUR, 13 * HOUR


@dataclass(frozen=True)
class Times:
    """Unix seconds. until: when the fleet began; from then on the product writes down itself."""

    until: float
    days: int = DAYS

    @property
    def since(self) -> float:
        return self.until - self.days * DAY

    @property
    def nothing(self) -> tuple[float, float]:
        """When nothing was recorded at all."""
        return self._hours(NOTHING_DAYS, _NOTHING_AT, NOTHING_S)

    @property
    def silent(self) -> tuple[float, float]:
        """When one node's exporter said nothing."""
        return self._hours(SILENT_DAYS, _SILENT_AT, SILENT_S)

    def watched_since(self, silent: bool) -> float:
        """Since when a card was measured without a gap. silent: it is of the node whose exporter was."""
        return max(self.since, self.nothing[1], self.silent[1] if silent else 0.0)

    def _hours(self, days: int, at: float, seconds: float) -> tuple[float, float]:
        begin = (self.until // DAY - days) * DAY + at
        return begin, begin + seconds


def utc(moment: float) -> datetime:
    """Unix seconds as a time."""
    return datetime.fromtimestamp(moment, UTC)
