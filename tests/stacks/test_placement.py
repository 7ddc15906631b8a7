"""What would still fit on a card in MIG mode, against NVIDIA's user guide and against trying all layouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stacks.nvidia.placement import Profile, Table, most, named, room, table_of, together
from tests.sweeps import first_and_rest

#: One of each kind of card: those of seven compute slices differ in the names of their profiles alone.
MODELS = ("NVIDIA-A30", "NVIDIA-A100-SXM4-40GB", "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition")
#: (profile, where it begins) of each instance on a card, in the order of the table.
Layout = tuple[tuple[str, int], ...]


def table(model: str) -> Table:
    found = table_of(model)
    assert found is not None, model
    return found


def may_lie(one: Table, layout: Layout) -> bool:
    """The rules, one by one and slice by slice: no overlap, and no more compute, media and decoders than the card has."""
    slices: list[int] = []
    for name, start in layout:
        slices += range(start, start + one.profiles[name].size)
    mine: list[Profile] = [one.profiles[name] for name, _ in layout]
    return (
        len(slices) == len(set(slices))
        and all(0 <= each < one.memory for each in slices)
        and sum(each.compute for each in mine) <= one.compute
        and sum(each.media for each in mine) <= 1
        and sum(each.decoders for each in mine) <= one.decoders
    )


def more(one: Table, layout: Layout) -> Iterator[Layout]:
    """Each layout with one instance more."""
    for name, profile in one.profiles.items():
        for start in profile.starts:
            if may_lie(one, (*layout, (name, start))):
                yield tuple(sorted((*layout, (name, start))))


def number_of(one: Table, layout: Layout, name: str, after: int = 0) -> int:
    """How many of one profile can be added, by trying. after: those added before begin before this slice."""
    tries = [(start, (*layout, (name, start))) for start in one.profiles[name].starts if start >= after]
    return max((1 + number_of(one, each, name, start) for start, each in tries if may_lie(one, each)), default=0)


@lru_cache
def layouts(model: str) -> dict[tuple[tuple[str, int], ...], set[Layout]]:
    """Numbers of instances → all layouts with these, of the model's profiles that differ in where they lie."""
    one, found, new = table(model), {()}, {()}
    while new:
        new = {after for layout in new for after in more(one, layout)} - found
        found |= new
    grouped: dict[tuple[tuple[str, int], ...], set[Layout]] = {}
    for layout in found:
        grouped.setdefault(tuple(sorted(Counter(name for name, _ in layout).items())), set()).add(layout)
    return grouped


@pytest.mark.parametrize("model", first_and_rest(MODELS[:2]))
def test_the_numbers_are_the_least_and_the_most_of_all_layouts(model: str) -> None:
    one = table(model)
    for there, ways in layouts(model).items():
        found = room(one.name, there)
        assert found is not None, there
        for name, sure, at_most in found:
            numbers = {number_of(one, layout, name) for layout in ways}
            assert (sure, at_most) == (min(numbers), max(numbers)), (there, name)


@pytest.mark.parametrize("model", first_and_rest(MODELS))
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_real_layout_has_room_within_the_bounds(model: str, data: st.DataObject) -> None:
    one = table(model)
    layout = data.draw(st.builds(tuple, grown(one)))
    counts = tuple(sorted(Counter(name for name, _ in layout).items()))
    found = room(one.name, counts)
    assert found is not None
    for name, sure, at_most in found:
        assert sure <= number_of(one, layout, name) <= at_most, (layout, name)


@pytest.mark.parametrize("model", first_and_rest(MODELS))
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_on_several_cards_no_more_fits_than_is_said(model: str, data: st.DataObject) -> None:
    one = table(model)
    cards = data.draw(st.lists(grown(one), min_size=1, max_size=4))
    counts = Counter(name for layout in cards for name, _ in layout)
    for name, at_most in together(one, sorted(counts.items()), len(cards)):
        assert sum(number_of(one, layout, name) for layout in cards) <= at_most, (cards, name)


@st.composite
def grown(draw: st.DrawFn, one: Table) -> Layout:
    """A layout that was made by adding one instance after another."""
    layout: Layout = ()
    for _ in range(draw(st.integers(0, 7))):
        choices = sorted(more(one, layout))
        if not choices:
            break
        layout = draw(st.sampled_from(choices))
    return layout


def test_the_most_of_each_profile_are_those_of_the_user_guide() -> None:
    seven = {"1g": 7, "1g+me": 1, "1g double": 4, "2g": 3, "3g": 2, "4g": 1, "7g": 1}
    sizes = {
        "NVIDIA-A100-SXM4-40GB": (5, 10, 20, 40),
        "NVIDIA-A100-SXM4-80GB": (10, 20, 40, 80),
        "NVIDIA-H100-80GB-HBM3": (10, 20, 40, 80),
        "NVIDIA-H100-NVL": (12, 24, 47, 94),
        "NVIDIA-GH200-480GB": (12, 24, 48, 96),
        "NVIDIA-H200": (18, 35, 71, 141),
        "NVIDIA-B200": (23, 45, 90, 180),
        "NVIDIA-GB200": (23, 47, 93, 186),
    }
    for model, (small, double, half, whole) in sizes.items():
        names = [
            f"1g.{small}gb",
            f"1g.{small}gb+me",
            f"1g.{double}gb",
            f"2g.{double}gb",
            f"3g.{half}gb",
            f"4g.{half}gb",
        ]
        names.append(f"7g.{whole}gb")
        assert {name: most(model, name) for name in names} == dict(zip(names, seven.values(), strict=True)), model
    assert {name: most("NVIDIA-A30", name) for name in ("1g.6gb", "1g.6gb+me", "2g.12gb", "2g.12gb+me", "4g.24gb")} == {
        "1g.6gb": 4,
        "1g.6gb+me": 1,
        "2g.12gb": 2,
        "2g.12gb+me": 1,
        "4g.24gb": 1,
    }
    pro = {"1g.24gb": 4, "1g.24gb+me": 1, "1g.24gb+gfx": 4, "1g.24gb+me.all": 1, "1g.24gb-me": 4}
    pro |= {"2g.48gb": 2, "2g.48gb+gfx": 2, "2g.48gb+me.all": 1, "2g.48gb-me": 2, "4g.96gb": 1, "4g.96gb+gfx": 1}
    assert {name: most(MODELS[-1], name) for name in pro} == pro


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("NVIDIA-A100-SXM4-40GB", "A100 40 GB"),
        ("nvidia-tesla-a100", "A100 40 GB"),
        ("NVIDIA A100 80GB PCIe", "A100 80 GB"),
        ("NVIDIA-H100-PCIe", "H100 80 GB"),
        ("NVIDIA-H100-80GB-HBM3-MIG-1g.10gb", "H100 80 GB"),
        ("NVIDIA-H100-NVL", "H100 94 GB"),
        ("NVIDIA-GH200-480GB", "H100 96 GB"),
        ("NVIDIA-H200-NVL", "H200 141 GB"),
        ("nvidia-b200", "B200 180 GB"),
        ("NVIDIA GB200", "GB200 186 GB"),
        ("A100", None),  # of 40 or of 80 GB?
        ("NVIDIA-GH200-144G-HBM3e", None),
        ("NVIDIA-B300", None),
        ("NVIDIA-A10", None),
        ("", None),
        (None, None),
    ],
)
def test_the_table_of_a_model_is_found_by_its_name_alone(model: str | None, name: str | None) -> None:
    found = table_of(model)
    assert (found.name if found else None) == name


def test_resources_name_profiles_with_dots() -> None:
    assert named(table("NVIDIA-H100-80GB-HBM3"), "1g.10gb.me") == "1g.10gb+me"
    assert named(table("NVIDIA-H100-80GB-HBM3"), "1g.5gb") is None


@pytest.mark.parametrize(
    "there", [(("1g.10gb", 8),), (("7g.80gb", 2),), (("1g.10gb+me", 2),), (("4g.40gb", 2),), (("1g.10gb", 10**30),)]
)
def test_what_cannot_be_on_one_card_has_no_room(there: tuple[tuple[str, int], ...]) -> None:
    assert room("H100 80 GB", there) is None
