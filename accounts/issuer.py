"""Asking the issuer of OpenID Connect: with an end, few at once, and what it publishes no more often than needed.

Strangers may begin to sign in. An issuer that is slow must not let them take all threads of a web process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import requests
from requests.adapters import HTTPAdapter

from kube.deadline import CONNECT_S, Deadline, keep_deadlines, watching

#: Seconds from the beginning of a question to the last byte of its answer; a time-out of a socket bounds the time between two bytes.
DEADLINE_S = 5.0
#: Questions of one process at once: fewer than it has threads. A further one waits so many seconds, and is refused.
AT_ONCE, PLACE_S = 3, 0.2
#: Seconds for which what an issuer publishes is good; and after which a failed question is repeated, or one for a missing key.
KEPT_S, AGAIN_S = 300.0, 5.0
_places = threading.BoundedSemaphore(AT_ONCE)


class Session(requests.Session):
    """Like any; each answer comes within DEADLINE_S or not at all."""

    def __init__(self) -> None:
        super().__init__()
        for scheme in ("https://", "http://"):
            self.mount(scheme, _Adapter())

    def request(self, *args: Any, **options: Any) -> requests.Response:
        """Raises requests.RequestException."""
        if not _places.acquire(timeout=PLACE_S):
            raise requests.Timeout("too many pending requests to the issuer")
        deadline = Deadline(DEADLINE_S)
        try:
            with watching(deadline):
                answer = super().request(*args, **{"timeout": (CONNECT_S, DEADLINE_S)} | options)
        except requests.RequestException as error:
            if deadline.due:
                raise _late() from None
            raise error
        finally:
            deadline.end()
            _places.release()
        if deadline.passed:
            raise _late()  # a body without a length ends with its connection
        return answer


def _late() -> requests.Timeout:
    return requests.Timeout(f"no response within {DEADLINE_S:g} s")


class _Adapter(HTTPAdapter):
    """Its connections end at the deadline of the request that they carry, also those through a proxy."""

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        keep_deadlines(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **options: Any) -> Any:
        known = proxy in self.proxy_manager
        manager = super().proxy_manager_for(proxy, **options)
        if not known:
            keep_deadlines(manager)
        return manager


class Published:
    """Documents by address, of this process; and of what could not be had, for a moment, why."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._good: dict[str, tuple[float, dict[str, Any]]] = {}
        self._failed: dict[str, tuple[float, Exception]] = {}

    def get(self, url: str, ask: Callable[[str], dict[str, Any]], kept_s: float = KEPT_S) -> dict[str, Any]:
        """ask: gets it and looks whether it is good; what it raises is raised again for AGAIN_S."""
        if (good := self._good.get(url)) and self._clock() - good[0] < kept_s:
            return good[1]
        if (failed := self._failed.get(url)) and self._clock() - failed[0] < AGAIN_S:
            raise failed[1].with_traceback(None)
        try:
            found = ask(url)
        except Exception as error:
            self._failed[url] = self._clock(), error
            raise
        self._good[url] = self._clock(), found
        return found

    def clear(self) -> None:
        self._good.clear()
        self._failed.clear()


published = Published()
