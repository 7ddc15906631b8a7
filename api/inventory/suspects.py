"""Cards and nodes with evidence against them."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView
from api.frame.problems import only_known
from resources import suspect
from validations.suspects import suspects


class Suspects(ApiView):
    @extend_schema(
        summary="Suspect cards and nodes: by failed pods, measurements of runs, and activity within jobs",
        description="No verdict: a reason to validate. Failures of all namespaces are counted, none is named.",
        responses=suspect.SuspectList,
    )
    def get(self, request: Request) -> Response:
        only_known(request)
        return Response(suspect.suspects_of(suspects()))
