"""What a node was is divided among those who held it, and the parts add up to it, exactly."""

from __future__ import annotations

from random import Random

import pytest

from inventory.charges.month import in_units
from inventory.charges.rule import MICRO, Held, Parts, Piece, add_node
from stacks.engine.base import MEMORY, PARTS, SHARES, WHOLE

HOUR, DAY = 3600, 86400
SIZE = 16 * 1024


def piece(number: int, memory: int = SIZE, shares: int | None = None, begin: int = 0, end: int | None = None) -> Piece:
    return Piece(number, memory, shares, begin, end)


def held(
    namespace: str,
    card: int | None,
    mode: str = WHOLE,
    span: tuple[int, int | None] = (0, None),
    memory: int | None = SIZE,
    quantity: int = 1,
    pod: str = "",
) -> Held:
    return Held(namespace, pod or namespace, card, mode, quantity, memory, *span)


def summed(cards: list[Piece], holds: list[Held], known: list[tuple[int, int]] | None = None) -> Parts:
    parts = Parts()
    add_node(parts, cards, holds, [(0, DAY)] if known is None else known, (0, DAY))
    return parts


def hours(parts: Parts) -> dict[str, tuple[float, float]]:
    """Card-hours and GiB-hours of who has any."""
    special = {name: getattr(parts, name) for name in ("free", "unplaced", "unmetered", "unknown")}
    found = {
        name: (cards / MICRO / HOUR, mib / 1024 / HOUR) for name, (cards, mib) in (parts.namespaces | special).items()
    }
    return {name: amounts for name, amounts in found.items() if amounts != (0, 0)}


def assert_adds_up(parts: Parts) -> None:
    for place in (0, 1):
        rows = [*parts.namespaces.values(), parts.free, parts.unplaced, parts.unmetered, parts.unknown]
        assert sum(row[place] for row in rows) == parts.total[place]
        assert all(row[place] >= 0 for row in rows)


def test_a_whole_card_is_the_holders_from_its_beginning_to_its_end() -> None:
    parts = summed([piece(1)], [held("a", 1, span=(HOUR, 3 * HOUR)), held("b", 1, span=(20 * HOUR, None))])
    assert hours(parts) == {"a": (2, 32), "b": (4, 64), "free": (18, 288)}


def test_a_pod_that_names_its_card_in_two_containers_holds_one_card() -> None:
    parts = summed([piece(1)], [held("a", 1, pod="one"), held("a", 1, pod="one")])
    assert hours(parts) == {"a": (24, 384)}


def test_who_comes_while_the_other_still_ends_shares_the_card_with_him() -> None:
    parts = summed([piece(1)], [held("ends", 1, span=(0, 2 * HOUR)), held("comes", 1, span=(HOUR, None))])
    assert hours(parts) == {"ends": (1.5, 24), "comes": (22.5, 360)}


def test_a_part_by_memory_is_as_much_of_the_card() -> None:
    parts = summed([piece(1)], [held("a", 1, MEMORY, memory=SIZE // 4), held("b", 1, PARTS, memory=SIZE // 2)])
    assert hours(parts) == {"a": (6, 96), "b": (12, 192), "free": (6, 96)}


def test_one_of_four_shares_is_a_quarter_and_the_memory_is_nobodys() -> None:
    parts = summed([piece(1, shares=4)], [held("a", 1, SHARES, memory=None)])
    assert hours(parts) == {"a": (6, 0), "free": (18, 0), "unmetered": (0, 384)}


def test_a_share_of_nobody_knows_how_many_is_unmetered() -> None:
    parts = summed([piece(1)], [held("a", 1, SHARES, (0, 6 * HOUR), memory=None)])
    assert hours(parts) == {"unmetered": (6, 96), "free": (18, 288)}
    assert "a" in parts.namespaces


def test_whole_cards_that_are_only_counted_are_the_holders() -> None:
    parts = summed([piece(1), piece(2)], [held("a", None, memory=None), held("b", 2, span=(0, 12 * HOUR))])
    assert hours(parts) == {"a": (24, 384), "b": (12, 192), "free": (12, 192)}


def test_of_what_nobody_can_say_how_much_it_is_the_rest_of_the_node_is_unplaced() -> None:
    parts = summed([piece(1), piece(2)], [held("a", None, SHARES, memory=None), held("b", 2)])
    assert hours(parts) == {"b": (24, 384), "unplaced": (24, 384)}


def test_memory_on_a_card_that_is_not_known_is_counted_and_its_part_where_cards_are_alike() -> None:
    alike = summed([piece(1), piece(2)], [held("a", None, MEMORY, memory=SIZE // 2)])
    assert hours(alike) == {"a": (12, 192), "free": (36, 576)}
    other = summed([piece(1), piece(2, SIZE * 2)], [held("a", None, MEMORY, memory=SIZE // 2)])
    assert hours(other) == {"a": (0, 192), "free": (0, 960), "unplaced": (48, 0)}


def test_of_times_without_a_watch_nothing_is_said() -> None:
    parts = summed([piece(1)], [held("a", 1)], [(0, 6 * HOUR), (12 * HOUR, 13 * HOUR)])
    assert hours(parts) == {"a": (7, 112), "unknown": (17, 272)}


def test_a_card_counts_while_it_is_there() -> None:
    parts = summed([piece(1, begin=6 * HOUR, end=8 * HOUR)], [held("a", 1)])
    assert hours(parts) == {"a": (2, 32)}
    assert parts.total == [2 * HOUR * MICRO, 2 * HOUR * SIZE]


def some_node(rng: Random) -> tuple[list[Piece], list[Held], list[tuple[int, int]]]:
    def span(past: int = DAY) -> tuple[int, int | None]:
        begin = rng.randrange(-HOUR, past)
        return begin, rng.choice([None, begin + rng.randrange(0, DAY)])

    sizes = rng.choice([[SIZE], [0], [SIZE, 81_559, 0]])
    cards = [
        Piece(n, rng.choice(sizes), rng.choice([None, 3, 7]), *span(HOUR * 2)) for n in range(1, rng.randrange(2, 6))
    ]
    holds = [
        Held(
            rng.choice("abcd"),
            f"pod-{rng.randrange(6)}",
            rng.choice([None, *range(1, 7)] if rng.random() < 0.5 else list(range(1, 7))),
            rng.choice([WHOLE, MEMORY, SHARES, PARTS]),
            rng.randrange(1, 4),
            rng.choice([None, 1, 1000, SIZE, SIZE * 3]),
            *span(),
        )
        for _ in range(rng.randrange(0, 30))
    ]
    edges = sorted(rng.sample(range(DAY), 4))
    return cards, holds, rng.choice([[(0, DAY)], [(edges[0], edges[1]), (edges[2], edges[3])], []])


@pytest.mark.parametrize("seed", range(150))
def test_random_histories_add_up(seed: int) -> None:
    cards, holds, known = some_node(Random(seed))
    parts = summed(cards, holds, known)
    assert_adds_up(parts)
    present = [(max(one.begin, 0), min(DAY, DAY if one.end is None else one.end), one) for one in cards]
    seconds = [(max(0, end - begin), one.memory) for begin, end, one in present]
    assert parts.total == [sum(time for time, _ in seconds) * MICRO, sum(time * memory for time, memory in seconds)]


@pytest.mark.parametrize("seed", range(40))
def test_a_day_is_the_sum_of_its_hours(seed: int) -> None:
    """Summed in pieces it is the same, but for what is lost in rounding each."""
    cards, holds, known = some_node(Random(seed))
    pieces = Parts()
    for hour in range(24):
        span = (hour * HOUR, (hour + 1) * HOUR)
        cut = [(max(begin, span[0]), min(end, span[1])) for begin, end in known]
        add_node(pieces, cards, holds, [one for one in cut if one[0] < one[1]], span)
    whole = summed(cards, holds, known)
    assert pieces.total == whole.total
    assert pieces.unknown == whole.unknown
    for name, amounts in whole.namespaces.items():
        assert pieces.namespaces[name] == pytest.approx(amounts, abs=24 * 30)


@pytest.mark.parametrize("seed", range(100))
def test_rounded_amounts_still_add_up(seed: int) -> None:
    rng = Random(seed)
    amounts = [rng.choice([0, 1, rng.randrange(10 ** rng.randrange(1, 15))]) for _ in range(rng.randrange(1, 40))]
    unit, per = rng.choice([(3_600_000, 1), (36_864, 10), (sum(amounts) or 1, 10_000)])
    made, total = in_units(amounts, sum(amounts), unit, per)
    assert sum(made) == total
    assert abs(total - sum(amounts) * per / unit) <= 0.5
    assert all(abs(one - amount * per / unit) < 1 for one, amount in zip(made, amounts, strict=True))
