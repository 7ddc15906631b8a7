"""Namespaces, and owners in them: what each holds now, the most memory first."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from inventory.models import NamespaceHold
from inventory.models.charges import By
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ClusterNames, OneOfFilter, SearchFilter, WordsFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains


class Namespace(Shape):
    """What a namespace, or one owner in it, holds now in one cluster."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    by: Annotated[str, fact("namespace, or owner: what controls the pods, as their objects say.")]
    namespace: Annotated[str, fact(order=True, title=_("Namespace"))]
    owner_kind: str | None
    owner_name: Annotated[
        str | None, fact("null: of a whole namespace, or of pods that nothing controls.", order=("owner", "owner_name"))
    ]
    pods: Annotated[int, fact("Pods that hold.", order=True, title=_("Pods"), number=True)]
    holds: Annotated[int, fact("A container's hold on one card each.", number=True)]
    memory_bytes: Annotated[
        int,
        fact("Allocated, of the holds that are metered.", order=True, title=_("Holds"), number=True, term="allocated"),
    ]
    unmetered_holds: Annotated[
        int, fact("Holds whose memory nobody meters.", of="unmetered", title=_("Not metered"), number=True)
    ]
    memory_used_bytes: Annotated[
        int | None, fact("Measured on cards where nobody else is; null: on none, or of an owner.", number=True)
    ]
    cards: Annotated[
        float, fact("Whole cards, and parts of cards by memory or shares.", order=True, title=_("Cards"), number=True)
    ]
    cards_whole: Annotated[int, fact("Cards held in full.", title=_("Whole cards"), number=True)]
    shares: Annotated[int, fact("Holds on a part of a card.", number=True)]
    cards_shared: Annotated[float, fact("How many cards those parts are, where memory or shares say so.", number=True)]
    idle_bytes: Annotated[
        int | None,
        fact("Held without work; null: nobody looks.", order=True, title=_("Idle"), number=True, term="idle"),
    ]
    idle_cards: Annotated[float | None, fact("The same in cards.", order=True, number=True)]
    idle_since: Annotated[
        datetime | None, fact("Since when the longest of them shows no work.", order=True, title=_("No work seen for"))
    ]
    oldest_pod: Annotated[str, fact("The pod that holds longest.")]
    oldest_since: Annotated[datetime, fact(order=True, title=_("Longest holder"))]


class NamespaceFilter(StrictFilterSet):
    by = OneOfFilter(By.values, "by", default=By.NAMESPACE.value, label="what holds are put together by")
    cluster = ClusterNames(label="name of the cluster")
    namespace = WordsFilter("namespace", label="name of the namespace")
    owner = WordsFilter("owner_name", label="name of what owns the pods")
    q = SearchFilter(method=contains("namespace", "owner_name"), label="free search: namespace, owner")

    orders: ClassVar[dict[str, str]] = orders_of(Namespace)
    default_order = ("-memory_bytes", "-cards")

    class Meta(StrictFilterSet.Meta):
        model = NamespaceHold
        fields: ClassVar[list[str]] = []


def held_now() -> QuerySet[Any]:
    """As the last look has it."""
    return NamespaceHold.objects.select_related("cluster")


NAMESPACES = Resource(
    "namespaces",
    Namespace,
    NamespaceFilter,
    held_now,
    csv=tuple(name for name in Namespace.__struct_fields__ if name != "id"),
    table=("namespace", "memory_bytes", "cards", "idle_bytes", "oldest_since"),
)
