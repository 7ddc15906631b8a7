"""The finder's answer for programs: REST, and `fit --json`. Memory in bytes, CPU in thousandths; null is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, repeat
from typing import Annotated

from inventory.placement.finder.finder import Found, Refusing, Taking
from inventory.placement.finder.manifest import IMAGE, manifests
from inventory.placement.finder.nodes import written_toleration
from inventory.placement.finder.request import Toleration
from inventory.placement.finder.words import NOT_LOOKED_AT, NOTES, REASONS
from resources.declared import Shape, fact, filled

#: Nodes of an answer that have a manifest.
MANIFESTS = 20


class FitNote(Shape):
    code: str
    text: str


def _notes(codes: Iterable[str]) -> list[FitNote]:
    return [FitNote(code, NOTES[code]) for code in codes]


class FitCard(Shape):
    """A card that fits the request."""

    id: Annotated[int, fact(of="piece.id")]
    key: Annotated[str, fact(of="piece.key")]
    index: Annotated[int | None, fact(of="piece.index")]
    model: str | None
    memory_total_bytes: Annotated[int | None, fact(of="piece.total")]
    memory_free_bytes: Annotated[int | None, fact("In bytes; null: not metered, or unknown.", of="piece.free")]


class FitNode(Shape):
    """A node that fits the request now."""

    cluster: Annotated[str, fact(by=str)]
    node: str
    stack: Annotated[str, fact("How it is requested: one of `stacks`.", of="way.name")]
    limits: Annotated[
        Mapping[str, int], fact("Requests of the container by resource; empty: a ResourceClaim.", of="answer.limits")
    ]
    labels: Annotated[Mapping[str, str], fact("Labels of the pod.", of="answer.labels")]
    cards: Annotated[
        list[FitCard], fact("Cards that fit, in the scheduler's order where it has one; empty: unidentified.")
    ]
    cards_free: Annotated[int | None, fact(of="figures.cards_free")]
    memory_free_bytes: Annotated[int | None, fact(of="figures.memory_free")]
    largest_gap_bytes: Annotated[int | None, fact(of="figures.largest_gap")]
    cpu_free_millis: Annotated[
        int | None,
        fact("Free CPU at most, in thousandths: pods that request no card are not synced.", of="figures.cpu_free"),
    ]
    host_memory_free_bytes: Annotated[
        int | None, fact("Free memory of the node at most, as `cpu_free_millis`.", of="figures.host_memory_free")
    ]
    notes: Annotated[list[FitNote], fact(by=_notes)]
    manifest: Annotated[
        str | None,
        fact(
            f"YAML of a pod for this node; replace {IMAGE}. null: after the first {MANIFESTS} nodes, or devices unknown."
        ),
    ]


class FitRefusal(Shape):
    """A node that does not fit."""

    cluster: Annotated[str, fact(by=str)]
    node: str
    code: str
    text: Annotated[str, fact(of="code", by=REASONS.__getitem__)]
    about: Annotated[str | None, fact("A taint, a label, a stack.")]


def _names(examples: Iterable[Refusing]) -> list[str]:
    return [one.node for one in examples]


class FitReason(Shape):
    """A reason why nodes do not fit, with their number."""

    code: str
    text: Annotated[str, fact(of="code", by=REASONS.__getitem__)]
    about: Annotated[str | None, fact("A taint, a label, a stack.")]
    nodes: int
    examples: Annotated[list[str], fact("Names of at most five nodes.", by=_names)]


class FitStack(Shape):
    """A stack, and its placement rule."""

    name: str
    label: str
    rule: str


def _typed(tolerations: Iterable[Toleration]) -> list[str]:
    return [written_toleration(one) for one in tolerations]


class FitRequest(Shape):
    """The request, as it was parsed."""

    cards: int
    memory_bytes: Annotated[int | None, fact("Per card, in bytes; null: the whole card.", of="memory")]
    cpu_millis: Annotated[int | None, fact("CPU of the node, in thousandths; null: any.")]
    host_memory_bytes: Annotated[int | None, fact("Memory of the node, in bytes; null: any.", of="host_memory")]
    stacks: list[str]
    models: list[str]
    tolerations: Annotated[list[str], fact(by=_typed)]
    selector: Annotated[Mapping[str, str], fact(by=dict)]
    clusters: list[str]


class Fit(Shape):
    """Nodes that fit a request now, and why the others do not."""

    request: FitRequest
    nodes: Annotated[int, fact("Number of GPU nodes checked.")]
    nodes_fitting: Annotated[int, fact(of="taking", by=len)]
    nodes_without_gpu: Annotated[int, fact(of="without_gpu")]
    fitting: Annotated[
        list[FitNode],
        fact(
            "Nodes that fit, at most `limit`: GPUs before NPUs, for several cards cards before slices, then certain "
            "first, then the tightest."
        ),
    ]
    reasons: Annotated[list[FitReason], fact("Reasons why the others do not fit, most frequent first.")]
    refusing: Annotated[list[FitRefusal], fact("The other nodes, at most `limit`.")]
    stacks: Annotated[list[FitStack], fact("Placement rules of the answer.", of="ways")]
    not_considered: list[str]


def _with_manifests(found: Found, limit: int) -> Iterator[tuple[Taking, str]]:
    shown = found.taking[:limit]
    return zip(shown, chain(manifests(shown[:MANIFESTS], found.request), repeat("")), strict=False)


def fit_of(found: Found, limit: int) -> Fit:
    """limit: nodes in each of the two lists."""
    return filled(
        Fit,
        found,
        request=filled(FitRequest, found.request, clusters=list(found.clusters)),
        fitting=[filled(FitNode, one, manifest=text or None) for one, text in _with_manifests(found, limit)],
        refusing=[filled(FitRefusal, one) for one in found.refusing[:limit]],
        not_considered=list(NOT_LOOKED_AT),
    )
