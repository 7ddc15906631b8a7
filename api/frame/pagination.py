"""Cursor pages: `{"next", "previous", "results"}`, links absolute, `page_size` 1 to 1000."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.utils.urls import replace_query_param

from api.frame.problems import bad_fields
from resources.keyset import BadCursor, Page, page_of

MAX_PAGE_SIZE = 1000
_SIZE_TEXT = f"Must be an integer from 1 to {MAX_PAGE_SIZE}."


class CursorPagination(BasePagination):
    def paginate_queryset(self, queryset: QuerySet[Any], request: Request, view: Any = None) -> list[Any]:
        size = _page_size(request.query_params.getlist("page_size"))
        cursors = request.query_params.getlist("cursor")
        try:
            self.page: Page[Any] = page_of(queryset, cursors[-1] if cursors else None, size)
        except BadCursor as error:
            raise bad_fields({"cursor": [str(error)]}) from None
        self.address = request.build_absolute_uri()
        return self.page.rows

    def get_paginated_response(self, data: Any) -> Response:
        return Response(
            {"next": self._link(self.page.next), "previous": self._link(self.page.previous), "results": data}
        )

    def _link(self, cursor: str | None) -> str | None:
        return None if cursor is None else replace_query_param(self.address, "cursor", cursor)

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {
            "type": ["string", "null"],
            "format": "uri",
            "description": "URL of that page; null: no such page",
        }
        return {
            "type": "object",
            "required": ["next", "previous", "results"],
            "properties": {"next": link, "previous": dict(link), "results": schema},
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        size = {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": api_settings.PAGE_SIZE}
        texts = {"cursor": "cursor from `next` or `previous`", "page_size": "rows per page"}
        schemas = {"cursor": {"type": "string"}, "page_size": size}
        return [
            {"name": name, "in": "query", "required": False, "description": texts[name], "schema": schema}
            for name, schema in schemas.items()
        ]


def _page_size(texts: list[str]) -> int:
    if not texts:
        return int(api_settings.PAGE_SIZE or 100)
    text = texts[-1]
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and 1 <= int(text) <= MAX_PAGE_SIZE):
        raise bad_fields({"page_size": [_SIZE_TEXT]})
    return int(text)
