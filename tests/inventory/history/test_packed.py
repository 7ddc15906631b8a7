"""How values lie in a column: what goes in comes out, in the space that is promised, and nothing else is believed."""

from __future__ import annotations

import random
import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inventory.history import packed
from inventory.history.packed import SLOTS, Minute, Unreadable

_value = st.none() | st.integers(0, 10**10)


def test_a_day_comes_out_as_it_went_in() -> None:
    used = [None, *range(40_000, 40_000 + SLOTS - 1)]
    most = [None if value is None else value + 7 for value in used]
    columns = {packed.USED: used, packed.USED_MOST: most, packed.CARDS: [8] * SLOTS}
    assert packed.unpack_day(packed.pack_day(columns)) == columns


def test_a_column_of_which_nothing_is_known_takes_no_room() -> None:
    assert packed.unpack_day(packed.pack_day({packed.USED: [None] * SLOTS, packed.CARDS: [1] * SLOTS})) == {
        packed.CARDS: [1] * SLOTS
    }


@given(st.lists(st.tuples(st.integers(0, 10**6), _value, _value), max_size=30))
def test_a_minute_comes_out_as_it_went_in(rows: list[tuple[int, int | None, int | None]]) -> None:
    minute = Minute([row[0] for row in rows], {"used": [row[1] for row in rows], "allocated": [row[2] for row in rows]})
    assert packed.unpack_minute(packed.pack_minute(minute)) == minute


def test_a_card_that_does_something_else_each_five_minutes_takes_less_than_3_kb_a_day() -> None:
    dice = random.Random(7)
    used = [dice.randrange(0, 192 * 1024) for _ in range(SLOTS)]
    columns = {
        packed.USED: used,
        packed.USED_MOST: [value + dice.randrange(0, 4096) for value in used],
        packed.ALLOCATED: [dice.choice((20_480, 40_960, 81_920)) for _ in range(SLOTS)],
        packed.UTILIZATION: [dice.randrange(1001) for _ in range(SLOTS)],
        packed.ACTIVITY: [dice.randrange(1001) for _ in range(SLOTS)],
    }
    assert len(packed.pack_day(columns)) < 3000


def test_one_that_does_nothing_takes_200_bytes() -> None:
    columns = {name: [500] * SLOTS for name in (packed.USED, packed.USED_MOST, packed.ALLOCATED, packed.UTILIZATION)}
    assert len(packed.pack_day(columns)) < 200


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nothing",
        zlib.compress(b"nothing"),
        zlib.compress(msgspec.msgpack.encode({"used": [1, 2]})),
        zlib.compress(msgspec.msgpack.encode({"used": ["x"] * SLOTS})),
        zlib.compress(bytes(packed.MOST_BYTES * 3)),
        packed.pack_day({"used": [1] * SLOTS})[:-3],
    ],
)
def test_what_somebody_else_wrote_is_not_believed(data: bytes) -> None:
    with pytest.raises(Unreadable):
        packed.unpack_day(data)


def test_nor_is_a_minute_whose_columns_are_not_as_long_as_its_keys() -> None:
    with pytest.raises(Unreadable):
        packed.unpack_minute(zlib.compress(msgspec.msgpack.encode([[1, 2], {"used": [1]}])))
