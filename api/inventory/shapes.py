"""What REST answers, as structs: the OpenAPI document is made from them, so that the two cannot differ.

Names follow the words of the project: memory in bytes, times in ISO 8601 (UTC), null means unknown (or not metered), never 0.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from resources.allocation import Allocation
from resources.card import Card
from resources.cluster import Cluster, Totals
from resources.declared import Shape
from resources.finding import Finding
from resources.node import Node


class NodeDetail(Node):
    """A node with its cards, what it holds on unknown cards, and its findings."""

    cards: list[Card]
    unplaced: list[Allocation]
    findings: list[Finding]


class Pool(Shape):
    """Nodes of one cluster that are alike."""

    cluster: str
    pool: str
    totals: Totals


class IdleSum(Shape):
    """Holds without work of one group, summed."""

    cluster: str
    namespace: Annotated[str | None, Meta(description="Of an owner or a pod; null: the group is no namespace's.")]
    name: Annotated[
        str, Meta(description='Of the group: a namespace, owner, pod, node or model; "" where it is not known.')
    ]
    holds: int
    sure: Annotated[int, Meta(description="How many of them are sure.")]
    cards: Annotated[float | None, Meta(description="null: of none of them is it known.")]
    memory_bytes: Annotated[int | None, Meta(description="Of those that are metered; null: none is.")]
    unmetered: Annotated[int, Meta(description="Holds that are not in memory_bytes.")]
    byte_seconds: Annotated[float | None, Meta(description="Bytes × seconds without work so far.")]
    card_seconds: Annotated[float | None, Meta(description="Cards × seconds without work so far.")]


class IdleSums(Shape):
    """Holds without work, summed; the largest groups, at most 200."""

    by: str
    results: list[IdleSum]


class Summary(Shape):
    """Everything at a glance."""

    totals: Totals
    clusters: list[Cluster]
    pools: list[Pool]


class RelistAsked(Shape):
    """What was asked for; it is done by the watchers, see `relist_reason` of each watch."""

    cluster: str
    kinds: Annotated[list[str], Meta(description="Kinds that are listed anew; cards are counted anew.")]
