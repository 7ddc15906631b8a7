"""Pages of a list by keyset: a cursor says behind (or before) which row to go on, so that deep pages cost what the first does.

For pages and REST alike. The rows come ordered by `resources.filters` (columns, nulls last, the id at the end). A cursor is no
secret and grants nothing: it is checked like any other input. Knows nothing of requests.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Generic, TypeVar

import msgspec
from django.core.exceptions import ValidationError
from django.db.models import F, Model, OrderBy, Q, QuerySet

from kube.decoders import decoder

Row = TypeVar("Row", bound=Model)
_LIMIT = 2**63


class BadCursor(Exception):
    """The cursor does not belong to this list in this order."""

    def __init__(self) -> None:
        super().__init__("This cursor does not belong to this list in this order. Start again without a cursor.")


class Cursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """backward: towards the first page. order: of the list that it was made for. values: of the row to go on from."""

    backward: bool
    order: str
    values: list[str | int | float | bool | None]


@dataclass(frozen=True)
class Term:
    """One column of the order. Rows without a value come last in both directions."""

    path: str
    descending: bool
    nullable: bool

    def __str__(self) -> str:
        return f"-{self.path}" if self.descending else self.path

    def expression(self, backward: bool) -> OrderBy:
        descending = self.descending is not backward
        if not self.nullable:
            return OrderBy(F(self.path), descending=descending)
        return OrderBy(
            F(self.path), descending=descending, nulls_first=backward or None, nulls_last=not backward or None
        )

    def beyond(self, value: Any, backward: bool) -> Q | None:
        """Rows strictly behind the value (backward: before it); None when there cannot be any."""
        if value is None:
            return Q(**{f"{self.path}__isnull": False}) if backward else None
        side = "lt" if self.descending is not backward else "gt"
        condition = Q(**{f"{self.path}__{side}": value})
        return condition | Q(**{f"{self.path}__isnull": True}) if self.nullable and not backward else condition

    def same(self, value: Any) -> Q:
        return Q(**{f"{self.path}__isnull": True}) if value is None else Q(**{self.path: value})

    def bound(self, value: Any, backward: bool) -> Q:
        """The value or beyond: implied by the rest, and what an index can begin at."""
        if self.nullable or value is None:
            return Q()
        return Q(**{f"{self.path}__{'lte' if self.descending is not backward else 'gte'}": value})


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Some rows of a list, and the cursors of the pages beside it (None: there is none)."""

    rows: list[Row]
    next: str | None
    previous: str | None


def page_of(rows: QuerySet[Row], cursor: str | None, size: int) -> Page[Row]:
    """The page that the cursor points at; the first without one. `rows` are ordered. Raises BadCursor."""
    terms = terms_of(rows)
    at = _decode(cursor, terms, rows) if cursor else None
    backward = at is not None and at[0]
    found: list[Row] = []
    for stretch in _stretches(rows, terms, at[1] if at else None, backward):
        found += stretch[: size + 1 - len(found)]
        if len(found) > size:
            break
    more, found = len(found) > size, found[:size]
    if backward:
        found.reverse()
    if not found:
        return Page([], None, None)
    has_next, has_previous = (True, more) if backward else (more, at is not None)
    return Page(
        found,
        _encode(False, terms, found[-1]) if has_next else None,
        _encode(True, terms, found[0]) if has_previous else None,
    )


def _stretches(
    rows: QuerySet[Row], terms: Sequence[Term], at: Sequence[Any] | None, backward: bool
) -> list[QuerySet[Row]]:
    """The rows to read, in turn. Where the first column can be null, those with a value and those without are two stretches:
    each is in the order of a plain index, which "nulls last" is not."""
    first, *others = terms
    if not first.nullable:
        return [_behind(rows, terms, at, backward)]
    empty = {f"{first.path}__isnull": True}
    valued, valueless = [replace(first, nullable=False), *others], others
    parts = [(rows.exclude(**empty), valued, at), (rows.filter(**empty), valueless, at and at[1:])]
    if backward:
        parts.reverse()
    if at is None:
        return [_behind(part, order, None, backward) for part, order, _ in parts]
    begun = (at[0] is None) is not backward
    if begun:  # the cursor stands in the second stretch
        return [_behind(*parts[1], backward)]
    return [_behind(*parts[0], backward), _behind(parts[1][0], parts[1][1], None, backward)]


def _behind(rows: QuerySet[Row], terms: Sequence[Term], at: Sequence[Any] | None, backward: bool) -> QuerySet[Row]:
    chosen = rows if at is None else rows.filter(_beyond(terms, at, backward))
    return chosen.order_by(*(term.expression(backward) for term in terms))


def terms_of(rows: QuerySet[Any]) -> list[Term]:
    """The order of the rows as terms."""
    order = [term for term in rows.query.order_by if isinstance(term, OrderBy)]
    return [
        Term(term.expression.name, term.descending, bool(term.nulls_last))
        for term in order
        if isinstance(term.expression, F)
    ]


def _beyond(terms: Sequence[Term], values: Sequence[Any], backward: bool) -> Q:
    """Rows behind these values in the order of the terms: the first differs, or it is the same and the second differs, …"""
    condition, same = Q(pk__in=[]), Q()
    for term, value in zip(terms, values, strict=True):
        further = term.beyond(value, backward)
        if further is not None:
            condition |= same & further
        same &= term.same(value)
    return terms[0].bound(values[0], backward) & condition


def _name(terms: Sequence[Term]) -> str:
    return ",".join(str(term) for term in terms)


def _encode(backward: bool, terms: Sequence[Term], row: Any) -> str:
    values = [_plain(_value(row, term.path)) for term in terms]
    body = msgspec.json.encode(Cursor(backward, _name(terms), values))
    return base64.urlsafe_b64encode(body).decode().rstrip("=")


def _value(row: Any, path: str) -> Any:
    for step in path.split("__"):
        row = getattr(row, step, None)  # the row on the way may be missing
    return row


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _decode(text: str, terms: Sequence[Term], rows: QuerySet[Any]) -> tuple[bool, list[Any]]:
    try:
        body = base64.b64decode(text.encode("ascii") + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
        cursor = decoder(Cursor).decode(body)
        if cursor.order != _name(terms) or len(cursor.values) != len(terms):
            raise BadCursor
        values = [_checked(value, term, rows) for value, term in zip(cursor.values, terms, strict=True)]
    except (binascii.Error, UnicodeError, msgspec.MsgspecError, ValidationError, ValueError, TypeError, OverflowError):
        raise BadCursor from None
    return cursor.backward, values


def _checked(value: Any, term: Term, rows: QuerySet[Any]) -> Any:
    """The value as its column has it. Raises when it could not stand there."""
    if value is None:
        if not term.nullable:
            raise BadCursor
        return None
    field = (
        rows.query.annotations[term.path].output_field
        if term.path in rows.query.annotations
        else _field(rows.model, term.path)
    )
    made = field.to_python(value)
    if isinstance(made, str) and "\x00" in made:
        raise BadCursor
    if isinstance(made, int) and not -_LIMIT <= made < _LIMIT:
        raise BadCursor
    if isinstance(made, datetime) and made.tzinfo is None:
        raise BadCursor
    return made


def _field(model: type[Model], path: str) -> Any:
    return column(model, path)[0]


def column(model: type[Model], path: str) -> tuple[Any, bool]:
    """The field at the end of a path, and whether a row may lack it: the column is null, or a row on the way is missing."""
    nullable, (*steps, last) = False, path.split("__")
    for step in steps:
        relation: Any = model._meta.get_field(step)
        nullable = nullable or relation.auto_created or relation.null
        model = relation.related_model
    field: Any = model._meta.get_field(last)
    return field, bool(nullable or field.null)
