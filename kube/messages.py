"""What a reflector tells its owner: lists, changes, and why there are none."""

from __future__ import annotations

from typing import Generic

import msgspec

from kube.decode import Event, Page
from kube.identity import Identity
from kube.kinds import T
from kube.room import Room


class Relist(msgspec.Struct, frozen=True):
    """A full list begins: what it will not name is to be deleted."""

    reason: str


class Listed(msgspec.Struct, Generic[T], frozen=True):
    """One page of the list. room: counts its memory for as long as the message is kept."""

    page: Page[T]
    room: Room | None = None


class ListEnd(msgspec.Struct, frozen=True):
    """The list is complete; the watch goes on from resource_version. refused: texts of places that may not be read."""

    resource_version: str
    refused: tuple[str, ...] = ()


class Changes(msgspec.Struct, Generic[T], frozen=True):
    """Events in order (ADDED, MODIFIED, DELETED, BOOKMARK); at least one. Times are of the monotonic clock.

    as_of: when nothing else waited to be read. A reader that does not keep up with its stream shows it here: what it reads now may
    have waited since then. version: up to which everything has come with them, in all places that are read; "" when it is not known.
    room: counts their memory for as long as the message is kept.
    """

    events: list[Event[T]]
    received_at: float
    as_of: float
    version: str = ""
    room: Room | None = None


class Watching(msgspec.Struct, frozen=True):
    """A watch is open. refused: why some places of the kind are not read; "" where all are."""

    refused: str = ""


class Trouble(msgspec.Struct, frozen=True):
    """The cluster cannot be read now. refused: it said no (401, 403). absent: it does not have this kind (404).

    The next try is in `wait_s`.
    """

    reason: str
    refused: bool
    wait_s: float
    absent: bool = False


Message = Relist | Listed[T] | ListEnd | Changes[T] | Watching | Trouble | Identity
