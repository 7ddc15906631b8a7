"""Asking the issuer of OpenID Connect: with an end, few at once, and what it publishes no more often than needed.

Strangers may begin to sign in. An issuer that is slow must not let them take all threads of a web process.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import requests

#: Seconds from the beginning of a question to the last byte of its answer; a time-out of a socket bounds the time between two bytes.
DEADLINE_S = 5.0
#: Questions of one process at once, those that were given up among them: fewer than it has threads. Who finds no place waits so long.
AT_ONCE, PLACE_S = 3, 0.2
#: Seconds for which what an issuer publishes is good; and after which a failed question is repeated, or one for a missing key.
KEPT_S, AGAIN_S = 300.0, 5.0
_places = threading.BoundedSemaphore(AT_ONCE)


class Session(requests.Session):
    """Like any; each answer comes within DEADLINE_S or not at all."""

    def request(self, *args: Any, **options: Any) -> requests.Response:
        """Raises requests.RequestException."""
        if not _places.acquire(timeout=PLACE_S):
            raise requests.Timeout("others wait for the issuer already")
        asked = _Asked(super().request, args, {"timeout": DEADLINE_S} | options)
        asked.start()
        if not asked.done.wait(DEADLINE_S):
            raise requests.Timeout(f"no answer within {DEADLINE_S:g} s")
        if asked.error is not None:
            raise asked.error
        return asked.answer


class _Asked(threading.Thread):
    """One question. It holds its place until it ends, whoever has given it up."""

    answer: requests.Response

    def __init__(self, ask: Callable[..., requests.Response], args: Any, options: Any) -> None:
        super().__init__(name="issuer", daemon=True)
        self._ask, self._args, self._options = ask, args, options
        self.done = threading.Event()
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.answer = self._ask(*self._args, **self._options)
        except Exception as error:  # noqa: BLE001 - who waits raises it
            self.error = error
        finally:
            _places.release()
            self.done.set()


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
