"""What the endpoints have in common: bodies read strictly, refusals as problem details, the idempotency key."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, TypeVar

import msgspec
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.mixins import ListModelMixin
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request
from rest_framework.settings import api_settings

from api.frame.base import ApiView, CsvRenderer, cluster_names
from resources.csv_export import csv_response
from resources.filter_sets import StrictFilterSet
from validations.campaigns import WrongState
from validations.planning import Refused
from validations.requests import Busy, KeyReused
from validations.results import NotEnded

Draft = TypeVar("Draft", bound=msgspec.Struct)


class Conflict(APIException):
    """409: something else stands in the way; the detail names it."""

    status_code = 409


class Unprocessable(APIException):
    """422: the idempotency key belongs to another request."""

    status_code = 422


class ListedView(ListModelMixin, ApiView, ABC):
    """One list: filters, order, cursor pages, CSV. csv: a key of `resources.csv_export.COLUMNS`."""

    filter_backends = list(api_settings.DEFAULT_FILTER_BACKENDS)
    pagination_class: Any = api_settings.DEFAULT_PAGINATION_CLASS
    renderer_classes: Any = (*api_settings.DEFAULT_RENDERER_CLASSES, CsvRenderer)
    csv: ClassVar[str]
    filterset_class: ClassVar[type[StrictFilterSet]]

    @abstractmethod
    def rows(self) -> QuerySet[Any]: ...

    @abstractmethod
    def fill(self, row: Any, clusters: dict[int, str]) -> Any: ...

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
            return csv_response(self.csv, rows)
        page = self.paginate_queryset(rows)
        clusters = cluster_names()
        return self.get_paginated_response([self.fill(row, clusters) for row in page or ()])


def listed(shape: type[msgspec.Struct]) -> dict[Any, Any]:
    """The answers of a list in the OpenAPI document."""
    return {(200, "application/json"): shape, (200, "text/csv"): OpenApiTypes.STR}


@contextmanager
def problems() -> Iterator[None]:
    """What the services refuse, as answers of REST."""
    try:
        yield
    except Refused as error:
        raise ValidationError(dict(error.problems)) from None
    except (Busy, NotEnded, WrongState) as error:
        raise Conflict(str(error)) from None
    except KeyReused as error:
        raise Unprocessable(str(error)) from None


def body_of(request: Request, kind: type[Draft]) -> Draft:
    """The body as a struct; 400 names the field that is wrong or not known."""
    data = request.data
    if not isinstance(data, dict):
        raise ValidationError({"body": ["A JSON object is wanted."]})
    unknown = sorted(str(name)[:64] for name in set(data) - set(kind.__struct_fields__))
    if unknown:
        known = ", ".join(kind.__struct_fields__)
        raise ValidationError({name: [f"There is no such field; there are: {known}."] for name in unknown})
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$.")
        raise ValidationError({path.rstrip("`") or _missing(text): [f"{text}."]}) from None


def _missing(text: str) -> str:
    """The field in "Object missing required field `suite`"."""
    return text.split("`")[1] if "`" in text else "body"


def check_text(**fields: str) -> None:
    """No name in a cluster has a null character, and a database refuses to look for one."""
    wrong = {name: ["A null character is not taken."] for name, text in fields.items() if "\x00" in text}
    if wrong:
        raise ValidationError(wrong)


def key_of(request: Request) -> str:
    """The header Idempotency-Key, "" without one."""
    return str(request.headers.get("Idempotency-Key", ""))


def no_such(what: str, name: str) -> NotFound:
    return NotFound(f"There is no {what} {name[:64]!r}. /api/v1/{what}s lists them.")
