"""What REST answers, as structs: the OpenAPI document is made from them, so that the two cannot differ.

Names follow the words of the project: memory in bytes, times in ISO 8601 (UTC), null means unknown (or not metered), never 0.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta

from inventory.condition import State

STATES = f"One of {', '.join(State.values)}. Known from lease, last word and clock: a watcher that died does not say watching."
Bytes = Annotated[int | None, Meta(description="Bytes; null: unknown or not metered.")]


class Shape(msgspec.Struct, kw_only=True):
    """Base of all answers."""


class Allocation(Shape):
    """One container's hold on one card, or on some card of its node (card_id null)."""

    id: int
    cluster: str
    node: str
    card_id: int | None
    card: Annotated[
        str | None, Meta(description="Key of the card: its UUID, else its index; null: not known which card.")
    ]
    namespace: str
    pod: str
    container: str
    owner_kind: str | None
    owner_name: str | None
    resource: str
    stack: str
    mode: Annotated[str, Meta(description="How the card is given out: whole, memory, shares or parts.")]
    quantity: Annotated[int, Meta(description="In the resource's own unit.")]
    memory_bytes: Bytes
    core_percent: int | None
    evidence: Annotated[str, Meta(description="Where the card of this allocation is known from.")]
    terminating: Annotated[bool, Meta(description="The pod is being deleted and still holds.")]
    started_at: datetime
    ended_at: datetime | None


class Card(Shape):
    """One GPU with who holds it now."""

    id: int
    cluster: str
    node: str
    key: Annotated[str, Meta(description="Stable within the node: the UUID, else the index.")]
    index: Annotated[int | None, Meta(description="The scheduler's index; not always that of nvidia-smi.")]
    uuid: str | None
    model: str | None
    model_source: str | None
    stack: str
    mode: str
    health: str
    state: Annotated[str, Meta(description="free, partly, full, over, shared or unknown.")]
    memory_total_bytes: Annotated[int | None, Meta(description="What the sharing system gives out; null: unknown.")]
    memory_physical_bytes: Annotated[int | None, Meta(description="What the card has; null: unknown.")]
    memory_source: Annotated[str | None, Meta(description="Where the memory is known from.")]
    memory_allocated_bytes: Bytes
    memory_free_bytes: Bytes
    shares: Annotated[int | None, Meta(description="Holders that the sharing system admits; null: it does not count.")]
    holders_count: int
    worst_severity: str | None
    first_seen_at: datetime
    changed_at: Annotated[datetime, Meta(description="When these figures last changed.")]
    gone_at: datetime | None
    allocations: list[Allocation]


class NodeBase(Shape):
    """What the list and the detail of nodes have in common."""

    cluster: str
    name: str
    ready: Annotated[bool | None, Meta(description="What the node says of itself; null: it says Unknown or nothing.")]
    ready_reason: str | None
    unschedulable: bool | None
    os: str | None
    os_image: str | None
    kernel: str | None
    kubelet: str | None
    runtime: str | None
    instance_type: str | None
    zone: str | None
    address: str | None
    driver_version: str | None
    driver_source: str | None
    stacks: list[str]
    pool: str | None
    model: str | None
    unit: Annotated[str | None, Meta(description="GiB or MiB where the sharing system counts memory in units.")]
    unit_source: str | None
    cards_total: int | None
    cards_allocated: int | None
    cards_free: Annotated[int | None, Meta(description="Cards known to have no holder.")]
    memory_total_bytes: Bytes
    memory_allocated_bytes: Bytes
    memory_free_bytes: Annotated[int | None, Meta(description="Negative when over-committed; null: unknown.")]
    largest_gap_bytes: Annotated[int | None, Meta(description="Largest free piece on one card; null: unknown.")]
    memory_unplaced_bytes: Annotated[int | None, Meta(description="Held on the node, card unknown.")]
    unplaced_count: int
    holders_count: int
    findings_count: int
    worst_severity: str | None
    changed_at: Annotated[datetime, Meta(description="When these figures last changed.")]


class Node(NodeBase):
    """A node with a GPU: its totals."""


class Finding(Shape):
    """Something wrong that the mirror shows."""

    id: int
    cluster: str
    code: str
    severity: str
    node: str | None
    card: Annotated[str | None, Meta(description="Key of the card.")]
    pod: Annotated[str | None, Meta(description="namespace/name")]
    text: str
    first_seen_at: datetime
    ended_at: datetime | None


class NodeDetail(NodeBase):
    """A node with its cards, what it holds on unknown cards, and its findings."""

    cards: list[Card]
    unplaced: list[Allocation]
    findings: list[Finding]


class Pod(Shape):
    """A pod that asks for a GPU, holds one, or is a plugin or operator component."""

    id: int
    cluster: str
    uid: str
    namespace: str
    name: str
    node: str | None
    phase: str | None
    owner_kind: str | None
    owner_name: str | None
    component: str | None
    requests: Annotated[dict[str, int], Meta(description="Effective GPU request, by resource name.")]
    waiting: Annotated[bool, Meta(description="Not bound to a node and not ended: demand, not allocation.")]
    waiting_reason: str | None
    waiting_message: str | None
    created_at: datetime | None
    terminating_since: datetime | None


class Watch(Shape):
    """How the watcher of one kind is doing."""

    kind: str
    state: Annotated[str, Meta(description=STATES)]
    reason: str | None
    state_since: Annotated[datetime | None, Meta(description="When that state began; retries do not move it.")]
    age_seconds: Annotated[float | None, Meta(description="Since the last word of the cluster; null: none came yet.")]
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
    largest_gap_bytes: int | None
    holders_count: int
    unplaced_count: int


class ClusterSync(Shape):
    """How far the mirror of a cluster is. Without synced_at its figures are not complete."""

    synced_at: datetime | None
    last_event_at: datetime | None
    age_seconds: Annotated[float | None, Meta(description="Since the last word of the cluster; null: none came yet.")]
    state: Annotated[str, Meta(description="The least good state of its watches. " + STATES)]
    since: Annotated[datetime | None, Meta(description="When that state began; retries do not move it.")]
    reason: str | None


class Cluster(ClusterSync):
    """A cluster with its watchers and totals."""

    name: str
    server: str | None
    context: str | None
    created_at: datetime
    permissions: list[Permission]
    permissions_checked_at: datetime | None
    uid: Annotated[str | None, Meta(description="UID of the namespace kube-system; null: not told, see uid_note.")]
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
    cards_with_room: Annotated[int, Meta(description="Cards of which some memory is known to be free.")]
    pods_waiting: int
    pods_oldest_at: Annotated[datetime | None, Meta(description="Creation of the pod that has waited longest.")]
    findings: Annotated[dict[str, int], Meta(description="Findings now, by severity.")]
    unreadable: Annotated[int, Meta(description="Objects that did not decode.")]


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
