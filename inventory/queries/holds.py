"""What is held, as cards and nodes show it: all of it, so that amounts are right. Of what is held in a namespace that is not seen the
names are taken away as the rows are read. Lists that can be filtered, sorted or searched by names do not take their rows from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from django.db.models import QuerySet
from django.db.models.query import ModelIterable

from inventory.models import Allocation
from runtime.scope import ANOTHER, Scope, current

#: What says who holds. The UID stays: by it the containers of a pod are counted as one.
_NAMES = frozenset(("pod", "container", "owner_kind", "owner_name"))


class Holder(msgspec.Struct, frozen=True, gc=False):
    """A hold as plain values. Its fields are columns."""

    id: int
    pod_uid: str
    namespace: str
    pod: str
    container: str


class Holds(QuerySet[Allocation]):
    """Rows of allocations, without the names that the scope in force does not let see."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._iterable_class = _Masked

    def _values(self, *fields: Any, **expressions: Any) -> Any:
        """Values would be told as they are stored."""
        raise TypeError("Holds are read as rows: their names are taken away then.")


class _Masked(ModelIterable):  # type: ignore[type-arg]
    def __iter__(self) -> Iterator[Allocation]:
        scope = current()
        for row in super().__iter__():
            yield row if scope.everything else _masked(row, scope)


def holds() -> QuerySet[Allocation]:
    """All of them, now and before, of the clusters in scope."""
    return Holds(Allocation).filter(current().in_clusters()).select_related("cluster", "card")


def true_holder(row: Any) -> Holder:
    """Who it is whatever may be seen, to compare with what exporters name. It must not be told."""
    behind: Holder = row.__dict__.get("_behind") or row
    return behind


def _masked(row: Allocation, scope: Scope) -> Allocation:
    if scope.sees_pods(row.cluster_id, row.namespace):
        return row
    kept = {name: getattr(row, name) for name in Holder.__struct_fields__}
    row.__dict__["_behind"] = Holder(**kept)
    row.foreign, row.namespace = True, ANOTHER
    for name in _NAMES:
        setattr(row, name, "")
    return row
