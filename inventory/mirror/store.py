"""The rows of one kind of one cluster: which changed, and how they are written.

Holds, for each kept object, its key → digest; nothing else, so that 150,000 pods take some tens of MiB. All writes are inside the
caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Generic, TypeVar

from django.utils import timezone

from inventory import bulk
from inventory.kube.decode import Unread
from inventory.kube.objects import DaemonSet, Node, Pod
from inventory.mirror.kinds import (
    Columns,
    MirroredKind,
    digest,
    object_key,
    stack_context,
)
from inventory.models import Recount, Unreadable

T = TypeVar("T", Node, Pod, DaemonSet)
BATCH = 1000


class Store(Generic[T]):
    """What is known of one kind. `load` first; then `begin_replace`, `add_page`, `end_replace` for lists and `apply` for events.

    marking: whether changes mark their nodes for the accountant. In the very first list they need not: it begins with all nodes.
    """

    def __init__(self, cluster_id: int, kind: MirroredKind, marking: bool = True) -> None:
        self.cluster_id, self.kind, self.marking = cluster_id, kind, marking
        self.digests: dict[str, int] = {}
        self.context = stack_context()
        #: Keys not yet named by the list that is under way; None outside of one.
        self._unseen: set[str] | None = None
        #: (namespace, name) of what did not decode, now and before the list that is under way.
        self._unreadable: set[tuple[str, str]] = set()
        self._unread_before: set[tuple[str, str]] = set()
        self.seen = 0

    @property
    def _rows(self) -> Any:
        return self.kind.model._default_manager.filter(cluster_id=self.cluster_id)

    @property
    def _unreadable_rows(self) -> Any:
        return Unreadable.objects.filter(cluster_id=self.cluster_id, kind=self.kind.kind)

    def load(self) -> None:
        """Read the digests of what is stored."""
        self.digests = dict(self._rows.values_list(self.kind.key, "digest").iterator(5000))
        self._unreadable = set(self._unreadable_rows.values_list("namespace", "name"))

    # A list: begin, pages, end.

    def begin_replace(self) -> None:
        self._unseen = set(self.digests)
        self._unread_before, self._unreadable = self._unreadable, set()
        self.seen = 0

    def add_page(self, objects: Iterable[T], unread: Iterable[Unread]) -> int:
        """Write what changed of one page. Returns the number of rows written."""
        upserts: dict[str, Columns] = {}
        nodes: set[str] = set()
        unseen = self._unseen if self._unseen is not None else set()
        for thing in objects:
            self.seen += 1
            columns = self._changed(thing, nodes, unseen)
            if columns:
                upserts[object_key(self.kind, thing)] = columns
        self._keep_unread(unread, unseen)
        return self._write(upserts, [], nodes)

    def end_replace(self) -> int:
        """Delete what the list did not name. Returns the number of rows."""
        gone, self._unseen = list(self._unseen or ()), None
        for namespace, name in self._unread_before - self._unreadable:
            self._unreadable_rows.filter(namespace=namespace, name=name).delete()
        self._unread_before = set()
        return self._write({}, gone, set())

    def _changed(self, thing: T, nodes: set[str], unseen: set[str]) -> Columns | None:
        columns = self.kind.row(thing, self.context)
        if columns is None:
            return None  # not of interest: if it was, the end of the list deletes it
        key = object_key(self.kind, thing)
        unseen.discard(key)
        mark = digest(columns)
        if self.digests.get(key) == mark:
            return None
        columns["digest"] = mark
        nodes.update(self._nodes_of(columns))
        return columns

    # Events.

    def apply(self, events: Iterable[tuple[str, T | None, Unread | None]]) -> int:
        """Write a bundle of events, each object's last state. Items: (type, object, unread). Returns the rows written."""
        upserts: dict[str, Columns | None] = {}
        nodes: set[str] = set()
        unread: list[Unread] = []
        for kind, thing, strange in events:
            if strange is not None:
                unread.append(strange)
            elif thing is not None:
                self._note(kind, thing, upserts)
        deletes = [key for key, columns in upserts.items() if columns is None and key in self.digests]
        writes = {key: columns for key, columns in upserts.items() if columns and self._is_new(key, columns)}
        for columns in writes.values():
            nodes.update(self._nodes_of(columns))
        self._keep_unread(unread, set())
        return self._write(writes, deletes, nodes)

    def _note(self, kind: str, thing: T, upserts: dict[str, Columns | None]) -> None:
        key = object_key(self.kind, thing)
        upserts[key] = None if kind == "DELETED" else self.kind.row(thing, self.context)
        name = (thing.metadata.namespace, thing.metadata.name)
        if name in self._unreadable:
            self._unreadable.discard(name)
            self._unreadable_rows.filter(namespace=name[0], name=name[1]).delete()

    def _is_new(self, key: str, columns: Columns) -> bool:
        columns["digest"] = digest(columns)
        return bool(self.digests.get(key) != columns["digest"])

    def _nodes_of(self, columns: Columns) -> set[str]:
        """Which nodes' accounts an object touches; "" is all of them (a plugin's arguments say the memory unit)."""
        if self.kind.kind == "pods":
            return {columns["node_name"]} - {""}
        return {columns["name"]} if self.kind.kind == "nodes" else {""}

    def _keep_unread(self, unread: Iterable[Unread], unseen: set[str]) -> None:
        """A row that became unreadable stays as it was last read: it is not gone."""
        rows = []
        for strange in unread:
            self.seen += 1
            unseen.discard(strange.name if self.kind.key == "name" else strange.uid)
            self._unreadable.add((strange.namespace, strange.name))
            rows.append(
                Unreadable(
                    cluster_id=self.cluster_id,
                    kind=self.kind.kind,
                    namespace=strange.namespace,
                    name=strange.name,
                    error=strange.error,
                    seen_at=timezone.now(),
                )
            )
        unique = list({(row.namespace, row.name): row for row in rows}.values())
        if unique:
            Unreadable.objects.bulk_create(
                unique,
                update_conflicts=True,
                unique_fields=["cluster", "kind", "namespace", "name"],
                update_fields=["error", "seen_at"],
            )

    def _write(self, upserts: dict[str, Columns], deletes: list[str], nodes: set[str]) -> int:
        if upserts:
            names = ("cluster_id", *next(iter(upserts.values())))
            known = {key for key in upserts if key in self.digests}
            bulk.insert(self.kind.model, names, _values(self.cluster_id, upserts, upserts.keys() - known))
            bulk.upsert(
                self.kind.model, names, _values(self.cluster_id, upserts, known), unique=("cluster_id", self.kind.key)
            )
        for start in range(0, len(deletes), BATCH):
            gone = self._rows.filter(**{f"{self.kind.key}__in": deletes[start : start + BATCH]})
            nodes.update(self._nodes_of_rows(gone))
            gone._raw_delete(gone.db)
        if nodes and self.marking:
            marks = [""] if "" in nodes else sorted(nodes)
            bulk.insert(Recount, ("cluster_id", "node_name"), [(self.cluster_id, name) for name in marks])
        self.digests |= {key: columns["digest"] for key, columns in upserts.items()}
        for key in deletes:
            self.digests.pop(key, None)
        return len(upserts) + len(deletes)

    def _nodes_of_rows(self, rows: Any) -> set[str]:
        if self.kind.kind == "pods":
            return set(rows.values_list("node_name", flat=True)) - {""}
        return set(rows.values_list("name", flat=True)) if self.kind.kind == "nodes" else {""}


def _values(cluster_id: int, rows: dict[str, Columns], keys: set[str]) -> list[tuple[Any, ...]]:
    return [(cluster_id, *rows[key].values()) for key in keys]
