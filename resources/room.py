"""What would still fit on cards that are cut into slices."""

from __future__ import annotations

from typing import Annotated

from inventory.stacks.engine import base
from resources.declared import Shape, fact

_WHY = (base.STARTS, base.PARENTS, base.NO_TABLE, base.STRANGE_PROFILE, base.CARDS_UNKNOWN, base.CONTRADICTION)


class RoomSlices(Shape):
    """Slices of one profile."""

    profile: Annotated[str | None, fact("null: the card as a whole.")]
    number: int


class RoomFit(Shape):
    """How many more slices of one profile there is room for, if no other is placed."""

    profile: Annotated[str | None, fact("null: the card as a whole.")]
    sure: Annotated[int, fact("So many fit wherever the slices that are there lie.")]
    most: Annotated[int, fact("More than these fit in no case; the same as sure where it is exact.")]
    memory_bytes: Annotated[int | None, fact("Of each; null: unknown.")]


class Room(Shape):
    """What would still fit on a card that is cut into slices, or on all cards of a node that are."""

    card: Annotated[str | None, fact("Key of the card; null: said of the cards of the node that are cut.")]
    cards: Annotated[int | None, fact("How many cards these are; null: unknown.")]
    each: Annotated[bool, fact("slices and fits are those of each card; false: of all these cards together.")]
    on_demand: Annotated[
        bool, fact("The driver cuts as claims ask for it, so a pod can have what fits; false: they are made before.")
    ]
    made: Annotated[
        bool, fact("What fits are slices that are there and free: a pod can have any of them, and several together.")
    ]
    slices: Annotated[
        list[RoomSlices], fact("What is there: of a fixed layout all that were made, on demand those that are held.")
    ]
    fits: Annotated[list[RoomFit], fact("Empty where nothing can be said, see unknown.")]
    source: Annotated[str | None, fact("By what it is known.")]
    unknown: Annotated[
        str | None,
        fact(
            f"Why numbers are bounds or missing; null: they are exact. One of {', '.join((*_WHY, base.COUNTERS))}.",
        ),
    ]
