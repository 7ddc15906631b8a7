"""An answer without end, a watch or a log, as its bytes arrive."""

from __future__ import annotations

import select
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import urllib3

from kube.deadline import Deadline
from kube.errors import ApiError, plain
from kube.room import Room
from wording.said import sentence

#: Read at a time.
CHUNK = 1 << 16


class Stream:
    """The lines of a watch or a log. `close` may be called from another thread and ends the iteration."""

    def __init__(self, response: urllib3.BaseHTTPResponse, deadline: Deadline, room: Callable[[], Room]) -> None:
        """room: gives one for what of it is kept."""
        self._response, self._deadline, self.room = response, deadline, room
        self._closed = threading.Event()

    def chunks(self) -> Iterator[bytes]:
        """Bytes as they arrive. Raises ApiError(0) on silence longer than the read time-out, a broken connection, or the deadline."""
        try:
            # Not `stream`: that reads the line that says how long a chunk is, however long that line is.
            while chunk := self._response.read1(CHUNK, decode_content=False):
                yield chunk
        except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError) as error:
            if not self._closed.is_set() and not self._deadline.passed:
                raise ApiError(
                    0, "Stream", sentence("the stream was interrupted: {error}", error=plain(error))
                ) from None
        if self._deadline.passed and not self._closed.is_set():
            raise ApiError(
                0,
                "Stream",
                sentence("the stream was closed after {seconds} s", seconds=f"{self._deadline.seconds:.0f}"),
            )

    def dated_chunks(self) -> Iterator[tuple[bytes, float]]:
        """Each chunk, with the last moment (monotonic) at which nothing else waited to be read."""
        chunks, as_of = self.chunks(), time.monotonic()
        while True:
            drained = self.drained()
            chunk = next(chunks, None)
            if chunk is None:
                return
            if drained:
                as_of = time.monotonic()
            yield chunk, as_of

    def drained(self) -> bool:
        """Whether nothing waits to be read. Some kilobytes may lie in a buffer on the way."""
        found: Any = getattr(self._response.connection, "sock", None)
        poll = select.poll()
        try:
            poll.register(found, select.POLLIN)
            return not (isinstance(found, ssl.SSLSocket) and found.pending()) and not poll.poll(0)
        except (OSError, ValueError, TypeError):
            return True  # closed: the next read says so

    def close(self) -> None:
        self._closed.set()
        # shutdown wakes a reader that blocks in recv; close alone would not.
        with suppress(OSError, ValueError, RuntimeError, AttributeError):  # closed already
            self._response.shutdown()
        self._response.close()
