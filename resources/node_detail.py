"""One node with all that is on it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from inventory.models import Card as CardRow
from resources.allocation import Allocation
from resources.card import Card
from resources.component import Component
from resources.declared import Shape, fact
from resources.finding import Finding
from resources.node import Node
from validations.validity import DRIVER_CHANGED, FAILED, NEVER, STATES, VALIDATED, Validity


class CardValidation(Shape):
    """The validation of one card of the node."""

    card: Annotated[str, fact("Key of the card.")]
    state: Annotated[
        str,
        fact(
            f"{', '.join(STATES)}. {VALIDATED}: a run passed, with its result checked. {DRIVER_CHANGED}: on another driver. "
            f"ran, detected: passed on that level only. {NEVER}: no run has passed."
        ),
    ]
    suite: Annotated[str | None, fact("Suite of the run that decides; null: none.")]
    run: Annotated[str | None, fact("Run that decides.")]
    at: Annotated[datetime | None, fact("End of the run that decides.")]


class NodeDetail(Node):
    """A node with its cards, allocations on unidentified cards, findings and GPU software."""

    cards: list[Card]
    validations: Annotated[list[CardValidation], fact("Validation of each card, in the order of `cards`.")]
    unplaced: list[Allocation]
    findings: list[Finding]
    components: Annotated[list[Component], fact("GPU software of the node, most likely cause first.")]
    first_cause: Annotated[
        str | None,
        fact("Component that is the cause of the others not being ready; null: none."),
    ]


def validation_of(card: CardRow, found: Validity) -> CardValidation:
    """What is known of a card, with the run that decides."""
    if found.state == FAILED:
        decides = (found.bad_suite, found.bad_run, found.bad_at)
    elif found.state in (VALIDATED, DRIVER_CHANGED):
        decides = (found.good_suite, found.good_run, found.good_at)
    else:
        decides = (found.lower_suite, found.lower_run, found.lower_at)
    suite, run, at = decides
    return CardValidation(card=card.key, state=found.state, suite=suite, run=run, at=at)
