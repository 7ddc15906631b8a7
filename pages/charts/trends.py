"""How much of a pool's memory was allocated in the last 24 hours, as a small line."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.history.before import STEPS, Lately, allocated_lately
from inventory.queries.totals import PoolKey, Totals
from pages.charts.plot import Path, spark
from runtime.cached import shared

_DAY = timedelta(days=1)
#: Steps at the end of the day that may be of an hour which is not folded yet.
_NOT_YET = 3


@dataclass(frozen=True)
class Trend:
    """path: the whole height is all of the memory. words: the change."""

    path: Path
    words: str


def lately(pools: Collection[PoolKey]) -> dict[PoolKey, Lately]:
    """Pool → what was allocated of it, see `allocated_lately`. One query."""
    return shared("allocated lately", tuple(pools), lambda: allocated_lately(pools, timezone.now()))


def trend(parts: Sequence[Lately], now: Totals) -> Trend | None:
    """Of pools together, and what is allocated now; None where one of the two is not known."""
    held, total = now.memory_allocated.value, now.memory_metered.value
    shares = [_share(step) for step in zip(*parts, strict=True)]
    if held is None or not total or not any(share is not None for share in shares):
        return None
    end = timezone.now()
    steps = [None if share is None else min(1.0, share) for share in (*shares, held / total)]
    # The hour that goes on is not in the day yet: the line goes on to now.
    points = [
        (end - _DAY * (1 - place / STEPS), share)
        for place, share in enumerate(steps)
        if share is not None or place < STEPS - _NOT_YET
    ]
    drawn = spark(points, top=1)
    return Trend(drawn, _words(held / total, shares[0])) if drawn else None


def _share(step: Sequence[tuple[int, int] | None]) -> float | None:
    known = [one for one in step if one is not None]
    return sum(held for held, _total in known) / sum(total for _held, total in known) if known else None


def _words(now: float, before: float | None) -> str:
    told = _("%(n)d%% allocated") % {"n": round(now * 100)}
    if before is None:
        return told
    points = round((now - before) * 100)
    if not points:
        change = _("unchanged vs 24 h ago")
    elif points > 0:
        change = ngettext("+%(n)d point vs 24 h ago", "+%(n)d points vs 24 h ago", points) % {"n": points}
    else:
        change = ngettext("−%(n)d point vs 24 h ago", "−%(n)d points vs 24 h ago", -points) % {"n": -points}
    return f"{told} · {change}"
