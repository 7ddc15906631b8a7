"""Is a figure level? Least squares over the second half of a process' life, with a bound of confidence; pure.

Samples of one process a second apart are no independent measurements, so the line is fitted through medians of blocks of 30 s.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import NamedTuple

#: (seconds, value)
Points = Sequence[tuple[float, float]]
BLOCK_S = 30.0
#: A second half that is shorter says nothing of a slope, and one that is shorter than MIN_S nothing at all.
LONG_S, MIN_S = 600.0, 60.0
#: Quantile of the bound: about 97.5 % for ten blocks or more.
SIGMAS = 2.2


class Line(NamedTuple):
    """slope and lower: units per hour. lower: the slope is above it, by confidence. growth: units, over the second half."""

    slope: float
    lower: float
    growth: float
    seconds: float


def second_half(points: Points) -> list[tuple[float, float]]:
    if not points:
        return []
    middle = (points[0][0] + points[-1][0]) / 2
    return [point for point in points if point[0] >= middle]


def blocks(points: Points, block_s: float = BLOCK_S) -> list[tuple[float, float]]:
    """(middle of the block, median of it); a block that is not full at the end is left out."""
    found: dict[int, list[float]] = {}
    for moment, value in points:
        found.setdefault(int((moment - points[0][0]) // block_s), []).append(value)
    start = points[0][0] if points else 0.0
    last = int((points[-1][0] - start + 1.5) // block_s) if points else 0
    return [(start + (i + 0.5) * block_s, statistics.median(values)) for i, values in found.items() if i < last]


def least_squares(points: Points) -> tuple[float, float]:
    """(slope, its standard error), per unit of the first coordinate. Needs three points or more."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    middle, mean = statistics.fmean(xs), statistics.fmean(ys)
    spread = sum((x - middle) ** 2 for x in xs)
    slope = sum((x - middle) * (y - mean) for x, y in points) / spread
    left = sum((y - mean - slope * (x - middle)) ** 2 for x, y in points)
    return slope, math.sqrt(left / (len(points) - 2) / spread)


def line_of(points: Points) -> Line | None:
    """Of the second half; None where it is too short to say anything."""
    half = second_half(points)
    if not half or half[-1][0] - half[0][0] < MIN_S:
        return None
    fifth = max(1, len(half) // 5)
    growth = statistics.median(v for _, v in half[-fifth:]) - statistics.median(v for _, v in half[:fifth])
    medians = blocks(half)
    seconds = half[-1][0] - half[0][0]
    if len(medians) < 3:
        return Line(growth / seconds * 3600, -math.inf, growth, seconds)
    slope, error = least_squares(medians)
    return Line(slope * 3600, (slope - SIGMAS * error) * 3600, growth, seconds)


def rises(line: Line, per_hour: float, noise: float, most: float) -> str:
    """Why the figure is not level, "" when it is. noise: growth that means nothing; most: growth that is too much in any time."""
    if line.growth > most:
        return f"grew by {line.growth:.1f} in {line.seconds:.0f} s"
    if line.seconds >= LONG_S and line.lower > per_hour and line.growth > noise:
        return (
            f"grows by {line.slope:.1f} an hour (at least {line.lower:.1f}), {line.growth:.1f} in {line.seconds:.0f} s"
        )
    return ""
