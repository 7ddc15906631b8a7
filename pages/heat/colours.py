"""What the cells of the heat map are coloured by: the classes of each colouring, in the order of the legend. Knows no tables.

A class has a name of its own (`key`, for the style sheet) and words: no cell speaks by its colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from inventory.stacks.engine import base
from pages.frame.table import Text
from validations import proof

FREE, USED, HEALTH, PROOF = "free", "used", "health", "proof"
#: Name of a colouring → its title.
COLOURINGS: Mapping[str, Text] = {
    FREE: gettext_lazy("free"),
    USED: gettext_lazy("used"),
    HEALTH: gettext_lazy("health"),
    PROOF: gettext_lazy("proof"),
}
APART, UNKNOWN = "apart", "unknown"
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
            Class(UNKNOWN, _("not reported")),
        ]
    if colouring == PROOF:
        return [
            Class("good", _("proven good")),
            Class("part", _("partly proven")),
            Class("warn", _("driver changed since")),
            Class("bad", _("failed")),
            Class(UNKNOWN, _("never proven")),
        ]
    if colouring == USED:
        ranges = (_("0 to 20 %% used"), _("20 to 40 %%"), _("40 to 60 %%"), _("60 to 80 %%"), _("80 to 100 %%"))
        return [*_steps(ranges), Class(UNKNOWN, _("not measured"))]
    ranges = (_("nothing free"), _("under 1/3 free"), _("under 2/3"), _("over 2/3"), _("all free"))
    return [*_steps(ranges), Class(APART, _("kept apart")), Class(UNKNOWN, _("not known or not metered"))]


def _steps(words: tuple[str, ...]) -> list[Class]:
    return [Class(key, text % ()) for key, text in zip(_STEPS, words, strict=True)]


def of_free(free: int | None, whole: int | None, apart: int) -> str:
    """free, whole, apart: bytes, or cards where memory is not known. Apart: nothing is free, and something would be."""
    if free is None or not whole:
        return UNKNOWN
    if free <= 0:
        return APART if apart > 0 else "s0"
    if free >= whole:
        return "s4"
    return ("s1", "s2", "s3")[min(2, free * 3 // whole)]


def of_used(used: int | None, whole: int | None) -> str:
    """Bytes that exporters measured, of those that they know."""
    if used is None or not whole:
        return UNKNOWN
    return _STEPS[min(4, max(0, used) * 5 // whole)]


def of_health(level: str) -> str:
    return {base.HEALTHY: "good", base.DEGRADED: "warn", base.UNHEALTHY: "bad"}.get(level, UNKNOWN)


def of_proof(states: Mapping[str, int], cards: int) -> str:
    """states: of those of so many cards that were ever tested."""
    if states.get(proof.FAILED):
        return "bad"
    if states.get(proof.DRIVER_CHANGED):
        return "warn"
    proven = states.get(proof.PROVEN, 0)
    return UNKNOWN if not proven else "good" if proven >= cards else "part"
