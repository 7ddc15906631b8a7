"""Jobs are posted in threads, a few at a time: an API server that hangs on a creation holds up other creations and nothing else.

A pass posts and continues with the other runs. What is answered within WAIT_S is written by the same pass, what comes later by a
later one of this process; in another process the Job is found by its name. Threads touch no table.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from kube.workloads import Job
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.deadlines import Work
from validations.models import Run

#: Creations under way to one cluster, of one process.
MOST = 4
#: A pass waits so many seconds for the creations that it began.
WAIT_S = 2.0
#: An answer that no pass of this process has asked for by then is forgotten.
KEPT_S = 300.0


class Posted(NamedTuple):
    """A creation. manifests: what was posted, and what an earlier try may have posted."""

    cluster_id: int
    manifests: tuple[Any, ...]
    work: Work[Job]


#: By run; of this process.
_under_way: dict[str, Posted] = {}
_lock = threading.Lock()


class Creations:
    """The creations of one pass."""

    def __init__(self, api: ClusterApi) -> None:
        # Of its own: `meanwhile` of a pass writes to the database, and belongs to the pass's thread.
        self._api = ClusterApi(api.client, api.namespace, api.instance)
        self._begun: dict[str, Run] = {}
        self._waiting: deque[Run] = deque()
        self._finished: SimpleQueue[str] = SimpleQueue()
        with _lock:
            for run_id in [one for one, posted in _under_way.items() if posted.work.age_s > KEPT_S]:
                del _under_way[run_id]

    def answered(self, run: Run) -> Posted | None:
        """The creation of this run that has come to its end, once; None while there is none."""
        with _lock:
            posted = _under_way.get(run.pk)
            return _under_way.pop(run.pk) if posted is not None and posted.work.done() else None

    def may_begin(self, run: Run) -> bool:
        """Whether this run can be posted now. One for which there is no room has its turn in `settle`, or in the next pass."""
        with _lock:
            if run.pk in _under_way:
                return False
            busy = sum(one.cluster_id == run.cluster_id and not one.work.done() for one in _under_way.values())
        if busy >= MOST:
            self._waiting.append(run)
        return busy < MOST

    def begin(self, run: Run, manifests: tuple[Any, ...]) -> None:
        """Post the first of the manifests."""
        api, finished, run_id = self._api, self._finished, run.pk
        with _lock:
            self._begun[run_id] = run
            work = Work(lambda: api.create(manifests[0]), f"creation of {run_id}", lambda: finished.put(run_id))
            _under_way[run_id] = Posted(run.cluster_id, manifests, work)

    def settle(self, again: Callable[[Run], None], until: float) -> None:
        """Wait for what this pass began; `again` is called with each run that was answered, or has its turn. until: monotonic."""
        while self._begun and (left := until - time.monotonic()) > 0:
            try:
                run = self._begun.pop(self._finished.get(timeout=left), None)
            except Empty:
                return
            if run is not None:
                again(run)
            if self._waiting:
                again(self._waiting.popleft())
