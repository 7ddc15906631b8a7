"""Cards that work much less, or much more, than the other cards of the same job. Pure.

A job is what controls the pods (an owner in a namespace), on cards of one model that it has alone. The mean activity of each card is
compared with the median of the job's cards. A card has a gap if it is at least GAP away, and further than an outlier is (Iglewicz and
Hoaglin 1993: 3.5 deviations, estimated from the median absolute deviation).

Nothing is said of a job with fewer than LEAST_CARDS cards of LEAST_SAMPLES samples, nor of one in which more than one card in
LEAST_CARDS is away: that is how the job works.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from statistics import fmean, median
from typing import Any, NamedTuple

import msgspec

LEAST_CARDS = 4
#: Of five minutes: an hour.
LEAST_SAMPLES = 12
GAP = 0.3
_DEVIATIONS = 3.5 * 1.4826


class Watched(NamedTuple):
    """A card of a job. samples: activity, 0 to 1, of those moments in which it is known."""

    job: Any
    subject: Any
    samples: tuple[float, ...]


class Gap(msgspec.Struct, frozen=True):
    """activity: of the card; others: the median of the `cards` other cards of its job. samples: that the card's rests on."""

    activity: float
    others: float
    cards: int
    samples: int


def gaps(watched: Iterable[Watched]) -> dict[Any, Gap]:
    """Subject → its gap; of one in several jobs the largest."""
    jobs: dict[Any, list[Watched]] = defaultdict(list)
    for one in watched:
        if len(one.samples) >= LEAST_SAMPLES:
            jobs[one.job].append(one)
    found: dict[Any, Gap] = {}
    for cards in jobs.values():
        for subject, gap in _of_job(cards):
            if subject not in found or _size(gap) > _size(found[subject]):
                found[subject] = gap
    return found


def _of_job(cards: list[Watched]) -> list[tuple[Any, Gap]]:
    if len(cards) < LEAST_CARDS:
        return []
    means = [fmean(one.samples) for one in cards]
    middle = median(means)
    allowed = max(GAP, _DEVIATIONS * median(abs(mean - middle) for mean in means))
    away = [
        (one.subject, Gap(mean, median(means[:place] + means[place + 1 :]), len(cards) - 1, len(one.samples)))
        for place, (one, mean) in enumerate(zip(cards, means, strict=True))
        if abs(mean - middle) >= allowed
    ]
    return away if len(away) * LEAST_CARDS <= len(cards) else []


def _size(gap: Gap) -> float:
    return abs(gap.activity - gap.others)
