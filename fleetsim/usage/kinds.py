"""What a pod does with its card at a moment, by the kind of its work: activity (0 to 1) and memory (part of what it may have).

Times are unix seconds, days are those of UTC. Pure functions of (kind, seed, moment).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from math import cos, pi

from fleetsim.clock import DAY, HOUR, MINUTE
from fleetsim.usage import noise

#: The image is there and the model is loaded so many seconds after a pod has its card; until then it does no work.
LOAD_S = 45.0


class Kind(StrEnum):
    """Kinds of work."""

    TRAINING = "training"
    BATCH = "batch"
    SERVING = "serving"
    NOTEBOOK = "notebook"
    #: It holds its memory and never does anything.
    IDLE = "idle"
    TEST = "test"


def day(moment: float) -> float:
    """How much of the day's traffic there is: 0 at 3 o'clock, 1 at 15 o'clock, half on a Saturday and a Sunday."""
    wave = 0.5 - 0.5 * cos((moment / DAY - 0.125) * 2 * pi)
    return wave * (0.5 if int(moment // DAY + 3) % 7 > 4 else 1.0)


def _training(seed: int, moment: float) -> float:
    """Busy but for a checkpoint each 45 minutes, which takes a minute and a half."""
    if (moment + seed % 2700) % (45 * MINUTE) < 90:
        return 0.02
    return 0.9 + 0.08 * noise.smooth(seed, moment, 5 * MINUTE)


def _batch(seed: int, moment: float) -> float:
    return 0.35 + 0.6 * noise.smooth(seed, moment, 10 * MINUTE)


def _serving(seed: int, moment: float) -> float:
    """Waves of calls over a floor: never wholly without, and few at night."""
    calls = 0.25 + 0.75 * noise.smooth(seed, moment, 15 * MINUTE)
    return 0.03 + (0.05 + 0.75 * day(moment)) * calls


def _notebook(seed: int, moment: float) -> float:
    """Somebody tries something now and then, by day; nothing for hours otherwise."""
    if noise.at(seed, int(moment // (2 * HOUR))) > 0.05 + 0.35 * day(moment):
        return 0.0
    return max(0.0, 0.9 * noise.smooth(seed + 1, moment, 6 * MINUTE) - 0.25)


def _idle(seed: int, moment: float) -> float:
    return 0.0


def _test(seed: int, moment: float) -> float:
    return 0.4 + 0.5 * noise.smooth(seed, moment, 10.0)


_ACTIVITY: dict[str, Callable[[int, float], float]] = {
    Kind.TRAINING: _training,
    Kind.BATCH: _batch,
    Kind.SERVING: _serving,
    Kind.NOTEBOOK: _notebook,
    Kind.IDLE: _idle,
    Kind.TEST: _test,
}
#: Part of what it may have: the least, and how much more that may be by its seed.
_MEMORY: dict[str, tuple[float, float]] = {
    Kind.TRAINING: (0.86, 0.1),
    Kind.BATCH: (0.5, 0.35),
    Kind.SERVING: (0.78, 0.15),
    Kind.NOTEBOOK: (0.12, 0.4),
    Kind.IDLE: (0.45, 0.3),
    Kind.TEST: (0.05, 0.1),
}


def activity(kind: str, seed: int, moment: float, age_s: float) -> float:
    """0 to 1. age_s: seconds since it has the card."""
    return _ACTIVITY[kind](seed, moment) if age_s >= LOAD_S else 0.0


def memory(kind: str, seed: int, moment: float, age_s: float) -> float:
    """0 to 1 of what it may have: loaded at first, then what caches and batches make of it."""
    least, more = _MEMORY[kind]
    level = least + more * noise.at(seed, 7)
    if kind in (Kind.BATCH, Kind.NOTEBOOK):
        level *= 0.85 + 0.15 * noise.smooth(seed + 2, moment, 30 * MINUTE)
    return level * min(age_s / LOAD_S, 1.0) if age_s > 0 else 0.0
