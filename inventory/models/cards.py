"""What the reconciler makes of the mirror: cards, allocations with their history, node totals, findings."""

from __future__ import annotations

import msgspec
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext

from inventory.health.findings import FINDINGS as OF_HEALTH
from inventory.health.shown import ShownReport, line, shown
from inventory.models.choices import CardState
from inventory.models.cluster import Cluster
from kube.decoders import decoder
from runtime.scope import ANOTHER, Scope
from runtime.scoped import OfCluster, OfNamespace
from stacks.engine.base import HEALTH_UNKNOWN, Room

#: Codes of findings that are of cards, nodes and clusters alone: their texts name no pod.
NAME_NO_POD = (*OF_HEALTH, "never-reached", "cluster-not-reporting", "cluster-not-watched")

#: Cards of a node of which it is kept, with the node, what would still fit on them.
MOST_ROOMS = 64
_rooms = decoder(tuple[Room, ...])
_room = decoder(Room)


class NodeTotals(OfCluster):
    """Totals of one node. Memory in bytes; None is unknown or not metered, never 0."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253)
    stacks = models.JSONField(default=list)
    #: "name of the stack · Tesla-V100-SXM2-32GB": nodes that are alike, for the map.
    pool = models.CharField(max_length=255, blank=True)
    model = models.CharField(max_length=128, blank=True)
    unit = models.CharField(max_length=8, blank=True)
    unit_source = models.CharField(max_length=255, blank=True)
    #: Boards, where cards_total counts slices of them too; None: not known.
    cards_physical = models.IntegerField(null=True)
    cards_total = models.IntegerField(null=True)
    cards_allocated = models.IntegerField(null=True)
    #: Cards known to have no holder at all, that a pod can be given.
    cards_free = models.IntegerField(null=True)
    #: Why no pod can be allocated anything of the node: an `UnavailableReason`; "" when pods can. What would be free but for that, or
    #: but for the health of its cards, is unavailable. None: nothing, or unknown.
    unavailable_reason = models.CharField(max_length=20, blank=True, default="", db_default="")
    cards_unavailable = models.IntegerField(null=True)
    memory_unavailable_bytes = models.BigIntegerField(null=True)
    #: The largest piece on one card that would be free.
    gap_unavailable_bytes = models.BigIntegerField(null=True)
    memory_total_bytes = models.BigIntegerField(null=True)
    memory_allocated_bytes = models.BigIntegerField(null=True)
    #: allocatable − allocated; may be negative when over-committed.
    memory_free_bytes = models.BigIntegerField(null=True)
    #: Largest free piece on one card.
    largest_gap_bytes = models.BigIntegerField(null=True)
    #: The most that one of its cards has to give out, allocated or not; None: of some card that is not known.
    largest_card_bytes = models.BigIntegerField(null=True)
    memory_unplaced_bytes = models.BigIntegerField(null=True)
    unplaced_count = models.IntegerField(default=0)
    allocations_count = models.IntegerField(default=0)
    findings_count = models.IntegerField(default=0)
    worst_severity = models.CharField(max_length=8, blank=True)
    #: The tiles of the map without a join: [[card id, label, percent or null, state, worst severity], …].
    tiles = models.JSONField(default=list)
    #: The worst of what is said of the node and of its cards; what is said of the node, as JSON: [HealthReport, …].
    health = models.CharField(max_length=16, default=HEALTH_UNKNOWN, db_default=HEALTH_UNKNOWN)
    health_reports = models.TextField(blank=True, default="", db_default="")
    #: What would still fit on its cards that are cut, as JSON: of MOST_ROOMS of them.
    rooms = models.TextField(blank=True, default="", db_default="")
    #: What the scheduler counts of the node, as JSON: resource of cards → [allocatable, that less what pods on it request].
    offers = models.TextField(blank=True, default="", db_default="")
    #: Its cards as the rules of placement see them, see `inventory.pieces`.
    pieces = models.TextField(blank=True, default="", db_default="")
    #: Allocatable CPU, in thousandths, and main memory, less what mirrored pods on it request: no more than this is free, since pods
    #: that request no card are not mirrored. None: unknown.
    cpu_free_millis = models.BigIntegerField(null=True)
    host_memory_free_bytes = models.BigIntegerField(null=True)
    recheck_at = models.DateTimeField(null=True)
    digest = models.BigIntegerField()
    #: When these figures last changed.
    changed_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "node_name"], name="account_once")]
        indexes = [
            models.Index(fields=["cluster", "pool", "node_name"], name="accounts_by_pool"),
            models.Index(fields=["recheck_at"], condition=Q(recheck_at__isnull=False), name="accounts_to_recheck"),
        ]

    def __str__(self) -> str:
        return self.node_name

    @property
    def found_rooms(self) -> tuple[Room, ...]:
        """`rooms`, read; none when somebody wrote into the column."""
        try:
            return _rooms.decode(self.rooms) if self.rooms else ()
        except msgspec.DecodeError:
            return ()

    @property
    def found_health(self) -> list[ShownReport]:
        """`health_reports`, read."""
        return shown(self.health_reports)

    @property
    def health_line(self) -> str:
        """`health_reports` in one line."""
        return line(self.health_reports)


class Card(OfCluster):
    """One GPU. It stays after it is gone (`removed_at`), with its history.

    key: stable within the node: the UUID where it is known, else the index as text. index: the scheduler's index; it is not
    always the one that the vendor's tool prints.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253)
    key = models.CharField(max_length=128)
    index = models.IntegerField(null=True)
    uuid = models.CharField(max_length=128, blank=True)
    model = models.CharField(max_length=128, blank=True)
    model_source = models.CharField(max_length=255, blank=True)
    stack = models.CharField(max_length=32)
    mode = models.CharField(max_length=8)
    health = models.CharField(max_length=16)
    #: Health by source, the worst first, as JSON: [HealthReport, …].
    health_reports = models.TextField(blank=True, default="", db_default="")
    state = models.CharField(max_length=16, choices=CardState.choices)
    memory_total_bytes = models.BigIntegerField(null=True)
    memory_physical_bytes = models.BigIntegerField(null=True)
    memory_source = models.CharField(max_length=255, blank=True)
    memory_allocated_bytes = models.BigIntegerField(null=True)
    memory_free_bytes = models.BigIntegerField(null=True)
    #: Why no pod is given it: a `UnavailableReason`; "" when pods are. memory_unavailable_bytes: what would be free but for that.
    unavailable_reason = models.CharField(max_length=20, blank=True, default="", db_default="")
    memory_unavailable_bytes = models.BigIntegerField(null=True)
    shares = models.IntegerField(null=True)
    #: Of a slice: its kind ("1g.5gb"; "" for a whole card), and what its card is called; "" where nothing says which it is.
    profile = models.CharField(max_length=64, blank=True, default="", db_default="")
    parent = models.CharField(max_length=128, blank=True, default="", db_default="")
    #: What would still fit on it, or on the cards of its node that are cut, as JSON; "" for a card that is not cut.
    room = models.TextField(blank=True, default="", db_default="")
    allocations_count = models.IntegerField(default=0)
    worst_severity = models.CharField(max_length=8, blank=True)
    first_seen_at = models.DateTimeField()
    changed_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)
    digest = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["cluster", "node_name", "key"], name="card_once")]
        indexes = [
            models.Index(
                fields=["cluster", "memory_free_bytes", "id"], condition=Q(removed_at=None), name="cards_by_room"
            ),
            models.Index(
                fields=["cluster", "node_name", "index", "id"], condition=Q(removed_at=None), name="cards_by_node"
            ),
            # What the first lines of pages count is read from this one alone.
            models.Index(
                fields=["cluster", "state", "unavailable_reason"],
                include=("memory_free_bytes",),
                condition=Q(removed_at=None),
                name="cards_counted",
            ),
            models.Index(fields=["uuid"], condition=~Q(uuid=""), name="cards_by_uuid"),
        ]

    def __str__(self) -> str:
        return f"{self.node_name}/{self.key}"

    @property
    def found_room(self) -> Room | None:
        """`room`, read; None when somebody wrote into the column."""
        try:
            return _room.decode(self.room) if self.room else None
        except msgspec.DecodeError:
            return None

    @property
    def found_health(self) -> list[ShownReport]:
        """`health_reports`, read."""
        return shown(self.health_reports)

    @property
    def health_line(self) -> str:
        """`health_reports` in one line."""
        return line(self.health_reports)

    @property
    def holders_line(self) -> str:
        """Who holds it, in one line; of rows that were read with their holders."""
        return ", ".join(
            dict.fromkeys(
                one.namespace if one.foreign else f"{one.namespace}/{one.pod}" for one in getattr(self, "holders", ())
            )
        )


class Allocation(OfNamespace):
    """One container's hold on one card, or on some card of its node (`card` None). Ended ones are history."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253)
    card = models.ForeignKey(Card, null=True, on_delete=models.CASCADE, related_name="allocations")
    #: Key of the card, "" when the card is not known.
    card_key = models.CharField(max_length=128, blank=True)
    pod_uid = models.CharField(max_length=128)
    namespace = models.CharField(max_length=253)
    pod = models.CharField(max_length=253)
    container = models.CharField(max_length=253)
    owner_kind = models.CharField(max_length=63, blank=True)
    owner_name = models.CharField(max_length=253, blank=True)
    resource = models.CharField(max_length=253)
    stack = models.CharField(max_length=32)
    mode = models.CharField(max_length=8)
    quantity = models.BigIntegerField()
    memory_bytes = models.BigIntegerField(null=True)
    core_percent = models.IntegerField(null=True)
    evidence = models.CharField(max_length=16)
    #: The pod is being deleted and still holds (some schedulers already count it free).
    terminating = models.BooleanField(default=False)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    digest = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "pod_uid", "container", "resource", "node_name", "card_key"],
                condition=Q(ended_at=None),
                name="allocation_once",
            )
        ]
        indexes = [
            models.Index(fields=["cluster", "node_name"], condition=Q(ended_at=None), name="allocations_of_a_node"),
            models.Index(fields=["card", "-started_at"], name="allocations_of_a_card"),
            models.Index(fields=["cluster", "namespace", "pod"], name="allocations_of_a_pod"),
            models.Index(fields=["cluster", "-started_at", "-id"], condition=Q(ended_at=None), name="allocations_now"),
            models.Index(fields=["cluster", "-started_at", "-id"], name="allocations_by_start"),
            models.Index(
                fields=["cluster", "memory_bytes", "id"], condition=Q(ended_at=None), name="allocations_by_memory"
            ),
            models.Index(fields=["ended_at"], condition=Q(ended_at__isnull=False), name="allocations_ended"),
            models.Index(
                fields=["cluster", "node_name", "-ended_at", "-id"],
                condition=Q(ended_at__isnull=False),
                name="allocations_ended_on_a_node",
            ),
        ]

    #: Of rows of `inventory.queries.holds`: it is held in a namespace that is not seen, and its names have been taken away.
    foreign = False

    def __str__(self) -> str:
        return f"{self.namespace}/{self.pod} on {self.node_name}"

    @property
    def who(self) -> str:
        """Who holds, for people."""
        return gettext(ANOTHER) if self.foreign else f"{self.namespace}/{self.pod}"


class Finding(OfCluster):
    """Something wrong that the mirror shows, as long as it shows it; then `ended_at`."""

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    code = models.CharField(max_length=64)
    severity = models.CharField(max_length=8)
    node_name = models.CharField(max_length=253, blank=True)
    card_key = models.CharField(max_length=128, blank=True)
    #: "namespace/name"
    pod = models.CharField(max_length=512, blank=True)
    text = models.TextField()
    #: How the text was made, see `wording.said`; None of rows that are older, and of what is no sentence of ours.
    wording = models.JSONField(null=True)
    #: What it states, in English: the same for all findings with the same cause; "" where the code says it (`inventory.stated`).
    cause = models.CharField(max_length=200, blank=True, default="", db_default="")
    first_seen_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["cluster", "code", "node_name", "card_key", "pod"],
                condition=Q(ended_at=None),
                name="finding_once",
            )
        ]
        indexes = [
            models.Index(
                fields=["cluster", "severity", "-first_seen_at", "id"], condition=Q(ended_at=None), name="findings_now"
            ),
            models.Index(fields=["cluster", "node_name"], name="findings_of_a_node"),
            # What is counted by cause is read from this one alone: SQLite looks for the column of the condition too.
            models.Index(
                fields=["severity", "code", "cause", "cluster", "node_name", "card_key", "first_seen_at", "ended_at"],
                condition=Q(ended_at=None),
                name="findings_by_cause",
            ),
        ]

    @classmethod
    def seen_by(cls, scope: Scope) -> Q:
        """Where a cluster is not seen whole, texts that may name pods are left out with their counts."""
        of_cards = scope.in_clusters() & Q(pod="", code__in=NAME_NO_POD)
        return scope.in_whole_clusters() | scope.of_pods("pod") | of_cards

    def __str__(self) -> str:
        return f"{self.code} {self.node_name} {self.card_key}"


class DirtyNode(models.Model):
    """A node whose objects changed: the reconciler is to look at it again.

    node_name: "" means every node, or with `stack` those that the stack has to do with; with `software.CLUSTER_SOFTWARE` none, but
    the components that the cluster has once.

    Appended by watchers, taken away by the reconciler. among_all: made by the reconciler from a row for many nodes.
    """

    cluster = models.ForeignKey(Cluster, on_delete=models.CASCADE)
    node_name = models.CharField(max_length=253, blank=True)
    stack = models.CharField(max_length=32, blank=True, default="", db_default="")
    among_all = models.BooleanField(default=False, db_default=False)

    class Meta:
        indexes = [models.Index(fields=["cluster", "id"], name="dirty_nodes_in_order")]

    def __str__(self) -> str:
        return self.node_name or (f"all nodes of {self.stack}" if self.stack else "all nodes")
