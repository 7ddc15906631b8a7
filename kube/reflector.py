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
from collections.abc import Callable
from contextlib import ExitStack, closing
from typing import Generic

from kube.backoff import backoff_s
from kube.bundles import COMPACTED, Bundle, Bundles, Expired, last_version, least
from kube.client import ApiError, BadKubeconfig, Client
from kube.decode import Decoder, NotAList
from kube.identity import Identity, goes_back, identity_of, version_now
from kube.kinds import T
from kube.messages import Changes, Listed, ListEnd, Message, Relist, Trouble, Watching
from kube.pages import Pages
from kube.refusals import Refusals, absent
from kube.source import NotServed, Place, Source
from kube.stream import Stream
from wording.said import of_error, sentence

logger = logging.getLogger(__name__)

#: Bookmarks come about each minute, so a longer silence means a dead connection.
SILENCE_S = 70.0
#: The server ends a watch after this; spread, so that many watchers do not come back together.
WATCH_S = (240, 480)
#: A kind that the server does not have comes with an upgrade of the server, or with somebody who installs it.
ABSENT_S = 60.0
#: A stream that ends sooner than this without an event counts as a failure, or a broken server would be asked in a tight loop.
SHORT_WATCH_S = 2.0
#: Messages (pages of a list, bundles of events) between the reader and the writer.
QUEUE_LENGTH = 4
#: Of one kind, in one place. The largest clusters have 150,000 pods.
MOST_OBJECTS = 500_000
#: Where some places of a kind are refused, it is looked after this time whether they still are.
REFUSED_S = 60
#: On a quiet watch, which the server ends every few minutes, the cluster's identity is asked for this often.
IDENTITY_S = 300.0
#: An API server that has just started makes kube-system within a second or two; one that never does has no identity.
UNNAMED_TRIES = 4
#: A reader that waits for the server cannot be woken; after this it is left to end by its own time-out.
STOP_S = 0.5


#: Why a first list is made.
FIRST_LIST = sentence("initial list")
WENT_BACK = sentence("the resource version of the cluster decreased")


class Reflector(Generic[T]):
    """Reads one kind of one cluster.

    path: of the kind, or the source that knows it. Of a kind that is read in several places, each place is listed and watched for
    itself, and the version is the lowest of all; where one may not be read, the others are.
    resource_version: where to go on from; "" lists first. `start()`, take messages with `next()`, end with `stop()` from anywhere.
    backoff: seconds to wait, from the failures before and what Retry-After asks for. reason: of a first list.
    proving: ask which cluster it is, and before a watch goes on from a version that may not be of this history, whether it is.
    """

    def __init__(
        self,
        client: Client,
        path: str | Source,
        kind: type[T],
        resource_version: str = "",
        page_size: int = 500,
        silence_s: float = SILENCE_S,
        backoff: Callable[[int, float | None], float] = backoff_s,
        reason: str = FIRST_LIST,
        proving: bool = False,
    ) -> None:
        self.client, self.page_size, self.silence_s = client, page_size, silence_s
        self.source = path if isinstance(path, Source) else Source(path)
        self._backoff = backoff
        self.decoder: Decoder[T] = Decoder(kind)
        self.resource_version = resource_version
        self._queue: queue.Queue[Message[T]] = queue.Queue(QUEUE_LENGTH)
        self._stopped = threading.Event()
        self._bundles: Bundles[T] = Bundles(self.decoder, self._stopped.is_set)
        self._streams: list[Stream] = []
        self._refusals = Refusals(self.source)
        self._failures = 0
        self._expired = False
        self._reason, self.proving = reason, proving
        self._asked_for = ""
        #: Whether something happened since which another cluster, or an older one, may answer.
        self._doubtful, self._identified_at, self._unnamed = True, 0.0, 0
        self._thread = threading.Thread(target=self._run, name=f"reflector {self.path}", daemon=True)

    @property
    def path(self) -> str:
        """Of the kind, as it is read now."""
        return self.source.path

    @property
    def places(self) -> tuple[Place, ...]:
        """Of which it is known what is there."""
        return self._refusals.listed

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End within a second; messages that nobody took are dropped."""
        self._stopped.set()
        until = time.monotonic() + STOP_S
        while self._thread.is_alive() and time.monotonic() < until:
            self._close_streams()
            self.next(0.02)  # the reader may wait for room in the queue

    def relist(self, reason: str) -> None:
        """List anew, as soon as the reader sees it."""
        self._asked_for = reason
        self._close_streams()

    def _close_streams(self) -> None:
        for stream in self._streams:
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
                    logger.exception("reflector of %s: continuing", self.path)
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
            except Expired as expired:
                self.resource_version, self._reason = "", of_error(expired)
                if self._expired:  # twice without an event between: lists in a tight loop would be a burden
                    self._back_off(
                        ApiError(410, "Expired", sentence("the server rejects every resource version as too old"))
                    )
                self._expired = True
            except NotServed as error:
                self._look_again(error)
            except (ApiError, NotAList, BadKubeconfig) as error:
                self._back_off(error)
            except Exception:
                logger.exception("reflector of %s", self.path)
                self._back_off(NotAList(sentence("internal error; see the log")))

    def _look_again(self, error: NotServed) -> None:
        """It is not where it was: after an upgrade of the cluster it may be served in another version."""
        try:
            if self.source.moved(self.client):
                logger.info("now reading %s", self.path)
                return
        except (ApiError, BadKubeconfig) as again:
            self._back_off(again)
        else:
            self._back_off(error)

    def _prove(self) -> None:
        """Before a list or a watch. Raises ApiError, and Expired when the cluster's history does not reach the stored version."""
        due = self.proving and (self._doubtful or time.monotonic() - self._identified_at > IDENTITY_S)
        if due:
            self._put(self._identity())
        self.source.locate(self.client)
        if not due:
            return
        if self.resource_version and goes_back(self.resource_version, self._version_now()):
            raise Expired(WENT_BACK)
        self._doubtful, self._identified_at = False, time.monotonic()

    def _version_now(self) -> str:
        """By the first place that may be read: all are of one history."""
        place = self._refusals.admitted[0]
        try:
            return version_now(self.client, place.path, dict(place.query))
        except ApiError as error:
            raise absent(error) from None

    def _identity(self) -> Identity:
        try:
            return identity_of(self.client)
        except ApiError as error:
            if error.status != 404:
                raise
            self._unnamed += 1
            if self._unnamed <= UNNAMED_TRIES:
                raise
            return Identity("", "the namespace kube-system does not exist")

    def _list(self, reason: str) -> None:
        """All places, one after the other. The version is that of the first: what came meanwhile is told again by its watch."""
        self._put(Relist(reason))
        versions: list[str] = []
        self._refusals.clear()
        for place in self.source.places:
            try:
                versions.append(self._list_place(place))
            except ApiError as error:
                self._refusals.note(place, error)
        if self._stopped.is_set():
            return
        if not versions:
            self._refusals.raise_first()
        if not all(versions):
            raise NotAList(sentence("the list has no resource version"))
        self.resource_version = least(versions) or versions[0]
        self._put(ListEnd(self.resource_version, self._refusals.end_list()))

    def _list_place(self, place: Place) -> str:
        """Its resource version."""
        version, count, pages = "", 0, Pages(self.client, place.path, self.page_size, self._stopped, place.query)
        try:
            for answered in pages:
                page = self.decoder.page(answered.body)
                version = page.resource_version or version
                count += len(page.objects) + len(page.unread)
                if count > MOST_OBJECTS:
                    raise NotAList(
                        sentence("the list does not end: received more than {number} objects", number=MOST_OBJECTS)
                    )
                self._put(Listed(page, answered.room))
                if page.continue_token and page.continue_token == pages.token:
                    raise NotAList(sentence("the list does not end: its continue token repeats"))
                pages.token = page.continue_token
        except ApiError as error:
            if error.status == 410 and pages.token:
                raise Expired(COMPACTED) from None
            raise
        return version

    def _watch_for_ever(self) -> None:
        while not self._stopped.is_set():
            self._prove()
            started = time.monotonic()
            moved = self._watch_once()
            if self._asked_for:
                self._reason, self._asked_for, self.resource_version = self._asked_for, "", ""
                return
            if self._refusals.lifted(self.client):
                raise Expired(sentence("permissions were extended"))
            if not moved and time.monotonic() - started < SHORT_WATCH_S and not self._stopped.is_set():
                raise ApiError(0, "ShortWatch", sentence("the server ends every watch immediately"))

    def _watch_once(self) -> bool:
        """One stream for each place, to the end of the first. Whether a version moved. Raises ApiError, NotAList or Expired."""
        seen = moved = False
        try:
            with ExitStack() as stack:
                self._streams = self._open(stack)
                if self._stopped.is_set() or self._asked_for:
                    return False  # stop() may have looked for a stream just before
                self._put(Watching(self._refusals.text))
                started_at = self.resource_version
                versions = [started_at] * len(self._streams)
                for bundle in stack.enter_context(closing(self._bundles.of(self._streams))):
                    version = self._version_after(bundle, versions)
                    seen, self._failures, self._expired = True, 0, False
                    moved = moved or versions[bundle.place] != started_at
                    self._put(Changes(bundle.events, time.monotonic(), bundle.as_of, version, bundle.room))
                    del bundle  # while the stream is quiet, it is kept by who took it
        except ApiError as error:
            if error.status == 410:
                raise Expired(COMPACTED) from None
            if error.reason != "Stream" or not seen:
                raise absent(error) from None
            self._doubtful = True
            # It broke after it had worked: go on at once from where it was.
        finally:
            self._streams = []
        return moved

    def _open(self, stack: ExitStack) -> list[Stream]:
        """Of all places that may be watched. Raises ApiError where none may."""
        query: dict[str, object] = {
            "watch": "1",
            "resourceVersion": self.resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": REFUSED_S if self._refusals else random.randint(*WATCH_S),
        }
        streams: list[Stream] = []
        for place in self._refusals.admitted:
            try:
                opened = self.client.stream(place.path, query | dict(place.query), self.silence_s)
                streams.append(stack.enter_context(opened))
            except ApiError as error:
                self._refusals.note(place, error)
        if not streams:
            self._refusals.raise_first()
        return streams

    def _version_after(self, bundle: Bundle[T], versions: list[str]) -> str:
        """Up to which version everything has come; "" when it is not known. Raises Expired when the history went back."""
        known = versions[bundle.place]
        if any(event.type == "BOOKMARK" and goes_back(known, event.resource_version) for event in bundle.events):
            raise Expired(WENT_BACK)
        last = last_version(bundle.events)
        versions[bundle.place] = last or known
        lowest = least(versions)
        self.resource_version = lowest or self.resource_version
        return lowest if last else ""

    def _back_off(self, error: ApiError | NotAList | BadKubeconfig) -> None:
        refused = isinstance(error, ApiError) and error.status in (401, 403)
        missing = isinstance(error, NotServed)
        wait_s = self._backoff(self._failures, error.retry_after_s if isinstance(error, ApiError) else None)
        self._failures += 1
        self._doubtful = True
        if missing:
            wait_s = max(wait_s, ABSENT_S)
        self._put(Trouble(of_error(error), refused or isinstance(error, BadKubeconfig), wait_s, missing))
        self._stopped.wait(wait_s)
        unknown = (isinstance(error, ApiError) and error.status == 401) or isinstance(error, BadKubeconfig)
        if unknown or self.client.changed:  # whatever the trouble is: address and authority stand in the file too
            try:
                self.client.renew_credentials()
            except BadKubeconfig as again:
                logger.warning("credentials cannot be read: %s", again)
