"""How far back the past goes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fleetsim.clock import DAY

#: Days of which all is known. Before them there are allocations and sums of the whole cluster, since the last month is charged.
DAYS = 14


@dataclass(frozen=True)
class Times:
    """Unix seconds. until: when the fleet began; from then on the product writes down itself."""

    until: float
    days: int = DAYS

    @property
    def since(self) -> float:
        return self.until - self.days * DAY

    @property
    def first(self) -> float:
        """The beginning of the month before, in UTC."""
        this = utc(self.until).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        return min((this - timedelta(days=1)).replace(day=1).timestamp(), self.since)

    def on_day(self, ago: int, at: float) -> float:
        """A moment of a day of UTC, so many days ago. at: seconds of the day."""
        return (self.until // DAY - ago) * DAY + at


def utc(moment: float) -> datetime:
    """Unix seconds as a time."""
    return datetime.fromtimestamp(moment, UTC)
