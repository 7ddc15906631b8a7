"""What the cells of the heat map are coloured by: the classes of each colouring, in the order of the legend. Knows no tables.

A class has a name of its own (`key`, for the style sheet) and words: no cell speaks by its colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame.table import Text
from stacks.engine import base
from validations import validity

ALLOCATED, USED, HEALTH, VALIDATION = "allocated", "used", "health", "validation"
#: Name of a colouring → its title.
COLOURINGS: Mapping[str, Text] = {
    ALLOCATED: gettext_lazy("Allocated"),
    USED: gettext_lazy("Used"),
    HEALTH: gettext_lazy("Health"),
    VALIDATION: gettext_lazy("Validation"),
}
OVER, UNAVAILABLE, UNKNOWN = "over", "unavailable", "unknown"
#: Of several, one of these is not to be lost among the others.
WORST = ("bad", OVER, "warn")
_STEPS = ("s0", "s1", "s2", "s3", "s4")


@dataclass(frozen=True)
class Class:
    """One entry of the legend. key: of the style sheet; words: what cells of it are."""

    key: str
    words: str


def classes(colouring: str) -> list[Class]:
    """Of one colouring."""
    if colouring == HEALTH:
        return [
            Class("good", _("healthy")),
            Class("warn", _("degraded")),
            Class("bad", _("unhealthy")),
            Class(UNKNOWN, _("unknown")),
        ]
    if colouring == VALIDATION:
        return [
            Class("good", _("validated")),
            Class("part", _("partially validated")),
            Class("warn", _("driver changed")),
            Class("bad", _("failed")),
            Class(UNKNOWN, _("not validated")),
        ]
    if colouring == USED:
        ranges = (_("0–20%% used"), _("20–40%%"), _("40–60%%"), _("60–80%%"), _("80–100%%"))
        return [*_steps(ranges), Class(UNKNOWN, _("not measured"))]
    ranges = (_("free"), _("<33%%"), _("33–66%%"), _(">66%%"), _("fully allocated"))
    return [
        *_steps(ranges),
        Class(OVER, _("overcommitted")),
        Class(UNAVAILABLE, _("unavailable")),
        Class(UNKNOWN, _("unknown or not metered")),
    ]


def _steps(words: tuple[str, ...]) -> list[Class]:
    return [Class(key, text % ()) for key, text in zip(_STEPS, words, strict=True)]


def of_allocated(free: int | None, whole: int | None, unavailable: int) -> str:
    """free, whole, unavailable: bytes, or cards where memory is not known. Unavailable: nothing is free, and something would be."""
    if free is None or not whole:
        return UNKNOWN
    if free < 0:
        return OVER
    if free == 0:
        return UNAVAILABLE if unavailable > 0 else "s4"
    if free >= whole:
        return "s0"
    return ("s1", "s2", "s3")[min(2, (whole - free) * 3 // whole)]


def of_used(used: int | None, whole: int | None) -> str:
    """Bytes that exporters measured, of those that they know."""
    if used is None or not whole:
        return UNKNOWN
    return _STEPS[min(4, max(0, used) * 5 // whole)]


def of_health(level: str) -> str:
    return {base.HEALTHY: "good", base.DEGRADED: "warn", base.UNHEALTHY: "bad"}.get(level, UNKNOWN)


def of_validity(states: Mapping[str, int], cards: int) -> str:
    """states: of those of so many cards that were ever tested."""
    if states.get(validity.FAILED):
        return "bad"
    if states.get(validity.DRIVER_CHANGED):
        return "warn"
    validated = states.get(validity.VALIDATED, 0)
    return UNKNOWN if not validated else "good" if validated >= cards else "part"
