"""Pods that ask for a GPU, hold one, or are a plugin or operator component."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from inventory import querysets
from inventory.claimed import with_claims
from inventory.models import Pod as PodRow
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains


class ClaimRequest(Shape):
    """One request of a claim."""

    request: str
    device_class: str | None
    count: Annotated[int | None, fact("Devices; null: all that it admits.")]
    admin: Annotated[bool, fact("With admin access it holds nothing: the devices stay free for others.")]
    selectors: Annotated[list[str], fact("Conditions on devices (CEL), each cut to 300 characters.")]
    capacity: Annotated[dict[str, str], fact("What it takes of a device that several may have.")]
    alternative_to: Annotated[
        str | None, fact("Of several ways the first that can be had: the request that they are of.")
    ]


class Claim(Shape):
    """A ResourceClaim that a pod names."""

    name: Annotated[str, fact("What the pod calls it.")]
    claim: Annotated[str | None, fact("Name of the ResourceClaim; null: none has been made from the template yet.")]
    template: str | None
    state: Annotated[
        str,
        fact(
            "allocated: it has its devices. waiting: nothing was given to it. not-made: it has not been made from its template. "
            "not-seen: no claim of this name is mirrored. deleting: it is being deleted."
        ),
    ]
    node: Annotated[str | None, fact("Where its devices are.")]
    requests: Annotated[list[ClaimRequest] | None, fact("What it asks for; null: not known.")]


class Pod(Shape):
    """A pod that asks for a GPU, holds one, or is a plugin or operator component."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    uid: str
    namespace: Annotated[str, fact(order=True, title=_("Namespace"))]
    name: Annotated[str, fact(order=("pod", "name"), title=_("Pod"))]
    node: Annotated[str | None, fact(of="node_name", order=True)]
    phase: Annotated[str | None, fact(order=True, title=_("Phase"))]
    owner_kind: Annotated[str | None, fact(title=_("Kind of owner"))]
    owner_name: Annotated[str | None, fact(order=("owner", "owner_name"), title=_("Owner"))]
    component: str | None
    requests: Annotated[dict[str, int], fact("Effective GPU request, by resource name.", title=_("Asks for"))]
    claims: Annotated[
        list[Claim], fact("Claims of dynamic resource allocation that it names: what they ask for.", of="claimed")
    ]
    waiting: Annotated[bool, fact("Not bound to a node and not ended: demand, not allocation.")]
    waiting_reason: Annotated[str | None, fact(title=_("Why it waits"))]
    waiting_message: Annotated[str | None, fact(title=_("The scheduler's words"))]
    created_at: Annotated[datetime | None, fact(order=True, title=_("Waits for"))]
    terminating_since: datetime | None


class PodFilter(StrictFilterSet):
    cluster = ClusterNames(label="name of the cluster")
    node = WordsFilter("node_name", label="name of the node")
    namespace = WordsFilter("namespace", label="namespace")
    pod = WordsFilter("name", label="name of the pod")
    owner = WordsFilter("owner_name", label="name of what owns the pod")
    phase = ChoiceFilter(("Pending", "Running", "Succeeded", "Failed", "Unknown"), "phase", label="phase")
    component = WordsFilter("component", label="plugin or operator component")
    resource = WordsFilter(method="on_resource", label="resource that the pod asks for")
    waiting = ChoiceFilter(("true", "false"), method="on_waiting", label="not bound to a node and not ended")
    reason = WordsFilter("waiting_reason", label="why it waits")
    terminating = YesNoFilter("terminating_since", method="on_terminating", label="being deleted")
    q = SearchFilter(
        method=contains("name", "namespace", "owner_name", "node_name"),
        label="free search: pod, namespace, owner, node",
    )

    orders: ClassVar[dict[str, str]] = orders_of(Pod)
    default_order = ("cluster", "namespace", "pod")

    class Meta(StrictFilterSet.Meta):
        model = PodRow
        fields: ClassVar[list[str]] = []

    def on_resource(self, rows: QuerySet[PodRow], _: str, names: list[str]) -> QuerySet[PodRow]:
        return rows.filter(requests__has_any_keys=names)

    def on_waiting(self, rows: QuerySet[PodRow], _: str, values: list[str]) -> QuerySet[PodRow]:
        return rows.filter(waiting__in=[value == "true" for value in values])

    def on_terminating(self, rows: QuerySet[PodRow], field: str, value: str) -> QuerySet[PodRow]:
        return rows if value == "any" else rows.filter(**{f"{field}__isnull": value == "false"})


PODS = Resource(
    "pods",
    Pod,
    PodFilter,
    querysets.pods,
    join=with_claims,
    beside={"asked_claims": "claimed"},
    csv=(
        "cluster",
        "namespace",
        "name",
        "node",
        "phase",
        "owner_kind",
        "owner_name",
        "component",
        "requests",
        ("asked_claims", "claims"),
        "waiting",
        "waiting_reason",
        "waiting_message",
        "created_at",
        "terminating_since",
    ),
    table=("name", "namespace", "owner_name", "requests", "waiting_reason", "created_at"),
)
