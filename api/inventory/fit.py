"""Where a pod that asks for cards would go now, and why not elsewhere."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView
from api.frame.problems import bad_fields, only_known
from inventory.placement.finder.finder import find
from inventory.placement.finder.request import NAMES, WAYS, BadRequest, read
from inventory.placement.moves.read import planned
from resources import fit, moves

LIMIT, MOST = 20, 10_000


#: The request, as the page and the command take it.
_REQUEST = [
    OpenApiParameter("cards", int, description="cards on one node, for one container (default: 1)"),
    OpenApiParameter(
        "memory",
        str,
        description="memory of each card: 20, 20 GiB, 20Gi or 20000 MiB. A plain number is GiB, unlike "
        "in filters; `request.memory_bytes` returns the value. Default: any memory.",
    ),
    OpenApiParameter("cpu", str, description="CPU of the node for the same container: 8, 0.5 or 500m. Default: any"),
    OpenApiParameter(
        "host_memory", str, description="memory of the node for the same container, as `memory`. Default: any"
    ),
    OpenApiParameter(
        "stack", str, many=True, enum=list(WAYS), description="allocation mode of the request; default: any"
    ),
    OpenApiParameter("model", str, many=True, description="part of the card model name"),
    OpenApiParameter("tolerate", str, many=True, description="key, key=value or key=value:Effect; * for all taints"),
    OpenApiParameter("selector", str, many=True, description="label of the node: key=value"),
    OpenApiParameter("cluster", str, many=True, description="cluster names; default: all"),
]


class Fit(ApiView):
    @extend_schema(
        summary="Find capacity: nodes that fit a pod now, and reasons for the others",
        description="Nodes that fit such a pod now, by the placement rule of their stack. Other nodes are "
        "counted by reason. Cordoned nodes, nodes that are not ready and nodes with unknown free "
        "memory never fit. A repeated parameter matches any of its values; for `tolerate` and "
        "`selector` all values apply.",
        responses=fit.Fit,
        parameters=[
            *_REQUEST,
            OpenApiParameter("limit", int, description=f"nodes in each list, at most {MOST} ({LIMIT})"),
        ],
    )
    def get(self, request: Request) -> Response:
        given = _given(request, "limit")
        limit = _limit(given.pop("limit", []))
        try:
            return Response(fit.fit_of(find(read(given)), limit))
        except BadRequest as error:
            raise bad_fields(error.errors) from None


class Moves(ApiView):
    @extend_schema(
        summary="The cheapest pods to move for a request to fit on one node",
        description="The pods whose move costs least, and nodes of their pool where they fit by the placement rule "
        "of their stack. gpudash moves nothing. Pods of namespaces that you may not see are counted, not named.",
        responses=moves.MovePlan,
        parameters=[
            *_REQUEST,
            OpenApiParameter("whole_node", bool, description="free the node of all pods with cards; default: false"),
        ],
    )
    def get(self, request: Request) -> Response:
        given = _given(request, "whole_node")
        whole_node = _flag(given.pop("whole_node", []))
        try:
            found, looked = planned(read(given), whole_node=whole_node)
        except BadRequest as error:
            raise bad_fields(error.errors) from None
        return Response(moves.moves_of(found, looked.names, whole_node))


def _given(request: Request, also: str) -> dict[str, list[str]]:
    only_known(request, (*NAMES, also))
    return {name: values for name, values in request.query_params.lists() if name != "format"}


def _flag(texts: list[str]) -> bool:
    if texts and texts[-1] not in ("true", "false"):
        raise bad_fields({"whole_node": ["Must be true or false."]})
    return texts[-1:] == ["true"]


def _limit(texts: list[str]) -> int:
    text = texts[-1] if texts else str(LIMIT)
    if text.isascii() and text.isdigit() and len(text) < 6 and int(text) <= MOST:
        return int(text)
    raise bad_fields({"limit": [f"Must be an integer from 0 to {MOST}."]})
