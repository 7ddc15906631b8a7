"""Cards, with who holds them now."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import DateTimeField, Q, QuerySet, Value
from django.utils.translation import gettext_lazy as _

from inventory import kept_off, querysets
from inventory.measured import NOT_COLLECTED, unused_bytes, with_usage
from inventory.models import Allocation as AllocationRow
from inventory.models import Card as CardRow
from inventory.models.choices import CardState, Health, KeptOff, Mode, Severity
from inventory.pod_usage import Note, PodUsage, with_holders_usage
from resources.allocation import Allocation
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import BytesFilter, ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.health import HealthTold
from resources.lookups import tri_state
from resources.moments import Columns, Span
from resources.room import Room


class Card(Shape):
    """One GPU with who holds it now."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("Card"))]
    key: Annotated[str, fact("Stable within the node: the UUID, else the index.")]
    index: Annotated[int | None, fact("The scheduler's index; not always that of nvidia-smi.", order=True)]
    uuid: Annotated[str | None, fact(title=_("UUID"))]
    model: Annotated[str | None, fact(order=True, title=_("Model"))]
    model_source: str | None
    stack: Annotated[str, fact(title=_("Sharing system"))]
    mode: Annotated[str, fact(title=_("Mode"))]
    health: Annotated[
        str,
        fact(
            "healthy, degraded, unhealthy, or unknown: nobody says anything of it. The worst of health_told.",
            title=_("Health"),
            term="health",
        ),
    ]
    health_told: Annotated[list[HealthTold], fact("Who says so, the worst first.", of="found_health")]
    state: Annotated[str, fact(f"One of {', '.join(CardState.values)}.", order=True, title=_("State"))]
    kept_off: Annotated[
        str | None,
        fact(
            f"Why no pod is given anything of it now: {', '.join(KeptOff.values)}; null: pods are. Such a card is not free: apart."
        ),
    ]
    memory_total_bytes: Annotated[
        int | None,
        fact(
            "What the sharing system gives out; null: unknown.",
            order=True,
            title=_("Capacity, GiB"),
            number=True,
            term="capacity",
        ),
    ]
    memory_physical_bytes: Annotated[
        int | None, fact("What the card has; null: unknown.", title=_("Physical memory, GiB"), number=True)
    ]
    memory_source: Annotated[str | None, fact("Where the memory is known from.", title=_("Memory known from"))]
    memory_allocated_bytes: Annotated[
        int | None,
        fact(
            "Bytes; null: unknown or not metered.", order=True, title=_("Allocated, GiB"), number=True, term="allocated"
        ),
    ]
    memory_free_bytes: Annotated[
        int | None,
        fact("Bytes; null: unknown or not metered.", order=True, title=_("Free, GiB"), number=True, term="free"),
    ]
    memory_apart_bytes: Annotated[
        int | None, fact("What would be free, were it not kept off; null: nothing, unknown or not metered.")
    ]
    shares: Annotated[int | None, fact("Holders that the sharing system admits; null: it does not count.")]
    profile: Annotated[
        str | None, fact("Of a slice, what kind it is: 1g.5gb. null: a whole card.", order=True, title=_("Profile"))
    ]
    parent: Annotated[str | None, fact("Of a slice, the card that it is a part of; null: not known, or a whole card.")]
    room: Annotated[
        Room | None,
        fact("What would still fit on it, or on the cards of its node that are cut; null: not cut.", of="found_room"),
    ]
    holders_count: Annotated[int, fact("Containers that hold it now.", order=True, title=_("Pods"), number=True)]
    worst_severity: str | None
    first_seen_at: Annotated[datetime, fact(title=_("First seen"))]
    changed_at: Annotated[datetime, fact("When these figures last changed.", order=True, title=_("Changed"))]
    gone_at: datetime | None
    memory_used_bytes: Annotated[
        int | None,
        fact(
            "Measured by an exporter; null: not collected, never 0.",
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
            "Allocated and not used; negative: more is used than is allocated. null: either is not known, or not metered.",
            order=("memory_unused_bytes", "unused_bytes"),
            title=_("Unused, GiB"),
            term="unused",
            number=True,
        ),
    ]
    utilization_ratio: Annotated[
        float | None,
        fact(
            "Share of time in which anything ran, 0 to 1; null: not collected.",
            of="measured.utilization_ratio",
            order="usage__utilization_ratio",
            title=_("Utilization"),
            number=True,
        ),
    ]
    activity_ratio: Annotated[
        float | None,
        fact(
            "The best sign of work that the exporter has, 0 to 1; null: not collected.",
            of="measured.activity_ratio",
            order="usage__activity_ratio",
            title=_("Work"),
            number=True,
        ),
    ]
    activity_measure: Annotated[
        str | None,
        fact("By which measure work is seen: graphics_active, sm_active, utilization.", of="measured.activity_measure"),
    ]
    temperature_celsius: Annotated[
        float | None,
        fact(
            "Of the chip; null: not collected.",
            of="measured.temperature_celsius",
            title=_("Temperature, °C"),
            number=True,
        ),
    ]
    power_watts: Annotated[
        float | None, fact("null: not collected.", of="measured.power_watts", title=_("Power, W"), number=True)
    ]
    measured_at: Annotated[
        datetime | None, fact("When the exporter measured it.", of="measured.measured_at", title=_("Measured"))
    ]
    usage_source: Annotated[
        str | None, fact("The exporter and its version; null: no exporter names the card.", of="measured.usage_source")
    ]
    allocations: Annotated[list[Allocation], fact(of="holders", title=_("Used by"))]


#: What is kept of cards for now alone: who held them is kept, how full, how well and how busy they were is not.
OF_NOW = frozenset(
    (
        *(
            "state",
            "kept_off",
            "health",
            "severity",
            "min_free_bytes",
            "min_used_bytes",
            "min_unused_bytes",
            "holders_count",
        ),
        *("memory_allocated_bytes", "memory_free_bytes", "memory_used_bytes", "memory_unused_bytes", "changed_at"),
        *("utilization_ratio", "activity_ratio"),
    )
)
_HELD = Columns("started_at", "ended_at")


class CardFilter(StrictFilterSet):
    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    card = WordsFilter("key", label="key of the card: its UUID, else its index")
    uuid = WordsFilter("uuid", label="UUID of the card")
    stack = WordsFilter("stack", label="sharing system")
    model = WordsFilter("model", label="card model")
    state = ChoiceFilter(CardState.values, "state", method="on_state", label="how full the card is")
    kept_off = ChoiceFilter(KeptOff.values, "kept_off", method="on_kept_off", label="why no pod is given it")
    health = ChoiceFilter(Health.values, "health", label="health, by all that say something of it")
    profile = WordsFilter("profile", label="profile of a slice, such as 1g.5gb")
    mode = ChoiceFilter(Mode.values, "mode", label="how the card is given out")
    severity = ChoiceFilter(Severity.values, "worst_severity", label="worst finding of the card")
    min_free_bytes = BytesFilter("memory_free_bytes", method="on_room", label="memory free on the card, at least")
    min_used_bytes = BytesFilter(
        "usage__memory_used_bytes", lookup_expr="gte", label="memory measured in use, at least"
    )
    min_unused_bytes = BytesFilter(
        "memory_allocated_bytes", method="on_unused", label="allocated and not used, at least"
    )
    gone = YesNoFilter("gone_at", method=tri_state, default="false", label="cards that their node had before")
    q = SearchFilter(method="search", label="free search: node, UUID, model, and holders' pod, namespace, owner")

    period = Columns("first_seen_at", "gone_at")
    whether_over = "gone"
    of_now = OF_NOW
    orders: ClassVar[dict[str, str]] = orders_of(Card)
    computed: ClassVar[dict[str, Any]] = {"unused_bytes": unused_bytes()}
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
        return rows.filter(kept_off.in_states(states))

    def on_kept_off(self, rows: QuerySet[CardRow], _: str, reasons: list[str]) -> QuerySet[CardRow]:
        return rows.filter(kept_off.kept_off_by(reasons))

    def on_room(self, rows: QuerySet[CardRow], column: str, least: int) -> QuerySet[CardRow]:
        return rows.filter(kept_off.with_room(column, least))

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
    kept_off.cards_now(cards)
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
        card.holders_count = len({one.pod_uid for one in card.holders})
        card.memory_allocated_bytes = card.memory_free_bytes = card.memory_unused_bytes = card.memory_apart_bytes = None
        card.state, card.health, card.health_told = CardState.UNKNOWN.value, Health.UNKNOWN.value, ""
        card.worst_severity, card.room, card.kept_off, card.measured = "", "", "", NOT_COLLECTED
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
        ("health_line", "health_told"),
        "state",
        "kept_off",
        "memory_total_bytes",
        "memory_physical_bytes",
        "memory_source",
        "memory_allocated_bytes",
        "memory_free_bytes",
        "memory_apart_bytes",
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
        "holders_count",
        "worst_severity",
        "first_seen_at",
        "changed_at",
        "gone_at",
    ),
    table=(
        "node",
        "model",
        "allocations",
        "memory_allocated_bytes",
        "memory_total_bytes",
        "memory_free_bytes",
        "memory_used_bytes",
        "memory_unused_bytes",
        "holders_count",
        "health",
        "changed_at",
    ),
)
