"""Live parts that open pages still show: what a refresh is told the difference to.

Of this process, bounded in bytes, the one that was asked for longest ago goes first. Where one is missing (another process had
answered, or it is long ago) the whole part is sent. Kept by who may see it, so that nothing can be learned from a fingerprint of
somebody else's page.
"""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from collections.abc import Hashable

from runtime.scope import current

MOST_BYTES = 8 * 2**20


class Earlier:
    """Texts, compressed, by what the visitor sees, whose they are, and their fingerprint."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self.most_bytes = most_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._bytes = 0

    def find(self, whose: Hashable, fingerprint: str) -> str | None:
        key = (current(), whose, fingerprint)
        with self._lock:
            if (found := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
        return None if found is None else zlib.decompress(found).decode()

    def keep(self, whose: Hashable, fingerprint: str, text: str) -> None:
        key = (current(), whose, fingerprint)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return
        packed = zlib.compress(text.encode(), 1)
        with self._lock:
            self._bytes += len(packed) - len(self._kept.get(key, b""))
            self._kept[key] = packed
            while self._bytes > self.most_bytes:
                self._bytes -= len(self._kept.popitem(last=False)[1])


earlier = Earlier()
