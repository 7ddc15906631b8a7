"""Times as the API writes them. Knows nothing of the fleet; every caller passes its own `now` (unix seconds)."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from time import gmtime

MINUTE = 60.0
HOUR = 3600.0
DAY = 86_400.0


def rfc3339(now: float) -> str:
    """Unix seconds as metav1.Time: whole seconds, UTC, `Z`."""
    return _text(int(now))


@lru_cache(maxsize=4096)
def _text(second: int) -> str:
    # Objects of one moment share their times, and a large fleet writes a million of them.
    at = gmtime(second)
    return f"{at[0]:04d}-{at[1]:02d}-{at[2]:02d}T{at[3]:02d}:{at[4]:02d}:{at[5]:02d}Z"


def rfc3339_nano(now: float) -> str:
    """Unix seconds as the kubelet stamps a log line: nanoseconds, UTC, `Z`."""
    nanoseconds = round((now - int(now)) * 1e9)
    return datetime.fromtimestamp(int(now), UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{nanoseconds:09d}Z"


def nanoseconds(now: float) -> str:
    """Unix nanoseconds in decimal, as gpushare writes its assume time."""
    return str(round(now * 1e6) * 1000)


def unix(text: str) -> float:
    """Unix seconds of a metav1.Time that this package wrote."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC).timestamp()
