"""What every endpoint of the inventory has: strict parameters, JSON or CSV, rows into shapes. Knows no particular table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.mixins import ListModelMixin
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.settings import api_settings

from inventory.models import Cluster
from kube import quantity
from resources.csv_export import csv_response
from resources.filter_fields import BytesFilter
from resources.filter_sets import StrictFilterSet


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
            raise ValidationError({"format": f"One of {', '.join(map(str, formats))} is wanted."})
        return super().perform_content_negotiation(request, force)


class ListView(ListModelMixin, ApiView, ABC):
    """One list: filters, order, cursor pages, CSV. `rows` in `inventory.querysets`, `fill` in `api.inventory.fill`."""

    filter_backends: Any = tuple(api_settings.DEFAULT_FILTER_BACKENDS)
    pagination_class: Any = api_settings.DEFAULT_PAGINATION_CLASS
    renderer_classes: Any = (*api_settings.DEFAULT_RENDERER_CLASSES, CsvRenderer)
    filterset_class: ClassVar[type[StrictFilterSet]]
    csv: ClassVar[str]
    #: Its JSON is the same for all who may ask: see `inventory.shared`.
    shareable: ClassVar[bool] = False

    @abstractmethod
    def rows(self) -> QuerySet[Any]: ...

    @abstractmethod
    def fill(self, rows: list[Any], names: Mapping[int, str]) -> list[Any]: ...

    def get_queryset(self) -> QuerySet[Any]:
        return self.rows()

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        rows = self.filter_queryset(self.get_queryset())
        if getattr(request.accepted_renderer, "format", "") == CsvRenderer.format:
            return csv_response(self.csv, rows)
        page = self.paginate_queryset(rows.select_related(None))
        response = self.get_paginated_response(self.fill(list(page or ()), cluster_names()))
        if taken := _bytes_taken(self.filterset_class, request):
            response.headers["Filter-Bytes"] = taken
        return response


def _bytes_taken(filterset: type[StrictFilterSet], request: Request) -> str:
    """`name=bytes` of each amount of memory that was asked for: "20" is 20 bytes, and the answer says so."""
    names = [name for name, one in filterset.base_filters.items() if isinstance(one, BytesFilter)]
    sizes = {name: quantity.size(request.query_params.get(name, "")) for name in names}
    return ", ".join(f"{name}={size}" for name, size in sizes.items() if size is not None)


def cluster_names() -> dict[int, str]:
    """Cluster id → name."""
    return dict(Cluster.objects.values_list("pk", "name"))


def clean_name(text: str, what: str) -> str:
    """A name out of an address. No object has a null character in its name, and a database refuses to look for one."""
    if "\x00" in text:
        raise NotFound(f"There is no {what} of this name.")
    return text
