"""One HTTP request to a checked address. No redirect is followed, no proxy of the environment used, nothing tried again or unpacked.

The standard library's client on a socket of ours has none of these in the first place.
"""

from __future__ import annotations

import http.client
from urllib.parse import urlsplit

from kube.deadline import Deadline
from notifications.channels.engine import Call
from notifications.sending.addresses import Allowed
from notifications.sending.connection import connected, secured
from notifications.sending.errors import MayHaveBeenSent, NotPossible, NotSent, Reply
from wording.said import sentence

#: From the look-up of the name to the last byte of the answer.
TOTAL_S = 15.0
#: Of the answer's body; the rest is not read.
MOST_BYTES = 64 << 10
_HEADERS = {"user-agent": "gpudash", "accept-encoding": "identity", "connection": "close"}


def call(request: Call, allowed: Allowed, seconds: float = TOTAL_S) -> Reply:
    """What the receiver answered. Raises NotSent, NotPossible and MayHaveBeenSent."""
    deadline = Deadline(seconds)
    try:
        return _call(request, allowed, deadline)
    finally:
        deadline.end()


def _call(request: Call, allowed: Allowed, deadline: Deadline) -> Reply:
    host, port, tls = _target(request.url)
    # Its own `connect` is never called: it has a socket.
    connection = http.client.HTTPConnection(host, port)
    plain = connected(host, port, allowed, deadline)
    try:
        connection.sock = secured(plain, host, deadline) if tls else plain
        _write(connection, request, deadline)
        return _answer(connection, host, deadline)
    finally:
        connection.close()
        plain.close()


def _target(url: str) -> tuple[str, int, bool]:
    """Host, port, and whether TLS is spoken there."""
    try:
        parts = urlsplit(url)
        tls = parts.scheme == "https"
        return parts.hostname or "", parts.port or (443 if tls else 80), tls
    except ValueError:
        raise NotPossible(sentence("The address or a header has invalid characters.")) from None


def _write(connection: http.client.HTTPConnection, request: Call, deadline: Deadline) -> None:
    parts = urlsplit(request.url)
    target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    headers = {**_HEADERS, "host": parts.netloc.rpartition("@")[2], **request.headers}
    try:
        connection.request(request.method, target, request.body, headers)
    except OSError:
        # The receiver knows the body's length, and has not all of it.
        raise NotSent(_lost(connection.host, deadline)) from None
    except (http.client.HTTPException, ValueError):
        raise NotPossible(sentence("The address or a header has invalid characters.")) from None


def _answer(connection: http.client.HTTPConnection, host: str, deadline: Deadline) -> Reply:
    try:
        response = connection.getresponse()
    except (OSError, http.client.HTTPException, ValueError):
        raise MayHaveBeenSent(_lost(host, deadline)) from None
    headers = {name.lower(): value for name, value in response.headers.items()}
    if headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        return Reply(response.status, headers, b"")
    try:
        body = response.read(MOST_BYTES)
    except (OSError, http.client.HTTPException, ValueError):
        return Reply(response.status, headers, b"", whole=False)
    ended = len(body) == MOST_BYTES or not response.length
    return Reply(response.status, headers, body, ended and not deadline.passed)


def _lost(host: str, deadline: Deadline) -> str:
    if deadline.due:
        return sentence("{host} did not answer in {seconds} s.", host=host, seconds=round(deadline.seconds))
    return sentence("{host} closed the connection without an answer.", host=host)
