"""A bar claims no more than its rows say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inventory.models import Allocation, Card
from pages.charts.bars import bar_of
from pages.charts.capacity import shared_out
from pages.charts.timeline import picture, stretches
from pages.rows.cards import card_name

GIB = 2**30
START = datetime(2026, 1, 1, tzinfo=UTC)


def _card(
    mode: str = "memory",
    state: str = "partly",
    total: int | None = 10,
    held: int | None = 4,
    shares: int | None = None,
    free: int | None = None,
) -> Card:
    return Card(
        memory_free_bytes=free,
        mode=mode,
        state=state,
        shares=shares,
        index=1,
        memory_total_bytes=None if total is None else total * GIB,
        memory_allocated_bytes=None if held is None else held * GIB,
    )


def _held(
    memory: int | None = 4, quantity: int = 1, mode: str = "memory", begin: int = 0, end: int | None = None
) -> Allocation:
    return Allocation(
        namespace="n",
        pod=f"p{begin}",
        pod_uid=f"p{begin}",
        container="c",
        mode=mode,
        quantity=quantity,
        memory_bytes=None if memory is None else memory * GIB,
        started_at=START + timedelta(hours=begin),
        ended_at=None if end is None else START + timedelta(hours=end),
    )


def test_pieces_are_parts_of_the_card() -> None:
    bar = bar_of(_card(), [_held(4)])
    assert ([piece.width for piece in bar.pieces], bar.kind, bar.rest) == (["0.4000"], "", "6 GiB free")


def test_a_full_card_has_no_rest() -> None:
    assert bar_of(_card(held=10), [_held(10)]).rest == ""


def test_more_than_full_keeps_the_pieces_in_proportion_and_marks_full() -> None:
    bar = bar_of(_card(state="over", held=20), [_held(15), _held(5)])
    assert ([piece.width for piece in bar.pieces], bar.kind, bar.full_at) == (["0.7500", "0.2500"], "over", "0.5000")


@pytest.mark.parametrize(
    ("card", "words"),
    [
        (_card(total=None), "no source reports the card's memory"),
        (_card(held=None), "the memory of an allocation is unreadable"),
        (_card(mode="whole", state="unknown", held=None), "the kubelet reports only a count for this node"),
        (_card(mode="shares", state="unknown", held=None, shares=4), "the kubelet reports only a count for this node"),
    ],
)
def test_what_is_not_known_is_hatched_and_says_why(card: Card, words: str) -> None:
    bar = bar_of(card, [])
    assert bar.kind == "unknown"
    assert words in bar.rest


def test_shares_that_are_counted_leave_their_rest() -> None:
    bar = bar_of(_card(mode="shares", state="shared", total=None, held=None, shares=4), [_held(None, 1, "shares")])
    assert (bar.pieces[0].width, bar.rest) == ("0.2500", "3 of 4 shares free")


def test_shares_that_nobody_counts_are_never_drawn_full() -> None:
    held = [_held(None, 1, "shares", begin=hour) for hour in range(9)]
    bar = bar_of(_card(mode="shares", state="shared", total=None, held=None), held)
    assert sum(float(piece.width) for piece in bar.pieces) < 0.91
    assert (bar.kind, bar.rest) == ("unmetered", "memory not metered")


def test_more_holders_than_shares_is_too_much() -> None:
    held = [_held(None, 3, "shares")]
    assert bar_of(_card(mode="shares", state="shared", total=None, held=None, shares=2), held).kind == "over"


def test_a_card_without_an_index_is_named_by_the_end_of_its_uuid() -> None:
    assert card_name(Card(uuid="GPU-1234-abcdefgh")) == "card …abcdefgh"
    assert card_name(Card(index=0, uuid="GPU-1234-abcdefgh")) == "card 0"


def test_time_is_cut_at_every_change() -> None:
    held = [_held(4, begin=1, end=3), _held(2, begin=2)]
    parts = stretches(held, START, START + timedelta(hours=4))
    assert [(part.memory, part.holders) for part in parts] == [(0, 0), (4 * GIB, 1), (6 * GIB, 2), (2 * GIB, 1)]


def test_a_part_that_is_not_known_breaks_the_curve() -> None:
    held = [_held(4, begin=0), _held(None, begin=1, end=2)]
    drawn = picture(held, START, START + timedelta(hours=4), 10 * GIB, START)
    (curve,) = drawn.chart.plots
    assert curve.paths[0].line.count("M") == 2
    assert [(band.look, band.x, band.width) for band in curve.bands] == [("unknown", "25", "25")]


def test_the_curve_goes_over_full_in_its_own_boxes() -> None:
    drawn = picture([_held(20, begin=1, end=2)], START, START + timedelta(hours=4), 10 * GIB, START)
    (curve,) = drawn.chart.plots
    assert [(band.look, band.x, band.width, band.title) for band in curve.bands] == [("over", "25", "25", "20 GiB")]


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.one_of(st.none(), st.integers(0, 99))), max_size=20),
    st.integers(0, 60),
)
def test_any_history_gives_stretches_that_fill_the_window(
    history: list[tuple[int, int, int | None]], seen: int
) -> None:
    held = [_held(memory, begin=begin, end=begin + length) for begin, length, memory in history]
    end = START + timedelta(hours=60)
    parts = stretches(held, START, end)
    assert sum(((part.end - part.begin) for part in parts), timedelta()) == timedelta(hours=60)
    assert all(one.end == other.begin for one, other in pairwise(parts))
    assert len(picture(held, START, end, 10 * GIB, START + timedelta(hours=seen)).chart.lanes) <= 14


@given(st.dictionaries(st.text(max_size=3), st.tuples(st.integers(1, 5000), st.integers(6, 54)), max_size=40))
def test_elements_of_the_map_are_shared_out(asks: dict[str, tuple[int, int]]) -> None:
    def weight(nodes: dict[str, int]) -> int:
        return sum(number * asks[key][1] for key, number in nodes.items())

    room, sizes = shared_out(asks, 1300), {key: size for key, (size, _weight) in asks.items()}
    assert all(min(2, size) <= room[key] <= size for key, size in sizes.items())
    if weight(sizes) <= 1300:
        assert room == sizes
    fewest = weight({key: min(2, size) for key, size in sizes.items()})
    assert weight(room) <= 1300 + fewest


def test_what_a_card_has_left_that_is_not_given_out_is_not_called_free() -> None:
    assert bar_of(_card(free=0), [_held(4)]).rest == "6 GiB not allocatable"
    assert bar_of(_card(), [_held(4)]).rest == "6 GiB free"
