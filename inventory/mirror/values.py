"""Values of rows: text that every database takes, times, and the digest by which an equal row is known."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from kube.objects import Metadata

Columns = dict[str, Any]
#: The escape of NUL in JSON; after an odd number of backslashes it is text that only looks like it.
_NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def moment(value: str | None) -> datetime | None:
    """RFC 3339 → aware datetime; None for nothing or nonsense."""
    if not value:
        return None
    try:
        parsed = datetime.fromisoformat(value)
        if parsed.tzinfo is UTC:
            return parsed
        return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def digest(columns: dict[Any, Any]) -> int:
    """A 63-bit hash of a row, the same in every process: rows with an equal digest are not written again."""
    packed = msgspec.msgpack.encode(list(columns.values()))
    return int.from_bytes(hashlib.blake2b(packed, digest_size=8).digest(), "big") >> 1


def stored_digest(values: Iterable[Any]) -> int:
    """The digest of a row as it was read from the table: its values in the order of `MirroredKind.columns`."""
    ordered = (dict(sorted(value.items())) if isinstance(value, dict) else value for value in values)
    return digest(dict(enumerate(ordered)))


def plain(text: str | None, length: int) -> str:
    """Text that every database takes: no NUL, at most `length` characters."""
    if not text:
        return ""
    return (text.replace("\0", "") if "\0" in text else text)[:length]


def common_columns(metadata: Metadata, trimmed: Any) -> Columns:
    trimmed.metadata.resourceVersion = ""  # it moves with each heartbeat; what is kept must not
    facts = msgspec.json.encode(trimmed).decode()
    if "\\u0000" in facts:
        facts = _NUL.sub(r"\1", facts)
    return {
        "uid": plain(metadata.uid, 128),
        "name": plain(metadata.name, 253),
        "created_at": moment(metadata.creationTimestamp),
        "facts": facts,
    }
