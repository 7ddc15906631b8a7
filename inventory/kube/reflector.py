"""List, then watch, for ever: the reflector of one kind.

Three nested loops: *relist* (list in pages, then watch from its resource version), *rewatch* (a stream ends or falls silent: watch
again from where it was), *read* (lines of one stream). What comes out is a sequence of messages; who reads them decides what to
write. It runs in a thread of its own and hands over through a bounded queue, so a slow writer slows the reader, never loses.
"""

from __future__ import annotations

import logging
import queue
import random
import threading
import time
from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from inventory.kube.client import ApiError, BadKubeconfig, Client, Stream
from inventory.kube.decode import Decoder, Event, NotAList, Page
from inventory.kube.objects import DaemonSet, Node, Pod

logger = logging.getLogger(__name__)
T = TypeVar("T", Node, Pod, DaemonSet)

#: Bookmarks come about each minute, so a longer silence means a dead connection.
SILENCE_S = 70.0
#: The server ends a watch after this; spread, so that many watchers do not come back together.
WATCH_S = (240, 480)
BACKOFF_FIRST_S, BACKOFF_CAP_S = 0.5, 30.0
#: A stream that ends sooner than this without an event counts as a failure, or a broken server would be asked in a tight loop.
SHORT_WATCH_S = 2.0
#: Messages (pages of a list, bundles of events) between the reader and the writer.
QUEUE_LENGTH = 4


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
    """Events in order (ADDED, MODIFIED, DELETED, BOOKMARK); at least one."""

    events: list[Event[T]]
    received_at: float


class Watching(msgspec.Struct, frozen=True):
    """A watch is open."""


class Trouble(msgspec.Struct, frozen=True):
    """The cluster cannot be read now. refused: it said no (401, 403). The next try is in `wait_s`."""

    reason: str
    refused: bool
    wait_s: float


Message = Relist | Listed[T] | ListEnd | Changes[T] | Watching | Trouble


class _Expired(Exception):
    """410: the resource version is too old; list anew."""


class Reflector(Generic[T]):
    """Reads one kind of one cluster.

    resource_version: where to go on from; "" lists first. Iterate `messages()`; call `stop()` from anywhere to end.
    """

    def __init__(
        self,
        client: Client,
        path: str,
        kind: type[T],
        resource_version: str = "",
        page_size: int = 500,
        silence_s: float = SILENCE_S,
    ) -> None:
        self.client, self.path, self.page_size, self.silence_s = client, path, page_size, silence_s
        self.decoder: Decoder[T] = Decoder(kind)
        self.resource_version = resource_version
        self._queue: queue.Queue[Message[T]] = queue.Queue(QUEUE_LENGTH)
        self._stopped = threading.Event()
        self._stream: Stream | None = None
        self._failures = 0
        self._thread = threading.Thread(target=self._run, name=f"reflector {path}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        if self._stream is not None:
            self._stream.close()
        while self._thread.is_alive():  # the reader may wait for room in the queue
            self.next(0.05)

    def next(self, timeout_s: float) -> Message[T] | None:
        """The next message, or None after timeout_s (0: what is there now)."""
        try:
            return self._queue.get(timeout=timeout_s) if timeout_s > 0 else self._queue.get_nowait()
        except queue.Empty:
            return None

    def _put(self, message: Message[T]) -> None:
        while not self._stopped.is_set():
            try:
                return self._queue.put(message, timeout=0.5)
            except queue.Full:
                continue

    def _run(self) -> None:
        reason = "first list"
        while not self._stopped.is_set():
            try:
                if not self.resource_version:
                    self._list(reason)
                self._watch_for_ever()
            except _Expired:
                self.resource_version, reason = "", "the cluster's history was compacted (410)"
            except (ApiError, NotAList, BadKubeconfig) as error:
                self._back_off(error)
            except Exception:
                logger.exception("reflector of %s", self.path)
                self._back_off(NotAList("an internal error; the log has it"))

    def _list(self, reason: str) -> None:
        self._put(Relist(reason))
        token, version = "", ""
        while not self._stopped.is_set():
            query: dict[str, object] = {"limit": self.page_size}
            if token:
                query["continue"] = token
            page = self._page(query)
            version = page.resource_version or version
            self._put(Listed(page))
            token = page.continue_token
            if not token:
                if not version:
                    raise NotAList("the list has no resource version")
                self.resource_version = version
                self._put(ListEnd(version))
                return

    def _page(self, query: dict[str, object]) -> Page[T]:
        try:
            return self.decoder.page(self.client.get(self.path, query))
        except ApiError as error:
            if error.status == 410:
                raise _Expired from None
            raise

    def _watch_for_ever(self) -> None:
        while not self._stopped.is_set():
            started = time.monotonic()
            seen = self._watch_once()
            if not seen and time.monotonic() - started < SHORT_WATCH_S and not self._stopped.is_set():
                raise ApiError(0, "ShortWatch", "the server ends each watch at once")

    def _watch_once(self) -> int:
        """One stream. Returns how many events it brought. Raises ApiError, NotAList or _Expired."""
        query = {
            "watch": "1",
            "resourceVersion": self.resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": random.randint(*WATCH_S),
        }
        seen = 0
        try:
            with self.client.stream(self.path, query, self.silence_s) as stream:
                self._stream = stream
                self._put(Watching())
                for events in self._bundles(stream):
                    seen += len(events)
                    self._failures = 0
                    self._put(Changes(events, time.time()))
                    self.resource_version = last_version(events) or self.resource_version
        except ApiError as error:
            if error.status == 410:
                raise _Expired from None
            if error.reason == "Stream" and seen:
                return seen  # broke after it had worked: go on at once from where it was
            raise
        finally:
            self._stream = None
        return seen

    def _bundles(self, stream: Stream) -> Iterator[list[Event[T]]]:
        """The events of each received chunk, in order."""
        rest = b""
        for chunk in stream.chunks():
            if self._stopped.is_set():
                return
            *lines, rest = (rest + chunk).split(b"\n") if rest else chunk.split(b"\n")
            events = [self._event(line) for line in lines if line.strip()]
            if events:
                yield events

    def _event(self, line: bytes) -> Event[T]:
        event = self.decoder.event(line)
        if event.type == "ERROR":
            if event.code == 410 or event.reason in ("Expired", "Gone"):
                raise _Expired
            raise ApiError(event.code, event.reason or "ERROR", event.message)
        return event

    def _back_off(self, error: ApiError | NotAList | BadKubeconfig) -> None:
        refused = isinstance(error, ApiError) and error.status in (401, 403)
        wait_s = backoff_s(self._failures, error.retry_after_s if isinstance(error, ApiError) else None)
        self._failures += 1
        self._put(Trouble(str(error), refused or isinstance(error, BadKubeconfig), wait_s))
        self._stopped.wait(wait_s)
        if (isinstance(error, ApiError) and error.status == 401) or isinstance(error, BadKubeconfig):
            try:
                self.client.renew_credentials()
            except BadKubeconfig as again:
                logger.warning("credentials cannot be read: %s", again)


def last_version(events: list[Event[T]]) -> str:
    """The resource version after these events; "" when none of them carries one."""
    return next((event.resource_version for event in reversed(events) if event.resource_version), "")


def backoff_s(failures: int, retry_after_s: float | None, jitter: float | None = None) -> float:
    """Seconds to wait after `failures` failures before: exponential with jitter (0.5–1), capped; never sooner than Retry-After."""
    share = random.uniform(0.5, 1.0) if jitter is None else jitter
    wait_s: float = min(BACKOFF_FIRST_S * 2 ** min(failures, 10), BACKOFF_CAP_S) * share
    return max(wait_s, retry_after_s or 0.0)
