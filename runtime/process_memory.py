"""The memory of a process of many threads, or of many rows: what the C library and Python's collector are told once, at its start."""

from __future__ import annotations

import ctypes
import gc
import linecache
from contextlib import suppress

#: `M_ARENA_MAX` and `M_MMAP_THRESHOLD` of glibc's malloc.h.
_M_ARENA_MAX = -8
_M_MMAP_THRESHOLD = -3
#: An answer of a few hundred cards.
LARGE = 1 << 20
#: Objects that are made before the youngest are looked through: a page of a list makes some hundred thousand, none in a circle.
YOUNG, MIDDLE, OLD = 50_000, 20, 50


def limit_arenas(count: int) -> bool:
    """Before threads are started: memory that threads gave back is used again.

    glibc keeps an arena (a heap of its own) for each of many threads, up to eight a core. Threads that come and go leave theirs
    half empty, and a worker of 500 threads grows for hours. Python's threads allocate one after the other, so few cost no time.
    False where the C library has no such limit (musl, macOS).
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, count))
    except (AttributeError, OSError):
        return False


def give_back_large(size: int = LARGE) -> bool:
    """Before answers are read: a block of this size and more goes back to the system when it is let go.

    glibc moves the limit up to the largest block that was ever let go, and keeps blocks of 20 MB from then on. False as above.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, size))
    except (AttributeError, OSError):
        return False


def collect_rarely() -> None:
    """For who reads whole clusters: the collector finds nothing there, and takes a tenth of the time (measured on 150,000 pods)."""
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)


def let_go() -> None:
    """Gives back unused memory: objects that only refer to each other, sources that tracebacks quoted, empty pages of the heap.

    An error of the database has the connection that it broke among its frames, with its buffers (33 KiB); the collector counts
    objects, not bytes, and takes hours until it runs. Formatting a traceback keeps each file that it quotes (0.7 MiB for one of the
    database). glibc keeps the pages that a peak left empty in its heap.
    """
    linecache.clearcache()
    gc.collect()
    with suppress(AttributeError, OSError):  # another C library has no such call
        ctypes.CDLL(None).malloc_trim(0)
