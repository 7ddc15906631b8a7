"""One pod a second whose name counts up, on a node of its own: the newest that a table knows tells how far the table is behind."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress

from tests.cluster.fleet import Fleet
from tests.controlplane.admin import Admin, Refused
from tests.controlplane.objects import KINDS, Json, placed, pod

NAMESPACE, NODE, KIND = "soak-markers", "gib-90", KINDS["gib"]
EVERY_S = 1.0
KEPT, CARDS = 4, 8


class Markers:
    """written: number → the moment (monotonic) at which the API server had it."""

    def __init__(self, admin: Admin) -> None:
        self.admin = admin
        self.written: dict[int, float] = {}
        self._left: deque[Json] = deque()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="markers", daemon=True)

    def start(self) -> None:
        self.admin.ensure_namespace(NAMESPACE)
        Fleet(self.admin).node("gib", 90, CARDS)
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        number = 0
        while not self._stopped.wait(EVERY_S):
            number += 1
            made = pod(f"marker-{number}", KIND, 1, NODE, NAMESPACE)
            made["metadata"]["annotations"], _ = placed(KIND, NODE, {number % CARDS: 1})
            self._left.append(made)
            with suppress(OSError, Refused):
                self.admin.call("POST", f"/api/v1/namespaces/{NAMESPACE}/pods", made)
                self.written[number] = time.monotonic()
            self._forget()

    def _forget(self) -> None:
        while len(self._left) > KEPT:
            try:
                self.admin.delete(self._left[0])
            except Refused as refused:
                if refused.status != 404:
                    return
            except OSError:
                return
            self._left.popleft()


def lag_s(written: Mapping[int, float], newest: int, now: float) -> float:
    """Seconds since the first marker that is newer than the newest known; 0 for none."""
    missing = [moment for number, moment in written.items() if number > newest]
    return max(0.0, now - min(missing)) if missing else 0.0
