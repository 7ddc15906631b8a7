"""The lists and details of the inventory under /api/v1/."""

from __future__ import annotations

from typing import Any

import msgspec
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView, ListView, clean_name, listed
from api.frame.problems import bad_fields
from api.inventory import fill, shapes
from inventory.idle.sums import By, sums
from inventory.mirror.anew import relist
from inventory.models import Cluster
from inventory.queries import rows as querysets
from inventory.queries import totals
from resources.allocation import ALLOCATIONS
from resources.card import CARDS
from resources.cluster import CLUSTERS, ClusterFilter
from resources.cluster import Cluster as ClusterShape
from resources.component import CHANGES, COMPONENTS
from resources.csv_export import cluster_names
from resources.finding import FINDINGS
from resources.idle import IDLE
from resources.namespace import NAMESPACES
from resources.node import NODES
from resources.pod import PODS


class Nodes(ListView):
    resource = NODES
    shareable = True

    @listed(NODES, "Nodes with a GPU and their totals")
    def get(self, request: Request) -> Any:
        return self.list(request)


class Cards(ListView):
    resource = CARDS
    shareable = True

    @listed(CARDS, "Cards with their current allocations")
    def get(self, request: Request) -> Any:
        return self.list(request)


class Allocations(ListView):
    resource = ALLOCATIONS
    shareable = True

    @listed(ALLOCATIONS, "Allocations: active, or ended with ended=true")
    def get(self, request: Request) -> Any:
        return self.list(request)


class Idle(ListView):
    resource = IDLE
    shareable = True

    @listed(IDLE, "Idle allocations, largest memory × time first")
    def get(self, request: Request) -> Any:
        return self.list(request)


class IdleSums(ApiView):
    """Sums over the same filters as the list has."""

    @extend_schema(
        summary="Idle allocations, summed by group",
        description="Filters as in /api/v1/idle. Largest memory × time first, at most 200 groups.",
        responses=shapes.IdleSums,
        parameters=[
            OpenApiParameter("by", str, enum=[one.value for one in By], description="group by (default: namespace)")
        ],
    )
    def get(self, request: Request) -> Response:
        filters = request.query_params.copy()
        [chosen] = filters.pop("by", [""])[-1:]
        if chosen and chosen not in set(By):
            raise ValidationError({"by": [f"One of {', '.join(By)} is wanted."]})
        found = IDLE.filterset(filters, IDLE.rows())
        if not found.is_valid():
            raise bad_fields(found.errors)
        by = By(chosen or By.NAMESPACE)
        return Response(shapes.IdleSums(by=by.value, results=[fill.idle_sum(one) for one in sums(found.qs, by)]))


class Namespaces(ListView):
    resource = NAMESPACES

    @listed(NAMESPACES, "Current allocations by namespace, or by owner (by=owner), most memory first")
    def get(self, request: Request) -> Any:
        return self.list(request)


class Pods(ListView):
    resource = PODS
    shareable = True

    @listed(PODS, "Pods with a GPU request or allocation; pending=true: pods without a node")
    def get(self, request: Request) -> Any:
        return self.list(request)


class Findings(ListView):
    resource = FINDINGS
    shareable = True

    @listed(FINDINGS, "Findings, most severe first")
    def get(self, request: Request) -> Any:
        return self.list(request)


class Components(ListView):
    resource = COMPONENTS
    shareable = True

    @listed(COMPONENTS, "GPU software components of nodes and clusters")
    def get(self, request: Request) -> Any:
        return self.list(request)


class ComponentChanges(ListView):
    resource = CHANGES
    shareable = True

    @listed(CHANGES, "Changes of GPU software (state, version, step), newest first")
    def get(self, request: Request) -> Any:
        return self.list(request)


class ComponentDetail(ApiView):
    @extend_schema(summary="One component", responses=COMPONENTS.shape)
    def get(self, request: Request, component_id: int) -> Response:
        row = querysets.components().filter(pk=component_id).first()
        if row is None:
            raise NotFound(f"There is no component {component_id}. /api/v1/components lists them.")
        return Response(COMPONENTS.fill([row], cluster_names())[0])


class Clusters(ListView):
    """Made of totals: each cluster is several queries' sums, not a row."""

    resource = CLUSTERS

    def fill(self, rows: list[Any]) -> list[ClusterShape]:
        made = {value.cluster.pk: fill.cluster(value) for value in totals.summaries(rows)}
        return [made[row.pk] for row in rows]

    @listed(CLUSTERS, "Clusters with sync state and totals")
    def get(self, request: Request) -> Any:
        return self.list(request)


class ClusterDetail(ApiView):
    @extend_schema(summary="One cluster", responses=CLUSTERS.shape)
    def get(self, request: Request, name: str) -> Response:
        return Response(fill.cluster(totals.summaries([_cluster(name)])[0]))


class ClusterRelist(ApiView):
    @extend_schema(
        summary="Relist a cluster",
        description="Rereads all objects and recalculates all cards. Returns at once. Role operator.",
        request=None,
        responses={202: shapes.RelistRequested},
    )
    def post(self, request: Request, name: str) -> Response:
        row = _cluster(name)
        kinds = relist(row, request.user.get_username())
        return Response(shapes.RelistRequested(cluster=row.name, kinds=kinds), status=202)


class NodeDetail(ApiView):
    @extend_schema(
        summary="One node with its cards, allocations, findings and GPU software", responses=shapes.NodeDetail
    )
    def get(self, request: Request, cluster: str, name: str) -> Response:
        row = querysets.node_row(clean_name(cluster, "cluster"), clean_name(name, "node"))
        if row is None:
            raise NotFound(
                f"Cluster {cluster!r} has no node {name!r} with a GPU. /api/v1/nodes?cluster={cluster} lists them."
            )
        names, own = cluster_names(), row.totals
        of_node = {"cluster_id": own.cluster_id, "node_name": own.node_name}
        cards = querysets.with_holders(querysets.cards_present().filter(**of_node)).order_by("index", "id")
        findings = querysets.findings_now().filter(**of_node).order_by("severity_rank", "-first_seen_at", "id")
        components = list(querysets.components_of_node(own.cluster_id, own.node_name))
        answer = shapes.NodeDetail(
            **msgspec.structs.asdict(NODES.read(row, names)),
            cards=CARDS.fill(cards, names),
            unplaced=ALLOCATIONS.fill(querysets.unplaced(own.cluster_id, own.node_name), names),
            findings=FINDINGS.fill(findings, names),
            components=COMPONENTS.fill(components, names),
            first_cause=next((one.name for one in components if one.first_cause), None),
        )
        return Response(answer)


class CardDetail(ApiView):
    @extend_schema(summary="One card with its current allocations, also a removed card", responses=CARDS.shape)
    def get(self, request: Request, card_id: int) -> Response:
        row = querysets.with_holders(querysets.cards_ever()).filter(pk=card_id).first()
        if row is None:
            raise NotFound(f"There is no card {card_id}. /api/v1/cards lists them.")
        return Response(CARDS.fill([row], cluster_names())[0])


class Summary(ApiView):
    @extend_schema(
        summary="Sums over all clusters",
        responses=shapes.Summary,
        parameters=[OpenApiParameter("cluster", str, many=True, description="cluster names; default: all")],
    )
    def get(self, request: Request) -> Response:
        chosen = _chosen(request)
        pools = totals.totals_by_pool(chosen)
        answer = shapes.Summary(
            totals=fill.totals(totals.added(pool.totals for pool in pools)),
            clusters=[fill.cluster(value) for value in totals.summaries(chosen, pools=pools)],
            pools=[fill.pool(value) for value in pools],
        )
        return Response(answer)


def _chosen(request: Request) -> list[Cluster]:
    filters = ClusterFilter(request.query_params, Cluster.objects.all())
    if not filters.is_valid():
        raise ValidationError({name: [str(text) for text in texts] for name, texts in filters.errors.items()})
    found = list(filters.ordered())
    missing = set(request.query_params.getlist("cluster")) - {row.name for row in found} - {""}
    if missing:
        raise ValidationError({"cluster": _no_cluster(min(missing))})
    return found


def _cluster(name: str) -> Cluster:
    row = Cluster.objects.filter(name=clean_name(name, "cluster")).first()
    if row is None:
        raise NotFound(_no_cluster(name))
    return row


def _no_cluster(name: str) -> str:
    known = ", ".join(Cluster.objects.values_list("name", flat=True)[:50]) or "none yet"
    return f"There is no cluster {name[:64]!r}. There are: {known}."
