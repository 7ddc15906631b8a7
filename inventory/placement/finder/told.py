"""The answer for programs: REST, and the command with --json. Memory in bytes; null is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec
from msgspec import Meta

from inventory.placement.finder.finder import Found, Refusing, Taking
from inventory.placement.finder.nodes import written_toleration
from inventory.placement.finder.words import NOT_LOOKED_AT, NOTES, REASONS


class FitNote(msgspec.Struct):
    code: str
    text: str


class FitCard(msgspec.Struct):
    """A card that fits the request."""

    id: int
    key: str
    index: int | None
    model: str | None
    memory_total_bytes: int | None
    memory_free_bytes: Annotated[int | None, Meta(description="In bytes; null: not metered, or unknown.")]


class FitNode(msgspec.Struct):
    """A node that fits the request now."""

    cluster: str
    node: str
    stack: Annotated[str, Meta(description="How it is requested: one of `stacks`.")]
    limits: Annotated[
        Mapping[str, int], Meta(description="Requests of the container by resource; empty: a ResourceClaim.")
    ]
    labels: Annotated[Mapping[str, str], Meta(description="Labels of the pod.")]
    cards: Annotated[
        list[FitCard],
        Meta(description="Cards that fit, in the scheduler's order where it has one; empty: unidentified."),
    ]
    cards_free: int | None
    memory_free_bytes: int | None
    largest_gap_bytes: int | None
    notes: list[FitNote]


class FitRefusal(msgspec.Struct):
    """A node that does not fit."""

    cluster: str
    node: str
    code: str
    text: str
    about: Annotated[str | None, Meta(description="A taint, a label, a stack.")]


class FitReason(msgspec.Struct):
    """A reason why nodes do not fit, with their number."""

    code: str
    text: str
    about: Annotated[str | None, Meta(description="A taint, a label, a stack.")]
    nodes: int
    examples: Annotated[list[str], Meta(description="Names of at most five nodes.")]


class FitStack(msgspec.Struct):
    """A stack, and its placement rule."""

    name: str
    label: str
    rule: str


class FitRequest(msgspec.Struct):
    """The request, as it was parsed."""

    cards: int
    memory_bytes: Annotated[int | None, Meta(description="Per card, in bytes; null: the whole card.")]
    stacks: list[str]
    models: list[str]
    tolerations: list[str]
    selector: Mapping[str, str]
    clusters: list[str]


class Fit(msgspec.Struct):
    """Nodes that fit a request now, and why the others do not."""

    request: FitRequest
    nodes: Annotated[int, Meta(description="Number of GPU nodes checked.")]
    nodes_fitting: int
    nodes_without_gpu: int
    fitting: Annotated[
        list[FitNode], Meta(description="Nodes that fit: certain first, then the tightest; at most `limit`.")
    ]
    reasons: Annotated[list[FitReason], Meta(description="Reasons why the others do not fit, most frequent first.")]
    refusing: Annotated[list[FitRefusal], Meta(description="The other nodes, at most `limit`.")]
    stacks: Annotated[list[FitStack], Meta(description="Placement rules of the answer.")]
    not_considered: list[str]


def told(found: Found, limit: int) -> Fit:
    """limit: nodes in each of the two lists."""
    asked = found.request
    return Fit(
        request=FitRequest(
            cards=asked.cards,
            memory_bytes=asked.memory,
            stacks=list(asked.stacks),
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
        stacks=[FitStack(way.name, way.label, way.rule) for way in found.ways],
        not_considered=list(NOT_LOOKED_AT),
    )


def _node(one: Taking) -> FitNode:
    return FitNode(
        cluster=one.cluster,
        node=one.node,
        stack=one.way.name,
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
