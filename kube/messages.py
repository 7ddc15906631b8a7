"""What a reflector tells its owner: lists, changes, and why there are none."""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

from kube import claims, listed
from kube.decode import Event, Page
from kube.identity import Identity
from kube.objects import DaemonSet, Node, Pod

T = TypeVar("T", Node, Pod, DaemonSet, listed.Pod, claims.ResourceSlice, claims.ResourceClaim)


class Relist(msgspec.Struct, frozen=True):
    """A full list begins: what it will not name is to be deleted."""

    reason: str


class Listed(msgspec.Struct, Generic[T], frozen=True):
    """One page of the list."""

    page: Page[T]


class ListEnd(msgspec.Struct, frozen=True):
    """The list is complete; the watch goes on from resource_version."""

    resource_version: str


class Changes(msgspec.Struct, Generic[T], frozen=True):
    """Events in order (ADDED, MODIFIED, DELETED, BOOKMARK); at least one. Times are of the monotonic clock.

    as_of: when nothing else waited to be read. A reader that does not keep up with its stream shows it here: what it reads now may
    have waited since then.
    """

    events: list[Event[T]]
    received_at: float
    as_of: float


class Watching(msgspec.Struct, frozen=True):
    """A watch is open."""


class Trouble(msgspec.Struct, frozen=True):
    """The cluster cannot be read now. refused: it said no (401, 403). absent: it does not have this kind (404).

    The next try is in `wait_s`.
    """

    reason: str
    refused: bool
    wait_s: float
    absent: bool = False


Message = Relist | Listed[T] | ListEnd | Changes[T] | Watching | Trouble | Identity
