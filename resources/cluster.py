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

STATES = f"One of {', '.join(State.values)}. Known from lease, last word and clock: a watcher that died does not say watching."


class Watch(Shape):
    """How the watcher of one kind is doing."""

    kind: str
    state: Annotated[str, Meta(description=STATES)]
    reason: str | None
    state_since: Annotated[datetime | None, Meta(description="When that state began; retries do not move it.")]
    age_seconds: Annotated[
        float | None, Meta(description="Since the last update from the cluster; null: none came yet.")
    ]
    relist_reason: Annotated[
        str | None, Meta(description="Why it is to be listed (cards: counted) anew; null: it is not.")
    ]
    relist_asked_at: Annotated[datetime | None, Meta(description="When that was asked for by hand.")]
    next_try_at: datetime | None
    synced_at: Annotated[datetime | None, Meta(description="First complete list; null: not yet.")]
    last_event_at: datetime | None
    objects_seen: int
    objects_kept: int
    relists: int
    audited_at: Annotated[datetime | None, Meta(description="When the last audit ended; null: none yet.")]
    audit_seconds: Annotated[float | None, Meta(description="How long it took.")]
    audit_differences: Annotated[int, Meta(description="What it found and mended; in words: audit_note.")]
    audit_note: str | None
    audit_differences_total: Annotated[int, Meta(description="What all audits found.")]


class Permission(Shape):
    """One thing that the credentials may or may not do."""

    verb: str
    resource: str
    allowed: Annotated[bool | None, Meta(description="null: the cluster could not be asked")]
    needed_for: str
    optional: Annotated[bool, Meta(description="The mirror works without it.")]
    served: Annotated[bool, Meta(description="false: the cluster does not have what it is for, so it was not asked.")]
    rule: Annotated[str | None, Meta(description="The rule that the watchers' role lacks; null: none.")]


class Sum(Shape):
    """A sum over nodes. Nodes whose figure is unknown are not in it; they are counted beside it."""

    value: Annotated[int | None, Meta(description="null: not known of any node")]
    unknown_nodes: int


class Totals(Shape):
    """What a set of nodes has. Draw memory_allocated against memory_metered: the total of the nodes that know both."""

    nodes: int
    memory_total_bytes: Sum
    memory_metered_bytes: Sum
    memory_allocated_bytes: Sum
    memory_free_bytes: Sum
    memory_unplaced_bytes: Sum
    cards_total: Sum
    cards_allocated: Sum
    cards_free: Sum
    cards_apart: Annotated[int, Meta(description="Cards that nobody holds and no pod is given: not free.")]
    memory_apart_bytes: Annotated[int, Meta(description="What would be free, were it not kept apart.")]
    largest_gap_bytes: int | None
    holders_count: int
    unplaced_count: int


class ClusterSync(Shape):
    """How far the mirror of a cluster is. Without synced_at its figures are not complete."""

    synced_at: datetime | None
    last_event_at: datetime | None
    age_seconds: Annotated[
        float | None, Meta(description="Since the last update from the cluster; null: none came yet.")
    ]
    state: Annotated[str, Meta(description="The least good state of its watches. " + STATES)]
    since: Annotated[datetime | None, Meta(description="When that state began; retries do not move it.")]
    reason: str | None


class Cluster(ClusterSync):
    """A cluster with its watchers and totals."""

    name: Annotated[str, fact(order=True)]
    server: str | None
    context: str | None
    created_at: Annotated[datetime, fact(order=True)]
    permissions: list[Permission]
    permissions_checked_at: datetime | None
    uid: Annotated[str | None, Meta(description="UID of the namespace kube-system; null: not reported, see uid_note.")]
    uid_note: str | None
    recreated_at: Annotated[datetime | None, Meta(description="When another cluster answered at this address, last.")]
    watches: list[Watch]
    nodes_total: int
    nodes_gpu: Annotated[int, Meta(description="Nodes with a GPU, as /nodes lists them.")]
    nodes_not_ready: Annotated[
        int, Meta(description="Of them, not ready or not saying: /nodes?ready=false&ready=unknown.")
    ]
    nodes_uncounted: Annotated[int, Meta(description="Nodes with a GPU that the totals do not have yet.")]
    totals: Totals
    card_states: Annotated[dict[str, int], Meta(description="Cards present, by state, as /cards?state= lists them.")]
    cards_free_unnamed: Annotated[
        int,
        Meta(description="Free cards besides card_states.free, on nodes that say how many are held, but not which."),
    ]
    cards_apart: Annotated[
        dict[str, int],
        Meta(
            description="Cards in the state apart, by why no pod is given them, as /cards?state=apart&kept_off= lists them."
        ),
    ]
    cards_apart_unnamed: Annotated[
        int, Meta(description="Cards apart besides them, on nodes that say how many are held, but not which.")
    ]
    cards_with_room: Annotated[int, Meta(description="Cards of which some memory is known to be free.")]
    pods_waiting: int
    pods_oldest_at: Annotated[datetime | None, Meta(description="Creation of the pod that has waited longest.")]
    findings: Annotated[dict[str, int], Meta(description="Findings now, by severity.")]
    unreadable: Annotated[int, Meta(description="Objects that did not decode.")]


class ClusterFilter(StrictFilterSet):
    cluster = WordsFilter("name", label="name of the cluster")
    q = SearchFilter(method=contains("name", "server"), label="free search: name, server")

    orders: ClassVar[dict[str, str]] = orders_of(Cluster)
    default_order = ("name",)

    class Meta(StrictFilterSet.Meta):
        model = ClusterRow
        fields: ClassVar[list[str]] = []


CLUSTERS = Resource("clusters", Cluster, ClusterFilter, ClusterRow.objects.all, csv=("name", "server", "created_at"))
