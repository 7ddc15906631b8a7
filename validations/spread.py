"""How far a number is from those of others: median and median absolute deviation (MAD), which single odd ones do not move. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import msgspec

#: Fewer targets are no baseline.
LEAST = 10
#: A value this many deviations from the median is an outlier (Iglewicz and Hoaglin 1993) …
DEVIATIONS = 3.5
#: … of a deviation that is estimated from the MAD of normal values …
NORMAL = 1.4826
#: … and at least this share of the median: values that are all alike have no deviation.
SHARE = 0.05


class Spread(msgspec.Struct, frozen=True):
    """Median and MAD of the last passes of so many targets, in the unit of the measurement."""

    median: float
    mad: float
    targets: int

    @property
    def allowed(self) -> float:
        """How far from the median is no outlier yet."""
        return max(DEVIATIONS * NORMAL * self.mad, SHARE * abs(self.median))


def spread(values: Sequence[float]) -> Spread | None:
    """None of fewer than ten."""
    if len(values) < LEAST:
        return None
    middle = median(values)
    return Spread(middle, median(abs(value - middle) for value in values), len(values))


def is_outlier(value: float, of: Spread, *, more_is_better: bool) -> bool:
    """Whether it is on the bad side, far from the others. What is better than all others is none."""
    worse = of.median - value if more_is_better else value - of.median
    return worse > of.allowed
