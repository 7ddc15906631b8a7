"""What will be free of each pool, and until when a request fits."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView
from api.frame.problems import bad_fields, only_known
from inventory.forecast.pools import asked
from inventory.placement.finder.finder import clusters_of
from inventory.placement.finder.request import BadRequest, read
from resources.forecast import ForecastAnswer, answer_of
from runtime.clock import database_now

_NAMES = frozenset({"cards", "memory", "model", "cluster"})


class Forecast(ApiView):
    @extend_schema(
        summary="Forecast of free memory and free cards of each pool, and until when a request fits",
        description="30 days of daily means, by trend and weekly pattern of at most 56 days, with the back-test of the "
        "last 7 days. Less than 14 days of history: no forecast.",
        responses=ForecastAnswer,
        parameters=[
            OpenApiParameter("cards", int, description="cards of the request (default: 1)"),
            OpenApiParameter("memory", str, description="memory of each card, as in /api/v1/fit. Default: any memory"),
            OpenApiParameter("model", str, many=True, description="part of the card model name"),
            OpenApiParameter("cluster", str, many=True, description="cluster names; default: all"),
        ],
    )
    def get(self, request: Request) -> Response:
        given = {name: values for name, values in request.query_params.lists() if name != "format"}
        only_known(request, _NAMES)
        try:
            wanted = read(given)
            found = asked(clusters_of(wanted), wanted.models, database_now())
        except BadRequest as error:
            raise bad_fields(error.errors) from None
        return Response(answer_of(wanted, found))
