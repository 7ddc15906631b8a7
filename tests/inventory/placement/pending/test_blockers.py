"""Which pods would have to move: the fewest, of equal ones those that lose least, and never a name that is not seen."""

from __future__ import annotations

import pytest

from inventory.models import Cluster, Pod
from inventory.placement.pending.blockers import Blocker, fewest, missing_of, on_cards
from inventory.placement.pending.closest import BLOCK, SHORT, Lack
from inventory.placement.pending.detail import detail_of
from inventory.queries.claimed import with_claims
from runtime.scope import ANOTHER, Scope, seeing
from tests.factories import GIB, make_node, make_pending_pod
from tests.inventory.placement.pending.made import GPU, card, held


@pytest.mark.parametrize(
    ("holders", "missing", "moving"),
    [
        ({"a": 1, "b": 1}, 0, []),
        ({"a": 1, "b": 4, "c": 2}, 4, ["b"]),
        ({"a": 1, "b": 8, "c": 2}, 2, ["c"]),  # the smallest that is enough, not the largest
        ({"a": 4, "b": 2, "c": 1}, 5, ["a", "c"]),
        ({"a": 1, "b": 1}, 3, ["a", "b"]),  # all, though they do not hold so much
        ({}, 3, []),
    ],
)
def test_the_fewest_pods_move_and_the_last_is_the_smallest_that_is_enough(
    holders: dict[str, int], missing: int, moving: list[str]
) -> None:
    found = fewest([Blocker(held(pod), amount) for pod, amount in holders.items()], missing)
    assert sorted(one.row.pod for one in found) == moving


def test_of_equal_pods_the_one_that_started_last_moves() -> None:
    found = fewest([Blocker(held(pod, minutes=minutes), 1) for pod, minutes in (("old", 0), ("new", 9), ("mid", 5))], 2)
    assert [one.row.pod for one in found] == ["new", "mid"]


def test_containers_of_one_pod_count_together_and_a_pod_without_any_of_it_does_not_move() -> None:
    rows = [(held("two"), 1), (held("two", minutes=1), 1), (held("none"), 0), (held("one"), 1)]
    found = missing_of(Lack(SHORT, GPU, 4, 2), rows)
    assert [(one.row.pod, one.amount) for one in found.pods] == [("two", 2)]
    assert (found.holders, found.enough) == (2, True)


def test_what_is_held_by_pods_that_are_not_known_is_said_to_be_missing() -> None:
    found = missing_of(Lack(SHORT, GPU, 8, 2), [(held("only", 3), 3)])
    assert ([one.row.pod for one in found.pods], found.enough) == (["only"], False)


def test_a_block_of_memory_is_made_on_the_card_that_the_fewest_pods_leave() -> None:
    crowded, quiet, small = card(1), card(2, free=4), card(3, total=8)
    rows = [
        *(held(pod, card=crowded, gib=8) for pod in ("a", "b")),
        held("c", card=quiet, gib=12),
        held("d", card=small, gib=8),
    ]
    found = on_cards(Lack(BLOCK, wanted=12 * GIB), rows)
    assert [(one.card and one.card.pk, [each.row.pod for each in one.pods]) for one in found] == [
        (2, ["c"]),
        (1, ["a", "b"]),
    ]
    # What is free on the card already need not be left.
    assert [one.lack.there for one in found] == [4 * GIB, 0]


def test_of_two_cards_that_as_many_leave_the_one_comes_first_on_which_least_is_held() -> None:
    rows = [held("large", card=card(1), gib=16), held("little", card=card(2, free=10), gib=6)]
    found = on_cards(Lack(BLOCK, wanted=12 * GIB), rows)
    assert [one.card and one.card.pk for one in found] == [2, 1]


def test_a_card_whose_memory_is_not_metered_frees_nothing_that_is_known() -> None:
    [found] = on_cards(Lack(BLOCK, wanted=12 * GIB), [held("a", card=card(1))])
    assert (found.pods, found.enough) == ((), False)


@pytest.mark.django_db
def test_names_of_pods_in_other_namespaces_are_not_told(cluster: Cluster) -> None:
    make_node(cluster, "full", "gpushare", 1, loads=(1.0,))
    make_pending_pod(cluster, "hungry", quantity=12)
    mine = Scope(namespaces=frozenset({(cluster.pk, "team-a")}))
    with seeing(mine):
        found = detail_of(with_claims(Pod.objects.filter(name="hungry"))[0])
    [near] = found.nodes
    rows = [pod.row for one in near.blocked for pod in one.pods]
    assert rows
    assert {(one.pod, one.namespace) for one in rows} == {("", ANOTHER)}
