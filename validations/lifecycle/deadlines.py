"""A call with an end: work that may block runs in a thread of its own, and whoever waits for it is never held longer than told.

While it waits, the caller does what must not stop (it renews its lease). The thread touches no table. One that does not come back
is left alone: its own socket time-outs end it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

#: How often the caller gets its turn while it waits.
TICK_S = 2.0


class TooSlow(Exception):
    """The work was not done in its time."""


class Work(Generic[T]):
    """Work in a thread. What it raises, also to end a process, is raised to who asks for the result."""

    def __init__(self, work: Callable[[], T], name: str, then: Callable[[], None] | None = None) -> None:
        """then: called in the thread when it is done."""
        self.began = time.monotonic()
        self._done = threading.Event()
        self._work, self._then = work, then
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        self._error: BaseException | None = None
        try:
            self._result = self._work()
        except BaseException as error:  # noqa: BLE001 (it is raised where the result is asked for)
            self._error = error
        finally:
            self._done.set()
            if self._then is not None:
                self._then()

    @property
    def age_s(self) -> float:
        return time.monotonic() - self.began

    def done(self, wait_s: float = 0.0) -> bool:
        return self._done.wait(wait_s)

    def result(self) -> T:
        """What the work gave. To be asked for when it is done."""
        if self._error is not None:
            raise self._error
        return self._result


def within(seconds: float, work: Callable[[], T], meanwhile: Callable[[], None], name: str) -> T:
    """The result of the work. Raises TooSlow when it has none after so many seconds, and what `meanwhile` raises."""
    running = Work(work, name)
    while (left := seconds - running.age_s) > 0:
        if running.done(min(left, TICK_S)):
            return running.result()
        meanwhile()
    if running.done():
        return running.result()
    raise TooSlow(f"{name}: nothing whole came within {seconds:g} s")
