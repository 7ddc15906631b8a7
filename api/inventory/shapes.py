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


class Summary(Shape):
    """Everything at a glance."""

    totals: Totals
    clusters: list[Cluster]
    pools: list[Pool]


class RelistAsked(Shape):
    """What was asked for; it is done by the watchers, see `relist_reason` of each watch."""

    cluster: str
    kinds: Annotated[list[str], Meta(description="Kinds that are listed anew; cards are counted anew.")]
