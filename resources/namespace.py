"""Namespaces, and owners in them: what each holds now, the most memory first."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from inventory.models import NamespaceAllocation
from inventory.models.charges import By
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ClusterNames, OneOfFilter, SearchFilter, WordsFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains


class Namespace(Shape):
    """Current allocations of a namespace, or of one owner in it, in one cluster."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    by: Annotated[str, fact("namespace, or owner: the controller of the pods.")]
    namespace: Annotated[str, fact(order=True, title=_("Namespace"))]
    owner_kind: str | None
    owner_name: Annotated[
        str | None, fact("null: a whole namespace, or pods without a controller.", order=("owner", "owner_name"))
    ]
    pods: Annotated[int, fact("Number of pods with an allocation.", order=True, title=_("Pods"), number=True)]
    allocations: Annotated[int, fact("Number of allocations: one per container and card.", number=True)]
    memory_bytes: Annotated[
        int,
        fact(
            "Allocated memory in bytes, metered allocations only.",
            order=True,
            title=_("Allocated"),
            number=True,
            term="allocated",
        ),
    ]
    unmetered_allocations: Annotated[
        int, fact("Number of allocations without metered memory.", of="unmetered", title=_("Not metered"), number=True)
    ]
    memory_used_bytes: Annotated[
        int | None, fact("Used memory in bytes on cards not shared with others; null: none, or an owner.", number=True)
    ]
    cards: Annotated[
        float, fact("Cards: whole cards and fractions by memory or shares.", order=True, title=_("Cards"), number=True)
    ]
    cards_whole: Annotated[int, fact("Number of whole cards.", title=_("Whole cards"), number=True)]
    shares: Annotated[int, fact("Number of allocations of a part of a card.", number=True)]
    cards_shared: Annotated[float, fact("Sum of these parts, in cards.", number=True)]
    idle_bytes: Annotated[
        int | None,
        fact("Idle memory in bytes; null: not collected.", order=True, title=_("Idle"), number=True, term="idle"),
    ]
    idle_cards: Annotated[float | None, fact("Idle cards; null: not collected.", order=True, number=True)]
    idle_since: Annotated[datetime | None, fact("Start of the longest inactivity.", order=True, title=_("Idle for"))]
    idle_week_byte_seconds: Annotated[
        float | None,
        fact(
            "Bytes × seconds of idle memory in the last 7 days (UTC, with today); null: not collected, or an owner.",
            order=True,
            title=_("Idle, 7 d"),
            number=True,
            term="idle",
        ),
    ]
    unused_week_byte_seconds: Annotated[
        float | None,
        fact(
            "The same of allocated minus used memory, on measured cards without other namespaces.",
            order=True,
            title=_("Unused, 7 d"),
            number=True,
            term="unused",
        ),
    ]
    oldest_pod: Annotated[str, fact("Pod with the oldest allocation.")]
    oldest_since: Annotated[datetime, fact(order=True, title=_("Oldest allocation"), number=True)]


class NamespaceFilter(StrictFilterSet):
    by = OneOfFilter(By.values, "by", default=By.NAMESPACE.value, label="grouping")
    cluster = ClusterNames(label="cluster name")
    namespace = WordsFilter("namespace", label="namespace")
    owner = WordsFilter("owner_name", label="owner name")
    q = SearchFilter(method=contains("namespace", "owner_name"), label="free search: namespace, owner")

    orders: ClassVar[dict[str, str]] = orders_of(Namespace)
    default_order = ("-memory_bytes", "-cards")

    class Meta(StrictFilterSet.Meta):
        model = NamespaceAllocation
        fields: ClassVar[list[str]] = []


def held_now() -> QuerySet[Any]:
    """As of the last evaluation."""
    return NamespaceAllocation.objects.select_related("cluster")


NAMESPACES = Resource(
    "namespaces",
    Namespace,
    NamespaceFilter,
    held_now,
    csv=tuple(name for name in Namespace.__struct_fields__ if name != "id"),
    table=(
        *("namespace", "memory_bytes", "cards", "idle_bytes"),
        *("idle_week_byte_seconds", "unused_week_byte_seconds", "oldest_since"),
    ),
)
