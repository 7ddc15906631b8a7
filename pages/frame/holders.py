"""Who holds: names, links and the hue of a holder. The hue depends on the namespace alone, so it is the same on every page."""

from __future__ import annotations

from functools import lru_cache
from zlib import crc32

HUES = 12


@lru_cache(maxsize=4096)
def hue(namespace: str) -> int:
    """0 to 11, the same in every process."""
    return crc32(namespace.encode("utf-8", "replace")) % HUES
