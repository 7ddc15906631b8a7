"""Filters of list endpoints: the view names a resource with its filter set; what it refuses is a 400 with the names."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter
from rest_framework.filters import BaseFilterBackend
from rest_framework.request import Request

from api.frame.problems import bad_fields
from resources.filter_fields import BytesField, OneOfField, WordsField
from resources.moments import MomentField


class StrictFilterBackend(BaseFilterBackend):
    """Filters and orders by `view.filterset_class`."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        filters = view.filterset_class(request.query_params, queryset)
        if not filters.is_valid():
            raise bad_fields(filters.errors)
        ordered: QuerySet[Any] = filters.ordered()
        return ordered

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        kind = view.filterset_class
        orders = [sign + name for name in kind.orders for sign in ("", "-")]
        return [*filters_of(kind), _ordering(orders, kind.default_order)]


def filters_of(kind: Any) -> list[dict[str, Any]]:
    """The filters of a set, as OpenAPI says them."""
    return [_parameter(name, one) for name, one in kind.base_filters.items()]


def declared(kind: Any) -> list[OpenApiParameter]:
    """The same for an endpoint that is no list and takes the filters of one."""
    shared = ("description", "style", "explode")
    return [
        OpenApiParameter(one["name"], one["schema"], **{key: one[key] for key in shared if key in one})
        for one in filters_of(kind)
    ]


def _parameter(name: str, one: Any) -> dict[str, Any]:
    """One filter as OpenAPI says it."""
    field = one.field
    made: dict[str, Any] = {"name": name, "in": "query", "required": False, "description": str(one.label)}
    if isinstance(field, WordsField):
        items: dict[str, Any] = {"type": "string"}
        if field.words:
            items["enum"] = list(field.words)
        return made | {"schema": {"type": "array", "items": items}, "style": "form", "explode": True}
    if isinstance(field, OneOfField):
        # "any" is how it is without the name: as a default, "try it" would send it with each request.
        default = {} if field.default == "any" else {"default": field.default}
        return made | {"schema": {"type": "string", "enum": list(field.words), **default}}
    if isinstance(field, BytesField):
        made["description"] += (
            ". In bytes, or with a unit: 8Gi or 8 GiB (2³⁰ bytes), 8G or 8 GB (10⁹ bytes). The header "
            "Filter-Bytes returns the value in bytes."
        )
    if isinstance(field, MomentField):
        made["description"] += (
            ". Format: 2026-11-22T02:00Z (default zone: GPUDASH_TIME_ZONE), or an age such as 24h or 7d. Use "
            "either at, or from and to. Ended rows are kept for GPUDASH_HISTORY_DAYS"
        )
        return made | {"schema": {"type": "string", "example": "2026-11-22T02:00Z"}}
    if name.endswith("_id"):
        return made | {"schema": {"type": "integer", "minimum": 1}}
    return made | {"schema": {"type": "string"}}


def _ordering(orders: list[str], default: tuple[str, ...]) -> dict[str, Any]:
    return {
        "name": "ordering",
        "in": "query",
        "required": False,
        "description": f"columns to sort by, - for descending; rows without a value come last (default {','.join(default)})",
        "schema": {"type": "array", "items": {"type": "string", "enum": orders}},
        "style": "form",
        "explode": False,
    }
