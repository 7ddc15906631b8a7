"""A small HTTP proxy on loopback: CONNECT only; keeps where it was asked to connect to."""

from __future__ import annotations

import socket
import threading
from types import TracebackType

from tests.http_server import Handler, Server


class _Handler(Handler):
    server: _Http

    def do_CONNECT(self) -> None:
        self.server.proxy.asked.append(self.path)
        if self.server.proxy.refuses:
            self.send_error(407)
            return
        # Whatever name was asked for, there is one server.
        there = socket.create_connection(("127.0.0.1", int(self.path.rsplit(":", 1)[1])))
        self.send_response(200)
        self.end_headers()
        back = threading.Thread(target=_pump, args=(there, self.connection), daemon=True)
        back.start()
        _pump(self.connection, there)
        back.join(5)
        there.close()
        self.close_connection = True


def _pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class _Http(Server):
    proxy: ConnectProxy


class ConnectProxy:
    def __init__(self, refuses: bool = False) -> None:
        self.refuses = refuses
        self.asked: list[str] = []
        self._http = _Http(_Handler)
        self._http.proxy = self
        self.port = self._http.port
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> ConnectProxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()
