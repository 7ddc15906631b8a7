"""JSON bodies, read strictly: what a database or another program could not take is refused here, for all endpoints.

The size is limited before (`gpudash.middleware.body_limit`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import IO, Any

import msgspec
from rest_framework.exceptions import ParseError, ValidationError
from rest_framework.parsers import BaseParser

#: Lists and objects inside each other. Ours need four; what is deeper breaks who reads it recursively.
MAX_DEPTH = 32
_GZIP = b"\x1f\x8b"


def read(stream: IO[Any]) -> bytes:
    """The body. One that is compressed is not unpacked: it could become any number of bytes. Raises ParseError."""
    body = bytes(stream.read())
    if body.startswith(_GZIP):
        raise ParseError("The body is compressed. Send it without Content-Encoding.")
    return body


class StrictJSONParser(BaseParser):
    """Raises ParseError for what is no JSON in UTF-8 (halves of surrogate pairs, NaN, numbers without end), else 400 by field."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        try:
            value = msgspec.json.decode(read(stream))
        except (msgspec.DecodeError, RecursionError, ValueError) as error:
            raise ParseError(f"The body is not JSON in UTF-8: {str(error)[:200]}.") from None
        if wrong := dict(_wrong_members(value)):
            raise ValidationError(wrong)
        return value


def _wrong_members(body: Any) -> Iterator[tuple[str, list[str]]]:
    for name, value in body.items() if isinstance(body, Mapping) else [("body", body)]:
        if text := _wrong(name) or _wrong(value):
            yield name[:64].replace("\x00", "\N{REPLACEMENT CHARACTER}"), [text]


def _wrong(value: Any) -> str:
    """What is wrong somewhere in it; "" for nothing."""
    level = [value]
    for _ in range(MAX_DEPTH):
        if any(isinstance(one, str) and "\x00" in one for one in level):
            return "Must not contain a null character."
        level = [inner for one in level for inner in _inside(one)]
        if not level:
            return ""
    return f"It is nested more than {MAX_DEPTH} deep."


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    return value if isinstance(value, list) else []
