"""What a card lost between two sides, worst first; unknown is never a loss."""

from __future__ import annotations

from typing import Any

import pytest

from validations.policies import losses
from validations.policies.losses import Loss, Lost, Pair, weigh


def pair(card: int = 1, **more: Any) -> Pair:
    usual: dict[str, Any] = {
        "cluster": 1,
        "node": "gpu-1",
        "key": str(card),
        "pool": "a",
        "model": "A100",
        "run_a": "a",
        "run_b": "b",
        "verdict_b": "passed",
        "times": None,
        "under_b": 1,
        "suite": "s",
        "share": 20.0,
    }
    return Pair(card=card, **(usual | more))


#: What is known of a card → what it lost.
GOLDEN: dict[str, tuple[Pair, str | None]] = {
    "passed": (pair(), None),
    "failed": (pair(verdict_b="failed"), "failed"),
    "failed, and nothing measured": (pair(verdict_b="failed", times=None), "failed"),
    "as fast": (pair(times=1.0), None),
    "slower within the share": (pair(times=1.2), None),
    "slower": (pair(times=1.25), "slower"),
    "slower with a warning": (pair(verdict_b="warning", times=1.5), "slower"),
    "a warning, and nothing measured": (pair(verdict_b="warning"), None),
    "faster": (pair(times=0.5), None),
    "no result under B": (pair(run_b=None, verdict_b=None), "not-tested"),
    "no result, never under B": (pair(run_b=None, verdict_b=None, under_b=0), None),
    "failed before the node left B": (pair(verdict_b="failed", under_b=0), "failed"),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_what_a_card_lost(name: str) -> None:
    given, expected = GOLDEN[name]
    assert [one.outcome for one in weigh([given])] == ([expected] if expected else [])


def test_the_worst_come_first_and_each_card_once_by_its_worst() -> None:
    found = weigh(
        [
            pair(1, run_b=None, verdict_b=None),
            pair(2, times=1.3),
            pair(3, times=2.0),
            pair(4, verdict_b="failed"),
            pair(1, suite="t", times=1.5),
            pair(4, suite="t", run_b=None, verdict_b=None),
            pair(5),
        ]
    )
    assert [(one.card, one.outcome, one.suite) for one in found] == [
        (4, "failed", "s"),
        (3, "slower", "s"),
        (1, "slower", "t"),
        (2, "slower", "s"),
    ]
    assert [one.percent for one in found] == [None, pytest.approx(100), pytest.approx(50), pytest.approx(30)]
    assert losses.counted(found) == Lost(failed=1, slower=3)


def test_pages_of_the_list_go_on_behind_a_card() -> None:
    found = weigh(pair(card, verdict_b="failed" if card < 3 else "passed", times=2.0) for card in range(1, 6))
    assert [[one.card for one in rows or []] for rows, _ in walk(found, "", 2)] == [[1, 2], [3, 4], [5]]
    assert [[one.card for one in rows or []] for rows, _ in walk(found, "slower", 2)] == [[3, 4], [5]]
    assert losses.page(found, "", "99", 2) == (None, None)
    assert losses.page([], "", "", 2) == ([], None)


def walk(found: list[Loss], outcome: str, size: int) -> Any:
    after: int | None = None
    while True:
        rows, after = losses.page(found, outcome, str(after or ""), size)
        yield rows, after
        if after is None:
            return
