"""The history of a subject, in equal steps: REST's answer, and what its columns are called for programs."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from inventory.history import packed
from resources.declared import Shape, fact, facts

Values = list[float | None]


class HistoryColumns(Shape):
    """One value per step. null for a whole column: unknown, or not available for this subject."""

    memory_allocated_bytes: Annotated[Values | None, fact(of=packed.ALLOCATED)]
    memory_used_bytes: Annotated[Values | None, fact("Mean of the known values of the step.", of=packed.USED)]
    memory_used_peak_bytes: Annotated[Values | None, fact("Highest value of the step.", of=packed.USED_MOST)]
    memory_total_bytes: Annotated[
        Values | None,
        fact("Capacity, in bytes. For sums: of the nodes with known allocations.", of=packed.TOTAL),
    ]
    utilization_ratio: Annotated[
        Values | None,
        fact("Utilization, 0 to 1. For sums: mean of the measured cards.", of=packed.UTILIZATION),
    ]
    activity_ratio: Annotated[
        Values | None,
        fact(
            "Activity by the best metric of the exporter, 0 to 1. For sums: mean of the measured cards.",
            of=packed.ACTIVITY,
        ),
    ]
    cards: Annotated[
        Values | None,
        fact("Number of cards, for sums only. For a namespace: its identified cards.", of=packed.CARDS),
    ]
    cards_measured: Annotated[
        Values | None,
        fact(
            "Number of cards in memory_used_bytes. For a namespace: its cards without other namespaces.",
            of=packed.MEASURED,
        ),
    ]
    unknown: Annotated[
        Values | None,
        fact(
            "Not in memory_allocated_bytes: number of nodes with unknown allocations. For a namespace: allocations "
            "not metered.",
            of=packed.UNKNOWN,
        ),
    ]
    memory_free_bytes: Annotated[
        Values | None, fact("For a node, pool or cluster: memory that pods could be allocated.", of=packed.FREE)
    ]
    cards_free: Annotated[
        Values | None, fact("For a node, pool or cluster: cards that pods could be allocated.", of=packed.CARDS_FREE)
    ]
    memory_idle_bytes: Annotated[
        Values | None, fact("For a namespace: allocated memory without GPU activity.", of=packed.IDLE)
    ]
    memory_unused_bytes: Annotated[
        Values | None,
        fact(
            "For a namespace: allocated minus used memory, on measured cards without other namespaces.",
            of=packed.UNUSED,
        ),
    ]


#: Column of REST and CSV → column of the history.
COLUMNS = {name: one.of for name, one in facts(HistoryColumns).items()}


class History(Shape):
    """History in equal steps from `begins_at`. null: no data, never 0."""

    cluster: str
    subject: Annotated[str, fact("card, node, pool, namespace or cluster")]
    key: Annotated[str, fact('ID of a card, else a name; "": the cluster.')]
    window: str
    begins_at: Annotated[datetime, fact(of="series.begin")]
    ends_at: Annotated[datetime, fact("End of the last step, which may still be in progress.", of="series.end")]
    step_s: Annotated[int, fact(of="series.step_s")]
    source: Annotated[
        str,
        fact(
            "gpudash: recorded by gpudash each minute. prometheus: card metrics from the cluster's Prometheus; "
            "allocations are always from gpudash."
        ),
    ]
    asking: Annotated[bool, fact("The Prometheus query is in progress: request again.")]
    reason: Annotated[str | None, fact("Error of the Prometheus query; null: none.")]
    columns: HistoryColumns
