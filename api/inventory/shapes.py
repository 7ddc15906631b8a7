"""What REST answers, as structs: the OpenAPI document is made from them, so that the two cannot differ.

Names follow the words of the project: memory in bytes, times in ISO 8601 (UTC), null means unknown (or not metered), never 0.
"""

from __future__ import annotations

from datetime import datetime
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


Values = list[float | None]


class HistoryColumns(Shape):
    """One value for each step; the whole column is null where none of its values is known, or the subject has none."""

    memory_allocated_bytes: Values | None
    memory_used_bytes: Annotated[Values | None, Meta(description="Mean of what is known of the step.")]
    memory_used_most_bytes: Annotated[Values | None, Meta(description="The highest of the step.")]
    memory_total_bytes: Annotated[
        Values | None, Meta(description="Of a sum: what its nodes have, of those whose allocation is known.")
    ]
    utilization_ratio: Annotated[Values | None, Meta(description="0 to 1; of a sum the mean of its measured cards.")]
    activity_ratio: Annotated[
        Values | None, Meta(description="0 to 1: the best sign of work that the exporter has; of a sum as above.")
    ]
    cards: Annotated[
        Values | None, Meta(description="Of a sum: its cards; of a namespace those that it is known to be on.")
    ]
    cards_measured: Annotated[
        Values | None,
        Meta(description="How many of them are in memory_used_bytes; of a namespace those that nobody else is on."),
    ]
    unknown: Annotated[
        Values | None,
        Meta(
            description="What is not in memory_allocated_bytes: nodes of which it is not known; of a namespace its holds."
        ),
    ]


class History(Shape):
    """What was: equal steps from `begins_at` on. null is a gap, never 0."""

    cluster: str
    subject: Annotated[str, Meta(description="card, node, pool, namespace or cluster")]
    key: Annotated[str, Meta(description='The number of a card, a name; "" for a cluster.')]
    window: str
    begins_at: datetime
    ends_at: Annotated[datetime, Meta(description="The end of the last step, which may not be over.")]
    step_s: int
    source: Annotated[
        str,
        Meta(
            description="gpudash: written down by it each minute. prometheus: over that what the cluster's Prometheus knows of "
            "a card, or of the cards of a node; allocations are gpudash's always."
        ),
    ]
    asking: Annotated[bool, Meta(description="The Prometheus is being asked: ask again in a moment.")]
    reason: Annotated[str | None, Meta(description="Why the Prometheus did not tell.")]
    columns: HistoryColumns


class Summary(Shape):
    """Everything at a glance."""

    totals: Totals
    clusters: list[Cluster]
    pools: list[Pool]


class RelistAsked(Shape):
    """What was asked for; it is done by the watchers, see `relist_reason` of each watch."""

    cluster: str
    kinds: Annotated[list[str], Meta(description="Kinds that are listed anew; cards are counted anew.")]
