"""Memory that threads gave back is used again: glibc keeps an arena (a heap of its own) for each of many threads, up to eight a core.

Threads that come and go leave their arenas half empty, and a worker of 500 threads seems to grow for hours. Python's threads
allocate one after the other, so few arenas cost no time.
"""

from __future__ import annotations

import ctypes

#: `M_ARENA_MAX` of glibc's malloc.h.
_M_ARENA_MAX = -8


def limit_arenas(count: int) -> bool:
    """Before threads are started. False where the C library has no such limit (musl, macOS)."""
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_ARENA_MAX, count))
    except (AttributeError, OSError):
        return False
