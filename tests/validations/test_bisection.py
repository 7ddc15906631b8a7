"""Which node of a group is at fault: planned and concluded by pairs with good nodes."""

from __future__ import annotations

import pytest

from validations.bisection import Bisection, GroupResult, bisect


def failed(*nodes: str) -> GroupResult:
    return GroupResult(frozenset(nodes), False)


def passed(*nodes: str) -> GroupResult:
    return GroupResult(frozenset(nodes), True)


CASES: dict[str, tuple[tuple[list[str], list[str], list[GroupResult]], Bisection]] = {
    "each suspected node is tested with a good one of its own": (
        (["a", "b"], ["x", "y"], [failed("a", "b")]),
        Bisection((), (), ("a", "b"), (("a", "x"), ("b", "y"))),
    ),
    "with one good node it is the partner of both": (
        (["a", "b"], ["x"], [failed("a", "b")]),
        Bisection((), (), ("a", "b"), (("a", "x"), ("b", "x"))),
    ),
    "a pair that passes clears its node, which is a partner then": (
        (["a", "b"], ["x"], [failed("a", "b"), passed("a", "x")]),
        Bisection((), ("a",), ("b",), (("b", "x"),)),
    ),
    "one failure with a good node blames nobody yet": (
        (["a", "b"], ["x", "y"], [failed("a", "b"), failed("a", "x")]),
        Bisection((), (), ("a", "b"), (("a", "y"), ("b", "y"))),
    ),
    "the failure of the group counts once the other node is cleared": (
        (["a", "b"], ["x", "y"], [failed("a", "b"), failed("a", "x"), passed("b", "y")]),
        Bisection(("a",), ("b",), (), ()),
    ),
    "the second with another good node does": (
        (["a", "b"], ["x", "y"], [failed("a", "b"), failed("a", "x"), failed("a", "y"), passed("b", "y")]),
        Bisection(("a",), ("b",), (), ()),
    ),
    "a failure in a larger group says nothing of one": (
        (["a", "b", "c"], ["x"], [failed("a", "b", "c"), failed("a", "x", "c")]),
        Bisection((), (), ("a", "b", "c"), (("a", "x"), ("b", "x"), ("c", "x"))),
    ),
    "without a good node the group is halved": (
        (["a", "b", "c", "d", "e"], [], [failed("a", "b", "c", "d", "e")]),
        Bisection((), (), ("a", "b", "c", "d", "e"), (("a", "b", "c"), ("d", "e"))),
    ),
    "a half that passes gives partners": (
        (["a", "b", "c", "d"], [], [failed("a", "b", "c", "d"), passed("a", "b"), failed("c", "d")]),
        Bisection((), ("a", "b"), ("c", "d"), (("c", "a"), ("d", "b"))),
    ),
    "two nodes and no good one: another node is needed": (
        (["a", "b"], [], [failed("a", "b")]),
        Bisection((), (), ("a", "b"), ()),
    ),
    "all pairs were tested and each passed: it does not come again": (
        (["a", "b"], ["x"], [failed("a", "b"), passed("a", "x"), passed("b", "x")]),
        Bisection((), ("a", "b"), (), ()),
    ),
    "a partner is asked once": (
        (["a", "b"], ["x"], [failed("a", "x"), failed("b", "x")]),
        Bisection((), (), ("a", "b"), ()),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    given, expected = CASES[name]
    assert bisect(*given) == expected


def test_a_large_group_is_not_planned_all_at_once() -> None:
    group = [f"n{number}" for number in range(64)]
    assert len(bisect(group, ["x"], []).next) == 8
