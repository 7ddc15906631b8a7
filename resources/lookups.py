"""What the filters of several resources look up in the same way."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet


def contains(*paths: str) -> Any:
    """A search over these columns: each word must be in one of them, whatever its case."""

    def search(rows: QuerySet[Any], _: str, words: list[str]) -> QuerySet[Any]:
        for word in words:
            condition = Q()
            for path in paths:
                condition |= Q(**{f"{path}__icontains": word})
            rows = rows.filter(condition)
        return rows

    return search


def tri_state(rows: QuerySet[Any], field: str, value: str) -> QuerySet[Any]:
    """false keeps what has no value of `field` (a time that is set when it is over: what is), true what has one, any both."""
    return rows if value == "any" else rows.filter(**{f"{field}__isnull": value == "false"})
