"""/api/v1/floors and /api/v1/baselines: what measurements are judged against."""

from __future__ import annotations

from django.conf import settings
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView
from api.frame.problems import only_known
from resources.declared import filled
from resources.floor import BaselineList, BaselineShape, FloorList, FloorShape
from validations.pool_baseline import pool_baselines


class Floors(ApiView):
    @extend_schema(
        operation_id="floors_list",
        summary="Floors: least values of measurements by card model, with their sources",
        responses=FloorList,
    )
    def get(self, request: Request) -> Response:
        only_known(request)
        return Response(FloorList(results=[filled(FloorShape, one) for one in settings.FLOORS]))


class Baselines(ApiView):
    @extend_schema(
        operation_id="baselines_list",
        summary="Baselines of pools: median and spread of the passes of each suite and card model",
        responses=BaselineList,
    )
    def get(self, request: Request) -> Response:
        only_known(request)
        return Response(BaselineList(results=[filled(BaselineShape, one) for one in pool_baselines()]))
