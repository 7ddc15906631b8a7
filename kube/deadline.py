"""A total time for each request: at its end the connection is shut down, also where the server sends a byte now and then.

A socket's time-out counts silence only. One thread of the process keeps the deadlines; `watching` gives a request's to the
connection that carries it, through the thread that makes the request. Connecting and looking a name up have their own, shorter
times, since there is no connection yet that could be shut down.
"""

from __future__ import annotations

import heapq
import ipaddress
import itertools
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import urllib3
from urllib3.exceptions import NameResolutionError

#: A cluster that swallows packets must not hold a thread for long; the first SYN that was lost is sent again after 1 s.
CONNECT_S = 3.0
#: A connection that nobody answers is found: an idle one by probes after 15 + 3 × 5 s, one that sends after 20 s.
#: Probes each 15 s keep it alive where a load balancer forgets what is idle.
KEEPALIVE_IDLE_S, KEEPALIVE_EVERY_S, KEEPALIVE_TRIES = 15, 5, 3
UNANSWERED_MS = 20_000


def socket_options() -> list[tuple[int, int, int]]:
    """What each system has of it (TCP_USER_TIMEOUT is of Linux)."""
    wanted = {
        "TCP_NODELAY": 1,
        "TCP_KEEPIDLE": KEEPALIVE_IDLE_S,
        "TCP_KEEPINTVL": KEEPALIVE_EVERY_S,
        "TCP_KEEPCNT": KEEPALIVE_TRIES,
        "TCP_USER_TIMEOUT": UNANSWERED_MS,
    }
    there = [
        (socket.IPPROTO_TCP, getattr(socket, name), value) for name, value in wanted.items() if hasattr(socket, name)
    ]
    return [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1), *there]


class Deadline:
    """The end of one request, `seconds` from now. `passed`: it came, and what was read may be cut short."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.until = seconds, time.monotonic() + seconds
        self.passed = self._over = False
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        _clock.add(self)

    @property
    def due(self) -> bool:
        """Whether its time is over, be it that the thread that fires it has not had its turn: for what an error is put down to."""
        return self.passed or time.monotonic() >= self.until

    def watch(self, connected: socket.socket | None) -> None:
        """This is what carries the request now."""
        with self._lock:
            self._socket = connected
            if self.passed:
                self._shut()

    def end(self) -> None:
        """The request is over: nothing is shut down any more."""
        with self._lock:
            self._over, self._socket = True, None

    def fire(self) -> None:
        with self._lock:
            if not self._over:
                self.passed = True
                self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with suppress(OSError):  # not connected any more
                # Not the TLS socket's own: that would drop its state under the reader.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class _Clock:
    """One thread that fires deadlines in their order."""

    def __init__(self) -> None:
        self._waiting: list[tuple[float, int, Deadline]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def add(self, deadline: Deadline) -> None:
        with self._changed:
            heapq.heappush(self._waiting, (deadline.until, next(self._numbers), deadline))
            if self._thread is None or not self._thread.is_alive():  # a fork leaves threads behind
                self._thread = threading.Thread(target=self._run, name="deadlines", daemon=True)
                self._thread.start()
            elif self._waiting[0][2] is deadline:
                self._changed.notify()

    def _run(self) -> None:
        while True:
            self._next().fire()

    def _next(self) -> Deadline:
        with self._changed:
            while not self._waiting or (left := self._waiting[0][0] - time.monotonic()) > 0:
                self._changed.wait(left if self._waiting else None)
            return heapq.heappop(self._waiting)[2]


_clock = _Clock()
_of_thread = threading.local()


@contextmanager
def watching(deadline: Deadline) -> Iterator[None]:
    """Connections that this thread uses inside are shut down at the deadline."""
    _of_thread.deadline = deadline
    try:
        yield
    finally:
        _of_thread.deadline = None


def _watch(connected: socket.socket | None) -> None:
    deadline: Deadline | None = getattr(_of_thread, "deadline", None)
    if deadline is not None:
        deadline.watch(connected)


class _Watched:
    """What is added to a connection class of urllib3."""

    sock: socket.socket | None

    def _new_conn(self) -> socket.socket:
        look_up(self, self._dns_host, self.port)  # type: ignore[attr-defined]
        made: socket.socket = super()._new_conn()  # type: ignore[misc]
        _watch(made)
        return made

    def connect(self) -> None:
        super().connect()  # type: ignore[misc]
        _watch(self.sock)

    def request(self, *arguments: Any, **options: Any) -> None:
        if self.sock is not None:  # of the pool
            _watch(self.sock)
        super().request(*arguments, **options)  # type: ignore[misc]


def keep_deadlines(pools: urllib3.PoolManager) -> None:
    """Have all connections of these pools watched."""
    pools.pool_classes_by_scheme = {scheme: _watched(pool) for scheme, pool in pools.pool_classes_by_scheme.items()}


def _watched(pool: Any) -> type:
    """The same kind of pool, also where it is one of a SOCKS proxy."""
    return type("WatchedPool", (pool,), {"ConnectionCls": type("Watched", (_Watched, pool.ConnectionCls), {})})


class _LookUp:
    """One question to the resolver, in a thread of its own: it knows no time-out."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.done = threading.Event()
        threading.Thread(target=self._run, name="name look-up", daemon=True).start()

    def _run(self) -> None:
        with suppress(OSError, UnicodeError):  # who connects asks again, and gets the error
            socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
        with _names_lock:
            _names.pop(self.host, None)
        self.done.set()


_names: dict[str, _LookUp] = {}
_names_lock = threading.Lock()


def look_up(connection: Any, host: str, port: int, seconds: float = CONNECT_S) -> None:
    """Raises NameResolutionError when the resolver does not answer in time. One question per name, however many wait."""
    with suppress(ValueError):
        ipaddress.ip_address(host.strip("[]"))
        return
    with _names_lock:
        asked = _names.get(host) or _names.setdefault(host, _LookUp(host, port))
    if not asked.done.wait(seconds):
        raise NameResolutionError(
            host, connection, socket.gaierror(socket.EAI_AGAIN, "the DNS resolver does not respond")
        )
