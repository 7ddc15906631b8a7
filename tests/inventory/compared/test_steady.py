"""What is begun, told, kept and ended, over rounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inventory.compared.rules import GIB, LASTED_S, Claim, Key
from inventory.compared.steady import GRACE_S, State, step

KEY = Key("code", "GPU-1")
ROUND_S = 60.0


def claim(used: int = 30 * GIB, exact: str = "", wait_s: float = LASTED_S, since: float | None = None) -> Claim:
    return Claim(KEY, f"It uses {used // GIB}.", "Look.", (used,), exact, wait_s, since)


def rounds(seen: str, first: float = 0.0, every_s: float = ROUND_S) -> list[bool]:
    """Whether it is told after each look. + it is so, - it is not, ? nothing is known."""
    states: dict[Key, State] = {}
    told = []
    for number, sign in enumerate(seen):
        now = first + number * every_s
        found = {KEY: claim()} if sign == "+" else {}
        states = step(states, found, lambda _: sign == "?", now, now, every_s)  # noqa: B023
        told.append(bool(states) and states[KEY].told)
    return told


def test_it_is_told_when_it_has_lasted() -> None:
    assert rounds("+++++++") == [False] * 5 + [True, True]


def test_of_rare_rounds_three_are_wanted() -> None:
    assert rounds("++++", every_s=240.0) == [False, False, True, True]


def test_what_is_not_seen_once_begins_anew() -> None:
    assert rounds("++++-++++++")[:10] == [False] * 10
    assert rounds("++++?+++++") == [False] * 10


def test_one_missed_round_ends_nothing() -> None:
    assert rounds("++++++?+") == [False] * 5 + [True] * 3


def test_what_is_not_known_for_long_is_over() -> None:
    told = rounds("++++++" + "?" * 8)
    assert told[6:] == [True] * 6 + [False] * 2
    assert GRACE_S == 5 * ROUND_S


def test_what_is_not_so_is_over_at_once() -> None:
    assert rounds("++++++-")[-1] is False


def test_each_missed_round_has_its_own_time() -> None:
    assert all(rounds("++++++" + "???+" * 5)[5:])


def test_the_text_moves_with_the_numbers_and_not_with_noise() -> None:
    old = step({}, {KEY: claim(wait_s=0.0)}, lambda _: False, 0.0, 0.0)
    assert old[KEY].text == "It uses 30. Since 1970-01-01 00:00 UTC. Look."
    same = step(old, {KEY: claim(31 * GIB, wait_s=0.0)}, lambda _: False, 60.0, 60.0)
    assert same == old
    moved = step(old, {KEY: claim(40 * GIB, wait_s=0.0)}, lambda _: False, 60.0, 60.0)
    assert "It uses 40." in moved[KEY].text
    assert moved[KEY].first == 0.0
    other = step(old, {KEY: claim(exact="x", wait_s=0.0)}, lambda _: False, 60.0, 60.0)
    assert other[KEY].exact == "x"


def test_since_when_it_is_known_counts() -> None:
    found = {KEY: claim(since=1000.0)}
    assert not step({}, found, lambda _: False, 1200.0, 1200.0)[KEY].told
    assert step({}, found, lambda _: False, 1300.0, 1300.0)[KEY].told


@given(st.text("+-?", max_size=40))
def test_it_is_never_told_before_it_was_seen_for_long_enough_and_never_kept_for_longer_than_the_grace(
    seen: str,
) -> None:
    """Whatever rounds are missed: the data of one that was begins it, and none of one that was not."""
    for number, told in enumerate(rounds(seen)):
        if not told:
            continue
        past = seen[: number + 1]
        assert "-" not in past[past.rindex("+") :]
        assert len(past) - 1 - past.rindex("+") <= GRACE_S / ROUND_S + 1
        assert "++++++" in past
