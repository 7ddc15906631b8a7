"""Which version of each object was last seen, of those that are kept and of those that are not: what an audit compares.

A dictionary of numbers: the hash of an object's key → its resource version. 150,000 objects take some 20 MiB. The hash is of this
process alone (64 bits, with a secret), so nobody can choose two keys that meet.
"""

from __future__ import annotations

#: The version of an object that could not be read: it is not compared.
UNREAD = -1


def number(version: str) -> int:
    """A resource version as a number; the hash of one that is none, which is compared for equality only."""
    return int(version) if version.isascii() and version.isdigit() else hash(version)


class Versions:
    """begun: by a list; complete: it has been read to its end. touched: what events named since `watch_touches`, or None."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}
        self.begun = self.complete = False
        self.touched: set[int] | None = None

    def begin(self) -> None:
        """A list begins: what it does not name is forgotten."""
        self.known, self.begun, self.complete, self.touched = {}, True, False, None

    def note(self, key: str, version: str) -> None:
        self._set(hash(key), number(version))

    def note_unread(self, key: str) -> None:
        self._set(hash(key), UNREAD)

    def forget(self, key: str) -> None:
        place = hash(key)
        self.known.pop(place, None)
        if self.touched is not None:
            self.touched.add(place)

    def watch_touches(self) -> None:
        self.touched = set()

    def _set(self, place: int, version: int) -> None:
        self.known[place] = version
        if self.touched is not None:
            self.touched.add(place)
