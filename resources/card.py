"""Cards, with who holds them now."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import DateTimeField, F, Q, QuerySet, Value
from django.db.models.functions import NullIf
from django.utils.translation import gettext_lazy as _

from inventory.models import Allocation as AllocationRow
from inventory.models import Card as CardRow
from inventory.models.choices import CardState, Health, Mode, Severity, UnavailableReason
from inventory.queries import availability
from inventory.queries import rows as querysets
from inventory.queries.measured import NOT_COLLECTED, unused_bytes, with_usage
from inventory.queries.pod_usage import Note, PodUsage, with_holders_usage
from resources.allocation import Allocation
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
from resources.moments import Columns, Span
from resources.room import RemainingSlices


class Card(Shape):
    """One card with its current allocations."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("Card"))]
    key: Annotated[str, fact("Key of the card, stable within the node: UUID, else index.")]
    index: Annotated[int | None, fact("Index of the scheduler; may differ from nvidia-smi.", order=True)]
    uuid: Annotated[str | None, fact(title=_("UUID"))]
    model: Annotated[str | None, fact(order=True, title=_("Model"))]
    model_source: str | None
    stack: Annotated[str, fact(title=_("Stack"))]
    mode: Annotated[str, fact(title=_("Allocation mode"))]
    health: Annotated[
        str,
        fact(
            "Worst of health_reports: healthy, degraded, unhealthy; unknown: no source reports.",
            title=_("Health"),
            term="health",
        ),
    ]
    health_reports: Annotated[list[HealthReport], fact("Health by source, worst first.", of="found_health")]
    state: Annotated[str, fact(f"One of {', '.join(CardState.values)}.", order=True, title=_("State"))]
    unavailable_reason: Annotated[
        str | None,
        fact(
            f"Why it is unavailable now: {', '.join(UnavailableReason.values)}; null: it is not. Such a card is not free."
        ),
    ]
    memory_total_bytes: Annotated[
        int | None,
        fact(
            "Memory that the stack can allocate, in bytes; null: unknown.",
            order=True,
            title=_("Capacity, GiB"),
            number=True,
            term="capacity",
        ),
    ]
    memory_physical_bytes: Annotated[
        int | None, fact("Physical memory in bytes; null: unknown.", title=_("Physical memory, GiB"), number=True)
    ]
    memory_source: Annotated[str | None, fact("Memory source.", title=_("Memory source"))]
    memory_allocated_bytes: Annotated[
        int | None,
        fact(
            "In bytes; null: unknown or not metered.",
            order=True,
            title=_("Allocated, GiB"),
            number=True,
            term="allocated",
        ),
    ]
    memory_free_bytes: Annotated[
        int | None,
        fact("In bytes; null: unknown or not metered.", order=True, title=_("Free, GiB"), number=True, term="free"),
    ]
    memory_unavailable_bytes: Annotated[
        int | None, fact("Unavailable memory in bytes: unallocated, but not free; null: none, unknown or not metered.")
    ]
    shares: Annotated[int | None, fact("Maximum number of allocations of the stack; null: no limit.")]
    profile: Annotated[
        str | None, fact("Profile of a slice, such as 1g.5gb; null: a whole card.", order=True, title=_("Profile"))
    ]
    parent: Annotated[str | None, fact("Physical card of a slice; null: unknown, or a whole card.")]
    remaining_slices: Annotated[
        RemainingSlices | None,
        fact("Remaining slices on the card, or on the sliced cards of its node; null: not sliced.", of="found_room"),
    ]
    allocations_count: Annotated[
        int, fact("Number of pods with an allocation.", order=True, title=_("Pods"), number=True)
    ]
    worst_severity: str | None
    first_seen_at: Annotated[datetime, fact(title=_("First seen"))]
    changed_at: Annotated[datetime, fact("Time of the last change of these values.", order=True, title=_("Changed"))]
    removed_at: datetime | None
    memory_used_bytes: Annotated[
        int | None,
        fact(
            "Used memory in bytes, measured; null: not collected.",
            of="measured.memory_used_bytes",
            order="usage__memory_used_bytes",
            title=_("Used, GiB"),
            term="used",
            number=True,
        ),
    ]
    memory_unused_bytes: Annotated[
        int | None,
        fact(
            "Allocated, not used, in bytes; negative: more used than allocated; null: unknown or not metered.",
            order=("memory_unused_bytes", "unused_bytes"),
            title=_("Allocated, not used, GiB"),
            term="unused",
            number=True,
        ),
    ]
    utilization_ratio: Annotated[
        float | None,
        fact(
            "Utilization: share of time with activity, 0 to 1; null: not collected.",
            of="measured.utilization_ratio",
            order="usage__utilization_ratio",
            title=_("Utilization"),
            number=True,
        ),
    ]
    activity_ratio: Annotated[
        float | None,
        fact(
            "Activity by the best metric of the exporter, 0 to 1; null: not collected.",
            of="measured.activity_ratio",
            order="usage__activity_ratio",
            title=_("Activity"),
            number=True,
        ),
    ]
    activity_measure: Annotated[
        str | None,
        fact("Metric of the activity: graphics_active, sm_active or utilization.", of="measured.activity_measure"),
    ]
    temperature_celsius: Annotated[
        float | None,
        fact(
            "In °C; null: not collected.",
            of="measured.temperature_celsius",
            title=_("Temperature, °C"),
            number=True,
        ),
    ]
    power_watts: Annotated[
        float | None, fact("null: not collected.", of="measured.power_watts", title=_("Power, W"), number=True)
    ]
    measured_at: Annotated[
        datetime | None, fact("Time of the measurement.", of="measured.measured_at", title=_("Measured"))
    ]
    usage_source: Annotated[
        str | None, fact("Exporter and version; null: no exporter reports the card.", of="measured.usage_source")
    ]
    allocations: Annotated[list[Allocation], fact(of="holders", title=_("Memory"))]


#: What is kept of cards for now alone: who held them is kept, how full, how well and how busy they were is not.
OF_NOW = frozenset(
    (
        *(
            "state",
            "unavailable_reason",
            "health",
            "severity",
            "min_free_bytes",
            "min_used_bytes",
            "min_unused_bytes",
            "allocations_count",
        ),
        *("memory_allocated_bytes", "memory_free_bytes", "memory_used_bytes", "memory_unused_bytes", "changed_at"),
        *("utilization_ratio", "activity_ratio"),
    )
)
_HELD = Columns("started_at", "ended_at")


class CardFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    card = WordsFilter("key", label="card key: UUID, else index")
    uuid = WordsFilter("uuid", label="card UUID")
    stack = WordsFilter("stack", label="stack")
    model = PartsFilter("model", label="card model, or a part of its name")
    state = ChoiceFilter(CardState.values, "state", method="on_state", label="state of the card")
    unavailable_reason = ChoiceFilter(
        UnavailableReason.values,
        "unavailable_reason",
        method="on_unavailable_reason",
        label="reason why the card is unavailable",
    )
    health = ChoiceFilter(Health.values, "health", label="health")
    profile = WordsFilter("profile", label="profile of a slice, such as 1g.5gb")
    mode = ChoiceFilter(Mode.values, "mode", label="allocation mode of the card")
    severity = ChoiceFilter(Severity.values, "worst_severity", label="severity of the worst finding of the card")
    min_free_bytes = BytesFilter("memory_free_bytes", method="on_room", label="minimum free memory of the card")
    min_used_bytes = BytesFilter("usage__memory_used_bytes", lookup_expr="gte", label="minimum used memory")
    min_unused_bytes = BytesFilter(
        "memory_allocated_bytes", method="on_unused", label="minimum allocated but not used memory"
    )
    removed = YesNoFilter("removed_at", method=tri_state, default="false", label="removed cards")
    q = SearchFilter(method="search", label="free search: node, UUID, model, and pod, namespace, owner of allocations")

    period = Columns("first_seen_at", "removed_at")
    whether_over = "removed"
    of_now = OF_NOW
    orders: ClassVar[dict[str, str]] = orders_of(Card)
    computed: ClassVar[dict[str, Any]] = {
        "unused_bytes": unused_bytes(),
        "known_model": NullIf(F("model"), Value("")),
    }
    default_order = ("cluster", "node", "index")

    class Meta(StrictFilterSet.Meta):
        model = CardRow
        fields: ClassVar[list[str]] = []

    def in_time(self, rows: QuerySet[CardRow]) -> Any:
        """Rows that say for which time they are asked for: `_joined` then reads who held them then."""
        span = self.span
        if span is None:
            return rows
        times = {"asked_to": Value(span.end, DateTimeField())}
        if span.begin is not None:
            times["asked_from"] = Value(span.begin, DateTimeField())
        return super().in_time(rows).prefetch_related(None).annotate(**times)

    def on_state(self, rows: QuerySet[CardRow], _: str, states: list[str]) -> QuerySet[CardRow]:
        return rows.filter(availability.in_states(states))

    def on_unavailable_reason(self, rows: QuerySet[CardRow], _: str, reasons: list[str]) -> QuerySet[CardRow]:
        return rows.filter(availability.reason_in(reasons))

    def on_room(self, rows: QuerySet[CardRow], column: str, least: int) -> QuerySet[CardRow]:
        return rows.filter(availability.with_room(column, least))

    def on_unused(self, rows: QuerySet[CardRow], _: str, least: int) -> QuerySet[CardRow]:
        return rows.alias(unused_at_least=unused_bytes()).filter(unused_at_least__gte=least)

    def search(self, rows: QuerySet[CardRow], _: str, words: list[str]) -> QuerySet[CardRow]:
        span = self.span
        then = Q(ended_at=None) if span is None else span.during(_HELD)
        for word in words:
            held = AllocationRow.objects.filter(then, card__isnull=False).filter(
                Q(pod__icontains=word) | Q(namespace__icontains=word) | Q(owner_name__icontains=word)
            )
            own = Q(node_name__icontains=word) | Q(uuid__icontains=word) | Q(model__icontains=word)
            rows = rows.filter(own | Q(pk__in=held.values("card_id")))
        return rows


def _joined(cards: list[Any]) -> list[Any]:
    """Two queries more than the cards and their holders."""
    if cards and getattr(cards[0], "asked_to", None) is not None:
        return _of_then(cards)
    availability.cards_now(cards)
    return with_holders_usage(with_usage(cards))


def _of_then(cards: list[Any]) -> list[Any]:
    """Cards as they were asked for at a time: who held them then; what is not kept is not known. One query."""
    span = Span(getattr(cards[0], "asked_from", None), cards[0].asked_to)
    rows = querysets.holds_of_cards([card.pk for card in cards]).filter(span.during(_HELD))
    held: dict[int | None, list[AllocationRow]] = defaultdict(list)
    for one in rows.order_by("started_at", "id"):
        one.used = PodUsage(note=Note.PAST)  # type: ignore[attr-defined]
        held[one.card_id].append(one)
    for card in cards:
        card.holders = held[card.pk]
        card.allocations_count = len({one.pod_uid for one in card.holders})
        card.memory_allocated_bytes = card.memory_free_bytes = card.memory_unused_bytes = (
            card.memory_unavailable_bytes
        ) = None
        card.state, card.health, card.health_reports = CardState.UNKNOWN.value, Health.UNKNOWN.value, ""
        card.worst_severity, card.room, card.unavailable_reason, card.measured = "", "", "", NOT_COLLECTED
    return cards


CARDS = Resource(
    "cards",
    Card,
    CardFilter,
    lambda: querysets.with_holders(querysets.cards_ever()),
    join=_joined,
    beside={"health_line": "health_line", "holders": "holders_line"},
    as_csv={"allocations": ("holders",)},
    csv=(
        "cluster",
        "node",
        "index",
        "uuid",
        "model",
        "stack",
        "mode",
        "health",
        ("health_line", "health_reports"),
        "state",
        "unavailable_reason",
        "memory_total_bytes",
        "memory_physical_bytes",
        "memory_source",
        "memory_allocated_bytes",
        "memory_free_bytes",
        "memory_unavailable_bytes",
        "memory_used_bytes",
        "memory_unused_bytes",
        "utilization_ratio",
        "activity_ratio",
        "activity_measure",
        "temperature_celsius",
        "power_watts",
        "measured_at",
        "usage_source",
        "shares",
        "profile",
        "parent",
        "allocations_count",
        "worst_severity",
        "first_seen_at",
        "changed_at",
        "removed_at",
    ),
    table=(
        *("node", "model", "stack", "allocations", "memory_allocated_bytes", "memory_used_bytes"),
        *("activity_ratio", "health"),
    ),
    groups={"node": ("cluster_id", "node_name"), "model": ("known_model",)},
)
