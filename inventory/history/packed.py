"""How a stretch of values lies in one column: MessagePack of whole numbers, deflated. Pure.

Memory is in MiB, ratios are in thousandths, all else are counts; None is not known. A day of a card that does something else each
five minutes has 2 to 3 KB, one that does nothing 200 bytes.
"""

from __future__ import annotations

import zlib
from typing import TypeAlias

import msgspec

from kube.decoders import packed_decoder

MIB = 1 << 20
#: Of memory: mean and highest of the minutes of a slot.
USED, USED_MOST, ALLOCATED, TOTAL = "used", "used_most", "allocated", "total"
UTILIZATION, ACTIVITY = "utilization", "activity"
#: Of a sum: cards, those of them whose used memory is in it, and parts whose allocation is not known (nodes; of a namespace holds).
CARDS, MEASURED, UNKNOWN = "cards", "measured", "unknown"
#: Of a sum: memory and cards that pods could be allocated.
FREE, CARDS_FREE = "free", "cards_free"
#: Of a namespace: allocated without activity; allocated and not used, on measured cards that it has alone.
IDLE, UNUSED = "idle", "unused"
#: In bytes and as a ratio where they are read.
MEMORY = frozenset({USED, USED_MOST, ALLOCATED, TOTAL, FREE, IDLE, UNUSED})
RATIOS = frozenset({UTILIZATION, ACTIVITY})
COLUMNS = (
    *(USED, USED_MOST, ALLOCATED, TOTAL, UTILIZATION, ACTIVITY),
    *(CARDS, MEASURED, UNKNOWN, FREE, CARDS_FREE, IDLE, UNUSED),
)

SLOT_S = 300
SLOTS = 86400 // SLOT_S
#: A day has at most 13 × 288 numbers; what unpacks to more is not ours.
MOST_BYTES = 1 << 20

Values: TypeAlias = list[int | None]


class Minute(msgspec.Struct, array_like=True, forbid_unknown_fields=True):
    """One minute of many subjects. columns: by name, a value for each key."""

    keys: list[int | str]
    columns: dict[str, Values]


class Unreadable(Exception):
    """Somebody else wrote into the column, or a later version."""


_minute = packed_decoder(Minute)
_day = packed_decoder(dict[str, Values])
_encoder = msgspec.msgpack.Encoder()


def pack_minute(minute: Minute) -> bytes:
    """keys and each column are of one length."""
    return zlib.compress(_encoder.encode(minute), 1)


def unpack_minute(data: bytes | memoryview) -> Minute:
    """Raises Unreadable."""
    try:
        minute = _minute.decode(_inflated(data))
    except (msgspec.MsgspecError, zlib.error) as error:
        raise Unreadable(str(error)) from error
    if any(len(column) != len(minute.keys) for column in minute.columns.values()):
        raise Unreadable("a column is not as long as the keys")
    return minute


def pack_day(columns: dict[str, Values]) -> bytes:
    """columns: SLOTS values each; one that has none is left out. USED_MOST wants USED beside it."""
    kept = {name: column for name, column in columns.items() if any_known(column)}
    if USED_MOST in kept:
        kept[USED_MOST] = _moved(kept[USED_MOST], kept[USED], -1)  # small numbers lie in fewer bytes
    return zlib.compress(_encoder.encode(kept), 6)


def unpack_day(data: bytes | memoryview) -> dict[str, Values]:
    """Raises Unreadable."""
    columns = unpack_columns(data, SLOTS)
    if USED_MOST in columns:
        columns[USED_MOST] = _moved(columns[USED_MOST], columns.get(USED, [None] * SLOTS), 1)
    return columns


def _moved(values: Values, by: Values, sign: int) -> Values:
    return [
        None if value is None or base is None else value + sign * base for value, base in zip(values, by, strict=True)
    ]


def pack_columns(columns: dict[str, Values]) -> bytes:
    """Columns of any one length."""
    return zlib.compress(_encoder.encode(columns), 1)


def unpack_columns(data: bytes | memoryview, length: int) -> dict[str, Values]:
    """Raises Unreadable, also where a column has another length."""
    try:
        columns = _day.decode(_inflated(data))
    except (msgspec.MsgspecError, zlib.error) as error:
        raise Unreadable(str(error)) from error
    if any(len(column) != length for column in columns.values()):
        raise Unreadable("a column is of another length")
    return columns


def any_known(column: Values) -> bool:
    """Whether one value is known."""
    return any(value is not None for value in column)


def _inflated(data: bytes | memoryview) -> bytes:
    reader = zlib.decompressobj()
    plain = reader.decompress(bytes(data), MOST_BYTES)
    if reader.unconsumed_tail or not reader.eof:
        raise Unreadable("more than a day or a minute can be, or cut off")
    return plain
