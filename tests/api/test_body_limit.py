"""Bodies that are too long, over a socket to the web server that a team runs: with a length, without one, and without end."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from gpudash.web import BODY_BYTES, bound_server
from tests.web import HOST, Answer, Web, web

MIB = 1 << 20


def chunked(process: Web, size: int) -> Answer:
    """A body in chunks, without a length."""
    head = f"POST /api/v1/runs HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n"
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    body = chunk * (size // 65536) + b"0\r\n\r\n"
    return process.send(head.encode() + b"Content-Type: application/json\r\n\r\n" + body)


@pytest.mark.sweep
def test_a_long_body_is_refused_before_it_is_read(tmp_path: Path, migrated_file: Path) -> None:
    with web(tmp_path, migrated_file) as process:
        for answer in (
            process.ask("/api/v1/runs", method="POST", body=b"x" * (MIB + 1)),
            chunked(process, MIB + 65536),
        ):
            assert (answer.status, answer.headers["content-type"]) == (413, "application/problem+json")
            assert "1024 KiB" in json.loads(answer.body)["detail"]
        page = process.ask("/sign-in", method="POST", body=b"x" * (MIB + 1))
        assert (page.status, page.headers["content-type"]) == (413, "text/html; charset=utf-8")
        # What is not even taken by the web server is refused by it, in its own words: none of it was sent.
        assert process.ask("/api/v1/runs", f"Content-Length: {10**12}", method="POST").status == 413
        assert endless(process) == 413
        assert (
            process.ask("/api/v1/runs", "Content-Type: application/json", method="POST", body=b"x" * MIB).status == 401
        )


def endless(process: Web) -> int:
    """Chunk after chunk until the server has had enough."""
    head = f"POST /api/v1/runs HTTP/1.1\r\nHost: {HOST}\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", process.port), timeout=30) as connection:
        connection.sendall(head.encode())
        for _ in range(BODY_BYTES // 65536):
            connection.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
        return int(connection.recv(65536).split()[1])


def test_the_server_takes_little_more_than_gpudash() -> None:
    server = bound_server("127.0.0.1:0")
    try:
        assert server.adj.max_request_body_size == 2 * MIB
    finally:
        server.close()
