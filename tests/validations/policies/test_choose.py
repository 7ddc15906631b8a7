"""Which due cards are tested: each limit holds one back, and says so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from validations.policies.choose import Around, Candidate, Limits, choose

SINCE = datetime(2026, 11, 1, tzinfo=UTC)
NOTHING: dict[str, Any] = {
    "active_in_cluster": {},
    "active_in_pool": {},
    "free_cards": {},
    "free_nodes": {},
    "whole": (),
}


def due(node: str, card: str = "0", hours: int = 0, cluster: int = 1, pool: str = "a100") -> Candidate:
    return Candidate(place=(cluster, node, card), pool=(cluster, pool), since=SINCE + timedelta(hours=hours))


def chosen(candidates: list[Candidate], limits: Limits, **around: Any) -> tuple[list[str], dict[str, int]]:
    found = choose(candidates, limits, Around(**(NOTHING | around)))
    return ["/".join(one.place[1:]) for one in found.cards], dict(found.held)


FREE = Limits(at_once=20, per_cluster=10)


def test_the_longest_due_comes_first_and_one_of_a_node() -> None:
    cards = [due("b", hours=2), due("a", "1", 1), due("a", "0", 1), due("c")]
    assert chosen(cards, FREE) == (["c/0", "a/0", "b/0"], {"node-busy": 1})


def test_no_more_than_at_once() -> None:
    assert chosen([due(f"n{number}") for number in range(5)], Limits(at_once=2, per_cluster=9)) == (
        ["n0/0", "n1/0"],
        {},
    )


@pytest.mark.parametrize(
    ("limits", "around", "expected"),
    [
        ({"per_cluster": 3}, {"active_in_cluster": {1: 2}}, (["a/0"], {"cluster-limit": 2})),
        ({"per_pool": 2}, {"active_in_pool": {(1, "a100"): 1}}, (["a/0"], {"pool-limit": 2})),
        ({"keep_cards": 2}, {"free_cards": {(1, "a100"): 3}}, (["a/0"], {"kept-free": 2})),
        ({"keep_cards": 2}, {"free_cards": {}}, ([], {"kept-free": 3})),
        (
            {"keep_nodes": 1},
            {"free_nodes": {(1, "a100"): 2}, "whole": {(1, "a"), (1, "b")}},
            (["a/0", "c/0"], {"kept-free": 1}),
        ),
        ({}, {"pending": {(1, "b")}}, (["a/0", "c/0"], {"pending-pods": 1})),
        ({"card_s": 60}, {"spent": {(1, "a", "0"): 60.0, (1, "b", "0"): 59.0}}, (["b/0", "c/0"], {"card-time": 1})),
    ],
)
def test_each_limit_holds_back_and_says_so(
    limits: dict[str, Any], around: dict[str, Any], expected: tuple[list[str], dict[str, int]]
) -> None:
    cards = [due("a"), due("b"), due("c")]
    assert chosen(cards, Limits(**({"at_once": 20, "per_cluster": 10} | limits)), **around) == expected


def test_limits_are_of_each_cluster_and_pool() -> None:
    cards = [due("a"), due("b", cluster=2), due("c", pool="h100")]
    assert chosen(cards, Limits(at_once=20, per_cluster=1))[0] == ["a/0", "b/0"]
    assert chosen(cards, Limits(at_once=20, per_cluster=9, per_pool=1))[0] == ["a/0", "c/0", "b/0"]
