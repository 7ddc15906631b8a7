"""What is due when: a queue of actions in simulated time. Nothing here sleeps or looks at a clock."""

from __future__ import annotations

import heapq
from collections.abc import Callable

Action = Callable[[], None]


class Timeline:
    """Actions by due time (unix seconds); those due at the same time run in the order in which they were planned."""

    def __init__(self, now: float) -> None:
        self.now = now
        self._queue: list[tuple[float, int, Action]] = []
        self._planned = 0

    def after(self, delay: float, action: Action) -> None:
        """Plan an action `delay` seconds from now."""
        self._planned += 1
        heapq.heappush(self._queue, (self.now + delay, self._planned, action))

    def run(self, now: float) -> None:
        """Do all that is due up to `now`, each at its own time. Time never goes back."""
        while self._queue and self._queue[0][0] <= now:
            due, _, action = heapq.heappop(self._queue)
            self.now = max(self.now, due)
            action()
        self.now = max(self.now, now)

    def skip(self, seconds: float) -> None:
        """Put everything off: the machine slept, and the fleet slept with it."""
        self._queue = [(due + seconds, number, action) for due, number, action in self._queue]
        self.now += seconds
