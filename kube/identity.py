"""Is this still the cluster that the rows came from, and has its history gone on? Asked before a watch goes on from a stored place.

A cluster is known by the UID of its namespace kube-system, which nobody can delete. A cluster whose storage was put back from a
backup keeps that UID, but its resource version is lower than what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kube.client import ApiError, Client
from kube.decoders import decoder
from wording.said import sentence

NAMESPACE = "/api/v1/namespaces/kube-system"
#: Seconds for an answer: less than a lease lasts.
TIMEOUT_S = 5.0


class Identity(msgspec.Struct, frozen=True):
    """uid: "" when the cluster does not tell it; note then says why."""

    uid: str
    note: str = ""


class _Metadata(msgspec.Struct):
    uid: str = ""
    resourceVersion: str = ""


class _Thing(msgspec.Struct):
    metadata: _Metadata


def identity_of(client: Client) -> Identity:
    """Raises ApiError when the cluster is not reached, does not know us, or (404) has not made the namespace yet.

    A refusal of this one question is an answer.
    """
    try:
        body = client.get(NAMESPACE, timeout_s=TIMEOUT_S)
    except ApiError as error:
        if error.status in (0, 401, 404, 429) or error.status >= 500:
            raise
        return Identity(
            "",
            sentence(
                "no permission to read the namespace kube-system ({status} {reason})",
                status=error.status,
                reason=error.reason[:200],
            ),
        )
    uid = _metadata(body).uid
    return (
        Identity(uid[:64]) if uid else Identity("", sentence("the response for the namespace kube-system has no UID"))
    )


def version_now(client: Client, path: str, query: Mapping[str, str] | None = None) -> str:
    """The resource version of a list of one object; "" when the answer has none. query: what is selected. Raises ApiError."""
    return _metadata(client.get(path, {"limit": 1} | dict(query or {}), timeout_s=TIMEOUT_S)).resourceVersion


def goes_back(before: str, now: str) -> bool:
    """Whether `now` is an earlier resource version than `before`. What is not a number cannot be compared: False."""
    return before.isascii() and now.isascii() and before.isdigit() and now.isdigit() and int(now) < int(before)


def _metadata(body: bytes) -> _Metadata:
    try:
        return decoder(_Thing).decode(body).metadata
    except (msgspec.DecodeError, RecursionError):
        return _Metadata()
