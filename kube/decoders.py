"""The one way to decode into structs. msgspec learns the fields of a struct when they are first needed, and runs Python for that: a
second thread that decodes meanwhile reads a half-filled table, and the process dies (msgspec 0.22, seen with seven watchers at a
start). So it learns them here, one thread at a time.
"""

from __future__ import annotations

from threading import RLock
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_learning = RLock()


@overload
def decoder(kind: type[T]) -> msgspec.json.Decoder[T]: ...


@overload
def decoder(kind: Any) -> msgspec.json.Decoder[Any]: ...


def decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Bytes of JSON → this type. It costs microseconds once the fields are known, and may be shared by threads."""
    with _learning:
        return msgspec.json.Decoder(kind)


def packed_decoder(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """Bytes of MessagePack → this type."""
    with _learning:
        return msgspec.msgpack.Decoder(kind)


def converted(data: object, kind: type[T]) -> T:
    """What JSON was decoded to without a type → this type. Raises msgspec.ValidationError."""
    decoder(kind)
    return msgspec.convert(data, kind)
