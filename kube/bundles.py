"""From the bytes of watches to events: bundled as they arrive, in order, of one stream or of several at once."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from typing import Generic, NamedTuple

from kube.client import ApiError
from kube.decode import Decoder, Event, NotAList
from kube.kinds import T
from kube.room import Room, weight
from kube.stream import Stream
from wording.said import sentence

#: No object of an API server is as large (etcd refuses 1.5 MiB, as it stores it): a line without end must not fill the memory.
MAX_LINE = 16 << 20
#: Seconds for which a stream waits until what it has sent before is written.
ROOM_S = 60.0
#: Bundles of several streams that wait to be taken.
WAITING = 4
#: How often one that waits for room looks whether it is to stop.
LOOK_S = 0.5

COMPACTED = sentence("the cluster's history was compacted (410)")


class Expired(Exception):
    """What is stored is not where the cluster can go on from; list anew. The text says why."""


def last_version(events: list[Event[T]]) -> str:
    """The resource version after these events; "" when none of them carries one."""
    return next((event.resource_version for event in reversed(events) if event.resource_version), "")


def least(versions: Sequence[str]) -> str:
    """The lowest of some resource versions; "" where they cannot be compared."""
    if len(versions) == 1:
        return versions[0]
    return min(versions, key=int) if all(one.isascii() and one.isdigit() for one in versions) else ""


class Bundle(NamedTuple, Generic[T]):
    """The events of one received chunk. place: number of the stream; as_of: when nothing else waited to be read (monotonic).

    room: counts their memory for as long as it is kept.
    """

    place: int
    events: list[Event[T]]
    as_of: float
    room: Room


class Bundles(Generic[T]):
    """Reads streams. stopped: whether it is to end."""

    def __init__(self, decoder: Decoder[T], stopped: Callable[[], bool]) -> None:
        self._decoder: Decoder[T] = decoder
        self._stopped = stopped

    def of(self, streams: Sequence[Stream]) -> Generator[Bundle[T]]:
        """To the end of the first stream that ends. Raises ApiError, NotAList or Expired, after the events before it."""
        return self._of(0, streams[0]) if len(streams) == 1 else self._together(streams)

    def _together(self, streams: Sequence[Stream]) -> Generator[Bundle[T]]:
        """Each stream is read in a thread of its own, which ends with it."""
        received: queue.Queue[Bundle[T] | Exception | None] = queue.Queue(WAITING)
        ended = threading.Event()

        def hand_over(item: Bundle[T] | Exception | None) -> None:
            while not ended.is_set():
                try:
                    return received.put(item, timeout=LOOK_S)
                except queue.Full:
                    continue

        def read(place: int, stream: Stream) -> None:
            last: Exception | None = None
            try:
                for bundle in self._of(place, stream):
                    hand_over(bundle)
            except Exception as error:  # noqa: BLE001 - raised by who reads all of them
                last = error
            hand_over(last)

        for place, stream in enumerate(streams):
            threading.Thread(target=read, args=(place, stream), name="watch", daemon=True).start()
        try:
            while (item := received.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                yield item
        finally:
            ended.set()
            for stream in streams:
                stream.close()

    def _of(self, place: int, stream: Stream) -> Generator[Bundle[T]]:
        begun, kept = bytearray(), stream.room()  # a line whose end has not come
        for chunk, as_of in stream.dated_chunks():
            if self._stopped():
                return
            if b"\n" not in chunk:
                if len(begun) + len(chunk) > MAX_LINE:
                    raise NotAList(
                        sentence("received a watch event larger than {mebibytes} MiB", mebibytes=MAX_LINE >> 20)
                    )
                kept.take(len(chunk), time.monotonic() + ROOM_S)
                begun += chunk
                continue
            came = bytes(begun + chunk) if begun else chunk
            *lines, rest = came.split(b"\n")
            kept.give_back()
            room = stream.room()
            room.take(weight(came) + len(rest), time.monotonic() + ROOM_S)
            begun, kept = bytearray(rest), room.part(len(rest))
            events: list[Event[T]] = []
            try:
                events.extend(self._event(line) for line in lines if line.strip())
            except (ApiError, NotAList, Expired):
                if events:
                    yield Bundle(place, events, as_of, room)
                raise
            if events:
                yield Bundle(place, events, as_of, room)
            # A watch may be quiet for minutes: until more comes, they are kept by who took them alone.
            del chunk, came, lines, events, room

    def _event(self, line: bytes) -> Event[T]:
        event: Event[T] = self._decoder.event(line)
        if event.type == "ERROR":
            if event.code == 410 or event.reason in ("Expired", "Gone"):
                raise Expired(COMPACTED)
            raise ApiError(event.code, event.reason or "ERROR", event.message)
        return event
