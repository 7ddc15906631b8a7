"""Where a pod that asks for cards would go now, and why not elsewhere."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView
from api.frame.problems import bad_fields
from inventory.placement.finder import told
from inventory.placement.finder.finder import find
from inventory.placement.finder.request import NAMES, WAYS, BadRequest, read

LIMIT, MOST = 20, 10_000


class Fit(ApiView):
    @extend_schema(
        summary="Find capacity: nodes that fit a pod now, and reasons for the others",
        description="Nodes that fit such a pod now, by the placement rule of their stack. Other nodes are "
        "counted by reason. Cordoned nodes, nodes that are not ready and nodes with unknown free "
        "memory never fit. A repeated parameter matches any of its values; for `tolerate` and "
        "`selector` all values apply.",
        responses=told.Fit,
        parameters=[
            OpenApiParameter("cards", int, description="cards on one node, for one container (default: 1)"),
            OpenApiParameter(
                "memory",
                str,
                description="memory of each card: 20, 20 GiB, 20Gi or 20000 MiB. A plain number is GiB, unlike "
                "in filters; `request.memory_bytes` returns the value. Default: any memory.",
            ),
            OpenApiParameter(
                "stack", str, many=True, enum=list(WAYS), description="allocation mode of the request; default: any"
            ),
            OpenApiParameter("model", str, many=True, description="part of the card model name"),
            OpenApiParameter(
                "tolerate", str, many=True, description="key, key=value or key=value:Effect; * for all taints"
            ),
            OpenApiParameter("selector", str, many=True, description="label of the node: key=value"),
            OpenApiParameter("cluster", str, many=True, description="cluster names; default: all"),
            OpenApiParameter("limit", int, description=f"nodes in each list, at most {MOST} ({LIMIT})"),
        ],
    )
    def get(self, request: Request) -> Response:
        given = {name: values for name, values in request.query_params.lists() if name != "format"}
        limit = _limit(given.pop("limit", []))
        if unknown := given.keys() - NAMES:
            known = ", ".join(sorted({*NAMES, "limit"}))
            raise bad_fields(
                {name[:64]: [f"There is no such parameter here. There are: {known}."] for name in sorted(unknown)}
            )
        try:
            return Response(told.told(find(read(given)), limit))
        except BadRequest as error:
            raise bad_fields(error.errors) from None


def _limit(texts: list[str]) -> int:
    text = texts[-1] if texts else str(LIMIT)
    if text.isascii() and text.isdigit() and len(text) < 6 and int(text) <= MOST:
        return int(text)
    raise bad_fields({"limit": [f"A number from 0 to {MOST} is wanted."]})
