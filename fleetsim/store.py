"""Objects of the embedded cluster, their versions, and the history that watches read.

One counter gives every write its resource version, as etcd's revision does. Objects are kept encoded: nobody can change
a stored object by accident, and lists and events are joined from bytes. Knows nothing of HTTP or of what objects mean.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from fleetsim.resources import ALL, Resource
from fleetsim.selectors import FIELDS, Selection
from fleetsim.status import already_exists, not_found, too_large, too_old

Object = dict[str, Any]
ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"


class Entry(NamedTuple):
    """One stored object: `body` is its JSON without kind and apiVersion; `fields` what field selectors may ask for.

    owner: uid of its first owner, "" where it has none.
    """

    key: str
    namespace: str
    version: int
    labels: dict[str, str]
    fields: dict[str, str]
    owner: str
    body: bytes

    def chosen_by(self, selection: Selection) -> bool:
        return selection.matches(self.namespace, self.labels, self.fields)


class Event(NamedTuple):
    """One write. `previous` is None for a creation; a deletion carries the last state with the deletion's version."""

    version: int
    type: str
    entry: Entry
    previous: Entry | None

    def seen_by(self, selection: Selection) -> str | None:
        """The type as a watch with this selection sees it: an object that leaves the selection is DELETED for it."""
        before = self.previous is not None and self.previous.chosen_by(selection)
        after = self.type != DELETED and self.entry.chosen_by(selection)
        if before and after:
            return MODIFIED
        return ADDED if after else DELETED if before else None


class History:
    """The last writes of one kind, by a running index. Writes up to version `compacted` are forgotten."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.events: list[Event] = []
        self.first = 0
        self.compacted = 0

    @property
    def end(self) -> int:
        return self.first + len(self.events)

    def append(self, event: Event) -> None:
        self.events.append(event)
        if len(self.events) >= 2 * self.limit:
            self.drop(self.limit)

    def drop(self, count: int) -> None:
        if count:
            self.compacted = max(self.compacted, self.events[count - 1].version)
            self.first += count
            del self.events[:count]

    def index_after(self, version: int) -> int:
        """Where a watch from this version starts."""
        return self.first + bisect_right(self.events, version, key=lambda event: event.version)

    def take(self, index: int, most: int) -> list[Event]:
        start = index - self.first
        return self.events[start : start + most]


class Watcher:
    """One open watch, as the store knows it. `cut` is called when the reader is too slow, from the writer's thread."""

    def __init__(self, resource: Resource, index: int, opened_at: int, buffer: int, cut: Callable[[], None]) -> None:
        self.resource = resource
        self.index = index
        self.opened_at = opened_at
        self.buffer = buffer
        self.cut = cut
        self.expired = False


class Store:
    """All objects of the cluster. Every method is safe to call from any thread; `changed` is notified after a write."""

    def __init__(self, history_limit: int = 20_000) -> None:
        self.changed = threading.Condition(threading.RLock())
        self.version = 1000
        self._entries: dict[str, dict[str, Entry]] = {resource.plural: {} for resource in ALL}
        self._sorted: dict[str, list[Entry] | None] = {}
        self._histories = {resource.plural: History(history_limit) for resource in ALL}
        self._watchers: dict[str, set[Watcher]] = {resource.plural: set() for resource in ALL}

    def snapshot(self, resource: Resource) -> tuple[int, list[Entry]]:
        """The version now and all entries, in the order of their keys. The list is shared: do not change it."""
        with self.changed:
            known = self._sorted.get(resource.plural)
            if known is None:
                known = sorted(self._entries[resource.plural].values(), key=lambda entry: entry.key)
                self._sorted[resource.plural] = known
            return self.version, known

    def names(self, resource: Resource) -> list[str]:
        """Keys: `namespace/name`, or the name alone for a kind without namespaces."""
        return [entry.key for entry in self.snapshot(resource)[1]]

    def entry(self, resource: Resource, namespace: str, name: str) -> Entry:
        """Raises ApiError 404 when there is no such object."""
        entry = self._entries[resource.plural].get(_key(namespace, name))
        if entry is None:
            raise not_found(resource.plural, resource.group, name)
        return entry

    def has(self, resource: Resource, namespace: str, name: str) -> bool:
        return _key(namespace, name) in self._entries[resource.plural]

    def get(self, resource: Resource, namespace: str, name: str) -> Object:
        """A copy that the caller may change and give to `replace`."""
        found: Object = msgspec.json.decode(self.entry(resource, namespace, name).body)
        return found

    def all(self, resource: Resource, which: Callable[[Entry], bool] = lambda _: True) -> list[Object]:
        """Copies of all objects of a kind, in the order of their keys. which: only those; decoding all pods takes 3 ms."""
        return [msgspec.json.decode(entry.body) for entry in self.snapshot(resource)[1] if which(entry)]

    def create(self, resource: Resource, obj: Object) -> Object:
        """Raises ApiError 409 when the name is taken."""
        with self.changed:
            metadata = obj["metadata"]
            namespace, name = metadata.get("namespace", ""), metadata["name"]
            if self.has(resource, namespace, name):
                raise already_exists(resource.plural, resource.group, name)
            self._write(resource, ADDED, obj, None)
            return obj

    def replace(self, resource: Resource, obj: Object) -> Object:
        """Raises ApiError 404 when the object is gone. Writing what is already there gives no event."""
        with self.changed:
            metadata = obj["metadata"]
            previous = self.entry(resource, metadata.get("namespace", ""), metadata["name"])
            metadata["resourceVersion"] = str(previous.version)
            if _encode(obj) != previous.body:
                self._write(resource, MODIFIED, obj, previous)
            return obj

    def remove(self, resource: Resource, namespace: str, name: str) -> Object:
        """Raises ApiError 404 when the object is gone. Returns its last state."""
        with self.changed:
            previous = self.entry(resource, namespace, name)
            obj: Object = msgspec.json.decode(previous.body)
            self._write(resource, DELETED, obj, previous)
            return obj

    def _write(self, resource: Resource, kind: str, obj: Object, previous: Entry | None) -> None:
        self.version += 1
        obj["metadata"]["resourceVersion"] = str(self.version)
        entry = _entry(resource, obj, self.version)
        if kind == DELETED:
            del self._entries[resource.plural][entry.key]
        else:
            self._entries[resource.plural][entry.key] = entry
        self._sorted[resource.plural] = None
        history = self._histories[resource.plural]
        history.append(Event(self.version, kind, entry, previous))
        self._cut_slow(resource.plural, history.end)
        self.changed.notify_all()

    def _cut_slow(self, plural: str, end: int) -> None:
        for watcher in [one for one in self._watchers[plural] if _lag(one, end) > one.buffer]:
            self._watchers[plural].discard(watcher)
            watcher.cut()

    def open_watch(self, resource: Resource, version: int | None, buffer: int, cut: Callable[[], None]) -> Watcher:
        """A watch of what follows `version` (None: of what follows now).

        Raises ApiError 410 when the version is forgotten and 504 when it is of the future.
        """
        with self.changed:
            history = self._histories[resource.plural]
            if version is not None and version < history.compacted:
                raise too_old(version, history.compacted)
            if version is not None and version > self.version:
                raise too_large(version, self.version)
            index = history.end if version is None else history.index_after(version)
            watcher = Watcher(resource, index, history.end, buffer, cut)
            self._watchers[resource.plural].add(watcher)
            return watcher

    def close_watch(self, watcher: Watcher) -> None:
        with self.changed:
            self._watchers[watcher.resource.plural].discard(watcher)

    def take(self, watcher: Watcher, most: int = 100) -> tuple[list[Event], int]:
        """The next events of a watch and the version up to which it is then complete.

        The watch advances only by `advance`, once they are sent. Raises ApiError 410 when they are forgotten.
        """
        with self.changed:
            history = self._histories[watcher.resource.plural]
            if watcher.expired or watcher.index < history.first:
                raise too_old(history.compacted, self.version)
            events = history.take(watcher.index, most)
            complete = watcher.index + len(events) == history.end
            return events, self.version if complete or not events else events[-1].version

    def pending(self, watcher: Watcher) -> bool:
        """Whether `take` would give something, or raise."""
        history = self._histories[watcher.resource.plural]
        return watcher.expired or watcher.index < history.end

    def advance(self, watcher: Watcher, count: int) -> None:
        with self.changed:
            watcher.index += count

    def compact(self, end_streams: bool = True) -> None:
        """Forget all history. A watch from an older version gets HTTP 410.

        end_streams: open watches end with an ERROR event that carries the same Status, even those that had read it all.
        """
        with self.changed:
            for plural, history in self._histories.items():
                history.drop(len(history.events))
                history.compacted = self.version
                for watcher in self._watchers[plural]:
                    watcher.expired = watcher.expired or end_streams
            self.changed.notify_all()


def _lag(watcher: Watcher, end: int) -> int:
    # The backlog that a resumed watch starts with is not the reader's fault: only what came since counts.
    return end - max(watcher.index, watcher.opened_at)


def _key(namespace: str, name: str) -> str:
    return f"{namespace}/{name}" if namespace else name


def _encode(obj: Object) -> bytes:
    obj.pop("kind", None)
    obj.pop("apiVersion", None)
    return msgspec.json.encode(obj)


def _entry(resource: Resource, obj: Object, version: int) -> Entry:
    metadata = obj["metadata"]
    namespace = metadata.get("namespace", "")
    fields = {path: _field(obj, path) for path in FIELDS[resource.plural]}
    labels = dict(metadata.get("labels") or {})
    return Entry(_key(namespace, metadata["name"]), namespace, version, labels, fields, _owner(metadata), _encode(obj))


def _owner(metadata: Object) -> str:
    """Of whatever somebody has posted."""
    match metadata.get("ownerReferences"):
        case [{"uid": str(uid)}, *_]:
            return uid
        case _:
            return ""


def _field(obj: Object, path: str) -> str:
    value: Any = obj
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    if path == "status.successful":
        value = ((obj.get("status") or {}).get("succeeded")) or 0
    if path == "spec.unschedulable":
        return "true" if value else "false"
    return "" if value is None else str(value)
