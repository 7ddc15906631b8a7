"""The answer as programs get it: of REST, and of the command with --json. Memory in bytes; null is not known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from inventory.fit.finder import Found, Refusing, Taking
from inventory.fit.nodes import written_toleration
from inventory.fit.words import NOT_LOOKED_AT, NOTES, REASONS


class FitNote(msgspec.Struct):
    code: str
    text: str


class FitCard(msgspec.Struct):
    """A card that would take the request."""

    id: int
    key: str
    index: int | None
    model: str | None
    memory_total_bytes: int | None
    memory_free_bytes: Annotated[int | None, Meta(description="null: not metered, or not known.")]


class FitNode(msgspec.Struct):
    """A node that takes the request now."""

    cluster: str
    node: str
    system: Annotated[str, Meta(description="The way in which it is asked for: one of `systems`.")]
    limits: Annotated[
        Mapping[str, int], Meta(description="What the container asks for, by resource; empty: by a claim.")
    ]
    labels: Annotated[Mapping[str, str], Meta(description="What the pod carries besides.")]
    cards: Annotated[
        list[FitCard],
        Meta(
            description="Those that would take it, in the scheduler's order where it has one; empty: not known which."
        ),
    ]
    cards_free: int | None
    memory_free_bytes: int | None
    largest_gap_bytes: int | None
    notes: list[FitNote]


class FitRefusal(msgspec.Struct):
    """A node that does not take it."""

    cluster: str
    node: str
    code: str
    text: str
    about: Annotated[str | None, Meta(description="A taint, a label, a system.")]


class FitReason(msgspec.Struct):
    """So many nodes do not take it for this."""

    code: str
    text: str
    about: Annotated[str | None, Meta(description="A taint, a label, a system.")]
    nodes: int
    examples: Annotated[list[str], Meta(description="Names of nodes, at most five.")]


class FitSystem(msgspec.Struct):
    """A way to ask, and what its scheduler does."""

    name: str
    label: str
    rule: str


class FitRequest(msgspec.Struct):
    """What was looked for, as it was understood."""

    cards: int
    memory_bytes: Annotated[int | None, Meta(description="On each card; null: whatever a card has.")]
    systems: list[str]
    models: list[str]
    tolerations: list[str]
    selector: Mapping[str, str]
    clusters: list[str]


class Fit(msgspec.Struct):
    """Where a pod would go now, and why not elsewhere."""

    request: FitRequest
    nodes: Annotated[int, Meta(description="Nodes with a GPU that were looked at.")]
    nodes_fitting: int
    nodes_without_gpu: int
    fitting: Annotated[list[FitNode], Meta(description="What is certain first, then the tightest; `limit` of them.")]
    reasons: Annotated[list[FitReason], Meta(description="Why the others do not take it, the most frequent first.")]
    refusing: Annotated[list[FitRefusal], Meta(description="The others by name, `limit` of them.")]
    systems: Annotated[list[FitSystem], Meta(description="The rules that the answer goes by.")]
    not_looked_at: list[str]


def told(found: Found, limit: int) -> Fit:
    """limit: nodes in each of the two lists."""
    asked = found.request
    return Fit(
        request=FitRequest(
            cards=asked.cards,
            memory_bytes=asked.memory,
            systems=list(asked.systems),
            models=list(asked.models),
            tolerations=[written_toleration(one) for one in asked.tolerations],
            selector=dict(asked.selector),
            clusters=list(found.clusters),
        ),
        nodes=found.nodes,
        nodes_fitting=len(found.taking),
        nodes_without_gpu=found.without_gpu,
        fitting=[_node(one) for one in found.taking[:limit]],
        reasons=[
            FitReason(
                one.code, REASONS[one.code], one.about or None, one.nodes, [example.node for example in one.examples]
            )
            for one in found.reasons
        ],
        refusing=[_refusal(one) for one in found.refusing[:limit]],
        systems=[FitSystem(way.name, way.label, way.rule) for way in found.ways],
        not_looked_at=list(NOT_LOOKED_AT),
    )


def _node(one: Taking) -> FitNode:
    return FitNode(
        cluster=one.cluster,
        node=one.node,
        system=one.way.name,
        limits=one.answer.limits,
        labels=one.answer.labels,
        cards=[
            FitCard(
                id=card.piece.id,
                key=card.piece.key,
                index=card.piece.index,
                model=card.model or None,
                memory_total_bytes=card.piece.total,
                memory_free_bytes=card.piece.free,
            )
            for card in one.cards
        ],
        cards_free=one.figures.cards_free,
        memory_free_bytes=one.figures.memory_free,
        largest_gap_bytes=one.figures.largest_gap,
        notes=[FitNote(note, NOTES[note]) for note in one.answer.notes],
    )


def _refusal(one: Refusing) -> FitRefusal:
    return FitRefusal(one.cluster, one.node, one.code, REASONS[one.code], one.about or None)
