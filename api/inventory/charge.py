"""What each namespace held of a cluster in a month, so that it adds up."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from api.frame.base import ApiView, CsvRenderer
from api.frame.problems import bad_fields, must_be, only_known
from inventory.charges.month import charge, first_of, this_month
from inventory.models import Cluster
from inventory.models.charges import By
from resources.charge import Chargeback as Shape
from resources.charge import as_csv, file_name
from resources.declared import filled
from runtime.clock import database_now

_NAMES = frozenset({"cluster", "month", "by", "format"})


class Chargeback(ApiView):
    renderer_classes: Any = (*api_settings.DEFAULT_RENDERER_CLASSES, CsvRenderer)

    @extend_schema(
        summary="Monthly chargeback of a cluster by namespace or owner",
        description="The rows add up to the capacity of the cluster: cards and memory, times hours present. Days "
        "and months are UTC. The current month is summed until `until`.",
        responses={(200, "application/json"): Shape, (200, "text/csv"): OpenApiTypes.STR},
        parameters=[
            OpenApiParameter("cluster", str, description="cluster name; optional if there is only one cluster"),
            OpenApiParameter(
                "by", str, enum=By.values, description="namespace (default) or owner: the controller of the pods"
            ),
            OpenApiParameter("month", str, description="month, such as 2026-11; default: this month"),
        ],
    )
    def get(self, request: Request) -> Response | HttpResponse:
        only_known(request, _NAMES)
        month = request.query_params.get("month", "")
        first = first_of(month) if month else this_month(database_now())
        if first is None:
            raise bad_fields({"month": ["Must be a month, such as 2026-11."]})
        by = request.query_params.get("by", By.NAMESPACE.value)
        if by not in By.values:
            raise bad_fields({"by": [must_be(By.values)]})
        found = charge(_cluster(request.query_params.get("cluster", "")), first, By(by))
        if getattr(request.accepted_renderer, "format", "") != CsvRenderer.format:
            return Response(filled(Shape, found))
        response = HttpResponse(as_csv(found), content_type="text/csv; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="{file_name(found)}"'
        return response


def _cluster(name: str) -> Cluster:
    rows = {row.name: row for row in Cluster.objects.all()}
    if not name and len(rows) == 1:
        return next(iter(rows.values()))
    if name not in rows:
        known = ", ".join(sorted(rows)[:50]) or "none yet"
        raise ValidationError({"cluster": f"Must be the name of a cluster. There are: {known}."})
    return rows[name]
