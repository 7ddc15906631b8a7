"""What many ask for is computed once per version of the mirror in each process, and not once per request.

A version is what the functions say that apps give to `add_version`: they read a few rows that change in the same transaction as
what the pages show. It is looked at no more than each `settings.SHARED_LOOK_S` (0: nothing is shared), before anything is computed,
so that nothing shared is older than the version that it stands for; whole answers may be one version behind for BEHIND_S. Only
requests that read take part: commands and workers always compute. Knows no requests and no pages.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings

from runtime.scope import EVERYTHING, current, seeing

Value = TypeVar("Value")
View = TypeVar("View", bound=Callable[..., Any])
#: Nothing is kept for longer, whatever the version says.
MOST_S = 5.0
#: How old a whole answer of the version before may be when it still serves those who come while the next one is made, and how
#: many times longer than it took to make it is good in any case: many changes a second cost no more than a few.
BEHIND_S, TIMES = 2.0, 10.0
MOST_VALUES, MOST_BYTES = 1000, 32 * 2**20

_reading: ContextVar[bool] = ContextVar("reading", default=False)
_once: ContextVar[dict[Hashable, Any] | None] = ContextVar("once", default=None)


_versions: list[Callable[[], Hashable]] = []


def add_version(said: Callable[[], Hashable]) -> None:
    """said: what changes whenever the tables of an app do. Each app adds its own when Django is ready."""
    if said not in _versions:
        _versions.append(said)


class NotShared(Exception):
    """What came out is for the one who asked alone. answer: what that is."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer


class Look:
    """The version of the mirror as this process last saw it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: Hashable = None
        self._at: float | None = None
        self._number = 0

    def version(self) -> int:
        """A number that changes whenever one of them does. Raises DatabaseError."""
        with self._lock:
            now = time.monotonic()
            if self._at is None or now - self._at >= settings.SHARED_LOOK_S:
                with seeing(EVERYTHING):  # one version for all
                    seen = tuple(said() for said in _versions)
                if seen != self._seen:
                    self._seen, self._number = seen, self._number + 1
                self._at = now
            return self._number


@dataclass(frozen=True)
class _Kept:
    """started, took: seconds, when it was begun to be made and for how long."""

    value: Any
    version: int
    started: float
    took: float

    @property
    def size(self) -> int:
        return int(getattr(self.value, "size", 0))

    def is_good(self, version: int) -> bool:
        most_s = min(MOST_S, float(getattr(self.value, "good_s", MOST_S)))
        return self.version == version and time.monotonic() - self.started < most_s

    def will_do(self, under_way: bool) -> bool:
        """Whether it serves although there is a newer version. under_way: the next one is being made."""
        age = time.monotonic() - self.started
        return age < (BEHIND_S if under_way else min(BEHIND_S, self.took * TIMES))


class _Making:
    """A value that is being made."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.value: Future[Any] = Future()


class Store:
    """Values of the present version; the one asked for longest ago goes first when there are too many.

    Several who ask for the same at once wait for the first of them.
    """

    def __init__(self, most_values: int = MOST_VALUES, most_bytes: int = MOST_BYTES) -> None:
        self.most_values, self.most_bytes = most_values, most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._under_way: dict[Hashable, _Making] = {}
        self._bytes = 0

    def get(self, key: Hashable, version: int, compute: Callable[[], Any], behind: bool = False) -> Any:
        """The value of this version, for who sees the same. `compute` may raise NotShared; each then computes for itself.

        behind: that of the version before will do for a moment. A value may say its size in bytes (`size`) and for how many
        seconds it is good (`good_s`).
        """
        key = (current(), key)
        with self._lock:
            kept = self._kept.get(key)
            going = self._under_way.get(key)
            if kept and (kept.is_good(version) or (behind and kept.will_do(going is not None))):
                self._kept.move_to_end(key)
                return kept.value
            mine = None
            if going is None or going.version != version:
                mine = self._under_way[key] = _Making(version)
        if mine is not None:
            return self._computed(key, compute, mine)
        assert going is not None
        return going.value.result() if going.value.exception() is None else compute()

    def find(self, key: Hashable, version: int, most_s: float) -> Any:
        """The value of this version, for who sees the same, where there is one that is not older; else None."""
        with self._lock:
            kept = self._kept.get((current(), key))
        if kept is None or kept.version != version or time.monotonic() - kept.started > most_s:
            return None
        return kept.value

    def _computed(self, key: Hashable, compute: Callable[[], Any], mine: _Making) -> Any:
        started = time.monotonic()
        try:
            value = compute()
        except BaseException as error:
            mine.value.set_exception(error)
            raise
        else:
            self._keep(key, _Kept(value, mine.version, started, time.monotonic() - started))
            mine.value.set_result(value)
            return value
        finally:
            with self._lock:
                if self._under_way.get(key) is mine:
                    del self._under_way[key]

    def _keep(self, key: Hashable, made: _Kept) -> None:
        with self._lock:
            self._drop(key)
            self._kept[key] = made
            self._bytes += made.size
            while len(self._kept) > self.most_values or self._bytes > self.most_bytes:
                self._drop(next(iter(self._kept)))

    def _drop(self, key: Hashable) -> None:
        kept = self._kept.pop(key, None)
        self._bytes -= kept.size if kept else 0


look, store = Look(), Store()


@contextmanager
def reading() -> Iterator[None]:
    """Inside, what is shared is taken from others' work, and what is asked `once` is not asked again."""
    token = _reading.set(True)
    try:
        with asking_once():
            yield
    finally:
        _reading.reset(token)


@contextmanager
def asking_once() -> Iterator[None]:
    """Inside, what is asked `once` is not asked again."""
    token = _once.set(_once.get() or {})
    try:
        yield
    finally:
        _once.reset(token)


def once(name: str, compute: Callable[[], Value]) -> Value:
    """What `compute` gave first in this request, for who sees the same; nobody may change it. Elsewhere it is computed."""
    kept = _once.get()
    if kept is None:
        return compute()
    key = (current(), name)
    if key not in kept:
        kept[key] = compute()
    value: Value = kept[key]
    return value


def shared(name: str, key: Hashable, compute: Callable[[], Value]) -> Value:
    """What `compute` gives for the present version. It must depend on the database and the key alone, and nobody may change it."""
    if not (_reading.get() and settings.SHARED_LOOK_S):
        return compute()
    value: Value = store.get((name, key), look.version(), compute)
    return value


def shareable(view: View) -> View:
    """The view answers all who have the same role, language and address alike: one answer may serve them."""
    setattr(view, "shareable", True)  # noqa: B010
    return view


def is_shareable(view: Callable[..., Any]) -> bool:
    """Whether a view function, or the class of one of REST, is marked so."""
    return any(getattr(place, "shareable", False) for place in (view, getattr(view, "cls", None)))
