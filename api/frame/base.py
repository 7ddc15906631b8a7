"""What every endpoint of the inventory has: strict parameters, JSON or CSV, rows into shapes. Knows no particular table."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.settings import api_settings

from api.frame.problems import must_be
from resources.csv_export import cluster_names, csv_response
from resources.declared import Resource
from resources.filter_fields import BytesFilter, asked_bytes
from resources.filter_sets import StrictFilterSet

LISTED = (
    "Filters have the names of fields. A repeated filter matches any of its values. CSV contains all rows, not a page."
)


#: The header of a list of which an amount of memory was asked.
FILTER_BYTES = OpenApiParameter(
    "Filter-Bytes",
    str,
    OpenApiParameter.HEADER,
    response=[200],
    description="`name=bytes` of each requested amount of memory.",
)


class CsvRenderer(BaseRenderer):
    """Only to be chosen by `Accept: text/csv` or `?format=csv`: the rows are streamed by the view itself."""

    media_type = "text/csv"
    format = "csv"

    def render(self, data: Any, accepted_media_type: Any = None, renderer_context: Any = None) -> bytes:
        body: bytes = JSONRenderer().render(data)
        return body


class ApiView(GenericAPIView[Any]):
    """A view whose `format` is checked like any other parameter."""

    filter_backends: Any = ()
    pagination_class: Any = None

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        formats = [renderer.format for renderer in self.renderer_classes]
        wanted = request.query_params.get("format", formats[0])
        if wanted not in formats:
            raise ValidationError({"format": must_be(map(str, formats))})
        return super().perform_content_negotiation(request, force)


class ListView(ListModelMixin, ApiView):
    """One list of a resource: filters, order, cursor pages, CSV."""

    filter_backends: Any = tuple(api_settings.DEFAULT_FILTER_BACKENDS)
    pagination_class: Any = api_settings.DEFAULT_PAGINATION_CLASS
    renderer_classes: Any = (*api_settings.DEFAULT_RENDERER_CLASSES, CsvRenderer)
    resource: ClassVar[Resource[Any]]
    filterset_class: ClassVar[type[StrictFilterSet]]
    #: Its JSON is the same for all who may ask: see `runtime.cached`.
    shareable: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.filterset_class = cls.resource.filterset

    def rows(self) -> QuerySet[Any]:
        return self.resource.rows()

    def fill(self, rows: list[Any]) -> list[Any]:
        return self.resource.fill(rows, cluster_names())

    def get_queryset(self) -> QuerySet[Any]:
        return self.rows()

    def perform_content_negotiation(self, request: Request, force: bool = False) -> Any:
        """Lists are read as CSV; what a POST has made is told as JSON only."""
        if request.method not in SAFE_METHODS:
            self.renderer_classes = ApiView.renderer_classes
        return super().perform_content_negotiation(request, force)

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        rows = self.filter_queryset(self.get_queryset())
        if getattr(request.accepted_renderer, "format", "") == CsvRenderer.format:
            return csv_response(self.resource, rows)
        page = self.paginate_queryset(rows.select_related(None))
        response = self.get_paginated_response(self.fill(list(page or ())))
        if taken := _bytes_taken(self.filterset_class, request):
            response.headers["Filter-Bytes"] = taken
        return response


def listed(resource: Resource[Any], summary: str) -> Any:
    """How a list stands in the OpenAPI document."""
    answers = {(200, "application/json"): resource.shape, (200, "text/csv"): OpenApiTypes.STR}
    told = [FILTER_BYTES] if _of_bytes(resource.filterset) else []
    return extend_schema(summary=summary, description=LISTED, responses=answers, parameters=told)


def _of_bytes(filterset: type[StrictFilterSet]) -> list[str]:
    """The filters that take an amount of memory."""
    return [name for name, one in filterset.base_filters.items() if isinstance(one, BytesFilter)]


def _bytes_taken(filterset: type[StrictFilterSet], request: Request) -> str:
    """`name=bytes` of each amount of memory that was asked for: "20" is 20 bytes, and the answer says so."""
    sizes = {name: asked_bytes(request.query_params.get(name, "")) for name in _of_bytes(filterset)}
    return ", ".join(f"{name}={size}" for name, size in sizes.items() if size is not None)


def clean_name(text: str, what: str) -> str:
    """A name out of an address. No object has a null character in its name, and a database refuses to look for one."""
    if "\x00" in text:
        raise NotFound(f"There is no {what} of this name.")
    return text
