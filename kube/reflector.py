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
from collections.abc import Callable, Iterator
from typing import Generic

from kube.client import ApiError, BadKubeconfig, Client, Stream
from kube.decode import Decoder, Event, NotAList
from kube.identity import Identity, goes_back, identity_of, version_now
from kube.messages import Changes, Listed, ListEnd, Message, Relist, T, Trouble, Watching
from kube.pages import Pages

logger = logging.getLogger(__name__)

#: Bookmarks come about each minute, so a longer silence means a dead connection.
SILENCE_S = 70.0
#: The server ends a watch after this; spread, so that many watchers do not come back together.
WATCH_S = (240, 480)
BACKOFF_FIRST_S, BACKOFF_CAP_S = 0.5, 30.0
#: A kind that the server does not have comes with an upgrade of the server, or with somebody who installs it.
ABSENT_S = 60.0
#: A stream that ends sooner than this without an event counts as a failure, or a broken server would be asked in a tight loop.
SHORT_WATCH_S = 2.0
#: Messages (pages of a list, bundles of events) between the reader and the writer.
QUEUE_LENGTH = 4
#: No object of an API server is as large (etcd refuses far less): a line that goes on without end must not fill the memory.
MAX_LINE = 64 << 20
#: On a quiet watch, which the server ends every few minutes, the cluster's identity is asked for this often.
IDENTITY_S = 300.0
#: An API server that has just started makes kube-system within a second or two; one that never does has no identity.
UNNAMED_TRIES = 4
#: A reader that waits for the server cannot be woken; after this it is left to end by its own time-out.
STOP_S = 0.5


COMPACTED = "the cluster's history was compacted (410)"
WENT_BACK = "the cluster's resource version went back"


class _Expired(Exception):
    """What is stored is not where the cluster can go on from; list anew. The text says why."""


def last_version(events: list[Event[T]]) -> str:
    """The resource version after these events; "" when none of them carries one."""
    return next((event.resource_version for event in reversed(events) if event.resource_version), "")


def backoff_s(failures: int, retry_after_s: float | None, jitter: float | None = None) -> float:
    """Seconds to wait after `failures` failures before: exponential with jitter (0.5–1), capped; never sooner than Retry-After."""
    share = random.uniform(0.5, 1.0) if jitter is None else jitter
    wait_s: float = min(BACKOFF_FIRST_S * 2 ** min(failures, 10), BACKOFF_CAP_S) * share
    return max(wait_s, retry_after_s or 0.0)


class Reflector(Generic[T]):
    """Reads one kind of one cluster.

    resource_version: where to go on from; "" lists first. `start()`, take messages with `next()`, end with `stop()` from anywhere.
    backoff: seconds to wait, from the failures before and what Retry-After asks for. reason: of a first list.
    proving: ask which cluster it is, and before a watch goes on from a version that may not be of this history, whether it is.
    """

    def __init__(
        self,
        client: Client,
        path: str,
        kind: type[T],
        resource_version: str = "",
        page_size: int = 500,
        silence_s: float = SILENCE_S,
        backoff: Callable[[int, float | None], float] = backoff_s,
        reason: str = "first list",
        proving: bool = False,
    ) -> None:
        self.client, self.path, self.page_size, self.silence_s = client, path, page_size, silence_s
        self._backoff = backoff
        self.decoder: Decoder[T] = Decoder(kind)
        self.resource_version = resource_version
        self._queue: queue.Queue[Message[T]] = queue.Queue(QUEUE_LENGTH)
        self._stopped = threading.Event()
        self._stream: Stream | None = None
        self._failures = 0
        self._expired = False
        self._reason, self.proving = reason, proving
        self._asked_for = ""
        #: Whether something happened since which another cluster, or an older one, may answer.
        self._doubtful, self._identified_at, self._unnamed = True, 0.0, 0
        self._thread = threading.Thread(target=self._run, name=f"reflector {path}", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End within a second; messages that nobody took are dropped."""
        self._stopped.set()
        until = time.monotonic() + STOP_S
        while self._thread.is_alive() and time.monotonic() < until:
            if (stream := self._stream) is not None:
                stream.close()
            self.next(0.02)  # the reader may wait for room in the queue

    def relist(self, reason: str) -> None:
        """List anew, as soon as the reader sees it."""
        self._asked_for = reason
        if (stream := self._stream) is not None:
            stream.close()

    @property
    def idle(self) -> bool:
        """Whether no message waits."""
        return self._queue.empty()

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
        """The thread: nothing but `stop()` ends it, or the kind would stay as it is for ever."""
        said = ""
        while not self._stopped.is_set():
            try:
                self._read()
            except Exception as error:
                # Where even the way back failed. It is tried again in a while, and said once.
                if said != (said := f"{type(error).__name__}: {error}"):
                    logger.exception("reflector of %s: it goes on", self.path)
                self._failures += 1
                self._stopped.wait(self._backoff(self._failures, None))

    def _read(self) -> None:
        """List and watch until stopped."""
        while not self._stopped.is_set():
            try:
                self._prove()
                if not self.resource_version:
                    self._list(self._reason)
                self._watch_for_ever()
            except _Expired as expired:
                self.resource_version, self._reason = "", str(expired)
                if self._expired:  # twice without an event between: lists in a tight loop would be a burden
                    self._back_off(ApiError(410, "Expired", "the server calls each resource version too old"))
                self._expired = True
            except (ApiError, NotAList, BadKubeconfig) as error:
                self._back_off(error)
            except Exception:
                logger.exception("reflector of %s", self.path)
                self._back_off(NotAList("an internal error; the log has it"))

    def _prove(self) -> None:
        """Before a list or a watch. Raises ApiError, and _Expired when the cluster's history does not reach the stored version."""
        if not self.proving or not (self._doubtful or time.monotonic() - self._identified_at > IDENTITY_S):
            return
        self._put(self._identity())
        if self.resource_version and goes_back(self.resource_version, version_now(self.client, self.path)):
            raise _Expired(WENT_BACK)
        self._doubtful, self._identified_at = False, time.monotonic()

    def _identity(self) -> Identity:
        try:
            return identity_of(self.client)
        except ApiError as error:
            if error.status != 404:
                raise
            self._unnamed += 1
            if self._unnamed <= UNNAMED_TRIES:
                raise
            return Identity("", "there is no namespace kube-system")

    def _list(self, reason: str) -> None:
        self._put(Relist(reason))
        version, pages = "", Pages(self.client, self.path, self.page_size, self._stopped)
        try:
            for body in pages:
                page = self.decoder.page(body)
                version = page.resource_version or version
                self._put(Listed(page))
                if page.continue_token and page.continue_token == pages.token:
                    raise NotAList("the list has no end: its continue token repeats")
                pages.token = page.continue_token
        except ApiError as error:
            if error.status == 410 and pages.token:
                raise _Expired(COMPACTED) from None
            raise
        if self._stopped.is_set():
            return
        if not version:
            raise NotAList("the list has no resource version")
        self.resource_version = version
        self._put(ListEnd(version))

    def _watch_for_ever(self) -> None:
        while not self._stopped.is_set():
            self._prove()
            started, version = time.monotonic(), self.resource_version
            self._watch_once()
            if self._asked_for:
                self._reason, self._asked_for, self.resource_version = self._asked_for, "", ""
                return
            short = time.monotonic() - started < SHORT_WATCH_S
            if short and self.resource_version == version and not self._stopped.is_set():
                raise ApiError(0, "ShortWatch", "the server ends each watch at once")

    def _watch_once(self) -> None:
        """One stream, to its end. Raises ApiError, NotAList or _Expired."""
        query = {
            "watch": "1",
            "resourceVersion": self.resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": random.randint(*WATCH_S),
        }
        seen = False
        try:
            with self.client.stream(self.path, query, self.silence_s) as stream:
                self._stream = stream
                if self._stopped.is_set():
                    return  # stop() may have looked for a stream just before
                if self._asked_for:
                    return
                self._put(Watching())
                for events, as_of in self._bundles(stream):
                    if any(event.type == "BOOKMARK" and self._is_before(event) for event in events):
                        raise _Expired(WENT_BACK)
                    seen, self._failures, self._expired = True, 0, False
                    self._put(Changes(events, time.monotonic(), as_of))
                    self.resource_version = last_version(events) or self.resource_version
        except ApiError as error:
            if error.status == 410:
                raise _Expired(COMPACTED) from None
            if error.reason != "Stream" or not seen:
                raise
            self._doubtful = True
            # It broke after it had worked: go on at once from where it was.
        finally:
            self._stream = None

    def _is_before(self, event: Event[T]) -> bool:
        return goes_back(self.resource_version, event.resource_version)

    def _bundles(self, stream: Stream) -> Iterator[tuple[list[Event[T]], float]]:
        """The events of each received chunk, in order, and as of when; those before a line that ends the stream too."""
        rest = b""
        for chunk, as_of in stream.dated_chunks():
            if self._stopped.is_set():
                return
            *lines, rest = (rest + chunk).split(b"\n") if rest else chunk.split(b"\n")
            if len(rest) > MAX_LINE:
                raise NotAList(f"a watch event of more than {MAX_LINE >> 20} MiB came")
            events: list[Event[T]] = []
            try:
                events.extend(self._event(line) for line in lines if line.strip())
            except (ApiError, NotAList, _Expired):
                if events:
                    yield events, as_of
                raise
            if events:
                yield events, as_of

    def _event(self, line: bytes) -> Event[T]:
        event = self.decoder.event(line)
        if event.type == "ERROR":
            if event.code == 410 or event.reason in ("Expired", "Gone"):
                raise _Expired(COMPACTED)
            raise ApiError(event.code, event.reason or "ERROR", event.message)
        return event

    def _back_off(self, error: ApiError | NotAList | BadKubeconfig) -> None:
        refused = isinstance(error, ApiError) and error.status in (401, 403)
        absent = isinstance(error, ApiError) and error.status == 404
        wait_s = self._backoff(self._failures, error.retry_after_s if isinstance(error, ApiError) else None)
        self._failures += 1
        self._doubtful = True
        if absent:
            wait_s = max(wait_s, ABSENT_S)
        self._put(Trouble(str(error), refused or isinstance(error, BadKubeconfig), wait_s, absent))
        self._stopped.wait(wait_s)
        if (isinstance(error, ApiError) and error.status == 401) or isinstance(error, BadKubeconfig):
            try:
                self.client.renew_credentials()
            except BadKubeconfig as again:
                logger.warning("credentials cannot be read: %s", again)
