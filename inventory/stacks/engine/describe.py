"""What the cards of a node are: model and memory, and who says so.

Sources, best first: the administrator's annotation, then labels in the order of `inventory.stacks.MODULES`. A label that
cannot be read gives None. Must not know how the cards are given out.
"""

from __future__ import annotations

import msgspec

from inventory.stacks.engine.names import labels_of
from inventory.stacks.engine.overrides import MEMORY, MODEL, Overrides
from inventory.stacks.engine.registry import registry
from kube.objects import Node


class Described(msgspec.Struct, frozen=True, kw_only=True):
    """Model and memory of each card of a node. None and "": not known."""

    model: str | None = None
    model_source: str = ""
    memory_bytes: int | None = None
    memory_source: str = ""


def describe(node: Node, given: Overrides) -> Described:
    """Model and memory of the node's cards from labels and the administrator's annotations. Never raises."""
    model, model_source = _model(node, given)
    memory, memory_source = _memory(node, given)
    return Described(model=model, model_source=model_source, memory_bytes=memory, memory_source=memory_source)


def _model(node: Node, given: Overrides) -> tuple[str | None, str]:
    if given.model is not None:
        return given.model, f"annotation {MODEL}"
    labels = labels_of(node)
    return next((found for writer in registry.labels if (found := writer.model(labels)) is not None), (None, ""))


def _memory(node: Node, given: Overrides) -> tuple[int | None, str]:
    if given.memory_bytes is not None:
        return given.memory_bytes, f"annotation {MEMORY}"
    labels = labels_of(node)
    return next((found for writer in registry.labels if (found := writer.memory(labels)) is not None), (None, ""))
