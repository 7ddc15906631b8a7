"""Clusters: how far their mirror is, and what they have, each and all together. Made of sums and of what their watchers say."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, ClassVar

from inventory.condition import State
from inventory.models import Cluster as ClusterRow
from inventory.queries.totals import summaries
from resources.declared import Resource, Shape, fact, filled, orders_of
from resources.filter_fields import SearchFilter, WordsFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains

STATES = (
    f"One of {', '.join(State.values)}. From lease, last update and clock: never watching if the watch worker died."
)


class Watch(Shape):
    """State of the watch of one kind."""

    kind: Annotated[str, fact(of="watch.kind")]
    state: Annotated[str, fact(STATES, of="condition.state.value")]
    reason: Annotated[str | None, fact(of="condition.reason")]
    state_since: Annotated[datetime | None, fact("Start of the state; retries do not change it.", of="condition.since")]
    age_seconds: Annotated[
        float | None, fact("Seconds since the last update from the cluster; null: no update yet.", of="condition.age_s")
    ]
    relist_reason: Annotated[
        str | None,
        fact("Reason of the pending relist (cards: recalculation); null: none is pending.", of="watch.relist_reason"),
    ]
    relist_requested_at: Annotated[
        datetime | None, fact("Time of the manual request; null: not requested.", of="watch.relist_requested_at")
    ]
    next_try_at: Annotated[datetime | None, fact(of="watch.next_try_at")]
    synced_at: Annotated[datetime | None, fact("Time of the initial list; null: not complete.", of="watch.synced_at")]
    last_event_at: Annotated[datetime | None, fact(of="watch.last_event_at")]
    objects_seen: Annotated[int, fact(of="watch.objects_seen")]
    objects_stored: Annotated[int, fact(of="watch.objects_stored")]
    relists: Annotated[int, fact(of="watch.relists")]
    audited_at: Annotated[datetime | None, fact("End of the last audit; null: no audit yet.", of="watch.audited_at")]
    audit_seconds: Annotated[float | None, fact("Duration of the last audit.", of="watch.audit_seconds")]
    audit_differences: Annotated[
        int, fact("Differences that it found and corrected; in words: audit_note.", of="watch.audit_differences")
    ]
    audit_note: Annotated[str | None, fact(of="watch.audit_note")]
    audit_differences_total: Annotated[
        int, fact("Differences found by all audits.", of="watch.audit_differences_total")
    ]


class Permission(Shape):
    """One permission of the credentials."""

    verb: str
    resource: str
    allowed: Annotated[bool | None, fact("null: unknown, the cluster did not answer.")]
    needed_for: str
    optional: Annotated[bool, fact("Optional: synced data works without it.")]
    served: Annotated[bool, fact("false: not checked, since the cluster does not serve the API.")]
    rule: Annotated[str | None, fact("Rule missing in the role of the watch worker; null: none.")]


def _permissions(stored: Iterable[Any]) -> list[Permission]:
    """JSON that a check wrote: what is missing in it is unknown, and what is no object of it left out."""
    return [
        Permission(
            verb=str(row.get("verb", "")),
            resource=str(row.get("resource", "")),
            allowed=row["allowed"] if isinstance(row.get("allowed"), bool) else None,
            needed_for=str(row.get("needed_for", "")),
            optional=bool(row.get("optional", False)),
            served=row.get("served") is not False,
            rule=str(row.get("rule") or "") or None,
        )
        for row in stored
        if isinstance(row, dict)
    ]


class Sum(Shape):
    """A sum over nodes, and the number of nodes excluded because their value is unknown."""

    value: Annotated[int | None, fact("null: unknown for all nodes")]
    unknown_nodes: int


class Totals(Shape):
    """Totals of a set of nodes. Compare memory_allocated with memory_metered: the total of the nodes with both values."""

    nodes: int
    memory_total_bytes: Annotated[Sum, fact(of="memory_total")]
    memory_metered_bytes: Annotated[Sum, fact(of="memory_metered")]
    memory_allocated_bytes: Annotated[Sum, fact(of="memory_allocated")]
    memory_free_bytes: Annotated[Sum, fact(of="memory_free")]
    memory_unplaced_bytes: Annotated[Sum, fact(of="memory_unplaced")]
    cards_total: Sum
    cards_allocated: Sum
    cards_free: Sum
    cards_unavailable: Annotated[int, fact("Unavailable cards: not allocated and not free.")]
    memory_unavailable_bytes: Annotated[
        int, fact("Unavailable memory in bytes: unallocated, but not free.", of="memory_unavailable")
    ]
    largest_gap_bytes: int | None
    allocations_count: Annotated[int, fact(of="holders")]
    unplaced_count: Annotated[int, fact(of="unplaced")]


class ClusterSync(Shape):
    """Sync state of a cluster. Without synced_at its values are incomplete."""

    synced_at: Annotated[datetime | None, fact(of="sync.synced_at")]
    last_event_at: Annotated[datetime | None, fact(of="sync.last_event_at")]
    age_seconds: Annotated[
        float | None,
        fact("Seconds since the last update from the cluster; null: no update yet.", of="sync.age_seconds"),
    ]
    state: Annotated[str, fact("Worst state of its watches. " + STATES, of="sync.state.value")]
    since: Annotated[datetime | None, fact("Start of the state; retries do not change it.", of="sync.since")]
    reason: Annotated[str | None, fact(of="sync.reason")]


class Cluster(ClusterSync):
    """A cluster with its watches and totals."""

    name: Annotated[str, fact(of="cluster.name", order="name")]
    server: Annotated[str | None, fact(of="cluster.server")]
    context: Annotated[str | None, fact(of="cluster.context")]
    created_at: Annotated[datetime, fact(of="cluster.created_at", order="created_at")]
    permissions: Annotated[list[Permission], fact(of="cluster.permissions", by=_permissions)]
    permissions_checked_at: Annotated[datetime | None, fact(of="cluster.permissions_checked_at")]
    uid: Annotated[str | None, fact("UID of the namespace kube-system; null: unknown, see uid_note.", of="cluster.uid")]
    uid_note: Annotated[str | None, fact(of="cluster.uid_note")]
    recreated_at: Annotated[
        datetime | None,
        fact("Last time that another cluster answered at this address; null: never.", of="cluster.recreated_at"),
    ]
    watches: Annotated[list[Watch], fact(of="sync.watches_now")]
    nodes_total: int
    nodes_gpu: Annotated[int, fact("Nodes with a GPU, as in /nodes.")]
    nodes_not_ready: Annotated[
        int, fact("Nodes not ready or with unknown readiness: /nodes?ready=false&ready=unknown.")
    ]
    nodes_uncounted: Annotated[int, fact("Nodes with a GPU that are not in the totals yet.")]
    totals: Totals
    card_states: Annotated[dict[str, int], fact("Cards by state, as in /cards?state=.")]
    cards_free_unidentified: Annotated[
        int,
        fact("Unidentified free cards, in addition to card_states.free.", of="free.unidentified"),
    ]
    cards_unavailable: Annotated[
        dict[str, int],
        fact("Unavailable cards by reason, as in /cards?state=unavailable&unavailable_reason=.", of="free.unavailable"),
    ]
    cards_unavailable_unidentified: Annotated[
        int,
        fact("Unidentified unavailable cards, in addition to the identified ones.", of="free.unavailable_unidentified"),
    ]
    cards_with_free_memory: Annotated[int, fact("Cards with free memory.")]
    pods_pending: int
    pods_oldest_at: Annotated[datetime | None, fact("Creation time of the oldest pending pod.")]
    findings: Annotated[dict[str, int], fact("Current findings, by severity.")]
    unreadable: Annotated[int, fact("Number of unreadable objects.")]


class ClusterFilter(StrictFilterSet):
    cluster = WordsFilter("name", label="cluster name")
    q = SearchFilter(method=contains("name", "server"), label="free search: name, server")

    orders: ClassVar[dict[str, str]] = orders_of(Cluster)
    default_order = ("name",)

    class Meta(StrictFilterSet.Meta):
        model = ClusterRow
        fields: ClassVar[list[str]] = []


#: Its CSV needs the rows alone.
_OF_ROWS = ("name", "server", "created_at")
CLUSTERS = Resource(
    "clusters", Cluster, ClusterFilter, ClusterRow.objects.all, csv=_OF_ROWS, beside={name: name for name in _OF_ROWS}
)


def clusters_of(rows: list[ClusterRow]) -> list[Cluster]:
    """Clusters with their sums, in this order: ten queries, whatever their number."""
    found = {one.cluster.pk: filled(Cluster, one) for one in summaries(rows)}
    return [found[row.pk] for row in rows]


class Pool(Shape):
    """A pool: similar nodes of one cluster."""

    cluster: Annotated[str, fact(by=str)]
    pool: str
    model: Annotated[str | None, fact("Model of its cards; null: unknown.")]
    totals: Totals


class Summary(Shape):
    """Sums over all clusters."""

    totals: Totals
    clusters: list[Cluster]
    pools: list[Pool]


class RelistRequested(Shape):
    """The requested relist. Watch workers carry it out, see `relist_reason` of each watch."""

    cluster: str
    kinds: Annotated[list[str], fact("Kinds that are relisted. Cards are recalculated.")]
