"""What whoever asks may see: everything, some clusters, or some namespaces of clusters.

The scope in force stands beside the thread of a request; who sets none (commands, workers) sees everything. `runtime.scoped`
asks here for each queryset, so that no view has to think of it. Knows no users: `accounts.scopes` makes scopes of what is granted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import reduce
from operator import or_

import msgspec
from django.db.models import Q
from django.utils.translation import gettext_noop

#: Instead of the id of a cluster: the namespace of this name in any cluster.
ANY = 0
#: What stands where the names of a holder would, in REST and CSV; pages say it in their language. No namespace has a blank.
ANOTHER = gettext_noop("another namespace")
_NOTHING = Q(pk__in=())

Place = tuple[int, str]


class Scope(msgspec.Struct, frozen=True):
    """clusters: ids of those that are seen whole; None: everything. namespaces: (id of the cluster or ANY, name).

    Of a cluster with one of the namespaces, nodes and cards are seen too, with what others hold of them, but not who they are.
    """

    clusters: frozenset[int] | None = frozenset()
    namespaces: frozenset[Place] = frozenset()

    @property
    def everything(self) -> bool:
        return self.clusters is None

    @property
    def partial(self) -> bool:
        """Whether some cluster is seen by namespaces only."""
        return self.clusters is not None and bool(self.namespaces)

    def sees_whole(self, cluster_id: int) -> bool:
        """Whether all namespaces of this cluster are seen."""
        return self.clusters is None or cluster_id in self.clusters

    def sees_pods(self, cluster_id: int, namespace: str) -> bool:
        """Whether pods of this namespace are seen by name."""
        return self.sees_whole(cluster_id) or not self.namespaces.isdisjoint(
            {(cluster_id, namespace), (ANY, namespace)}
        )

    def covers(self, other: Scope) -> bool:
        """Whether all that the other sees is seen."""
        if self.clusters is None or other.clusters is None:
            return self.clusters is None
        return self.clusters >= other.clusters and all(self.sees_pods(*place) for place in other.namespaces)

    def meet(self, other: Scope) -> Scope:
        """What both see."""
        if self.clusters is None:
            return other
        if other.clusters is None:
            return self
        named = {place for one, two in ((self, other), (other, self)) for place in one._places_in(two)}
        return Scope(self.clusters & other.clusters, frozenset(named))

    def _places_in(self, other: Scope) -> Iterator[Place]:
        """The namespaces of this one that the other sees too, as narrow as either says it."""
        for cluster, namespace in self.namespaces:
            if cluster == ANY:
                yield from ((one, namespace) for one in other.clusters or ())
                yield from (place for place in other.namespaces if place[1] == namespace)
            elif other.sees_pods(cluster, namespace):
                yield cluster, namespace

    def in_clusters(self, column: str = "cluster_id") -> Q:
        """Rows of what belongs to a cluster and to nobody in it, such as nodes and cards."""
        if self.clusters is None or any(cluster == ANY for cluster, _ in self.namespaces):
            return Q()
        return _one_of(column, self.clusters | {cluster for cluster, _ in self.namespaces})

    def in_whole_clusters(self, column: str = "cluster_id") -> Q:
        """Rows of what is told only to who sees all namespaces."""
        return Q() if self.clusters is None else _one_of(column, self.clusters)

    def in_namespaces(self, cluster: str = "cluster_id", namespace: str = "namespace") -> Q:
        """Rows of what belongs to a namespace, such as pods. cluster, namespace: the columns."""
        if self.clusters is None:
            return Q()
        return _any([self.in_whole_clusters(cluster), *self._of_namespaces(cluster, namespace)])

    def of_pods(self, column: str, cluster: str = "cluster_id") -> Q:
        """Rows whose column is the "namespace/name" of a pod that is seen by name."""
        if self.clusters is None:
            return Q()
        named = [self._at(cluster, one, **{f"{column}__startswith": f"{name}/"}) for one, name in self._ordered()]
        return _any([self.in_whole_clusters(cluster), *named])

    def _of_namespaces(self, cluster: str, namespace: str) -> Iterator[Q]:
        by_cluster: dict[int, list[str]] = {}
        for one, name in self._ordered():
            by_cluster.setdefault(one, []).append(name)
        for one, names in by_cluster.items():
            told = {namespace: names[0]} if len(names) == 1 else {f"{namespace}__in": names}
            yield self._at(cluster, one, **told)

    def _at(self, column: str, cluster: int, **conditions: object) -> Q:
        return Q(**conditions) if cluster == ANY else Q(**{column: cluster}, **conditions)

    def _ordered(self) -> list[Place]:
        return sorted(self.namespaces)


EVERYTHING, NOTHING = Scope(None), Scope()
_now: ContextVar[Scope] = ContextVar("scope", default=EVERYTHING)


def current() -> Scope:
    """The scope in force."""
    return _now.get()


def sees(scope: Scope) -> None:
    """From now on, in this thread."""
    _now.set(scope)


@contextmanager
def seeing(scope: Scope) -> Iterator[None]:
    """For the time of a block."""
    token = _now.set(scope)
    try:
        yield
    finally:
        _now.reset(token)


def counting() -> AbstractContextManager[None]:
    """For figures that must be right whoever asks, such as what is free of a card. No name that is read inside may be told."""
    return seeing(EVERYTHING)


def _one_of(column: str, ids: Iterable[int]) -> Q:
    found = sorted(ids)
    if not found:
        return _NOTHING
    return Q(**{column: found[0]}) if len(found) == 1 else Q(**{f"{column}__in": found})


def _any(conditions: list[Q]) -> Q:
    real = [one for one in conditions if one != _NOTHING]
    return reduce(or_, real) if real else _NOTHING
