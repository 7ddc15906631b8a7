"""Changes of GPU nodes: cordons, readiness, driver, system, what they offer, labels."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from django.utils.translation import gettext_lazy as _

from inventory.models import NodeChange as ChangeRow
from inventory.queries import rows as querysets
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ClusterNames, WordsFilter
from resources.filter_sets import StrictFilterSet


class NodeChange(Shape):
    """One change of a node."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    node: Annotated[str, fact(of="node_name", title=_("Node"))]
    what: Annotated[
        str,
        fact(
            "cordoned, ready, driver, kernel, kubelet, os, runtime, boot (boot ID), offers RESOURCE (allocatable) or "
            "label NAME.",
        ),
    ]
    before: Annotated[
        str | None, fact("null: it was not there; of cordoned: not cordoned; of ready: ready.", title=_("Before"))
    ]
    after: Annotated[str | None, fact("Likewise.", title=_("After"))]
    changed_at: Annotated[datetime, fact("Time when gpudash saw the change.", of="at", order=True, title=_("Changed"))]


class NodeChangeFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    what = WordsFilter("what", label="what changed")

    orders: ClassVar[dict[str, str]] = orders_of(NodeChange)
    default_order = ("-changed_at",)

    class Meta(StrictFilterSet.Meta):
        model = ChangeRow
        fields: ClassVar[list[str]] = []


NODE_CHANGES = Resource(
    "node-changes",
    NodeChange,
    NodeChangeFilter,
    querysets.node_changes,
    csv=("cluster", "node", "what", "before", "after", "changed_at"),
)
