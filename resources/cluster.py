"""Clusters: how far their mirror is, and what they have. Made of sums and of what their watchers say (`api.inventory.fill`)."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from msgspec import Meta

from inventory.condition import State
from inventory.models import Cluster as ClusterRow
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import SearchFilter, WordsFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains

STATES = (
    f"One of {', '.join(State.values)}. From lease, last update and clock: never watching if the watch worker died."
)


class Watch(Shape):
    """State of the watch of one kind."""

    kind: str
    state: Annotated[str, Meta(description=STATES)]
    reason: str | None
    state_since: Annotated[datetime | None, Meta(description="Start of the state; retries do not change it.")]
    age_seconds: Annotated[
        float | None, Meta(description="Seconds since the last update from the cluster; null: no update yet.")
    ]
    relist_reason: Annotated[
        str | None, Meta(description="Reason of the pending relist (cards: recalculation); null: none is pending.")
    ]
    relist_requested_at: Annotated[
        datetime | None, Meta(description="Time of the manual request; null: not requested.")
    ]
    next_try_at: datetime | None
    synced_at: Annotated[datetime | None, Meta(description="Time of the initial list; null: not complete.")]
    last_event_at: datetime | None
    objects_seen: int
    objects_stored: int
    relists: int
    audited_at: Annotated[datetime | None, Meta(description="End of the last audit; null: no audit yet.")]
    audit_seconds: Annotated[float | None, Meta(description="Duration of the last audit.")]
    audit_differences: Annotated[
        int, Meta(description="Differences that it found and corrected; in words: audit_note.")
    ]
    audit_note: str | None
    audit_differences_total: Annotated[int, Meta(description="Differences found by all audits.")]


class Permission(Shape):
    """One permission of the credentials."""

    verb: str
    resource: str
    allowed: Annotated[bool | None, Meta(description="null: unknown, the cluster did not answer.")]
    needed_for: str
    optional: Annotated[bool, Meta(description="Optional: synced data works without it.")]
    served: Annotated[bool, Meta(description="false: not checked, since the cluster does not serve the API.")]
    rule: Annotated[str | None, Meta(description="Rule missing in the role of the watch worker; null: none.")]


class Sum(Shape):
    """A sum over nodes, and the number of nodes excluded because their value is unknown."""

    value: Annotated[int | None, Meta(description="null: unknown for all nodes")]
    unknown_nodes: int


class Totals(Shape):
    """Totals of a set of nodes. Compare memory_allocated with memory_metered: the total of the nodes with both values."""

    nodes: int
    memory_total_bytes: Sum
    memory_metered_bytes: Sum
    memory_allocated_bytes: Sum
    memory_free_bytes: Sum
    memory_unplaced_bytes: Sum
    cards_total: Sum
    cards_allocated: Sum
    cards_free: Sum
    cards_unavailable: Annotated[int, Meta(description="Unavailable cards: not allocated and not free.")]
    memory_unavailable_bytes: Annotated[
        int, Meta(description="Unavailable memory in bytes: unallocated, but not free.")
    ]
    largest_gap_bytes: int | None
    allocations_count: int
    unplaced_count: int


class ClusterSync(Shape):
    """Sync state of a cluster. Without synced_at its values are incomplete."""

    synced_at: datetime | None
    last_event_at: datetime | None
    age_seconds: Annotated[
        float | None, Meta(description="Seconds since the last update from the cluster; null: no update yet.")
    ]
    state: Annotated[str, Meta(description="Worst state of its watches. " + STATES)]
    since: Annotated[datetime | None, Meta(description="Start of the state; retries do not change it.")]
    reason: str | None


class Cluster(ClusterSync):
    """A cluster with its watches and totals."""

    name: Annotated[str, fact(order=True)]
    server: str | None
    context: str | None
    created_at: Annotated[datetime, fact(order=True)]
    permissions: list[Permission]
    permissions_checked_at: datetime | None
    uid: Annotated[str | None, Meta(description="UID of the namespace kube-system; null: unknown, see uid_note.")]
    uid_note: str | None
    recreated_at: Annotated[
        datetime | None, Meta(description="Last time that another cluster answered at this address; null: never.")
    ]
    watches: list[Watch]
    nodes_total: int
    nodes_gpu: Annotated[int, Meta(description="Nodes with a GPU, as in /nodes.")]
    nodes_not_ready: Annotated[
        int, Meta(description="Nodes not ready or with unknown readiness: /nodes?ready=false&ready=unknown.")
    ]
    nodes_uncounted: Annotated[int, Meta(description="Nodes with a GPU that are not in the totals yet.")]
    totals: Totals
    card_states: Annotated[dict[str, int], Meta(description="Cards by state, as in /cards?state=.")]
    cards_free_unidentified: Annotated[
        int,
        Meta(description="Unidentified free cards, in addition to card_states.free."),
    ]
    cards_unavailable: Annotated[
        dict[str, int],
        Meta(description="Unavailable cards by reason, as in /cards?state=unavailable&unavailable_reason=."),
    ]
    cards_unavailable_unidentified: Annotated[
        int, Meta(description="Unidentified unavailable cards, in addition to the identified ones.")
    ]
    cards_with_free_memory: Annotated[int, Meta(description="Cards with free memory.")]
    pods_pending: int
    pods_oldest_at: Annotated[datetime | None, Meta(description="Creation time of the oldest pending pod.")]
    findings: Annotated[dict[str, int], Meta(description="Current findings, by severity.")]
    unreadable: Annotated[int, Meta(description="Number of unreadable objects.")]


class ClusterFilter(StrictFilterSet):
    cluster = WordsFilter("name", label="cluster name")
    q = SearchFilter(method=contains("name", "server"), label="free search: name, server")

    orders: ClassVar[dict[str, str]] = orders_of(Cluster)
    default_order = ("name",)

    class Meta(StrictFilterSet.Meta):
        model = ClusterRow
        fields: ClassVar[list[str]] = []


CLUSTERS = Resource("clusters", Cluster, ClusterFilter, ClusterRow.objects.all, csv=("name", "server", "created_at"))
