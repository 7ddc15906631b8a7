"""What it takes to mirror a kind: where it is read, what is kept of an object, and what changes with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec
from django.db import models

from inventory.mirror.values import Columns, plain
from kube.objects import Metadata
from kube.source import Place, Source
from stacks.engine.base import Context

#: (node, "") or ("", stack): what becomes dirty, one node or the nodes that a stack has to do with.
Dirty = tuple[str, str]


class MirroredKind(msgspec.Struct, frozen=True):
    """One watched kind. key: what tells two objects apart (a node's name, else the uid). row: None when it is not kept.

    dirty: what an object makes dirty, from its row's columns `dirty_by`. columns: of a row, in the order of its digest.
    moves: an object may come to touch something else than before; then both become dirty. alike: columns; an object makes dirty what
    others with the same values make dirty, since they are read together. versions: of the API's group that can be read, best first,
    where the API server is asked which it has; the path is that of the first. shared: (column, value) of its rows in a table that
    several kinds share. places: the parts
    of the kind that are read, by what is stored with the watch. needed: whether anything of it is to be read; nothing: why not.
    note: keeps what changed of objects that were known, from their keys → stored facts, and → new columns;
    noted: only of those whose new facts have this text.
    """

    kind: str
    path: str
    struct: type[Any]
    model: type[models.Model]
    key: str
    row: Callable[[Any, Context], Columns | None]
    dirty_by: tuple[str, ...]
    dirty: Callable[..., set[Dirty]]
    columns: tuple[str, ...]
    moves: bool = False
    alike: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    shared: tuple[str, str] | None = None
    places: Callable[[str], tuple[Place, ...]] | None = None
    needed: Callable[[int], bool] | None = None
    nothing: str = ""
    note: Callable[[int, dict[str, str], dict[str, Columns]], None] | None = None
    noted: str = ""

    @property
    def group(self) -> str:
        """Of its API; "" for core/v1."""
        _, root, group, *_ = self.path.split("/")
        return group if root == "apis" else ""

    @property
    def filters(self) -> dict[str, str]:
        """By which its rows are found in its table."""
        return dict([self.shared]) if self.shared is not None else {}

    def source(self, selection: str = "") -> Source:
        """Where it is read. selection: as it is stored with the watch, of a kind that is read in part."""
        return Source(self.path, self.versions, self.places(selection) if self.places is not None else None)


class Thing(Protocol):
    """An object of a watched kind."""

    @property
    def metadata(self) -> Metadata: ...


def object_key(kind: MirroredKind, thing: Thing) -> str:
    return plain(thing.metadata.name, 253) if kind.key == "name" else plain(thing.metadata.uid, 128)
