"""When it is said that no work was seen, and above all when it is not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inventory.idle.rule import AVERAGED, Card, Verdict, judge

NOW, WINDOW = 1_000_000.0, 1800.0


def card(
    *, active: float | None = None, watched: float | None = 7200.0, measure: str = "graphics_active", holders: int = 1
) -> Card:
    """active, watched: seconds ago."""
    moments = [None if ago is None else NOW - ago for ago in (watched, active)]
    return Card(measure, moments[0], moments[1], holders)


@pytest.mark.parametrize(
    ("cards", "held_s", "verdict", "idle_s"),
    [
        ([card()], 9000, Verdict.IDLE, 7200),
        ([card()], 3600, Verdict.IDLE, 3600),
        ([card(active=2000)], 9000, Verdict.IDLE, 2000),
        ([card(active=1799)], 9000, Verdict.WORKS, 0),
        ([card(active=0)], 9000, Verdict.WORKS, 0),
        # Whoever works on a shared card cannot be told; that nobody does, can.
        ([card(active=0, holders=3)], 9000, Verdict.SHARED, 0),
        ([card(holders=3)], 9000, Verdict.IDLE, 7200),
        # Not watched for long enough, or with a gap since; not held for long enough.
        ([card(watched=1799)], 9000, Verdict.TOO_SHORT, 0),
        ([card()], 1799, Verdict.TOO_SHORT, 0),
        # Nothing is known of the card.
        ([card(measure="")], 9000, Verdict.NOT_COLLECTED, 0),
        ([card(watched=None)], 9000, Verdict.NOT_COLLECTED, 0),
        ([], 9000, Verdict.NOT_COLLECTED, 0),
        # It is not known which card of the node: all must be idle, and the youngest look counts.
        ([card(), card(active=3000)], 9000, Verdict.IDLE, 3000),
        ([card(), card(active=60)], 9000, Verdict.SHARED, 0),
        ([card(), card(measure="")], 9000, Verdict.NOT_COLLECTED, 0),
        ([card(), card(watched=100)], 9000, Verdict.TOO_SHORT, 0),
    ],
)
def test_verdicts(cards: list[Card], held_s: float, verdict: Verdict, idle_s: float) -> None:
    found = judge(cards, NOW - held_s, NOW, WINDOW)
    assert found.verdict is verdict
    assert found.since == (NOW - idle_s if idle_s else 0.0)


def test_a_sign_of_moments_is_only_likely() -> None:
    sure, likely = card(), card(measure="utilization")
    assert judge([sure], 0.0, NOW, WINDOW).sure
    found = judge([sure, likely], 0.0, NOW, WINDOW)
    assert (found.verdict, found.sure, found.measure) == (Verdict.IDLE, False, "utilization")


ago = st.one_of(st.none(), st.floats(0, 20_000))
cards = st.builds(
    card, active=ago, watched=ago, measure=st.sampled_from(["", "utilization", *AVERAGED]), holders=st.integers(1, 4)
)


@given(st.lists(cards, max_size=4), st.floats(0, 20_000))
def test_idle_is_never_said_of_what_worked_or_was_not_watched(found: list[Card], held_s: float) -> None:
    judged = judge(found, NOW - held_s, NOW, WINDOW)
    if judged.verdict is Verdict.IDLE:
        assert found
        assert NOW - judged.since >= WINDOW
        assert judged.since >= NOW - held_s
        for one in found:
            assert one.measure
            assert one.watched_since is not None
            assert (one.active_at if one.active_at is not None else one.watched_since) <= judged.since
