"""Event objects (core/v1): what scheduler and kubelet tell about pods. Old ones are forgotten as in a cluster."""

from __future__ import annotations

from collections import deque
from typing import Any

from fleetsim.clock import rfc3339
from fleetsim.resources import EVENTS
from fleetsim.store import Store


class Recorder:
    """Writes events and keeps at most `most` of them."""

    def __init__(self, store: Store, most: int = 1000) -> None:
        self.store = store
        self.most = most
        self._kept: deque[tuple[str, str]] = deque()
        self._number = 0

    def record(self, obj: dict[str, Any], kind: str, reason: str, message: str, now: float, source: str) -> None:
        """One event about a pod or Job. Warnings are those whose reason says that something failed."""
        self._number += 1
        metadata = obj["metadata"]
        namespace, name = metadata["namespace"], f"{metadata['name']}.{self._number:016x}"
        warning = reason.startswith("Failed") or reason in ("BackOff", "Evicted", "BackoffLimitExceeded")
        event = {
            "metadata": {"name": name, "namespace": namespace, "creationTimestamp": rfc3339(now)},
            "involvedObject": {
                "kind": kind,
                "namespace": namespace,
                "name": metadata["name"],
                "uid": metadata.get("uid", ""),
                "apiVersion": "v1" if kind == "Pod" else "batch/v1",
            },
            "reason": reason,
            "message": message,
            "type": "Warning" if warning else "Normal",
            "source": {"component": source},
            "firstTimestamp": rfc3339(now),
            "lastTimestamp": rfc3339(now),
            "count": 1,
        }
        self.store.create(EVENTS, event)
        self._kept.append((namespace, name))
        while len(self._kept) > self.most:
            self.store.remove(EVENTS, *self._kept.popleft())
