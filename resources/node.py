"""Nodes with a GPU: their totals, beside what the node says of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.utils.translation import gettext_lazy as _

from inventory import kept_off, querysets
from inventory.models import NodeTotals
from inventory.models.choices import Health, KeptOff, Severity
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import BytesFilter, ChoiceFilter, ClusterNames, SearchFilter, WordsFilter
from resources.filter_sets import StrictFilterSet
from resources.health import HealthTold
from resources.room import Room

#: What keeps pods off a whole node.
OF_NODES = tuple(one.value for one in KeptOff if one != KeptOff.UNHEALTHY)
BYTES = "Bytes; null: unknown or not metered."


class Node(Shape):
    """A node with a GPU: its totals."""

    cluster: Annotated[str, fact(of="totals.cluster", order="cluster_id", title=_("Cluster"))]
    name: Annotated[str, fact(of="totals.node_name", order=("node", "node_name"), title=_("Node"))]
    ready: Annotated[
        bool | None,
        fact("What the node says of itself; null: it says Unknown or nothing.", of="own.ready", title=_("Condition")),
    ]
    ready_reason: Annotated[str | None, fact(of="own.ready_reason")]
    unschedulable: Annotated[bool | None, fact(of="own.unschedulable")]
    os: Annotated[str | None, fact(of="own.os", title=_("Operating system"))]
    os_image: Annotated[str | None, fact(of="own.os_image")]
    kernel: Annotated[str | None, fact(of="own.kernel")]
    kubelet: Annotated[str | None, fact(of="own.kubelet", title=_("Kubelet"))]
    runtime: Annotated[str | None, fact(of="own.runtime")]
    instance_type: Annotated[str | None, fact(of="own.instance_type", title=_("Instance type"))]
    zone: Annotated[str | None, fact(of="own.zone", title=_("Zone"))]
    address: Annotated[str | None, fact(of="own.address", title=_("Address"))]
    driver_version: Annotated[str | None, fact(of="own.driver_version", title=_("Driver"))]
    driver_source: Annotated[str | None, fact(of="own.driver_source")]
    stacks: Annotated[list[str], fact(of="totals.stacks", title=_("Sharing system"))]
    pool: Annotated[str | None, fact(of="totals.pool", order="pool", title=_("Pool"))]
    model: Annotated[str | None, fact(of="totals.model", order="model", title=_("Model"))]
    unit: Annotated[str | None, fact("GiB or MiB where the sharing system counts memory in units.", of="totals.unit")]
    unit_source: Annotated[str | None, fact(of="totals.unit_source")]
    cards_physical: Annotated[
        int | None,
        fact(
            "Boards; cards_total counts slices of them too.",
            of="totals.cards_physical",
            title=_("Physical cards"),
            number=True,
        ),
    ]
    cards_total: Annotated[
        int | None,
        fact(
            "Cards and slices that are given out by themselves.",
            of="totals.cards_total",
            order="cards_total",
            title=_("Cards"),
            number=True,
        ),
    ]
    cards_allocated: Annotated[
        int | None, fact("Of them with a holder.", of="totals.cards_allocated", order="cards_allocated")
    ]
    cards_free: Annotated[
        int | None,
        fact(
            "Cards known to have no holder, that a pod can be given.",
            of="totals.cards_free",
            order="cards_free",
            title=_("Free cards"),
            term="free",
            number=True,
        ),
    ]
    kept_off: Annotated[
        str | None,
        fact(
            f"Why no pod is given anything of the node now: {', '.join(OF_NODES)}; null: pods are.",
            of="totals.kept_off",
        ),
    ]
    cards_apart: Annotated[
        int | None,
        fact("Cards without a holder that no pod is given: kept off, or unhealthy.", of="totals.cards_apart"),
    ]
    memory_apart_bytes: Annotated[
        int | None, fact("What would be free, were it not kept apart; null: nothing.", of="totals.memory_apart_bytes")
    ]
    memory_total_bytes: Annotated[int | None, fact(BYTES, of="totals.memory_total_bytes", order="memory_total_bytes")]
    memory_allocated_bytes: Annotated[
        int | None,
        fact(
            BYTES,
            of="totals.memory_allocated_bytes",
            order="memory_allocated_bytes",
            title=_("Memory allocated, GiB"),
            term="allocated",
            number=True,
        ),
    ]
    memory_free_bytes: Annotated[
        int | None,
        fact(
            "Negative when over-committed; null: unknown.",
            of="totals.memory_free_bytes",
            order="memory_free_bytes",
            title=_("Free, GiB"),
            number=True,
        ),
    ]
    largest_gap_bytes: Annotated[
        int | None,
        fact(
            "Largest free piece on one card; null: unknown.",
            of="totals.largest_gap_bytes",
            order="largest_gap_bytes",
            title=_("Largest free block, GiB"),
            term="gap",
            number=True,
        ),
    ]
    memory_unplaced_bytes: Annotated[
        int | None, fact("Held on the node, card unknown.", of="totals.memory_unplaced_bytes")
    ]
    unplaced_count: Annotated[int, fact("Holders on the node whose card is not known.", of="totals.unplaced_count")]
    holders_count: Annotated[
        int,
        fact(
            "Containers that hold here.", of="totals.holders_count", order="holders_count", title=_("Pods"), number=True
        ),
    ]
    findings_count: Annotated[
        int,
        fact(
            "Findings now.",
            of="totals.findings_count",
            order="findings_count",
            title=_("Findings"),
            number=True,
            term="finding",
        ),
    ]
    worst_severity: Annotated[str | None, fact(of="totals.worst_severity")]
    health: Annotated[
        str,
        fact(
            "The worst of what is said of the node and of its cards: healthy, degraded, unhealthy; unknown: not reported.",
            of="totals.health",
            title=_("Health"),
            term="health",
        ),
    ]
    health_told: Annotated[
        list[HealthTold],
        fact(
            "What is said of the node itself, or of cards that are not named; the worst first.",
            of="totals.found_health",
        ),
    ]
    rooms: Annotated[
        list[Room],
        fact("What would still fit on cards that are cut into slices; empty: none is cut.", of="totals.found_rooms"),
    ]
    changed_at: Annotated[
        datetime,
        fact("When these figures last changed.", of="totals.changed_at", order="changed_at", title=_("Changed")),
    ]


class NodeFilter(StrictFilterSet):
    """Lists totals: nodes with a GPU."""

    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    stack = WordsFilter(method="on_stack", label="sharing system that the node has")
    pool = WordsFilter("pool", label="pool: nodes that are alike")
    model = WordsFilter("model", label="card model")
    ready = ChoiceFilter(("true", "false", "unknown"), method="on_ready", label="what the node says of itself")
    os = WordsFilter("os", method="on_node", label="operating system")
    zone = WordsFilter("zone", method="on_node", label="zone")
    instance_type = WordsFilter("instance_type", method="on_node", label="instance type")
    health = ChoiceFilter(Health.values, "health", label="health of the node and its cards")
    severity = ChoiceFilter(Severity.values, "worst_severity", label="worst finding of the node")
    kept_off = ChoiceFilter(OF_NODES, "kept_off", method="on_kept_off", label="why no pod is given anything of it")
    min_free_bytes = BytesFilter("memory_free_bytes", method="on_room", label="memory free on the node, at least")
    min_gap_bytes = BytesFilter("largest_gap_bytes", method="on_room", label="memory free on one card, at least")
    q = SearchFilter(method="search", label="free search: node, pool, model, address")

    orders: ClassVar[dict[str, str]] = orders_of(Node)
    default_order = ("cluster", "node")

    class Meta(StrictFilterSet.Meta):
        model = NodeTotals
        fields: ClassVar[list[str]] = []

    def on_stack(self, rows: QuerySet[NodeTotals], _: str, stacks: list[str]) -> QuerySet[NodeTotals]:
        """SQLite cannot look into JSON lists, so the text is searched for the quoted word."""
        condition = Q()
        for stack in stacks:
            condition |= Q(stacks_text__contains=f'"{stack}"') if stack.replace("-", "").isalnum() else Q(pk=None)
        return rows.alias(stacks_text=Cast("stacks", TextField())).filter(condition)

    def on_kept_off(self, rows: QuerySet[NodeTotals], _: str, reasons: list[str]) -> QuerySet[NodeTotals]:
        return rows.filter(kept_off.kept_off_by(reasons))

    def on_room(self, rows: QuerySet[NodeTotals], column: str, least: int) -> QuerySet[NodeTotals]:
        return rows.filter(kept_off.with_room(column, least))

    def on_ready(self, rows: QuerySet[NodeTotals], _: str, values: list[str]) -> QuerySet[NodeTotals]:
        condition = Q()
        for value in values:
            condition |= querysets.by_node(ready={"true": True, "false": False, "unknown": None}[value])
        return rows.filter(condition)

    def on_node(self, rows: QuerySet[NodeTotals], name: str, values: list[str]) -> QuerySet[NodeTotals]:
        return rows.filter(querysets.by_node(**{f"{name}__in": values}))

    def search(self, rows: QuerySet[NodeTotals], _: str, words: list[str]) -> QuerySet[NodeTotals]:
        for word in words:
            own = Q(node_name__icontains=word) | Q(pool__icontains=word) | Q(model__icontains=word)
            rows = rows.filter(own | querysets.by_node(address__icontains=word))
        return rows


NODES = Resource(
    "nodes",
    Node,
    NodeFilter,
    querysets.node_totals,
    join=querysets.with_nodes,
    beside={"health_line": "totals.health_line"},
    csv=(
        "cluster",
        ("name", "node"),
        "ready",
        "stacks",
        "pool",
        "model",
        "unit",
        "unit_source",
        "cards_physical",
        "cards_total",
        "cards_allocated",
        "cards_free",
        "kept_off",
        "cards_apart",
        "memory_apart_bytes",
        "memory_total_bytes",
        "memory_allocated_bytes",
        "memory_free_bytes",
        "largest_gap_bytes",
        "memory_unplaced_bytes",
        "unplaced_count",
        "holders_count",
        "findings_count",
        "health",
        ("health_line", "health_told"),
        "worst_severity",
        "instance_type",
        "zone",
        "os",
        "kubelet",
        "driver_version",
        "address",
        "changed_at",
    ),
    table=(
        "name",
        "ready",
        "cards_total",
        "cards_free",
        "memory_allocated_bytes",
        "memory_free_bytes",
        "largest_gap_bytes",
        "holders_count",
        "findings_count",
        "health",
        "changed_at",
    ),
)
