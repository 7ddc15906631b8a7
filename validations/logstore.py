"""The stored log of a run: appended while it comes, cut in the middle when it is too long, read by offset.

Head and tail are kept (settings RUN_LOG_HEAD_BYTES, RUN_LOG_TAIL_BYTES); a line in between says how many bytes were left out.
Knows no cluster and no suite.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from django.conf import settings
from django.db.models import BinaryField, F, IntegerField, Value
from django.db.models.functions import Cast, Greatest, Length, Substr

from validations.models import LogChunk, Run, State

#: One row holds at most this much, so that a page of the log needs few rows and little memory.
CHUNK = 256 << 10
ROTATED = b"\n[gpudash: the node rotated the log; an unknown number of bytes is missing here]\n"


class Moved(Exception):
    """The run's log or state was changed by another process; this one has old knowledge and writes nothing."""


def left_out_line(count: int) -> bytes:
    """The line that stands for what was left out (read by `validations.suites.engine.log`)."""
    return b"\n[gpudash: %d bytes left out]\n" % count


def room(run: Run) -> int:
    """Bytes of the head that can still be stored."""
    return max(int(settings.RUN_LOG_HEAD_BYTES) - run.log_stored, 0)


def append(run: Run, data: bytes, read: int) -> None:
    """Store the next bytes of the log, inside the caller's transaction. read: how many bytes of the container's log they stand for.

    Raises Moved when another process has stored some since `run` was read; the transaction must then be undone.
    """
    if not data and not read:
        return
    same = Run.objects.filter(pk=run.pk, log_stored=run.log_stored, log_read=run.log_read).exclude(state=State.ENDED)
    if same.update(log_stored=F("log_stored") + len(data), log_read=F("log_read") + read) != 1:
        raise Moved(run.pk)
    rows = []
    for start in range(0, len(data), CHUNK):
        part = data[start : start + CHUNK]
        rows.append(LogChunk(run=run, offset=run.log_stored + start, data=part, line_count=part.count(b"\n")))
    LogChunk.objects.bulk_create(rows)
    run.log_stored += len(data)
    run.log_read += read


def whole(run: Run) -> bytes:
    """All that is stored."""
    chunks = LogChunk.objects.filter(run=run).order_by("offset").values_list("data", flat=True)
    return b"".join(bytes(chunk) for chunk in chunks)


def start(run: Run, length: int) -> bytes:
    """The first bytes that are stored, at most `length`."""
    first = LogChunk.objects.filter(run=run, offset=0).values_list("data", flat=True).first()
    return bytes(first or b"")[:length]


def piece(run: Run, offset: int, limit: int) -> bytes:
    """Stored bytes from an offset on, at most `limit`; b"" beyond the end. No chunk is read that has none of them."""
    rows = LogChunk.objects.filter(run=run, offset__lt=offset + limit, offset__gt=offset - CHUNK)
    rows = rows.annotate(end=F("offset") + Length("data")).filter(end__gt=offset).order_by("offset")
    begin = Cast(Greatest(Value(offset) - F("offset"), Value(0)), IntegerField()) + 1
    parts = rows.values_list(Substr("data", begin, output_field=BinaryField()), flat=True)
    return b"".join(bytes(part) for part in parts)[:limit]


class Keeper:
    """Takes a log as it streams by and keeps what will be stored: as much head as there is room, then the tail."""

    def __init__(self, head: int, tail: int) -> None:
        self._head_room, self._tail_room = head, tail
        self._head: list[bytes] = []
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self.total = 0

    def feed(self, data: bytes) -> None:
        self.total += len(data)
        if self._head_room:
            self._head.append(data[: self._head_room])
            data = data[self._head_room :]
            self._head_room -= len(self._head[-1])
        if data:
            self._tail.append(data)
            self._tail_size += len(data)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._tail_room:
            self._tail_size -= len(self._tail.popleft())

    def kept(self) -> tuple[bytes, int | None]:
        """The bytes to store, with the line that marks the cut; and how many were left out (None: none)."""
        head, tail = b"".join(self._head), b"".join(self._tail)
        tail = tail[max(len(tail) - self._tail_room, 0) :]
        left_out = self.total - len(head) - len(tail)
        if left_out <= 0:
            return head + tail, None
        return head + left_out_line(left_out) + tail, left_out


def feed_after(chunks: Iterable[bytes], skip: int, keeper: Keeper, known: bytes) -> bool:
    """Feed a stream that begins at the log's first byte, without the first `skip` bytes.

    known: the first stored bytes. False when the stream does not begin with them: the log was rotated, and all of it was fed.
    """
    begin, decided, same = b"", not known, True
    for chunk in chunks:
        if decided:
            skip = _feed(chunk, skip, keeper)
            continue
        begin += chunk
        if len(begin) >= len(known):
            decided, same = True, begin.startswith(known)
            skip = _feed(begin, skip if same else 0, keeper)
    if not decided:
        # Shorter than what is stored: another file now.
        _feed(begin, 0, keeper)
        same = False
    return same and skip == 0


def _feed(chunk: bytes, skip: int, keeper: Keeper) -> int:
    keeper.feed(chunk[skip:])
    return max(skip - len(chunk), 0)
