"""What a container printed and when, so that a log grows line by line as simulated time goes on."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from fleetsim.clock import unix

#: Containers that say something of their own.
_TEXTS = {
    "toolkit-validation": ("waiting for nvidia container stack to be setup",) * 20,
    "nvidia-operator-validator": ("all validations are successful",),
}


@dataclass
class ContainerLog:
    """lines: (unix seconds, text with its line end), in order; those of the future are not seen yet.

    ended_at: when the container ended; later lines were never printed. None: it runs.
    """

    lines: list[tuple[float, str]]
    ended_at: float | None = None

    def visible(self, now: float, start: int = 0) -> tuple[list[tuple[float, str]], bool]:
        """Lines from index `start` on that are printed by now, and whether no more can come."""
        until = now if self.ended_at is None else min(now, self.ended_at)
        stop = bisect_right(self.lines, until, key=lambda line: line[0])
        return self.lines[start:stop], self.ended_at is not None and now >= self.ended_at


def spread(text: str, start: float, seconds: float, line_end: str = "\n") -> ContainerLog:
    """A recorded log, its lines spread evenly over the run. The first line comes at once, the last one at the end."""
    rows = text.splitlines()
    pace = seconds / max(1, len(rows) - 1)
    return ContainerLog([(start + index * pace, row + line_end) for index, row in enumerate(rows)])


def ordinary(pod: dict[str, Any], container: str) -> ContainerLog | None:
    """What a container without a recorded log prints when it starts; None when it has not started."""
    status = pod.get("status") or {}
    rows = (status.get("containerStatuses") or []) + (status.get("initContainerStatuses") or [])
    states = [row.get("state") or {} for row in rows if row.get("name") == container]
    state = states[0] if states else {}
    ran = state.get("running") or state.get("terminated") or {}
    if "startedAt" not in ran:
        return None
    started = unix(ran["startedAt"])
    ended = unix(ran["finishedAt"]) if "finishedAt" in ran else None
    texts = _TEXTS.get(container, ("starting", f"pod {pod['metadata']['name']}", "loading", "warm-up done", "ready"))
    return ContainerLog([(started + index, text + "\n") for index, text in enumerate(texts)], ended)
