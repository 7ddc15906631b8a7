"""Idle holds: what is held without work, the most memory and time first."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, ClassVar

from django.utils.translation import gettext_lazy as _

from inventory.charges.exact import amounts_of
from inventory.charges.idle import idle_costs, rounded
from inventory.charges.prices import Money
from inventory.idle.allocations import idle_now
from inventory.models import IdleAllocation as IdleRow
from inventory.models.idle import Confidence
from resources.cost import Cost, costs_told
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains


class Idle(Shape):
    """An idle allocation: its card shows no activity, so it is reclaimable."""

    allocation_id: Annotated[int, fact("ID of the allocation.")]
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", order=True, title=_("Location"))]
    card_id: Annotated[
        int | None, fact("null: card unidentified, no activity on any card of the node.", of="allocation.card_id")
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
        fact("Source that identifies the card.", of="allocation.evidence", title=_("Identified by")),
    ]
    started_at: Annotated[datetime, fact("Start of the allocation.", of="allocation.started_at", title=_("Since"))]
    idle_since: Annotated[
        datetime,
        fact("Start of the observed inactivity; it may be earlier.", order=True, title=_("Idle for"), term="idle"),
    ]
    confidence: Annotated[
        str,
        fact(
            "certain; likely: based on samples, short activity may be missed.",
            title=_("Confidence"),
            term="confidence",
        ),
    ]
    measure: Annotated[str, fact("Metric of the activity.")]
    memory_bytes: Annotated[
        int | None, fact("Reclaimable memory in bytes; null: not metered.", order=True, title=_("Memory"), number=True)
    ]
    memory_used_bytes: Annotated[
        int | None, fact("Used memory of the card in bytes, if it is not shared; null: unknown.", number=True)
    ]
    cards: Annotated[
        float | None,
        fact("Number of cards, or fraction of one; null: not metered, or a slice.", order=True, number=True),
    ]
    byte_seconds: Annotated[
        float | None,
        fact(
            "Bytes × seconds without activity so far.",
            order=True,
            title=_("Idle GiB h / card h"),
            number=True,
            term="so-far",
        ),
    ]
    card_seconds: Annotated[float | None, fact("Cards × seconds without activity so far.", order=True, number=True)]
    costs: Annotated[
        list[Cost],
        fact(
            "Cost of the idle time, by currency; currencies are never added.",
            by=costs_told,
            title=_("Cost"),
            number=True,
        ),
    ]
    cost_complete: Annotated[bool, fact("false: a part, or all, has no price.")]
    looked_at: Annotated[datetime, fact("Time of the evaluation.", of="written_at")]


class IdleFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    namespace = WordsFilter("namespace", label="namespace")
    pod = WordsFilter("allocation__pod", label="pod name")
    owner = WordsFilter("owner_name", label="owner name")
    model = WordsFilter("model", label="card model")
    confidence = ChoiceFilter(Confidence.values, "confidence", label="confidence")
    q = SearchFilter(
        method=contains("allocation__pod", "namespace", "owner_name", "node_name"),
        label="free search: pod, namespace, owner, node",
    )

    orders: ClassVar[dict[str, str]] = orders_of(Idle)
    default_order = ("-byte_seconds", "-card_seconds")

    class Meta(StrictFilterSet.Meta):
        model = IdleRow
        fields: ClassVar[list[str]] = []


def _with_costs(rows: list[Any]) -> list[Any]:
    found = idle_costs(rows)
    for place, row in enumerate(rows):
        money = Money() if found is None else found[place]
        row.priced, row.costs = found is not None, amounts_of(rounded(money))
        row.cost_complete = row.priced and not money.unknown
        row.cost = ", ".join(f"{one.amount} {one.currency}" for one in row.costs)
    return rows


IDLE = Resource(
    "idle",
    Idle,
    IdleFilter,
    idle_now,
    related=("allocation",),
    csv=tuple("cost" if name == "costs" else name for name in Idle.__struct_fields__),
    beside={"cost": "cost"},
    join=_with_costs,
    table=("pod", "namespace", "memory_bytes", "node", "idle_since", "byte_seconds"),
)


class IdleSum(Shape):
    """Idle allocations of one group, summed."""

    cluster: Annotated[str, fact(by=str)]
    namespace: Annotated[str | None, fact("Namespace of an owner or pod; null: the group belongs to no namespace.")]
    name: Annotated[str, fact('Name of the namespace, owner, pod, node or model; "": unknown.')]
    allocations: int
    certain: Annotated[int, fact("Idle allocations with confidence certain.")]
    cards: Annotated[float | None, fact("null: unknown for all of them.")]
    memory_bytes: Annotated[int | None, fact("Sum over metered allocations; null: none is metered.")]
    unmetered: Annotated[int, fact("Allocations not in memory_bytes: not metered.")]
    byte_seconds: Annotated[float | None, fact("Bytes × seconds without activity so far.")]
    card_seconds: Annotated[float | None, fact("Cards × seconds without activity so far.")]


class IdleSums(Shape):
    """Idle allocations, summed by group; the 200 largest groups."""

    by: str
    results: list[IdleSum]
