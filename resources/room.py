"""Remaining slices on sliced cards."""

from __future__ import annotations

from typing import Annotated

from resources.declared import Shape, fact
from stacks.engine import base

_WHY = (base.STARTS, base.PARENTS, base.NO_TABLE, base.STRANGE_PROFILE, base.CARDS_UNKNOWN, base.CONTRADICTION)


class SlicesOfProfile(Shape):
    """Slices of one profile."""

    profile: Annotated[str | None, fact("null: the whole card.")]
    number: int


class RemainingOfProfile(Shape):
    """Number of additional slices of one profile, if no other profile is used."""

    profile: Annotated[str | None, fact("null: the whole card.")]
    at_least: Annotated[int, fact("Minimum number that fits, whatever the position of existing slices.", of="sure")]
    at_most: Annotated[int, fact("Maximum number that can fit; equal to at_least if exact.", of="most")]
    memory_bytes: Annotated[int | None, fact("Memory of each slice, in bytes; null: unknown.")]


class RemainingSlices(Shape):
    """Remaining slices on a sliced card, or on all sliced cards of a node."""

    card: Annotated[str | None, fact("Key of the card; null: all sliced cards of the node.")]
    cards: Annotated[int | None, fact("Number of cards; null: unknown.")]
    each: Annotated[bool, fact("true: slices and fits are per card. false: for all these cards together.")]
    on_demand: Annotated[bool, fact("true: the driver creates slices on demand. false: slices are created in advance.")]
    made: Annotated[bool, fact("true: fits are existing free slices. A pod can get several together.")]
    slices: Annotated[
        list[SlicesOfProfile],
        fact("Existing slices: all of a fixed layout, or the allocated ones on demand."),
    ]
    fits: Annotated[list[RemainingOfProfile], fact("Empty if unknown, see unknown.")]
    source: Annotated[str | None, fact("Source of the values.")]
    unknown: Annotated[
        str | None,
        fact(
            f"Why numbers are bounds or missing; null: they are exact. One of {', '.join((*_WHY, base.COUNTERS))}.",
        ),
    ]
