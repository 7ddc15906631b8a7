"""How much of what API servers answer a process holds at once, so that none of them fills its memory or takes what the others need.

An answer is counted from its first byte until what was made of it has been written. One cluster may hold as much as is free after
that: alone half of all, two a third each, and there is always something left for the next. Nobody waits who holds something: who
has begun gets more at once or gives all back, so readers never wait for each other.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque

from kube.errors import NoRoom, TooLarge
from wording.said import sentence

#: Bytes that a process holds, as `weight` counts them: a page of 2,000 pods of 4 KB counts as 50 MiB.
SIZE = 768 << 20
#: How often one that waits for room looks.
LOOK_S = 0.05


class Budget:
    """size: bytes, of all accounts together. An account is that of one API server."""

    def __init__(self, size: int = SIZE) -> None:
        self.size = size
        self._held: Counter[str] = Counter()
        self._total = 0
        #: What rooms gave back: they may be at their end in any thread, also in one that has the lock.
        self._returned: deque[tuple[str, int]] = deque()
        self._lock = threading.Lock()

    def room(self, account: str) -> Room:
        return Room(self, account)

    @property
    def held(self) -> int:
        """Bytes that are held now."""
        with self._lock:
            self._settle()
            return self._total

    def give_back(self, account: str, size: int) -> None:
        self._returned.append((account, size))

    def take(self, account: str, size: int) -> bool:
        """Whether there was room."""
        with self._lock:
            self._settle()
            if self._held[account] + size > self.size - self._total - size:
                return False
            self._held[account] += size
            self._total += size
            return True

    def _settle(self) -> None:
        while self._returned:
            account, size = self._returned.popleft()
            self._total -= size
            self._held[account] -= size
            if self._held[account] <= 0:
                del self._held[account]


class Room:
    """What one answer or line takes. It is given back when nothing refers to it any more, or before. size: bytes that are held."""

    def __init__(self, budget: Budget, account: str) -> None:
        self._budget, self._account = budget, account
        self.size = self._used = 0

    def __del__(self) -> None:
        self.give_back()

    def reserve(self, size: int, until: float) -> None:
        """Hold so many bytes before any is used; waits for room up to a moment of the monotonic clock. Raises TooLarge."""
        self._hold(size - self.size, until)

    def take(self, size: int, until: float) -> None:
        """Use so many bytes more, of what is held first. Only who holds nothing waits for the rest. Raises TooLarge, NoRoom."""
        if size > 0:
            self._hold(self._used + size - self.size, until)
            self._used += size

    def _hold(self, more: int, until: float) -> None:
        if more <= 0:
            return
        if self.size + more > self._budget.size // 2:
            raise TooLarge(sentence("the response exceeds the memory limit of one cluster"))
        while not self._budget.take(self._account, more):
            if self.size:
                raise NoRoom(sentence("the memory for cluster responses is used up"), self.size + more)
            if time.monotonic() >= until:
                raise TooLarge(sentence("the memory for cluster responses is used up"))
            time.sleep(LOOK_S)
        self.size += more

    def part(self, size: int) -> Room:
        """A room of its own for so many of the bytes that are used."""
        other = Room(self._budget, self._account)
        other.size = other._used = size
        self.size -= size
        self._used -= size
        return other

    def give_back(self) -> None:
        size, self.size, self._used = self.size, 0, 0
        if size:
            self._budget.give_back(self._account, size)

    def give_back_unused(self) -> None:
        unused, self.size = self.size - self._used, self._used
        if unused:
            self._budget.give_back(self._account, unused)


def weight(body: bytes) -> int:
    """Bytes that a body and what is decoded of it take at most, by measurement: a struct, a list, an element, a string."""
    return len(body) + 100 * body.count(b"{") + 56 * body.count(b"[") + 64 * body.count(b",") + 16 * body.count(b'"')


#: Of this process.
answers = Budget()
