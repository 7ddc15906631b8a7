"""The pages of a list, the next one on its way while this one is decoded and written.

A page that is too large is asked for again with fewer objects: no API server keeps an object that is.

Pages were chosen over a streaming list (`sendInitialEvents`) by measurement: with 150,000 pods of 4 KB the API server (1.36) gives
pages of 2,000 at 48 MB/s, pages of 500 at 32 MB/s and the stream at 15 MB/s, since it makes each object's line by itself.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from kube.bodies import MAX_PAGE
from kube.client import Client
from kube.decode import token_at_the_head
from kube.errors import NoRoom, TooLarge
from kube.room import Room, weight

#: A page of a list in total: 500 pods of 4 kB over a slow line.
LIST_S = 120.0
#: How often one that waits for a page looks whether it is to stop.
LOOK_S = 0.2
#: Where a page is too large, this part of its objects is asked for.
FEWER = 8


class Answered(NamedTuple):
    """limit: how many objects may be asked for on the next page. room: counts the body while it is kept; its size is what the next
    one may take.
    """

    body: bytes
    limit: int
    room: Room


def get_page(
    client: Client, path: str, query: dict[str, Any], limit: int, accept: str = "", needed: int = 0
) -> Answered:
    """One page of a list. Raises ApiError, TooLarge where one object is, and BadKubeconfig.

    needed: bytes that the page may take: they are reserved before it is asked for.
    """
    while True:
        room, until = client.room(), time.monotonic() + LIST_S
        try:
            room.reserve(needed, until)
            body = client.get(path, {"limit": limit, **query}, LIST_S, accept, MAX_PAGE, room)
            room.take(weight(body) - len(body), until)
            room.give_back_unused()
            return Answered(body, limit, room)
        except NoRoom as error:
            room.give_back()
            # Read so far in vain: the next try has it at once.
            needed = max(error.needed, 2 * needed)
        except TooLarge:
            room.give_back()
            if limit == 1:
                raise
            limit, needed = max(limit // FEWER, 1), 0


class _Fetch:
    """One page on its way, in a thread of its own: the API server may hang, and then nobody waits for the thread."""

    def __init__(self, get: Callable[[], Answered], name: str) -> None:
        self._get = get
        self._answered: Answered | None = None
        self._error: Exception | None = None
        self._done = threading.Event()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        try:
            self._answered = self._get()
        except Exception as error:  # noqa: BLE001 - raised again by answered()
            self._error = error
        finally:
            self._done.set()

    def answered(self, stopped: threading.Event) -> Answered | None:
        """None when it is to stop. Raises what the call raised."""
        while not self._done.wait(LOOK_S):
            if stopped.is_set():
                return None
        if self._error is not None:
            raise self._error
        return self._answered


class Pages:
    """Iterate for pages, and set `token` to what each decoded page says. Raises ApiError and BadKubeconfig of the client."""

    def __init__(
        self, client: Client, path: str, limit: int, stopped: threading.Event, selected: Iterable[tuple[str, str]] = ()
    ) -> None:
        """selected: what of the kind is read, as parameters of the request."""
        self._client, self._path, self._limit, self._stopped = client, path, limit, stopped
        self._selected = dict(selected)
        self.token = ""
        self._asked: tuple[str, _Fetch] | None = None
        self._needed = 0

    def __iter__(self) -> Iterator[Answered]:
        """Ends when no token is left or it is to stop."""
        while not self._stopped.is_set():
            page = self._fetch(self.token).answered(self._stopped)
            if page is None:
                return
            self._limit, self._needed = page.limit, page.room.size
            ahead = token_at_the_head(page.body)
            if ahead and ahead != self.token:
                self._asked = (ahead, self._start(ahead))
            yield page
            del page  # while the next one is waited for, it is kept by who wants it
            if not self.token:
                return

    def _fetch(self, token: str) -> _Fetch:
        asked, self._asked = self._asked, None
        return asked[1] if asked and asked[0] == token else self._start(token)

    def _start(self, token: str) -> _Fetch:
        query, limit = self._selected | ({"continue": token} if token else {}), self._limit
        needed = self._needed
        return _Fetch(lambda: get_page(self._client, self._path, query, limit, needed=needed), f"page of {self._path}")
