"""Nodes that would fit a request of the finder if pods moved: which pods, on which cards, and when nothing is said."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Allocation, Card, Cluster, Node
from inventory.placement.finder.finder import find
from inventory.placement.finder.request import Request, read
from inventory.placement.nearly import Nearly, nearly
from runtime.scope import Scope, seeing
from stacks.engine.base import UNHEALTHY
from tests.factories import GIB, make_fleet, make_node
from tests.factories.batch import reconcile

pytestmark = pytest.mark.django_db


def near(request: Request) -> list[Nearly]:
    return nearly(find(request))


def pods(one: Nearly) -> list[list[str]]:
    return [[pod.row.pod for pod in each.pods] for each in one.blocked]


def test_which_pods_block_a_node_of_eight_cards_the_fewest_first(cluster: Cluster) -> None:
    make_node(cluster, "lacks-three", "nvidia", 8, loads=(1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    make_node(cluster, "lacks-one", "nvidia", 8, loads=(1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    make_node(cluster, "too-small", "nvidia", 4, loads=(1.0,))
    found = near(Request(cards=8))
    assert [(one.node, one.missing, one.moving) for one in found] == [("lacks-one", 1, 1), ("lacks-three", 3, 3)]
    assert pods(found[0]) == [["train-lacks-one-0-0"]]
    assert sorted(pods(found[1])[0]) == [f"train-lacks-three-{number}-0" for number in range(3)]


def test_of_a_shared_card_all_pods_that_hold_too_much_of_it_move(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(1.0, 0.4))
    [found] = near(read({"memory": ["12"]}))
    assert (found.node, found.missing) == ("a", 1)
    assert pods(found) == [["train-a-1-0"]]
    [block] = found.blocked
    assert block.card == Card.objects.get(index=1)


def test_nothing_is_said_where_a_pod_that_is_not_known_holds_the_card(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0,))
    Allocation.objects.update(card=None)
    assert near(Request(cards=2)) == []


def test_cards_that_are_unhealthy_or_too_small_are_not_what_pods_would_free(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    assert [one.node for one in near(Request(cards=2))] == ["a"]
    assert near(Request(cards=2, memory=90 * GIB)) == []
    Card.objects.update(health=UNHEALTHY)
    assert near(Request(cards=2)) == []


def test_a_node_that_lets_no_pod_in_is_not_near(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0,))
    Node.objects.update(unschedulable=True)
    reconcile(cluster, ["a"])
    assert near(Request(cards=2)) == []


def test_names_in_other_namespaces_are_not_told(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    with seeing(Scope(namespaces=frozenset({(cluster.pk, "team-a")}))):
        [found] = near(Request())
        assert (pods(found), found.moving) == ([[""]], 1)


def test_at_most_five_by_three_queries_however_large_the_cluster_is(cluster: Cluster) -> None:
    make_fleet(cluster, nodes=60, cards=4, stacks=("nvidia",), pending=0)
    found = find(Request(cards=4))
    assert not found.taking
    with CaptureQueriesContext(connection) as queries:
        assert len(nearly(found)) == 5
    assert len(queries) == 3


def test_a_slice_is_freed_for_a_request_of_one_card_and_stands_for_none_of_several(cluster: Cluster) -> None:
    make_node(cluster, "sliced", "mig", 4, loads=(1.0,))
    assert [(one.node, one.missing, one.moving) for one in near(Request(cards=1))] == [("sliced", 1, 1)]
    assert near(Request(cards=2)) == []


def test_cards_that_are_requested_by_different_names_do_not_count_together(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 4, loads=(1.0, 0.0))
    assert [(one.node, one.missing) for one in near(Request(cards=3))] == [("a", 1)]
    Card.objects.filter(pk__in=Card.objects.order_by("pk").values("pk")[:2]).update(profile="3g.40gb")
    assert near(Request(cards=3)) == []


def test_slices_do_not_stand_for_several_cards(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 0.0))
    make_node(cluster, "sliced", "mig", 2, loads=(0.0,))
    assert [one.node for one in find(Request(cards=2)).taking] == ["sliced"]
    assert [one.node for one in near(Request(cards=2))] == ["a"]
    make_node(cluster, "fits", "nvidia", 2, loads=(0.0,))
    assert near(Request(cards=2)) == []
