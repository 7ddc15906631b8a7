"""Which silence in force covers which finding: as a condition for the database, and for the rows of a page."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from itertools import product
from typing import TypeVar

from django.db.models import Q, QuerySet

from inventory.models import Finding
from notifications.models import Silence
from runtime.clock import database_now

Row = TypeVar("Row", bound=Finding)
#: Columns of a finding that a silence may name.
_NAMES = ("code", "cause", "node_name", "card_key", "pod")


def in_force(at: datetime) -> QuerySet[Silence]:
    """Those in force."""
    return Silence.objects.filter(ended_at=None, until__gt=at)


def silenced(at: datetime) -> Q:
    """The findings that a silence in force covers. One query."""
    return silenced_by(in_force(at))


def silenced_by(rows: Iterable[Silence]) -> Q:
    """The findings that some of these silences cover. Those that differ in one column alone are one condition: there may be many."""
    alike: dict[tuple[tuple[str, object], ...], set[object]] = {}
    for row in rows:
        named = _named(row)
        if named:
            *rest, (column, value) = named
            alike.setdefault((*rest, (column, None)), set()).add(value)
    found = Q(pk__in=())
    for (*rest, (column, _)), values in alike.items():
        found |= Q(**dict(rest), **{f"{column}__in": values})
    return found


def covered(row: Silence) -> Q:
    """The findings that one silence covers."""
    return silenced_by((row,))


def _named(row: Silence) -> list[tuple[str, object]]:
    """(column of a finding, value) of all that a silence names, the narrowest last."""
    if row.finding is not None:
        return [("pk", row.finding)]
    cluster: list[tuple[str, object]] = [] if row.cluster_id is None else [("cluster_id", row.cluster_id)]
    return [*cluster, *((name, value) for name in _NAMES if (value := getattr(row, name)))]


class Matcher:
    """The silences in force that the reader sees. One query, when the first finding is looked up."""

    def __init__(self, at: datetime) -> None:
        self._at = at
        self._of_one: dict[int, Silence] = {}
        self._others: dict[tuple[str, str], list[Silence]] | None = None

    def find(self, row: Finding) -> Silence | None:
        """The one that lasts longest; None: not silenced, or over."""
        if row.ended_at is not None:
            return None
        others = self._read() if self._others is None else self._others
        places = product(dict.fromkeys((row.code, "")), dict.fromkeys((row.node_name, "")))
        found = [one for place in places for one in others.get(place, ()) if _covers(one, row)]
        if row.pk in self._of_one:
            found.append(self._of_one[row.pk])
        return max(found, key=lambda one: one.until, default=None)

    def _read(self) -> dict[tuple[str, str], list[Silence]]:
        self._others = {}
        for one in in_force(self._at).order_by("until"):
            if one.finding is not None:
                self._of_one[one.finding] = one
            else:
                self._others.setdefault((one.code, one.node_name), []).append(one)
        return self._others


def _covers(one: Silence, row: Finding) -> bool:
    """As `covered` has it."""
    if one.cluster_id is not None and one.cluster_id != row.cluster_id:
        return False
    return all(not getattr(one, name) or getattr(one, name) == getattr(row, name) for name in _NAMES)


def with_silences(rows: Iterable[Row]) -> list[Row]:
    """The same findings with `silence`: what covers them now, or None. One query, whatever their number."""
    found = list(rows)
    matcher = Matcher(database_now()) if found else None
    for row in found:
        setattr(row, "silence", matcher.find(row) if matcher else None)  # noqa: B010
    return found


def silenced_now() -> Q | None:
    """Findings that a silence covers now, for counts; None where none is in force. One query."""
    rows = list(in_force(database_now()))
    return silenced_by(rows) & Q(ended_at=None) if rows else None
