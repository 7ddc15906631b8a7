"""/api/v1: what there is, by name, for who comes without the document."""

from __future__ import annotations

from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.frame.base import ApiView


class Root(ApiView):
    #: Set where the addresses are.
    resources: tuple[str, ...] = ()

    @extend_schema(summary="The resources and their addresses", responses={200: dict[str, str]})
    def get(self, request: Request) -> Response:
        return Response({name: request.build_absolute_uri(f"{reverse('api-root')}/{name}") for name in self.resources})
