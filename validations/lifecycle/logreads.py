"""Logs are read in threads: a kubelet that swallows bytes holds up the log of its own node, and nothing else.

A pass asks for a log and goes on with the other runs. What comes within WAIT_S is stored by the same pass, what comes later by a
later one of this process. Each read has an end; one at a time is on its way to a node, and a node whose log hung is left alone for
a while that grows. Threads touch no table, results are stored by compare-and-set (`logstore.append`): a late one does no harm.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from queue import Empty, SimpleQueue

import msgspec

from kube.client import ApiError
from validations import logstore
from validations.lifecycle.cluster_api import ClusterApi
from validations.lifecycle.deadlines import Work
from validations.lifecycle.moves import note
from validations.models import Run

logger = logging.getLogger(__name__)

#: Seconds until a log must be there, and without a byte of it.
LIVE_S, LIVE_SILENCE_S = 4.0, 3.0
WHOLE_S, WHOLE_SILENCE_S = 45.0, 10.0
#: Reads of one process at once.
MOST = 16
#: So long does a pass wait for the reads that it began.
WAIT_S = 2.0
#: A node whose log hung is left alone for so many seconds; twice as long each time, up to the second number.
LEFT_S, LONGEST_S = 10, 60
#: A result that no pass of this process has asked for by then is forgotten.
KEPT_S = 300.0


class Wanted(msgspec.Struct, frozen=True):
    """A read: the container's log from its first byte, of which `skip` bytes are stored already, beginning with `known`.

    whole: to its end; else at most `head` new bytes. ended: the container had ended when it began. head, tail: bytes to keep.
    uid: of the pod; a log that is read to its end has to be of this one.
    """

    cluster_id: int
    node: str
    pod: str
    skip: int
    known: bytes
    head: int
    tail: int
    whole: bool
    ended: bool = False
    uid: str = ""

    def serves(self, other: Wanted) -> bool:
        """Whether what comes of this read is what the other asks for."""
        return (self.whole, self.skip) == (other.whole, other.skip) and (self.ended or not other.ended)

    @property
    def limit_s(self) -> float:
        return WHOLE_S if self.whole else LIVE_S


class Came(msgspec.Struct, frozen=True):
    """What came. same: it begins as what is stored. left_out: bytes that are not in `data` (None: none). total: of what is new."""

    wanted: Wanted
    same: bool
    data: bytes
    left_out: int | None
    total: int


#: By run; of this process.
_under_way: dict[str, tuple[Wanted, Work[Came]]] = {}
_lock = threading.Lock()


class LogReads:
    """The reads of one pass. runs: all that it looks at; their rows say which nodes are left alone."""

    def __init__(self, api: ClusterApi, now: datetime, runs: Iterable[Run]) -> None:
        self.api, self.now = api, now
        self._left_alone = {run.node_name for run in runs if run.log_next_at is not None and run.log_next_at > now}
        self._queue: list[tuple[Run, Wanted]] = []
        self._begun: dict[str, Run] = {}
        #: Runs that are to end when their log is there.
        self._ending: set[str] = set()
        self._finished: SimpleQueue[str] = SimpleQueue()
        _forget_old()

    def left_alone(self, run: Run) -> bool:
        return run.node_name in self._left_alone

    def ask(self, run: Run, wanted: Wanted) -> Came | None:
        """What came of this read; None while nothing has, or while it has to wait for its turn. Raises ApiError."""
        under_way = _under_way.get(run.pk)
        if under_way is not None and under_way[0].whole and not wanted.whole:
            return None  # its end is being read
        if wanted.whole:
            self._ending.add(run.pk)
        known = self._known(run)
        if known is not None and known.wanted.serves(wanted):
            return known
        if run.pk not in _under_way and not self.left_alone(run):
            self._queue.append((run, wanted))
            self._begin()
        return None

    def _known(self, run: Run) -> Came | None:
        """What came for this run, once. A read that is over its time has failed."""
        with _lock:
            known = _under_way.get(run.pk)
            if known is None or not (known[1].done() or known[1].age_s > known[0].limit_s):
                return None
            del _under_way[run.pk]
        wanted, work = known
        try:
            if not work.done():
                raise ApiError(0, "Slow", f"the log was not there within {wanted.limit_s:g} s")
            came = work.result()
        except ApiError as error:
            error.call = "get pods/log"
            self._failed(run, error)
            raise
        note(run, log_tries=0, log_next_at=None)
        return came

    def _failed(self, run: Run, error: ApiError) -> None:
        """A node that does not answer is left alone; where the API server has said something, it is not the node's silence."""
        if error.status:
            return
        seconds = min(LEFT_S * 2 ** min(run.log_tries, 10), LONGEST_S)
        if not run.log_tries:
            logger.warning("run %s: the log on node %s cannot be read: %s", run.pk, run.node_name, error)
        note(run, log_tries=min(run.log_tries + 1, 1000), log_next_at=self.now + timedelta(seconds=seconds))
        self._left_alone.add(run.node_name)

    def _begin(self) -> None:
        """Those whose node is free now, as many as may be."""
        waiting, self._queue = self._queue, []
        for run, wanted in waiting:
            with _lock:
                busy = {(one.cluster_id, one.node) for one, work in _under_way.values() if not work.done()}
                if (wanted.cluster_id, wanted.node) in busy or len(busy) >= MOST:
                    self._queue.append((run, wanted))
                elif not self.left_alone(run):
                    self._begun[run.pk] = run
                    _under_way[run.pk] = (wanted, Work(*self._reading(run.pk, wanted)))

    def _reading(self, run_id: str, wanted: Wanted) -> tuple[Callable[[], Came], str, Callable[[], None]]:
        api, finished = self.api, self._finished
        return lambda: read(api, wanted), f"log of {run_id}", lambda: finished.put(run_id)

    def settle(self, again: Callable[[Run, bool], None], until: float) -> None:
        """Wait for the reads of this pass; `again` is called with each run whose log came or failed, and whether it is to end.

        until: monotonic.
        """
        until = min(until, time.monotonic() + WAIT_S)
        while self._begun and (left := until - time.monotonic()) > 0:
            try:
                run = self._begun.pop(self._finished.get(timeout=left), None)
            except Empty:
                break
            if run is not None:
                again(run, run.pk in self._ending)
                if run.pk in _under_way:  # another read was begun for it
                    self._begun[run.pk] = run
            self._begin()
        for run in self._begun.values():
            # Another process must not begin it too while it is under way here.
            wanted = _under_way[run.pk][0] if run.pk in _under_way else None
            if wanted is not None:
                note(run, log_next_at=self.now + timedelta(seconds=wanted.limit_s))


def read(api: ClusterApi, wanted: Wanted) -> Came:
    """Raises ApiError, also when it takes too long."""
    ends = time.monotonic() + wanted.limit_s
    keeper = logstore.Keeper(wanted.head, wanted.tail)
    silence_s = WHOLE_SILENCE_S if wanted.whole else LIVE_SILENCE_S
    limit = None if wanted.whole else wanted.skip + wanted.head
    with api.log(wanted.pod, silence_s, wanted.limit_s, limit) as stream:
        same = logstore.feed_after(_until(stream.chunks(), ends), wanted.skip, keeper, wanted.known)
    # A log is asked for by the pod's name, and another pod may have taken it meanwhile.
    if wanted.whole and wanted.uid and api.pod_uid(wanted.pod) != wanted.uid:
        raise ApiError(404, "NotFound", f"the pod {wanted.pod} is another by now")
    data, left_out = keeper.kept()
    return Came(wanted, same, data, left_out, keeper.total)


def _until(chunks: Iterable[bytes], ends: float) -> Iterator[bytes]:
    for chunk in chunks:
        yield chunk
        if time.monotonic() > ends:
            raise ApiError(0, "Slow", "the log came too slowly to be read in time")


def _forget_old() -> None:
    with _lock:
        for run_id in [one for one, (_, work) in _under_way.items() if work.age_s > KEPT_S]:
            del _under_way[run_id]
