"""The lists and details of the inventory under /api/v1/."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView, ListView, clean_name, listed
from api.frame.filtering import declared
from api.frame.problems import bad_fields, must_be
from inventory.idle.sums import By, sums
from inventory.mirror.anew import relist
from inventory.models import Cluster
from inventory.placement.pending.detail import detail_of
from inventory.queries import rows as querysets
from inventory.queries import totals
from resources import cluster as clusters
from resources import idle, node_detail, pod_detail
from resources.allocation import ALLOCATIONS
from resources.card import CARDS
from resources.cluster import CLUSTERS, ClusterFilter, RelistRequested, clusters_of
from resources.component import CHANGES, COMPONENTS
from resources.csv_export import cluster_names
from resources.declared import filled
from resources.finding import FINDINGS
from resources.idle import IDLE
from resources.namespace import NAMESPACES
from resources.node import NODES
from resources.node_change import NODE_CHANGES
from resources.pod import PODS
from validations import validity


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
        responses=idle.IdleSums,
        parameters=[
            OpenApiParameter("by", str, enum=[one.value for one in By], description="group by (default: namespace)"),
            *declared(IDLE.filterset),
        ],
    )
    def get(self, request: Request) -> Response:
        filters = request.query_params.copy()
        [chosen] = filters.pop("by", [""])[-1:]
        if chosen and chosen not in set(By):
            raise ValidationError({"by": [must_be(By)]})
        found = IDLE.filterset(filters, IDLE.rows())
        if not found.is_valid():
            raise bad_fields(found.errors)
        by = By(chosen or By.NAMESPACE)
        return Response(idle.IdleSums(by=by.value, results=[filled(idle.IdleSum, one) for one in sums(found.qs, by)]))


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


class PodDetail(ApiView):
    @extend_schema(
        summary="One pod; if pending, the closest nodes and the pods that would have to move",
        responses=pod_detail.PodDetail,
    )
    def get(self, request: Request, pod_id: int) -> Response:
        row = querysets.pods().filter(pk=pod_id).first()
        if row is None:
            raise NotFound(f"There is no pod {pod_id}. /api/v1/pods lists them.")
        [found] = PODS.join([row])
        detail = detail_of(found) if row.pending else None
        names = cluster_names()
        return Response(filled(pod_detail.PodDetail, found, names, closest=pod_detail.closest_of(detail)))


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


class NodeChanges(ListView):
    resource = NODE_CHANGES
    shareable = True

    @listed(NODE_CHANGES, "Changes of GPU nodes (cordon, readiness, driver, system, resources, labels), newest first")
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

    def fill(self, rows: list[Any]) -> list[Any]:
        return clusters_of(rows)

    @listed(CLUSTERS, "Clusters with sync state and totals")
    def get(self, request: Request) -> Any:
        return self.list(request)


class ClusterDetail(ApiView):
    @extend_schema(summary="One cluster", responses=CLUSTERS.shape)
    def get(self, request: Request, name: str) -> Response:
        return Response(clusters_of([_cluster(name)])[0])


class ClusterRelist(ApiView):
    @extend_schema(
        summary="Relist a cluster",
        description="Rereads all objects and recalculates all cards. Returns at once. Role operator.",
        request=None,
        responses={202: RelistRequested},
    )
    def post(self, request: Request, name: str) -> Response:
        row = _cluster(name)
        kinds = relist(row, request.user.get_username())
        return Response(RelistRequested(cluster=row.name, kinds=kinds), status=202)


class NodeDetail(ApiView):
    @extend_schema(
        summary="One node with its cards, allocations, findings and GPU software", responses=node_detail.NodeDetail
    )
    def get(self, request: Request, cluster: str, name: str) -> Response:
        row = querysets.node_row(clean_name(cluster, "cluster"), clean_name(name, "node"))
        if row is None:
            raise NotFound(
                f"Cluster {cluster!r} has no node {name!r} with a GPU. /api/v1/nodes?cluster={cluster} lists them."
            )
        names, own = cluster_names(), row.totals
        of_node = {"cluster_id": own.cluster_id, "node_name": own.node_name}
        cards = list(querysets.with_holders(querysets.cards_present().filter(**of_node)).order_by("index", "id"))
        validities = validity.of_cards([card.pk for card in cards])
        findings = querysets.findings_now().filter(**of_node).order_by("severity_rank", "-first_seen_at", "id")
        components = list(querysets.components_of_node(own.cluster_id, own.node_name))
        answer = filled(
            node_detail.NodeDetail,
            row,
            names,
            cards=CARDS.fill(cards, names),
            validations=[node_detail.validation_of(card, validities[card.pk]) for card in cards],
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
        responses=clusters.Summary,
        parameters=[OpenApiParameter("cluster", str, many=True, description="cluster names; default: all")],
    )
    def get(self, request: Request) -> Response:
        chosen = _chosen(request)
        pools = totals.totals_by_pool(chosen)
        overall = SimpleNamespace(
            totals=totals.added(pool.totals for pool in pools),
            clusters=totals.summaries(chosen, pools=pools),
            pools=pools,
        )
        return Response(filled(clusters.Summary, overall))


def _chosen(request: Request) -> list[Cluster]:
    filters = ClusterFilter(request.query_params, Cluster.objects.all())
    if not filters.is_valid():
        raise ValidationError({name: [str(text) for text in texts] for name, texts in filters.errors.items()})
    found = list(filters.ordered())
    missing = set(request.query_params.getlist("cluster")) - {row.name for row in found} - {""}
    if missing:
        raise ValidationError({"cluster": no_cluster(min(missing))})
    return found


def _cluster(name: str) -> Cluster:
    row = Cluster.objects.filter(name=clean_name(name, "cluster")).first()
    if row is None:
        raise NotFound(no_cluster(name))
    return row


def no_cluster(name: str) -> str:
    known = ", ".join(Cluster.objects.values_list("name", flat=True)[:50]) or "none yet"
    return f"There is no cluster {name[:64]!r}. There are: {known}."
