"""From statements to one level: the worst that is said, and healthy only where somebody says so now."""

from __future__ import annotations

from collections.abc import Iterable

from stacks.engine.base import DEGRADED, HEALTH_UNKNOWN, HEALTHY, UNHEALTHY, HealthReport

#: From good to bad. HEALTH_UNKNOWN says nothing, so it is in no order.
BAD = (UNHEALTHY, DEGRADED)
_ORDER = {UNHEALTHY: 0, DEGRADED: 1, HEALTH_UNKNOWN: 2, HEALTHY: 3}


def level_of(statements: Iterable[HealthReport]) -> str:
    """The level of what the statements speak of.

    A source that fell silent does not make well what it called bad; that something was well before says nothing of now.
    """
    said = [(one.level, one.lost_at is None) for one in statements]
    for bad in BAD:
        if any(level == bad for level, _ in said):
            return bad
    return HEALTHY if (HEALTHY, True) in said else HEALTH_UNKNOWN


def worst(levels: Iterable[str]) -> str:
    """The level of a whole from those of its parts: healthy only where all of them are, and there are some."""
    found = set(levels)
    for bad in BAD:
        if bad in found:
            return bad
    return HEALTHY if found == {HEALTHY} else HEALTH_UNKNOWN


def ordered(statements: Iterable[HealthReport]) -> tuple[HealthReport, ...]:
    """Each once, the worst first; what says nothing of health comes before what is well, since it may want a look."""
    return tuple(
        sorted(
            dict.fromkeys(statements),
            key=lambda one: (_ORDER.get(one.level, 2), one.source, one.code, one.text),
        )
    )
