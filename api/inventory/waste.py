"""Idle and unused memory of namespaces and owners over days."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView
from api.frame.problems import bad_fields, must_be, only_known
from api.inventory.views import no_cluster
from inventory.charges.waste import WINDOWS, waste
from inventory.models import Cluster
from inventory.models.charges import By
from resources.waste import WasteAnswer, answer_of
from runtime.clock import database_now

_DAYS = [str(days) for days in WINDOWS]
_FILTERS = {"cluster": "cluster__name", "namespace": "namespace"}


class Waste(ApiView):
    @extend_schema(
        summary="Waste over days by namespace or owner, with suggestions for owners",
        description="Idle and unused memory × time of the last 7 or 30 days (UTC). Owners are summed when a day is over.",
        responses=WasteAnswer,
        parameters=[
            OpenApiParameter("by", str, enum=By.values, description="namespace (default) or owner"),
            OpenApiParameter("days", int, enum=WINDOWS, description="7 (default) or 30"),
            OpenApiParameter("cluster", str, description="cluster name; default: all"),
            OpenApiParameter("namespace", str, description="namespace; default: all"),
        ],
    )
    def get(self, request: Request) -> Response:
        only_known(request, ("by", "days", *_FILTERS))
        given = {name: str(value) for name, value in request.query_params.items() if name != "format"}
        by, days = given.pop("by", By.NAMESPACE.value), given.pop("days", _DAYS[0])
        errors = {} if by in By.values else {"by": [must_be(By.values)]}
        errors |= {} if days in _DAYS else {"days": [must_be(_DAYS)]}
        errors |= {name: ["Must not have null characters."] for name, value in given.items() if "\0" in value}
        if not errors and "cluster" in given and not Cluster.objects.filter(name=given["cluster"]).exists():
            errors = {"cluster": [no_cluster(given["cluster"])]}
        if errors:
            raise bad_fields(errors)
        of: dict[str, Any] = {_FILTERS[name]: value for name, value in given.items()}
        return Response(answer_of(by, int(days), waste(database_now(), int(days), By(by), **of)))
