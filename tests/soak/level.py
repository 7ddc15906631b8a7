"""Does a figure rise? One slope for all lives of a kind of process, by Theil and Sen, with a bound of confidence; pure.

Of each life what comes after its warming up counts, in medians of blocks of 30 s: samples a second apart are no independent
measurements. The slopes between all pairs of blocks of one life are put together with those of the other lives, and their median
is the slope: lives that begin at different levels do not disturb it, nor does one sudden step (Hirsch and Slack's seasonal Kendall
slope, a life being a season). So many short lives prove as much as a long one: what is killed again and again is judged too.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import NamedTuple

#: (seconds, value)
Points = Sequence[tuple[float, float]]
BLOCK_S = 30.0
#: What a process has read and made in its first minutes it keeps: that is no leak.
WARM_S = 180.0
#: Lives that are shorter after it have no pairs; below so many blocks of all together nothing is known.
MIN_BLOCKS, MIN_OF_ALL = 3, 4
#: Quantile of the bound: 97.5 %, on one side.
SIGMAS = 1.96


class Trend(NamedTuple):
    """slope and lower: units per hour; the slope is above `lower`, by confidence. seconds: of all lives, after their warming up.

    step: the most that one life has grown by meanwhile, units.
    """

    slope: float
    lower: float
    seconds: float
    lives: int
    step: float

    @property
    def growth(self) -> float:
        """Units, over all lives together."""
        return self.slope * self.seconds / 3600


def blocks(points: Points, warm_s: float = WARM_S, block_s: float = BLOCK_S) -> list[tuple[float, float]]:
    """(middle of the block, median of it) after the warming up; a block that is not full at the end is left out."""
    if not points:
        return []
    start, found = points[0][0] + warm_s, dict[int, list[float]]()
    for moment, value in points:
        if moment >= start:
            found.setdefault(int((moment - start) // block_s), []).append(value)
    last = int((points[-1][0] - start + 1.5) // block_s)
    return [(start + (i + 0.5) * block_s, statistics.median(values)) for i, values in found.items() if i < last]


def trend_of(lives: Iterable[Points]) -> Trend | None:
    """None where all lives are too short to say anything."""
    counted = [medians for points in lives if len(medians := blocks(points)) >= MIN_BLOCKS]
    if sum(map(len, counted)) < MIN_OF_ALL:
        return None
    slopes = sorted(
        (later[1] - earlier[1]) / (later[0] - earlier[0]) * 3600
        for medians in counted
        for number, later in enumerate(medians)
        for earlier in medians[:number]
    )
    # Kendall's S of each life has this variance where nothing rises; lives are independent of each other.
    variance = sum(n * (n - 1) * (2 * n + 5) / 18 for n in map(len, counted))
    rank = math.floor((len(slopes) - SIGMAS * math.sqrt(variance)) / 2)
    lower = slopes[rank] if rank >= 0 else -math.inf
    step = max(_grown([value for _, value in medians]) for medians in counted)
    seconds = sum(len(medians) for medians in counted) * BLOCK_S
    return Trend(statistics.median(slopes), lower, seconds, len(counted), step)


def _grown(values: Sequence[float]) -> float:
    """From the first third to the last."""
    third = max(1, len(values) // 3)
    return statistics.median(values[-third:]) - statistics.median(values[:third])


def rises(trend: Trend, per_hour: float, noise: float, most: float) -> str:
    """Why the figure is not level, "" when it is. noise: growth that means nothing; most: growth of one life that is too much."""
    if trend.step > most:
        return f"one life grew by {trend.step:.1f}"
    if trend.lower > per_hour and trend.growth > noise:
        return (
            f"grows by {trend.slope:.1f} an hour (at least {trend.lower:.1f}), "
            f"{trend.growth:.1f} in {trend.seconds:.0f} s of {trend.lives} lives"
        )
    return ""
