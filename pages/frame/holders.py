"""Allocations: names, links and hues of namespaces.

A namespace has one hue of its own, by its name alone. Where two of a page would have the same, the one that comes later in the
alphabet gets the next that is free there; where all are taken, one with stripes, then one with dots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from zlib import crc32

from django.http import HttpRequest, HttpResponse

HUES = 12
#: Plain, striped, dotted; beyond that, colours are met again.
LOOKS = 3


@lru_cache(maxsize=4096)
def own_hue(namespace: str) -> int:
    """0 to 11, the same in every process."""
    return crc32(namespace.encode("utf-8", "replace")) % HUES


@dataclass
class Shown:
    """The namespaces of one page. given: those that have got their place (0 to HUES * LOOKS - 1); waiting: named, not written yet."""

    given: dict[str, int] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)

    def place(self, namespace: str) -> int:
        if namespace not in self.given:
            for one in sorted(self.pending | {namespace}):
                self.given[one] = self._free(own_hue(one))
            self.pending.clear()
        return self.given[namespace]

    def _free(self, own: int) -> int:
        taken = set(self.given.values())
        places = (look * HUES + (own + step) % HUES for look in range(LOOKS) for step in range(HUES))
        return next((one for one in places if one not in taken), own)


_shown: ContextVar[Shown | None] = ContextVar("namespaces of the page", default=None)


@dataclass(frozen=True)
class Hue:
    """Of a namespace; as text, its classes. Written after all of a page's holders were named, so that their order is no matter."""

    namespace: str

    def __str__(self) -> str:
        shown = _shown.get()
        look, number = divmod(shown.place(self.namespace) if shown else own_hue(self.namespace), HUES)
        return f"hue{number} look{look}" if look else f"hue{number}"


def hue(namespace: str) -> Hue:
    shown = _shown.get()
    if shown is not None and namespace not in shown.given:
        shown.pending.add(namespace)
    return Hue(namespace)


@contextmanager
def page_of_holders() -> Iterator[None]:
    """What is named inside is on one page."""
    token = _shown.set(Shown())
    try:
        yield
    finally:
        _shown.reset(token)


class HoldersMiddleware:
    """Each answer is a page of its own."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        with page_of_holders():
            return self.get_response(request)
