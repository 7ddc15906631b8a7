"""The line that loses: each mode does to a connection what its name says."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from tests.lossy import Lossy, Mode
from tests.services import wait_until


@pytest.fixture
def echo() -> Iterator[int]:
    """The port of a server that sends back what it gets."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                while data := connection.recv(4096):
                    connection.sendall(data)
            except OSError:
                return

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


@pytest.fixture
def line(echo: int) -> Iterator[Lossy]:
    with Lossy(echo) as line:
        yield line


def connect(line: Lossy) -> socket.socket:
    return socket.create_connection(("127.0.0.1", line.port), timeout=5)


def echoed(connection: socket.socket, data: bytes) -> bytes:
    connection.sendall(data)
    return b"".join(connection.recv(1) for _ in data)


def silent(connection: socket.socket) -> bool:
    connection.settimeout(0.3)
    try:
        return connection.recv(1) is None
    except TimeoutError:
        return True
    finally:
        connection.settimeout(5)


def test_it_forwards(line: Lossy) -> None:
    with connect(line) as connection:
        assert echoed(connection, b"hello") == b"hello"


def test_what_was_dropped_comes_when_the_line_is_whole_again(line: Lossy) -> None:
    with connect(line) as connection:
        assert echoed(connection, b"a") == b"a"
        line.mode = Mode.DROP
        connection.sendall(b"b")
        assert silent(connection)
        line.mode = Mode.FORWARD
        assert connection.recv(1) == b"b"


def test_while_it_drops_nobody_is_let_in_and_afterwards_everybody(line: Lossy) -> None:
    for _ in range(2):
        line.mode = Mode.DROP
        with pytest.raises(TimeoutError):
            socket.create_connection(("127.0.0.1", line.port), timeout=0.3)
        line.mode = Mode.FORWARD
        with connect(line) as connection:
            assert echoed(connection, b"c") == b"c"


def test_a_silent_line_accepts_and_says_nothing(line: Lossy) -> None:
    line.mode = Mode.SILENT
    with connect(line) as connection:
        connection.sendall(b"x")
        assert silent(connection)


def test_a_cut_resets_what_is_open_and_what_comes(line: Lossy) -> None:
    with connect(line) as before:
        assert echoed(before, b"a") == b"a"
        line.mode = Mode.CUT
        with pytest.raises(ConnectionResetError):
            before.recv(1)
    with pytest.raises(ConnectionResetError), connect(line) as after:
        after.recv(1)


def test_a_dripping_line_gives_one_byte_at_a_time(line: Lossy) -> None:
    line.mode, line.drip_s = Mode.DRIP, 0.01
    with connect(line) as connection:
        connection.sendall(b"12345")
        assert [connection.recv(100) for _ in range(5)] == [b"1", b"2", b"3", b"4", b"5"]


def test_a_forgotten_connection_stays_silent_while_new_ones_work(line: Lossy) -> None:
    with connect(line) as old:
        assert echoed(old, b"a") == b"a"
        line.forget()
        old.sendall(b"b")
        assert silent(old)
        with connect(line) as new:
            assert echoed(new, b"c") == b"c"


def test_it_counts_connections(line: Lossy) -> None:
    with connect(line), connect(line):
        wait_until(lambda: line.connected == 2, "both are counted")
