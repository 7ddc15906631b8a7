"""Objects written straight into etcd: for a cluster too large to be filled through the API, or changes too many to be made by it.

Many in one transaction only before the API server starts: they have one revision, and its caches would not see them in order. Single
ones at any time: the API server watches etcd and tells of them as of all others. Values are JSON as the API server stores it.
"""

from __future__ import annotations

import base64
import http.client
from collections.abc import Iterable, Iterator

#: One transaction: etcd takes at most 1.5 MiB a request.
_BYTES = 1_000_000
_PUTS = 1000


def write(etcd_port: int, objects: Iterable[tuple[str, bytes]]) -> int:
    """Put (key, value) pairs; returns how many. Raises RuntimeError when etcd refuses."""
    connection = http.client.HTTPConnection("127.0.0.1", etcd_port, timeout=60)
    count = 0
    try:
        for batch in _batches(objects):
            connection.request("POST", "/v3/kv/txn", _transaction(batch))
            answer = connection.getresponse()
            body = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"etcd: {answer.status} {body[:300]!r}")
            count += len(batch)
    finally:
        connection.close()
    return count


class Puts:
    """Single writes, one after the other, on a connection of their own. One thread only; close it."""

    def __init__(self, etcd_port: int) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", etcd_port, timeout=60)

    @staticmethod
    def body(key: str, value: bytes) -> bytes:
        """The request that puts this: made beforehand where many are to be sent in little time."""
        return b'{"key":"%s","value":"%s"}' % (base64.b64encode(key.encode()), base64.b64encode(value))

    def put(self, key: str, value: bytes) -> None:
        """Returns when etcd has stored it. Raises RuntimeError when it refuses."""
        self.send(self.body(key, value))

    def send(self, body: bytes) -> None:
        """The same, of a request that is made."""
        self._connection.request("POST", "/v3/kv/put", body)
        answer = self._connection.getresponse()
        said = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"etcd: {answer.status} {said[:300]!r}")

    def close(self) -> None:
        self._connection.close()


def _batches(objects: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    batch: list[tuple[str, bytes]] = []
    size = 0
    for key, value in objects:
        if batch and (size + len(value) > _BYTES or len(batch) == _PUTS):
            yield batch
            batch, size = [], 0
        batch.append((key, value))
        size += len(value)
    if batch:
        yield batch


def _transaction(batch: list[tuple[str, bytes]]) -> bytes:
    puts = b",".join(
        b'{"requestPut":{"key":"%s","value":"%s"}}' % (base64.b64encode(key.encode()), base64.b64encode(value))
        for key, value in batch
    )
    return b'{"success":[%s]}' % puts
