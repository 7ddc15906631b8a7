"""Which pods would have to move: the cheapest set, where they would go, and what may be named."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Allocation, Cluster, Pod
from inventory.placement.finder.finder import look
from inventory.placement.finder.request import Request
from inventory.placement.finder.rows import NodeKey
from inventory.placement.moves.plan import Planned, plan
from inventory.placement.moves.pods import Pod as Moving
from inventory.placement.moves.read import named, planned, pods
from runtime.scope import Scope, seeing
from tests.factories import GIB, make_fleet, make_node
from tests.inventory.placement.finder.test_finder import TAINT, say

pytestmark = pytest.mark.django_db


def found(cards: int = 1, memory: int | None = None, *, whole_node: bool = False) -> Planned:
    return planned(Request(cards=cards, memory=memory), whole_node=whole_node)[0]


def moves(one: Planned) -> list[tuple[str, str]]:
    assert one.plan is not None
    return [(move.pod.name, move.to[1]) for move in one.plan.moves]


def test_the_fewest_pods_move_to_a_node_of_the_same_pool(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(1.0, 0.0, 0.0, 0.0))
    make_node(cluster, "b", "nvidia", 4, loads=(1.0, 1.0, 0.0, 0.0))
    one = found(4)
    assert one.plan is not None
    assert (one.plan.place[1], moves(one), one.exact) == ("a", [("train-a-0-0", "b")], True)


def test_nothing_moves_where_the_request_fits_or_where_there_is_no_room_elsewhere(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    make_node(cluster, "b", "nvidia", 2, loads=(1.0, 1.0))
    one = found()
    assert (one.already, one.plan) == ((cluster.pk, "a"), None)
    one = found(2)
    assert (one.already, one.plan, one.exact) == (None, None, True)


def test_a_shared_card_is_cleared_where_its_pods_have_room_elsewhere(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.4,))
    make_node(cluster, "b", "gpushare", 1, loads=(0.8,))
    one = found(1, 13 * GIB)
    assert one.plan is None  # neither has room for the other's pod
    make_node(cluster, "c", "gpushare", 1, loads=(0.6,))
    assert moves(found(1, 13 * GIB)) == [("train-a-0-0", "b"), ("train-a-0-1", "c")]


def test_a_whole_node_is_freed_of_all_its_pods(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(1.0, 1.0, 0.0, 0.0))
    make_node(cluster, "b", "nvidia", 4, loads=(1.0, 1.0, 0.0, 0.0))
    one = found(whole_node=True)
    assert one.plan is not None
    assert (one.plan.place[1], {to for _, to in moves(one)}, one.plan.cost.pods) == ("a", {"b"}, 2)
    make_node(cluster, "z", "nvidia", 4, loads=(0.0,))
    assert found(whole_node=True).already == (cluster.pk, "z")


def test_a_pod_of_lower_priority_moves_and_a_bare_one_only_where_no_other_does(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    make_node(cluster, "b", "nvidia", 2, loads=(1.0, 0.0))
    Pod.objects.filter(node_name="a").update(priority=1000)
    assert moves(found(2)) == [("train-b-0-0", "a")]
    Pod.objects.update(priority=0)
    Allocation.objects.filter(node_name="a").update(owner_kind="", owner_name="")
    assert moves(found(2)) == [("train-b-0-0", "a")]


def test_a_pod_of_a_daemonset_stays_and_a_taint_keeps_pods_off(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    make_node(cluster, "b", "nvidia", 2, loads=(1.0, 0.0))
    say("b", spec={"taints": [TAINT]})
    assert found(2).plan is None
    say("b", spec={"taints": []})
    Allocation.objects.filter(node_name="a").update(owner_kind="DaemonSet")
    assert moves(found(2)) == [("train-b-0-0", "a")]


def test_the_plan_is_the_same_for_all_and_names_only_what_may_be_seen(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    make_node(cluster, "b", "nvidia", 2, loads=(1.0, 1.0))
    make_node(cluster, "c", "nvidia", 2, loads=(1.0, 0.0))
    with seeing(Scope(namespaces=frozenset({(cluster.pk, "team-a")}))):
        one = found(2)
        assert one.plan is not None
        assert (moves(one), [named(move.pod) for move in one.plan.moves]) == ([("train-a-0-0", "c")], [False])


def test_the_search_says_when_it_was_cut(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(1.0, 1.0, 0.0, 0.0))
    make_node(cluster, "b", "nvidia", 4, loads=(1.0, 1.0, 0.0, 0.0))
    looked = look(Request(cards=4))
    cut = plan(looked, Request(cards=4), pods, most=2)
    assert (cut.plan, cut.exact, cut.checks) == (None, False, 2)


def test_pods_are_read_only_of_nodes_where_moves_would_help(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    with CaptureQueriesContext(connection) as fits:
        assert found(1).already is not None
    assert not any("inventory_pod" in one["sql"] for one in fits)
    make_node(cluster, "b", "nvidia", 4, loads=(1.0, 1.0, 0.0, 0.0))
    read: list[str] = []

    def pods_of(places: Sequence[NodeKey]) -> list[Moving]:
        read.extend(node for _, node in places)
        return pods(places)

    plan(look(Request(cards=3)), Request(cards=3), pods_of)
    assert read == ["b"]  # the other has two cards


def test_of_equal_nodes_one_is_searched(cluster: Cluster) -> None:
    """The pods of each are of two owners, so that what no set costs less than is what the set costs."""
    for name in "abcdefgh":
        make_node(cluster, name, "nvidia", 4, loads=(1.0, 1.0, 0.0, 0.0))
    for number, allocation in enumerate(Allocation.objects.all()):
        Allocation.objects.filter(pk=allocation.pk).update(owner_name=f"owner-{number}")
    one = found(4)
    assert one.plan is not None
    assert (one.plan.place[1], one.plan.cost.owners, one.candidates) == ("a", 2, 8)
    assert one.checks <= 10


def test_a_node_whose_pods_have_no_room_elsewhere_is_left_at_once(cluster: Cluster) -> None:
    for name in "abcd":
        make_node(cluster, name, "gpushare", 4, loads=(0.9, 0.9, 0.9, 0.9))
    one = found(1, 13 * GIB)
    assert (one.plan, one.exact, one.candidates) == (None, True, 4)
    assert one.checks <= 4 * one.candidates + 8


def test_queries_do_not_grow_with_the_cluster(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(1.0, 0.0))
    with CaptureQueriesContext(connection) as few:
        found(4)
    make_fleet(cluster, nodes=8, cards=4, pending=0)
    with CaptureQueriesContext(connection) as more:
        found(4)
    assert len(few) == len(more)
