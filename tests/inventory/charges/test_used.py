"""What owners used of their cards on a day: golden cases, the suggestion, and the rows of a day that is over."""

from __future__ import annotations

import pytest

from inventory.charges.rule import Held, Holder
from inventory.charges.used import Used, add_card
from inventory.charges.waste import Suggestion, Sure, suggest
from inventory.history.packed import SLOT_S, SLOTS, Values

BEGIN = 1_700_006_400
A, B = ("team-a", "Job", "a"), ("team-b", "Job", "b")
GIB = 1024


def held(pod: str, owner: Holder, memory: int | None = 10 * GIB, begin: int = 0, end: int | None = None) -> Held:
    """begin, end: slots of the day."""
    namespace, kind, name = owner
    until = None if end is None else BEGIN + end * SLOT_S
    return Held(namespace, pod, 1, "memory", 1, memory, BEGIN + begin * SLOT_S, until, kind, name)


def told(holds: list[Held], **columns: Values | int) -> dict[Holder, Used]:
    found: dict[Holder, Used] = {}
    whole = {name: [value] * SLOTS if isinstance(value, int) else value for name, value in columns.items()}
    add_card(found, whole, 80 * GIB, holds, BEGIN, 1800)
    return found


def test_a_pod_alone_on_a_card_is_measured_all_day() -> None:
    one = told([held("p", A)], used=2 * GIB, used_most=3 * GIB, activity=500)[A]
    assert one.columns == (0, 8 * GIB * 86400, 10 * GIB, 3 * GIB, SLOTS)


def test_a_whole_card_is_all_of_its_memory() -> None:
    whole = Held("team-a", "p", 1, "whole", 1, None, BEGIN, None, "Job", "a")
    assert told([whole], used=0)[A].columns == (None, 80 * GIB * 86400, 80 * GIB, 0, SLOTS)


def test_what_is_not_collected_is_unknown_and_never_zero() -> None:
    assert told([held("p", A)])[A].columns == (None, None, 10 * GIB, None, None)
    assert told([held("p", A, memory=None)], used=5, activity=0)[A].columns == (None, None, None, 5, SLOTS)


def test_on_a_shared_card_use_is_unknown_but_no_activity_is_idle_for_all() -> None:
    found = told([held("p", A), held("q", B)], used=4 * GIB, activity=0)
    for owner in (A, B):
        assert found[owner].columns == (10 * GIB * 86400, None, 10 * GIB, None, None)


def test_slots_that_another_pod_has_a_part_of_are_left_out() -> None:
    found = told([held("p", A, end=100), held("q", B, begin=200)], used=GIB)
    assert (len(found[A].peaks), len(found[B].peaks)) == (100, 88)
    late = Held("team-a", "p", 1, "memory", 1, GIB, BEGIN + 10, BEGIN + 2 * SLOT_S + 10, "Job", "a")
    assert len(told([late], used=5)[A].peaks) == 1


def test_idle_is_a_stretch_that_is_long_enough() -> None:
    activity: Values = [0] * 5 + [500] + [10] * 6 + [None] + [0] * 3 + [500] * (SLOTS - 16)
    assert told([held("p", A)], activity=activity)[A].idle == 6 * SLOT_S * 10 * GIB


def test_a_peak_of_one_in_a_hundred_is_above_the_percentile() -> None:
    used: Values = [GIB] * (SLOTS - 2) + [9 * GIB] * 2
    assert told([held("p", A)], used=used)[A].columns[3] == GIB


@pytest.mark.parametrize(
    ("asked", "peak", "days", "samples", "wanted"),
    [
        (40 * GIB, 11 * GIB, 14, 14 * 288, Suggestion(14 * GIB, Sure.CERTAIN)),
        (40 * GIB, 11 * GIB, 4, 4 * 288, Suggestion(14 * GIB, Sure.LIKELY)),
        (40 * GIB, 11 * GIB, 14, 500, Suggestion(14 * GIB, Sure.LIKELY)),
        (40 * GIB, 11 * GIB, 2, 2 * 288, None),
        (40 * GIB, 11 * GIB, 14, 100, None),
        (40 * GIB, 30 * GIB, 14, 14 * 288, None),
        (40 * GIB, 0, 14, 14 * 288, Suggestion(GIB, Sure.CERTAIN)),
        (None, 11 * GIB, 14, 14 * 288, None),
        (40 * GIB, None, 14, 0, None),
    ],
)
def test_a_suggestion_says_how_sure_it_is(
    asked: int | None, peak: int | None, days: int, samples: int, wanted: Suggestion | None
) -> None:
    assert suggest(asked, peak, days, samples) == wanted
