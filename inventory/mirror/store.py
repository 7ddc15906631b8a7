"""The rows of one kind of one cluster: which changed, and how they are written.

Holds, for each kept object, its key → digest, and of every object its version (`versions`); nothing else, so that 150,000 pods take
some tens of MiB. All writes are inside the caller's transaction.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any, Generic

import msgspec
from django.utils import timezone

from inventory.mirror.mirrored_kind import Dirty, MirroredKind, object_key
from inventory.mirror.values import Columns, digest, plain
from inventory.mirror.versions import Versions
from inventory.models import DirtyNode, Unreadable
from inventory.stack_context import stack_context
from kube import listed
from kube.decode import ERROR_CHARS, Unread
from kube.kinds import T
from kube.objects import Metadata
from runtime import bulk
from stacks.engine.base import Selection

logger = logging.getLogger(__name__)
BATCH = 1000


class Store(Generic[T]):
    """What is known of one kind. `load` first; then `begin_replace`, `add_page`, `end_replace` for lists and `apply` for events.

    tells_reconciler: whether changes make their nodes dirty. In the very first list they need not: the reconciler begins with all.
    selections: which of a kind that is read in part.
    """

    def __init__(
        self,
        cluster_id: int,
        kind: MirroredKind,
        tells_reconciler: bool = True,
        selections: tuple[Selection, ...] = (),
    ) -> None:
        self.cluster_id, self.kind, self.tells_reconciler = cluster_id, kind, tells_reconciler
        self.digests: dict[str, int] = {}
        self.versions = Versions()
        self.context = msgspec.structs.replace(stack_context(), selections=selections)
        #: Keys not yet named by the list that is under way; None outside of one.
        self._unseen: set[str] | None = None
        #: (namespace, name) of what did not decode, now and before the list that is under way.
        self._unreadable: set[tuple[str, str]] = set()
        self._unread_before: set[tuple[str, str]] = set()
        self.seen = 0

    @property
    def _rows(self) -> Any:
        return self.kind.model._default_manager.filter(cluster_id=self.cluster_id, **self.kind.filters)

    @property
    def _unreadable_rows(self) -> Any:
        return Unreadable.objects.filter(cluster_id=self.cluster_id, kind=self.kind.kind)

    def load(self) -> None:
        """Read the digests of what is stored."""
        self.digests = dict(self._rows.values_list(self.kind.key, "digest").iterator(5000))
        self._unreadable = set(self._unreadable_rows.values_list("namespace", "name"))

    # A list: begin, pages, end.

    def begin_replace(self) -> None:
        self.versions.begin()
        self._unseen = set(self.digests)
        # A list that was broken off has not said the last word on what was unreadable before it.
        self._unread_before |= self._unreadable
        self._unreadable = set()
        self.seen = 0

    def add_page(self, objects: Iterable[T], unread: Iterable[Unread]) -> int:
        """Write what changed of one page. Returns the number of rows written."""
        upserts: dict[str, Columns] = {}
        dirty: set[Dirty] = set()
        unseen = self._unseen if self._unseen is not None else set()
        strange = list(unread)
        self.seen += len(strange)
        for thing in objects:
            self.seen += 1
            self.versions.note(object_key(self.kind, thing), thing.metadata.resourceVersion)
            columns = self._changed(thing, dirty, unseen, strange)
            if columns:
                upserts[object_key(self.kind, thing)] = columns
        for one in strange:
            unseen.discard(self._key_of(one))
            self.versions.note_unread(self._key_of(one))
        self._keep_unread(strange)
        return self._write(upserts, [], dirty)

    def end_replace(self, refused: tuple[str, ...] = ()) -> int:
        """Delete what the list did not name. refused: places that could not be listed; what was found there stays.

        Returns the number of rows.
        """
        self.versions.complete = True
        unseen, self._unseen = self._unseen or set(), None
        if refused and unseen:
            unseen -= set(self._rows.filter(place__in=refused).values_list(self.kind.key, flat=True))
        gone = self._without_unread(unseen)
        for namespace, name in self._unread_before - self._unreadable:
            self._unreadable_rows.filter(namespace=namespace, name=name).delete()
        self._unread_before = set()
        return self._write({}, gone, set())

    def _without_unread(self, keys: set[str]) -> list[str]:
        """Keys without those of objects that are still there, but so strange that only their names could be read."""
        names = {name for _, name in self._unreadable}
        if self.kind.key == "name" or not names or not keys:
            return list(keys)
        strange = self._rows.filter(name__in=names).values_list(self.kind.key, "namespace", "name")
        kept = {key for key, namespace, name in strange if (namespace, name) in self._unreadable}
        return list(keys - kept)

    def _changed(self, thing: T, dirty: set[Dirty], unseen: set[str], strange: list[Unread]) -> Columns | None:
        columns = self._row(thing)
        if isinstance(columns, Unread):
            strange.append(columns)
        if columns is None or isinstance(columns, Unread):
            return None  # not of interest: if it was, the end of the list deletes it
        key = object_key(self.kind, thing)
        unseen.discard(key)
        mark = digest(columns)
        if self.digests.get(key) == mark:
            return None
        columns["digest"] = mark
        dirty.update(self._dirty_of(columns))
        return columns

    def _row(self, thing: T) -> Columns | Unread | None:
        """The columns of an object. One that no row can be made of must not stop the others: it is unreadable."""
        try:
            return self.kind.row(thing, self.context)
        except listed.Unreadable as error:
            return _unread(thing.metadata, str(error))
        except Exception as error:
            meta = thing.metadata
            logger.warning("%s %s/%s: no row", self.kind.kind, meta.namespace, meta.name, exc_info=True)
            return _unread(meta, f"cannot be decoded: {type(error).__name__} {error}")

    def _key_of(self, strange: Unread) -> str:
        return strange.name if self.kind.key == "name" else strange.uid[:128]

    # Events.

    def apply(self, events: Iterable[tuple[str, T | None, Unread | None]]) -> int:
        """Write a bundle of events, each object's last state. Items: (type, object, unread). Returns the rows written."""
        upserts: dict[str, Columns | None] = {}
        dirty: set[Dirty] = set()
        unread: dict[tuple[str, str], Unread] = {}
        for kind, thing, strange in events:
            if strange is not None:
                self._note_unread(kind, strange, upserts, unread)
            elif thing is not None:
                self._note(kind, thing, upserts, unread)
        deletes = [key for key, columns in upserts.items() if columns is None and key in self.digests]
        writes = {key: columns for key, columns in upserts.items() if columns and self._is_new(key, columns)}
        for columns in writes.values():
            dirty.update(self._dirty_of(columns))
        self._keep_unread(unread.values())
        return self._write(writes, deletes, dirty)

    def _note(
        self, kind: str, thing: T, upserts: dict[str, Columns | None], unread: dict[tuple[str, str], Unread]
    ) -> None:
        key = object_key(self.kind, thing)
        if kind == "DELETED":
            self.versions.forget(key)
        else:
            self.versions.note(key, thing.metadata.resourceVersion)
        columns = None if kind == "DELETED" else self._row(thing)
        if isinstance(columns, Unread):
            self._note_unread(kind, columns, upserts, unread)
            return
        upserts[key] = columns
        self._is_read((thing.metadata.namespace, thing.metadata.name), unread)

    def _note_unread(
        self, kind: str, strange: Unread, upserts: dict[str, Columns | None], unread: dict[tuple[str, str], Unread]
    ) -> None:
        """What cannot be read stays as it was last read, also by an earlier event of the bundle; unless it is gone."""
        name = (strange.namespace, strange.name)
        if kind == "DELETED":
            upserts[self._key_of(strange)] = None
            self.versions.forget(self._key_of(strange))
            self._is_read(name, unread)
        else:
            self.versions.note_unread(self._key_of(strange))
            unread[name] = strange

    def _is_read(self, name: tuple[str, str], unread: dict[tuple[str, str], Unread]) -> None:
        unread.pop(name, None)
        if name in self._unreadable:
            self._unreadable.discard(name)
            self._unreadable_rows.filter(namespace=name[0], name=name[1]).delete()

    def _is_new(self, key: str, columns: Columns) -> bool:
        columns["digest"] = digest(columns)
        return bool(self.digests.get(key) != columns["digest"])

    def _dirty_of(self, columns: Columns) -> set[Dirty]:
        return self.kind.dirty(*(columns[name] for name in self.kind.dirty_by))

    def _dirty_of_rows(self, rows: Any) -> set[Dirty]:
        return {one for values in rows.values_list(*self.kind.dirty_by) for one in self.kind.dirty(*values)}

    def _keep_unread(self, unread: Iterable[Unread]) -> None:
        """A row that became unreadable stays as it was last read: it is not gone."""
        rows = []
        for strange in unread:
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

    # Audits.

    def rows_after(self, after: int, count: int) -> Any:
        """The next rows in the order of their ids."""
        return self._rows.filter(id__gt=after).order_by("id")[:count]

    def mend(self, changes: Iterable[tuple[str, T | None, Unread | None]], stray: list[str], dirty: set[Dirty]) -> int:
        """Apply what an audit read anew; delete rows that nobody wrote. dirty: of what the rows said."""
        self._write({}, [], dirty)
        for start in range(0, len(stray), BATCH):
            gone = self._rows.filter(**{f"{self.kind.key}__in": stray[start : start + BATCH]})
            gone._raw_delete(gone.db)
        return len(stray) + self.apply(changes)

    def _write(self, upserts: dict[str, Columns], deletes: list[str], dirty: set[Dirty]) -> int:
        alike = {self._alike(columns) for columns in upserts.values()} if self.kind.alike else set()
        if upserts:
            names = ("cluster_id", *next(iter(upserts.values())))
            known = {key for key in upserts if key in self.digests}
            if self.kind.moves and known:  # what it touched before it need not touch now
                before = self._rows.filter(**{f"{self.kind.key}__in": known})
                dirty |= self._dirty_of_rows(before)
                alike |= self._alike_of_rows(before)
            noted = {key for key in known if self.kind.noted in upserts[key]["facts"]} if self.kind.note else set()
            if self.kind.note and noted:
                before = self._rows.filter(**{f"{self.kind.key}__in": noted})
                self.kind.note(self.cluster_id, dict(before.values_list(self.kind.key, "facts")), upserts)
            new = _values(self.cluster_id, [columns for key, columns in upserts.items() if key not in known])
            changed = _values(self.cluster_id, [columns for key, columns in upserts.items() if key in known])
            bulk.insert(self.kind.model, names, new)
            bulk.upsert(self.kind.model, names, changed, unique=("cluster_id", *self.kind.filters, self.kind.key))
        for start in range(0, len(deletes), BATCH):
            gone = self._rows.filter(**{f"{self.kind.key}__in": deletes[start : start + BATCH]})
            dirty |= self._dirty_of_rows(gone)
            alike |= self._alike_of_rows(gone)
            gone._raw_delete(gone.db)
        if alike:
            dirty |= self._dirty_with(alike)
        if dirty and self.tells_reconciler:
            rows = [(self.cluster_id, node, stack) for node, stack in sorted(dirty)]
            bulk.insert(DirtyNode, ("cluster_id", "node_name", "stack"), rows)
        self.digests |= {key: columns["digest"] for key, columns in upserts.items()}
        for key in deletes:
            self.digests.pop(key, None)
        return len(upserts) + len(deletes)

    # Objects that are read together: what touches one touches what the others touch.

    def _alike(self, columns: Columns) -> tuple[Any, ...]:
        return tuple(columns[name] for name in self.kind.alike)

    def _alike_of_rows(self, rows: Any) -> set[tuple[Any, ...]]:
        return set(rows.values_list(*self.kind.alike).distinct()) if self.kind.alike else set()

    def _dirty_with(self, alike: set[tuple[Any, ...]]) -> set[Dirty]:
        """What the objects of the same make dirty that are left."""
        last = self.kind.alike[-1]
        found = self._rows.filter(**{f"{last}__in": {values[-1] for values in alike}})
        count = len(self.kind.dirty_by)
        rows = found.values_list(*self.kind.dirty_by, *self.kind.alike).distinct()
        return {one for values in rows if values[count:] in alike for one in self.kind.dirty(*values[:count])}


def _unread(meta: Metadata, error: str) -> Unread:
    return Unread(plain(meta.namespace, 253), plain(meta.name, 253), plain(meta.uid, 253), plain(error, ERROR_CHARS))


def _values(cluster_id: int, rows: list[Columns]) -> list[tuple[Any, ...]]:
    return [(cluster_id, *columns.values()) for columns in rows]
