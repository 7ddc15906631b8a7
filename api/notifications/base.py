"""What the endpoints of notifications have in common."""

from __future__ import annotations

from typing import TypeVar

from django.db.models import Model
from rest_framework.exceptions import NotFound

from validations.ids import ById

M = TypeVar("M", bound=Model)


def found(rows: ById[M], row_id: str, what: str, listed_as: str) -> M:
    """The row of this id. Raises NotFound. listed_as: the address of its list."""
    row = rows.of_id(row_id)
    if row is None:
        raise NotFound(f"There is no {what} {row_id[:64]!r}. /api/v1/{listed_as} lists them.")
    return row
