"""The stream of one watch: events, bookmarks, the initial list, and its end. Knows nothing of HTTP framing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from fleetsim.resources import Resource
from fleetsim.selectors import Selection
from fleetsim.status import ApiError
from fleetsim.store import ADDED, DELETED, MODIFIED, Entry, Event, Store, Watcher

#: On the bookmark that ends the initial list of a streaming list (KEP-3157).
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(frozen=True)
class WatchRequest:
    """version None: start with the objects that are there (resource version unset or 0)."""

    resource: Resource
    selection: Selection
    version: int | None
    bookmarks: bool
    timeout_s: float
    initial_events: bool = False


@dataclass(frozen=True)
class WatchLimits:
    """bookmark_s: seconds between bookmarks. buffer: events that a reader may lag behind before its stream is closed."""

    bookmark_s: float = 10.0
    buffer: int = 2000


class Watch:
    """One watch. Opening it may raise ApiError (410, 504), which is then an HTTP answer; later errors are events.

    cut: called from another thread when the reader is too slow; it must break the write that is in progress.
    stopped: asked at each turn; True ends the stream.
    """

    def __init__(
        self,
        store: Store,
        request: WatchRequest,
        limits: WatchLimits,
        cut: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> None:
        self.store = store
        self.request = request
        self.limits = limits
        self.stopped = stopped
        self.initial: list[Entry] = []
        with store.changed:
            self.watcher: Watcher = store.open_watch(request.resource, request.version, limits.buffer, cut)
            self.position = store.version if request.version is None else request.version
            if request.version is None:
                entries = store.snapshot(request.resource)[1]
                self.initial = [entry for entry in entries if entry.chosen_by(request.selection)]

    def chunks(self) -> Iterator[bytes]:
        """Lines of the stream, one or more at a time. Ends at the time-out, on 410, or when the server stops."""
        try:
            yield from self._initial_chunks()
            yield from self._event_chunks()
        except ApiError as error:
            yield b'{"type":"ERROR","object":' + error.body() + b"}\n"
        finally:
            self.store.close_watch(self.watcher)

    def _initial_chunks(self) -> Iterator[bytes]:
        for start in range(0, len(self.initial), 100):
            yield b"".join(self._line(ADDED, entry) for entry in self.initial[start : start + 100])
        self.initial = []
        if self.request.initial_events:
            yield self._bookmark({INITIAL_EVENTS_END: "true"})

    def _event_chunks(self) -> Iterator[bytes]:
        deadline = time.monotonic() + self.request.timeout_s
        bookmark_due = time.monotonic() + self.limits.bookmark_s
        while not self.stopped():
            now = time.monotonic()
            events, self.position = self.store.take(self.watcher)
            chunk = b"".join(self._seen(events))
            if now >= bookmark_due or now >= deadline:
                bookmark_due = now + self.limits.bookmark_s
                chunk += self._bookmark() if self.request.bookmarks else b""
            if chunk:
                yield chunk
            self.store.advance(self.watcher, len(events))
            if now >= deadline:
                return
            if not events:
                self._wait(min(deadline, bookmark_due) - now)

    def _wait(self, seconds: float) -> None:
        changed = self.store.changed
        with changed:
            # Asked again under the lock: a write or a stop between `take` and here would otherwise be slept through.
            if not self.stopped() and not self.store.pending(self.watcher):
                changed.wait(max(0.0, seconds))

    def _seen(self, events: list[Event]) -> Iterator[bytes]:
        for event in events:
            kind = event.seen_by(self.request.selection)
            if kind in (ADDED, MODIFIED, DELETED):
                yield self._line(kind, event.entry)

    def _line(self, kind: str, entry: Entry) -> bytes:
        resource = self.request.resource
        head = f'{{"type":"{kind}","object":{{"kind":"{resource.kind}","apiVersion":"{resource.api_version}",'
        return head.encode() + entry.body[1:] + b"}\n"

    def _bookmark(self, annotations: dict[str, str] | None = None) -> bytes:
        resource = self.request.resource
        metadata: dict[str, Any] = {"resourceVersion": str(self.position), "creationTimestamp": None}
        if annotations:
            metadata["annotations"] = annotations
        obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        return msgspec.json.encode({"type": "BOOKMARK", "object": obj}) + b"\n"
