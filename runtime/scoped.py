"""Querysets that hold what the scope in force lets see: each table says by `seen_by` which of its rows those are.

It stands in the manager, so that no view can forget it. Rows that are reached from a row that is seen, by a foreign key, are not
asked again.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar, Self, TypeVar

from django.db import models
from django.db.models import Q, QuerySet

from runtime.scope import ANY, Scope, current

T_co = TypeVar("T_co", bound=models.Model, covariant=True)


class ScopedQuerySet(QuerySet[T_co]):
    def visible_to(self, scope: Scope) -> Any:
        """The rows that this scope lets see. The model says which: `seen_by`."""
        if scope.everything:
            return self
        seen_by: Any = getattr(self.model, "seen_by")  # noqa: B009 - an abstract base below has it
        return self.filter(seen_by(scope))


class ScopedManager(models.Manager[T_co]):
    """What is in scope now."""

    _queryset_class: type[ScopedQuerySet[Any]] = ScopedQuerySet

    def get_queryset(self) -> Any:
        rows: Any = super().get_queryset()
        return rows.visible_to(current())


class OfCluster(models.Model):
    """Rows of a cluster, seen by all who see something of it."""

    #: Columns whose texts may name pods: they are empty in rows that are read by who does not see the cluster whole.
    may_name_pods: ClassVar[tuple[str, ...]] = ()

    objects = ScopedManager()

    class Meta:
        abstract = True

    @classmethod
    def from_db(cls, db: str | None, field_names: Collection[str], values: Collection[Any]) -> Self:
        row = super().from_db(db, field_names, values)
        if cls.may_name_pods and not current().sees_whole(row.__dict__.get("cluster_id", ANY)):
            for name in cls.may_name_pods:
                row.__dict__[name] = cls._meta.get_field(name).get_default()  # type: ignore[union-attr]
        return row

    @classmethod
    def seen_by(cls, scope: Scope) -> Q:
        return scope.in_clusters()


class OfNamespace(OfCluster):
    """Rows of a namespace of a cluster, in columns of these names."""

    class Meta:
        abstract = True

    @classmethod
    def seen_by(cls, scope: Scope) -> Q:
        return scope.in_namespaces()
