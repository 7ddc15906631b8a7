"""Bodies of answers: how much of them is read, and what a refusal says.

An answer is read as it was sent: one that is compressed could unpack to any size.
"""

from __future__ import annotations

import io
import math
from contextlib import suppress

import msgspec
import urllib3

from kube.deadline import Deadline
from kube.decoders import decoder
from kube.errors import ApiError, TooLarge
from kube.room import Room
from wording.said import cut, sentence

#: An answer that is not a stream: one object, or a document of discovery.
MAX_ANSWER = 8 << 20
#: A page of a list: 2,000 nodes of 30 KB. Where it is larger, fewer objects are asked for.
MAX_PAGE = 64 << 20
#: Read at a time.
STEP = 1 << 20
#: Of a refusal: its body, and the reason that it gives.
MAX_REFUSAL, MAX_REASON = 64 << 10, 200


class _Status(msgspec.Struct):
    """What is read of a refusal."""

    reason: str | None = None
    message: str | None = None


def read_whole(response: urllib3.BaseHTTPResponse, most: int, room: Room, deadline: Deadline) -> bytes:
    """The body as it was sent. The connection of one that is too large is closed. Raises TooLarge, HTTPError and OSError."""
    whole, length = io.BytesIO(), response.headers.get("Content-Length", "")
    try:
        if length.isascii() and length.isdigit() and len(length) < 12:
            room.reserve(min(int(length), most), deadline.until)
        while piece := response.read(STEP, decode_content=False):
            if whole.tell() + len(piece) > most:
                raise TooLarge(sentence("the response is larger than {mebibytes} MiB", mebibytes=most >> 20))
            room.take(len(piece), deadline.until)
            whole.write(piece)
    except TooLarge:
        response.close()
        room.give_back()  # now: the error refers to it
        raise
    return whole.getvalue()


def packed_as(response: urllib3.BaseHTTPResponse) -> str:
    """How the body is compressed; "" where it is not."""
    coding = response.headers.get("Content-Encoding", "").strip().lower()
    return "" if coding == "identity" else coding[:40]


def refusal_of(response: urllib3.BaseHTTPResponse, packed: str) -> ApiError:
    """packed: how its body is compressed; that is not read."""
    body = b""
    if not packed:
        with suppress(urllib3.exceptions.HTTPError, OSError):
            body = response.read(MAX_REFUSAL, decode_content=False)
    response.close()
    reason, message = response.reason or "", ""
    try:
        status = decoder(_Status).decode(body)
        reason, message = status.reason or reason, status.message or ""
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        strange = b"<html" in body[:2000].lower()
        message = sentence("the response is not from a Kubernetes API server") if strange else ""
    after = _retry_after(response.headers.get("Retry-After"))
    return ApiError(response.status, reason[:MAX_REASON], cut(message, 2000), after)


def late(deadline: Deadline) -> str:
    """Why an answer broke off at its deadline."""
    return sentence("incomplete after {seconds} s", seconds=f"{deadline.seconds:g}")


def _retry_after(value: str | None) -> float | None:
    """Seconds; an HTTP date or nonsense counts as not given. Capped at five minutes."""
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), 300.0)
