"""Numbers as words: exact where they look exact, never zero for what is not zero."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from pages.frame import amounts
from pages.frame.holders import HUES, LOOKS, hue, own_hue, page_of_holders
from pages.templatetags import units
from runtime.spans import span

GIB = 2**30


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0 GiB"),
        (15 * GIB, "15 GiB"),
        (7611 * 2**20, "7.43 GiB"),
        (15 * GIB - 1, "15.00 GiB"),
        (81920 * 2**20, "80 GiB"),
        (1023 * GIB, "1,023 GiB"),
        (3 * 2**40 + 2**39, "3.50 TiB"),
        (512 * 2**20, "512 MiB"),
        (1, "1 B"),
        (-5 * GIB, "−5 GiB"),
    ],
)
def test_bytes_are_read_as_gib(amount: int, text: str) -> None:
    assert amounts.gib(amount) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (0, "0"),
        (1234.5678, "1,235"),
        (123.4567, "123"),
        (99.96, "100"),
        (33.94, "33.9"),
        (33.96, "34"),
        (5.57, "5.57"),
        (2.5, "2.5"),
        (0.0456, "0.05"),
        (0.0001, "< 0.01"),
    ],
)
def test_sums_have_three_digits(amount: float, text: str) -> None:
    assert amounts.figure(amount) == text


@given(st.integers(min_value=-(2**62), max_value=2**62))
def test_a_number_without_a_point_is_exact_and_zero_is_only_nothing(amount: int) -> None:
    for text in (amounts.gib(amount), f"{amounts.gib_number(amount)} GiB"):
        number, unit = text.replace(",", "").replace("−", "-").removeprefix("< ").split(" ")
        size = {"B": 1, "MiB": 2**20, "GiB": GIB, "TiB": 2**40}[unit]
        if "." not in number:
            assert int(number) * size == amount
        assert (float(number) == 0) == (amount == 0)


@given(st.integers(min_value=0, max_value=2**50), st.integers(min_value=1, max_value=2**50))
def test_only_all_is_a_hundred_percent(part: int, whole: int) -> None:
    shown = amounts.percent(part, whole)
    assert shown is not None
    assert (shown >= 100) == (part >= whole)
    assert (shown == 0) == (part == 0)


def test_a_part_of_nothing_has_no_percent() -> None:
    assert amounts.percent(3, 0) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0 s"), (59.9, "59 s"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (172799, "47 h"), (172800, "2 d")],
)
def test_spans_are_told_in_their_largest_unit(seconds: float, text: str) -> None:
    assert span(seconds) == text


def test_what_is_not_known_is_marked_by_every_filter() -> None:
    for filtered in (units.gib(None), units.gib_number(None), units.counted(None), units.ago(None), units.since(None)):
        assert 'class="not-known"' in filtered
        assert "unknown" in filtered


def test_a_moment_carries_its_exact_time() -> None:
    moment = timezone.now() - timedelta(minutes=3)
    html = units.ago(moment)
    assert f'datetime="{moment:%Y-%m-%dT%H:%M:%SZ}"' in html
    assert ">3 min ago<" in html


def test_a_sign_is_never_colour_alone() -> None:
    assert len({units.sign(level) for level in ("good", "error", "warning", "info", "none")}) == 5
    assert "no status" in units.sign("<odd>")


@given(st.text())
def test_every_name_has_a_hue_that_stays(name: str) -> None:
    assert own_hue(name) == own_hue(name)
    assert 0 <= own_hue(name) < HUES


def test_hues_are_the_same_in_every_process() -> None:
    assert [own_hue(name) for name in ("default", "team-a", "team-b")] == [7, 1, 11]
    assert str(hue("team-a")) == "hue1"


@given(st.lists(st.text(), unique=True, max_size=40), st.randoms())
def test_no_two_namespaces_of_a_page_look_alike_whatever_their_order(names: list[str], chance: random.Random) -> None:
    def looks(order: list[str]) -> dict[str, str]:
        with page_of_holders():
            named = [(name, hue(name)) for name in order]
            return {name: str(one) for name, one in named}

    found = looks(names)
    shuffled = names[:]
    chance.shuffle(shuffled)
    assert looks(shuffled) == found
    assert len(set(found.values())) == min(len(names), HUES * LOOKS)
    assert all(" " not in one for one in found.values()) or len(names) > HUES


def test_the_first_of_two_keeps_its_own_hue_and_the_pages_are_apart() -> None:
    alike = [name for name in (f"team-{number}" for number in range(200)) if own_hue(name) == 1][:2]
    with page_of_holders():
        assert [str(hue(name)) for name in alike] == ["hue1", "hue2"]
    with page_of_holders():
        assert str(hue(alike[1])) == "hue1"
