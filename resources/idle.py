"""Idle holds: what is held without work, the most memory and time first."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from django.utils.translation import gettext_lazy as _

from inventory.idle.holds import idle_now
from inventory.models import IdleHold as IdleRow
from inventory.models.idle import Sureness
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains


class Idle(Shape):
    """A hold on whose card no work was seen for a while: it could be taken back."""

    allocation_id: Annotated[int, fact("Number of the allocation in gpudash.")]
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("On"))]
    card_id: Annotated[
        int | None, fact("null: not known which card; nothing ran on any of its node.", of="allocation.card_id")
    ]
    card: Annotated[str | None, fact(of="allocation.card_key")]
    model: Annotated[str | None, fact(order=True, title=_("Model"))]
    namespace: Annotated[str, fact(order=True, title=_("Namespace"))]
    pod: Annotated[str, fact(of="allocation.pod", title=_("Pod"))]
    container: Annotated[str, fact(of="allocation.container")]
    owner_kind: Annotated[str | None, fact(of="allocation.owner_kind")]
    owner_name: Annotated[str | None, fact(order=("owner", "owner_name"), title=_("Owner"))]
    resource: Annotated[str, fact(of="allocation.resource", title=_("Resource"))]
    evidence: Annotated[
        str,
        fact("Where the card of this allocation is known from.", of="allocation.evidence", title=_("Card known by")),
    ]
    started_at: Annotated[datetime, fact("Since when it holds.", of="allocation.started_at", title=_("Since"))]
    idle_since: Annotated[
        datetime,
        fact("No work was seen from then on; it may be longer.", order=True, title=_("No work seen for"), term="idle"),
    ]
    sureness: Annotated[
        str,
        fact(
            "sure; likely: the sign is of moments, short work may have been missed.",
            title=_("How sure"),
            term="sureness",
        ),
    ]
    measure: Annotated[str, fact("The sign of work that was looked at.")]
    memory_bytes: Annotated[
        int | None, fact("What would be free again; null: not metered.", order=True, title=_("Memory"), number=True)
    ]
    memory_used_bytes: Annotated[
        int | None, fact("What is loaded on its card, where it is alone on it; null: not known.", number=True)
    ]
    cards: Annotated[
        float | None, fact("Cards, or the part of one; null: not metered, or a slice.", order=True, number=True)
    ]
    byte_seconds: Annotated[
        float | None,
        fact("Bytes × seconds without work so far.", order=True, title=_("So far"), number=True, term="so-far"),
    ]
    card_seconds: Annotated[float | None, fact("Cards × seconds without work so far.", order=True, number=True)]
    looked_at: Annotated[datetime, fact("When this was found.", of="written_at")]


class IdleFilter(StrictFilterSet):
    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    namespace = WordsFilter("namespace", label="namespace of the pod")
    pod = WordsFilter("allocation__pod", label="name of the pod")
    owner = WordsFilter("owner_name", label="name of what owns the pod")
    model = WordsFilter("model", label="card model")
    sureness = ChoiceFilter(Sureness.values, "sureness", label="how sure it is")
    q = SearchFilter(
        method=contains("allocation__pod", "namespace", "owner_name", "node_name"),
        label="free search: pod, namespace, owner, node",
    )

    orders: ClassVar[dict[str, str]] = orders_of(Idle)
    default_order = ("-byte_seconds", "-card_seconds")

    class Meta(StrictFilterSet.Meta):
        model = IdleRow
        fields: ClassVar[list[str]] = []


IDLE = Resource(
    "idle",
    Idle,
    IdleFilter,
    idle_now,
    related=("allocation",),
    csv=tuple(Idle.__struct_fields__),
    table=("pod", "namespace", "owner_name", "memory_bytes", "node", "idle_since", "byte_seconds"),
)
