"""What the cards of a node are: model and memory, and who says so.

Sources, best first: the administrator's annotation, then labels in the order of `stacks.DECLARED`. A label that
cannot be read gives None. Where a machine has a part of a card only, labels that speak of the whole card lose to it. Must not know
how the cards are given out.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.overrides import COUNT, MEMORY, MODEL, Overrides
from stacks.engine.registry import registry
from stacks.engine.stack import NodeLabels, Part, Value


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """Model and memory of each card of a node, and how many it has by its labels. None and "": not known."""

    model: str | None = None
    model_source: str = ""
    memory_bytes: int | None = None
    memory_source: str = ""
    cards: int | None = None
    cards_source: str = ""

    def memory_of(self, cards: int | None) -> int | None:
        """The memory of so many of the cards."""
        return self.memory_bytes * cards if self.memory_bytes is not None and cards is not None else None


def describe(node: Node, given: Overrides, own: NodeLabels | None = None) -> Described:
    """Model and memory of the node's cards from labels and the administrator's annotations. Never raises.

    own: of a system that reads only its own labels and those of no system, since others speak of another vendor's cards.
    """
    labels = labels_of(node)
    writers = registry.labels if own is None else (own, *registry.common_labels)
    model, memory = (
        _first(writer.model(labels) for writer in writers),
        _first(writer.memory(labels) for writer in writers),
    )
    cards = _first(writer.cards(labels) for writer in writers)
    if (part := _first(writer.part(labels) for writer in writers)) is not None:
        model, memory = _of_part(*part, memory)
    if given.model is not None:
        model = given.model, f"annotation {MODEL}"
    if given.memory_bytes is not None:
        memory = given.memory_bytes, f"annotation {MEMORY}"
    if given.cards is not None:
        cards = given.cards, f"annotation {COUNT}"
    return Described(
        model=model[0] if model else None,
        model_source=model[1] if model else "",
        memory_bytes=memory[0] if memory else None,
        memory_source=memory[1] if memory else "",
        cards=cards[0] if cards else None,
        cards_source=cards[1] if cards else "",
    )


def _of_part(part: Part, source: str, memory: tuple[int, str] | None) -> tuple[tuple[str, str], tuple[int, str] | None]:
    """(model, memory) of a part of a card. memory: what labels say; it counts where it can be that of the part."""
    if memory is None or part.memory_bytes is None or memory[0] > part.memory_bytes:
        memory = (part.memory_bytes, source) if part.memory_bytes is not None else None
    return (part.model, source), memory


def _first(said: Iterable[tuple[Value, str] | None]) -> tuple[Value, str] | None:
    return next((found for found in said if found is not None), None)
