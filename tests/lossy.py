"""A TCP proxy on the loopback that loses what it carries: a network that drops packets, a load balancer that forgets, a slow line.

    with Lossy(port_of_the_server) as line:
        …                        # forwards
        line.mode = Mode.DROP    # from now on a black hole: nothing passes, nobody is told
        line.mode = Mode.FORWARD # the packets that were lost are sent again, as TCP does

Modes: FORWARD; DROP (open connections fall silent, new ones are not answered: their SYN is dropped); SILENT (as DROP, but new ones
are accepted); CUT (each connection is reset, now and as it comes); DRIP (the server's bytes come one at a time, `drip_s` apart).
`forget()` is a load balancer's idle cut: the connections of now are silent for ever, new ones work. Threads; knows nothing of
what it carries.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
import time
from contextlib import suppress
from enum import Enum
from types import TracebackType

#: How soon a change of mode is noticed.
TICK_S = 0.05
BACKLOG = 128
#: SO_LINGER with no time: close() sends a reset.
_RESET = struct.pack("ii", 1, 0)


class Mode(Enum):
    FORWARD = "forward"
    DROP = "drop"
    SILENT = "silent"
    CUT = "cut"
    DRIP = "drip"


_STILL = (Mode.DROP, Mode.SILENT)


class _Carried:
    """One connection: the client's side and the server's, a thread for each direction."""

    def __init__(self, line: Lossy, client: socket.socket) -> None:
        self.line, self.client = line, client
        self.forgotten = self.ended = False
        self.server = socket.create_connection((line.host, line.target), timeout=5)
        for source, sink in ((self.client, self.server), (self.server, self.client)):
            source.settimeout(None)
            threading.Thread(target=self._pump, args=(source, sink), daemon=True).start()

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while not self.ended:
                if not self._open() or not select.select([source], [], [], TICK_S)[0]:
                    continue
                data = source.recv(1 << 16)
                if self.forgotten:
                    return
                if not data:
                    return sink.shutdown(socket.SHUT_WR)
                self._pass_on(data, sink, drips=sink is self.client)
        except (OSError, ValueError):
            if not self.forgotten:
                self.end()

    def _open(self) -> bool:
        """Whether bytes pass now; waits a tick where they do not."""
        still = self.forgotten or self.line.mode in _STILL
        if still:
            time.sleep(TICK_S)
        return not still

    def _pass_on(self, data: bytes, sink: socket.socket, drips: bool) -> None:
        while data and not self.ended:
            if not self._open():
                continue
            size = 1 if drips and self.line.mode is Mode.DRIP else len(data)
            sink.sendall(data[:size])
            data = data[size:]
            if data:
                time.sleep(self.line.drip_s)

    def forget(self) -> None:
        """Silent for ever on the client's side; the server's is closed."""
        self.forgotten = True
        with suppress(OSError):
            self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()

    def end(self, reset: bool = False) -> None:
        self.ended = True
        for side in (self.client, self.server):
            with suppress(OSError):
                if reset:
                    side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                else:
                    side.shutdown(socket.SHUT_RDWR)
            side.close()


class Lossy:
    """A line to `target`, a port of `host`. `port` is where clients connect to; `connected`: connections that were made."""

    def __init__(
        self, target: int, mode: Mode = Mode.FORWARD, drip_s: float = 0.1, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.target, self.drip_s, self.host = target, drip_s, host
        self.connected = 0
        self._carried: list[_Carried] = []
        self._fillers: list[socket.socket] = []
        self._mode, self._ended = Mode.FORWARD, False
        self._listener = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
        self.port = int(self._listener.getsockname()[1])
        self._lock = threading.RLock()
        self._thread = threading.Thread(target=self._accept, name=f"lossy {self.port}", daemon=True)
        self._thread.start()
        self.mode = mode

    @property
    def carrying(self) -> int:
        """Connections that are open now."""
        return len(self._carried)

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: Mode) -> None:
        with self._lock:
            self._mode = mode
            if mode is Mode.DROP:
                self._fill()
            else:
                self._unfill()
            if mode is Mode.CUT:
                self._end_all(reset=True)

    def forget(self) -> None:
        """An idle cut without a word: what is open now is silent for ever, also after a change of mode."""
        with self._lock:
            for carried in self._carried:
                carried.forget()

    def _fill(self) -> None:
        """Leave no room in the kernel's queue of connections, so that it drops the next SYN."""
        self._listener.listen(0)
        for _ in range(BACKLOG + 2):
            filler = socket.socket()
            filler.settimeout(0.1)
            self._fillers.append(filler)
            try:
                filler.connect(("127.0.0.1", self.port))
            except OSError:
                return

    def _unfill(self) -> None:
        for filler in self._fillers:
            filler.close()
        self._fillers.clear()
        self._listener.listen(BACKLOG)

    def _accept(self) -> None:
        while not self._ended:
            with self._lock:  # nobody is let in while the queue is being filled
                ready = self._mode is not Mode.DROP and bool(select.select([self._listener], [], [], 0)[0])
                if ready:
                    self._take(self._listener.accept()[0])
            if not ready:
                time.sleep(TICK_S / 5)

    def _take(self, client: socket.socket) -> None:
        self.connected += 1
        if self._mode is Mode.CUT:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            return client.close()
        try:
            self._carried.append(_Carried(self, client))
        except OSError:  # the server is not there
            client.close()

    def _end_all(self, reset: bool = False) -> None:
        for carried in self._carried:
            carried.end(reset)
        self._carried.clear()

    def close(self) -> None:
        self._ended = True
        self._thread.join(10)
        with self._lock:
            self._end_all()
            self._unfill()
            self._listener.close()

    def __enter__(self) -> Lossy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
