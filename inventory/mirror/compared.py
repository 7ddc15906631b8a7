"""A list of metadata beside the versions that were seen: what differs, and the objects of it. Knows no tables."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from inventory.mirror.values import plain
from inventory.mirror.versions import UNREAD, number
from kube.client import ApiError, Client
from kube.decode import Unread
from kube.metadata import Meta, pages
from kube.reflector import Reflector
from kube.source import Place


class Wanted(NamedTuple):
    """An object to be read. key: "" for the one that has the name now, whichever it is."""

    namespace: str
    name: str


class Difference(NamedTuple):
    """wanted: where the object can be read; None: it is nowhere in the cluster."""

    key: str
    what: str
    wanted: Wanted | None


class Comparison:
    """Filled by `compare` in a thread of its own; judged by the follower when that has ended.

    wanted: keys whose names are asked for.
    """

    def __init__(self, key: str, known: dict[int, int], wanted: set[str]) -> None:
        self._key, self._known, self._wanted = key, known, wanted
        self._unlisted = set(known)
        self._candidates: dict[str, Meta] = {}
        self.named: dict[str, Wanted] = {}
        self.resource_version = ""

    def look_at(self, meta: Meta) -> None:
        key = plain(meta.name, 253) if self._key == "name" else plain(meta.uid, 128)
        self._unlisted.discard(hash(key))
        known = self._known.get(hash(key))
        if known not in (UNREAD, number(meta.resourceVersion)):
            self._candidates[key] = meta
        if key in self._wanted:
            self.named[key] = Wanted(meta.namespace, meta.name)

    @property
    def is_clean(self) -> bool:
        return not self._candidates and not self._unlisted

    def reached_by(self, version: str) -> bool:
        """Whether rows of this version know all that the list knows. Versions that are no numbers cannot be compared."""
        both = version.isdigit() and self.resource_version.isdigit()
        return both and int(version) >= int(self.resource_version)

    def differences(self, known: dict[int, int], touched: set[int]) -> list[Difference]:
        """Objects of which another version, or none, is known, and which no event has named meanwhile."""
        found = []
        for key, meta in self._candidates.items():
            now = known.get(hash(key))
            if hash(key) not in touched and now not in (UNREAD, number(meta.resourceVersion)):
                what = "not received" if now is None else "received in another version"
                found.append(Difference(key, what, Wanted(meta.namespace, meta.name)))
        return found

    def left_over(self, known: dict[int, int], touched: set[int]) -> set[int]:
        """Places of objects that are known and not listed."""
        return {place for place in self._unlisted if place in known and place not in touched}


def compare(comparison: Comparison, client: Client, places: Iterable[Place], limit: int) -> None:
    """Raises ApiError, BadKubeconfig and NotAList."""
    for place in places:
        for page in pages(client, place.path, limit, place.query):
            comparison.resource_version = page.resource_version  # of the last place: the latest
            for meta in page.objects:
                comparison.look_at(meta)


def fetch(wanted: list[Wanted], client: Client, reflector: Reflector[Any]) -> list[tuple[str, Any, Unread | None]]:
    """The objects as they are now, as changes for the store; what is not there any more is left out. Raises ApiError."""
    found: list[tuple[str, Any, Unread | None]] = []
    for one in wanted:
        try:
            thing = reflector.decoder.object(client.get(_path_of(reflector.path, one)))
        except ApiError as error:
            if error.status != 404:
                raise
            continue  # the watch says so too
        strange = thing if isinstance(thing, Unread) else None
        found.append(("MODIFIED", None if strange else thing, strange))
    return found


def _path_of(path: str, one: Wanted) -> str:
    head, _, plural = path.rpartition("/")
    return f"{head}/namespaces/{one.namespace}/{plural}/{one.name}" if one.namespace else f"{path}/{one.name}"
