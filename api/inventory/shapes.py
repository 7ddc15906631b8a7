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
from resources.component import Component
from resources.declared import Shape
from resources.finding import Finding
from resources.node import Node


class NodeDetail(Node):
    """A node with its cards, allocations on unidentified cards, findings and GPU software."""

    cards: list[Card]
    unplaced: list[Allocation]
    findings: list[Finding]
    components: Annotated[list[Component], Meta(description="GPU software of the node, most likely cause first.")]
    first_cause: Annotated[
        str | None,
        Meta(description="Component that is the cause of the others not being ready; null: none."),
    ]


class Pool(Shape):
    """A pool: similar nodes of one cluster."""

    cluster: str
    pool: str
    totals: Totals


class IdleSum(Shape):
    """Idle allocations of one group, summed."""

    cluster: str
    namespace: Annotated[
        str | None, Meta(description="Namespace of an owner or pod; null: the group belongs to no namespace.")
    ]
    name: Annotated[str, Meta(description='Name of the namespace, owner, pod, node or model; "": unknown.')]
    allocations: int
    certain: Annotated[int, Meta(description="Idle allocations with confidence certain.")]
    cards: Annotated[float | None, Meta(description="null: unknown for all of them.")]
    memory_bytes: Annotated[int | None, Meta(description="Sum over metered allocations; null: none is metered.")]
    unmetered: Annotated[int, Meta(description="Allocations not in memory_bytes: not metered.")]
    byte_seconds: Annotated[float | None, Meta(description="Bytes × seconds without activity so far.")]
    card_seconds: Annotated[float | None, Meta(description="Cards × seconds without activity so far.")]


class IdleSums(Shape):
    """Idle allocations, summed by group; the 200 largest groups."""

    by: str
    results: list[IdleSum]


Values = list[float | None]


class HistoryColumns(Shape):
    """One value per step. null for a whole column: unknown, or not available for this subject."""

    memory_allocated_bytes: Values | None
    memory_used_bytes: Annotated[Values | None, Meta(description="Mean of the known values of the step.")]
    memory_used_peak_bytes: Annotated[Values | None, Meta(description="Highest value of the step.")]
    memory_total_bytes: Annotated[
        Values | None, Meta(description="Capacity, in bytes. For sums: of the nodes with known allocations.")
    ]
    utilization_ratio: Annotated[
        Values | None, Meta(description="Utilization, 0 to 1. For sums: mean of the measured cards.")
    ]
    activity_ratio: Annotated[
        Values | None,
        Meta(description="Activity by the best metric of the exporter, 0 to 1. For sums: mean of the measured cards."),
    ]
    cards: Annotated[
        Values | None, Meta(description="Number of cards, for sums only. For a namespace: its identified cards.")
    ]
    cards_measured: Annotated[
        Values | None,
        Meta(description="Number of cards in memory_used_bytes. For a namespace: its cards without other namespaces."),
    ]
    unknown: Annotated[
        Values | None,
        Meta(
            description="Not in memory_allocated_bytes: number of nodes with unknown allocations. For a "
            "namespace: allocations not metered."
        ),
    ]


class History(Shape):
    """History in equal steps from `begins_at`. null: no data, never 0."""

    cluster: str
    subject: Annotated[str, Meta(description="card, node, pool, namespace or cluster")]
    key: Annotated[str, Meta(description='ID of a card, else a name; "": the cluster.')]
    window: str
    begins_at: datetime
    ends_at: Annotated[datetime, Meta(description="End of the last step, which may still be in progress.")]
    step_s: int
    source: Annotated[
        str,
        Meta(
            description="gpudash: recorded by gpudash each minute. prometheus: card metrics from the cluster's "
            "Prometheus; allocations are always from gpudash."
        ),
    ]
    asking: Annotated[bool, Meta(description="The Prometheus query is in progress: request again.")]
    reason: Annotated[str | None, Meta(description="Error of the Prometheus query; null: none.")]
    columns: HistoryColumns


class Summary(Shape):
    """Sums over all clusters."""

    totals: Totals
    clusters: list[Cluster]
    pools: list[Pool]


class RelistRequested(Shape):
    """The requested relist. Watch workers carry it out, see `relist_reason` of each watch."""

    cluster: str
    kinds: Annotated[list[str], Meta(description="Kinds that are relisted. Cards are recalculated.")]
