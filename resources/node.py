"""Nodes with a GPU: their totals, beside what the node says of itself."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import F, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast, NullIf
from django.utils.translation import gettext_lazy as _

from inventory.models import NodeTotals
from inventory.models.cards import MOST_ROOMS
from inventory.models.choices import Health, Severity, UnavailableReason
from inventory.queries import availability
from inventory.queries import rows as querysets
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import (
    BytesFilter,
    ChoiceFilter,
    ClusterNames,
    PartsFilter,
    SearchFilter,
    WordsFilter,
    YesNoFilter,
)
from resources.filter_sets import StrictFilterSet
from resources.health import HealthReport
from resources.lookups import tri_state
from resources.room import RemainingSlices

#: What keeps pods off a whole node.
OF_NODES = tuple(one.value for one in UnavailableReason if one != UnavailableReason.UNHEALTHY)
BYTES = "In bytes; null: unknown or not metered."


def _keeps_away(marks: Any) -> bool:
    return any(one.blocks for one in marks)


class Node(Shape):
    """A node with a GPU and its totals."""

    cluster: Annotated[str, fact(of="totals.cluster", order="cluster_id", title=_("Cluster"))]
    name: Annotated[str, fact(of="totals.node_name", order=("node", "node_name"), title=_("Node"))]
    ready: Annotated[
        bool | None,
        fact("Readiness of the node; null: unknown.", of="own.ready", title=_("Status")),
    ]
    ready_reason: Annotated[str | None, fact(of="own.ready_reason")]
    unschedulable: Annotated[bool | None, fact(of="own.unschedulable")]
    out_of_service: Annotated[
        bool,
        fact(
            "Whether a cordon, taint or label keeps GPU pods away, of any tool; node-marks has them.",
            of="own.found_marks",
            by=_keeps_away,
        ),
    ]
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
    stacks: Annotated[list[str], fact(of="totals.stacks", title=_("Stack"))]
    pool: Annotated[str | None, fact(of="totals.pool", order="pool", title=_("Pool"))]
    model: Annotated[str | None, fact(of="totals.model", order="model", title=_("Model"))]
    unit: Annotated[str | None, fact("GiB or MiB, if the stack counts memory in units.", of="totals.unit")]
    unit_source: Annotated[str | None, fact(of="totals.unit_source")]
    cards_physical: Annotated[
        int | None,
        fact(
            "Physical cards; cards_total also counts slices.",
            of="totals.cards_physical",
            title=_("Physical cards"),
            number=True,
        ),
    ]
    cards_total: Annotated[
        int | None,
        fact(
            "Cards, and slices that are allocated separately.",
            of="totals.cards_total",
            order="cards_total",
            title=_("Cards"),
            number=True,
        ),
    ]
    cards_allocated: Annotated[
        int | None, fact("Allocated cards.", of="totals.cards_allocated", order="cards_allocated")
    ]
    cards_free: Annotated[
        int | None,
        fact(
            "Free cards.",
            of="totals.cards_free",
            order="cards_free",
            title=_("Free cards"),
            term="free",
            number=True,
        ),
    ]
    unavailable_reason: Annotated[
        str | None,
        fact(
            f"Why no pod is given anything of the node now: {', '.join(OF_NODES)}; null: pods are.",
            of="totals.unavailable_reason",
        ),
    ]
    cards_unavailable: Annotated[
        int | None,
        fact("Unavailable cards: not allocated and not free.", of="totals.cards_unavailable"),
    ]
    memory_unavailable_bytes: Annotated[
        int | None,
        fact(
            "Unavailable memory in bytes: unallocated, but not free; null: none.", of="totals.memory_unavailable_bytes"
        ),
    ]
    memory_total_bytes: Annotated[int | None, fact(BYTES, of="totals.memory_total_bytes", order="memory_total_bytes")]
    memory_allocated_bytes: Annotated[
        int | None,
        fact(
            BYTES,
            of="totals.memory_allocated_bytes",
            order="memory_allocated_bytes",
            title=_("Allocated, GiB"),
            term="allocated",
            number=True,
        ),
    ]
    memory_free_bytes: Annotated[
        int | None,
        fact(
            "In bytes; negative: overcommitted; null: unknown.",
            of="totals.memory_free_bytes",
            order="memory_free_bytes",
            title=_("Free, GiB"),
            number=True,
        ),
    ]
    largest_gap_bytes: Annotated[
        int | None,
        fact(
            "Largest free block on one card, in bytes; null: unknown.",
            of="totals.largest_gap_bytes",
            order="largest_gap_bytes",
            title=_("Largest, GiB"),
            term="gap",
            number=True,
        ),
    ]
    memory_unplaced_bytes: Annotated[
        int | None, fact("Allocated memory on unidentified cards, in bytes.", of="totals.memory_unplaced_bytes")
    ]
    unplaced_count: Annotated[
        int, fact("Allocations on the node with an unidentified card.", of="totals.unplaced_count")
    ]
    allocations_count: Annotated[
        int,
        fact(
            "Number of pods with an allocation.",
            of="totals.allocations_count",
            order="allocations_count",
            title=_("Pods"),
            number=True,
        ),
    ]
    findings_count: Annotated[
        int,
        fact(
            "Number of current findings.",
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
            "Worst health of the node and its cards: healthy, degraded, unhealthy; unknown: no source reports.",
            of="totals.health",
            title=_("Health"),
            term="health",
        ),
    ]
    health_reports: Annotated[
        list[HealthReport],
        fact(
            "Health reports on the node itself or on unidentified cards, worst first.",
            of="totals.found_health",
        ),
    ]
    remaining_slices: Annotated[
        list[RemainingSlices],
        fact(
            f"What would still fit on cards that are cut into slices, {MOST_ROOMS} of them at most; empty: none is cut.",
            of="totals.found_rooms",
        ),
    ]
    changed_at: Annotated[
        datetime,
        fact(
            "Time of the last change of these values.", of="totals.changed_at", order="changed_at", title=_("Changed")
        ),
    ]


class NodeFilter(StrictFilterSet):
    """Lists totals: nodes with a GPU."""

    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    stack = WordsFilter(method="on_stack", label="stack of the node")
    pool = WordsFilter("pool", label="pool")
    model = PartsFilter("model", label="card model, or a part of its name")
    ready = ChoiceFilter(("true", "false", "unknown"), method="on_ready", label="readiness")
    out = YesNoFilter("marks", method="on_out", label="nodes that a cordon, taint or label keeps GPU pods off")
    os = WordsFilter("os", method="on_node", label="operating system")
    zone = WordsFilter("zone", method="on_node", label="zone")
    instance_type = WordsFilter("instance_type", method="on_node", label="instance type")
    health = ChoiceFilter(Health.values, "health", label="health of the node and its cards")
    severity = ChoiceFilter(Severity.values, "worst_severity", label="severity of the worst finding of the node")
    unavailable_reason = ChoiceFilter(
        OF_NODES, "unavailable_reason", method="on_unavailable_reason", label="reason why the node is unavailable"
    )
    min_free_bytes = BytesFilter("memory_free_bytes", method="on_room", label="minimum free memory of the node")
    min_gap_bytes = BytesFilter("largest_gap_bytes", method="on_room", label="minimum free memory on one card")
    free_known = YesNoFilter(
        "memory_free_bytes", method=tri_state, label="nodes with a free memory value (true), or without one (false)"
    )
    q = SearchFilter(method="search", label="free search: node, pool, model, address")

    orders: ClassVar[dict[str, str]] = orders_of(Node)
    computed: ClassVar[dict[str, Any]] = {"known_model": NullIf(F("model"), Value(""))}
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

    def on_unavailable_reason(self, rows: QuerySet[NodeTotals], _: str, reasons: list[str]) -> QuerySet[NodeTotals]:
        return rows.filter(availability.reason_in(reasons))

    def on_room(self, rows: QuerySet[NodeTotals], column: str, least: int) -> QuerySet[NodeTotals]:
        return rows.filter(availability.with_room(column, least))

    def on_ready(self, rows: QuerySet[NodeTotals], _: str, values: list[str]) -> QuerySet[NodeTotals]:
        condition = Q()
        for value in values:
            condition |= querysets.by_node(ready={"true": True, "false": False, "unknown": None}[value])
        return rows.filter(condition)

    def on_out(self, rows: QuerySet[NodeTotals], _: str, value: str) -> QuerySet[NodeTotals]:
        out = querysets.by_node(marks__contains='"blocks":true')
        return rows if value == "any" else rows.filter(out) if value == "true" else rows.exclude(out)

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
        "out_of_service",
        "stacks",
        "pool",
        "model",
        "unit",
        "unit_source",
        "cards_physical",
        "cards_total",
        "cards_allocated",
        "cards_free",
        "unavailable_reason",
        "cards_unavailable",
        "memory_unavailable_bytes",
        "memory_total_bytes",
        "memory_allocated_bytes",
        "memory_free_bytes",
        "largest_gap_bytes",
        "memory_unplaced_bytes",
        "unplaced_count",
        "allocations_count",
        "findings_count",
        "health",
        ("health_line", "health_reports"),
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
        "pool",
        "cards_free",
        "memory_allocated_bytes",
        "memory_free_bytes",
        "largest_gap_bytes",
        "findings_count",
        "health",
    ),
    groups={"model": ("known_model",)},
)
