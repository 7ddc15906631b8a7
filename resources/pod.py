"""Pods that ask for a GPU, hold one, or are a plugin or operator component."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, ClassVar

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from inventory.models import Pod as PodRow
from inventory.placement.pending.decided import with_deciding
from inventory.queries import rows as querysets
from resources.declared import Resource, Shape, fact, orders_of
from resources.filter_fields import ChoiceFilter, ClusterNames, SearchFilter, WordsFilter, YesNoFilter
from resources.filter_sets import StrictFilterSet
from resources.lookups import contains


class ClaimRequest(Shape):
    """One request of a claim."""

    request: str
    device_class: str | None
    count: Annotated[int | None, fact("Number of devices; null: all matching devices.")]
    admin: Annotated[bool, fact("true: admin access, the devices stay free for others.")]
    selectors: Annotated[list[str], fact("CEL selectors, each cut to 300 characters.")]
    capacity: Annotated[dict[str, str], fact("Requested capacity of a shared device.")]
    alternative_to: Annotated[str | None, fact("Parent request of alternatives; the first available one is used.")]


class PodClaim(Shape):
    """A ResourceClaim of a pod."""

    name: Annotated[str, fact("Name in the pod.")]
    claim: Annotated[str | None, fact("Name of the ResourceClaim; null: not created from the template yet.")]
    template: str | None
    state: Annotated[
        str,
        fact(
            "allocated: devices allocated. pending: no devices yet. not-made: not created from its template yet. "
            "not-seen: no such claim in the synced data. deleting: being deleted."
        ),
    ]
    node: Annotated[str | None, fact("Location of its devices.")]
    requests: Annotated[list[ClaimRequest] | None, fact("Requests of the claim; null: unknown.")]


class Pod(Shape):
    """A pod with a GPU request or allocation, or a plugin or operator component."""

    id: int
    cluster: Annotated[str, fact(order="cluster_id", title=_("Cluster"))]
    uid: str
    namespace: Annotated[str, fact(order=True, title=_("Namespace"))]
    name: Annotated[str, fact(order=("pod", "name"), title=_("Pod"))]
    node: Annotated[str | None, fact(of="node_name", order=True)]
    phase: Annotated[str | None, fact(order=True, title=_("Phase"))]
    owner_kind: Annotated[str | None, fact(title=_("Owner kind"))]
    owner_name: Annotated[str | None, fact(order=("owner", "owner_name"), title=_("Owner"))]
    component: str | None
    requests: Annotated[dict[str, int], fact("Effective GPU request, by resource name.", title=_("Requests"))]
    claims: Annotated[list[PodClaim], fact("ResourceClaims of the pod and their requests.", of="claimed")]
    pending: Annotated[bool, fact("true: pending, not bound to a node and not ended.")]
    deciding_code: Annotated[str | None, fact("Kind of the deciding reason; null: not pending.", of="deciding.code")]
    deciding_reason: Annotated[
        str | None,
        fact("The deciding reason why the pod is pending, in one line.", of="deciding.text", title=_("Reason")),
    ]
    pending_reason: Annotated[str | None, fact("As the scheduler names it.", title=_("Condition"))]
    pending_message: Annotated[str | None, fact(title=_("Scheduler message"))]
    created_at: Annotated[datetime | None, fact(order=True, title=_("Pending for"))]
    terminating_since: datetime | None


class PodFilter(StrictFilterSet):
    cluster = ClusterNames(label="cluster name")
    node = WordsFilter("node_name", label="node name")
    namespace = WordsFilter("namespace", label="namespace")
    pod = WordsFilter("name", label="pod name")
    owner = WordsFilter("owner_name", label="owner name")
    phase = ChoiceFilter(("Pending", "Running", "Succeeded", "Failed", "Unknown"), "phase", label="phase")
    component = WordsFilter("component", label="plugin or operator component")
    resource = WordsFilter(method="on_resource", label="requested resource")
    pending = ChoiceFilter(("true", "false"), method="on_pending", label="pending: not bound to a node and not ended")
    reason = WordsFilter("pending_reason", label="reason why the pod is pending")
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

    def on_pending(self, rows: QuerySet[PodRow], _: str, values: list[str]) -> QuerySet[PodRow]:
        return rows.filter(pending__in=[value == "true" for value in values])

    def on_terminating(self, rows: QuerySet[PodRow], field: str, value: str) -> QuerySet[PodRow]:
        return rows if value == "any" else rows.filter(**{f"{field}__isnull": value == "false"})


PODS = Resource(
    "pods",
    Pod,
    PodFilter,
    querysets.pods,
    join=with_deciding,
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
        "pending",
        "deciding_code",
        "deciding_reason",
        "pending_reason",
        "pending_message",
        "created_at",
        "terminating_since",
    ),
    table=("name", "namespace", "requests", "deciding_reason", "created_at"),
)
