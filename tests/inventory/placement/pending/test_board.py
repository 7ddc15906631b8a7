"""What nodes offer and have left: the most of anything, the largest card, and slots that are no more than cards."""

from __future__ import annotations

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.models import Cluster, Node, NodeTotals
from inventory.placement.pending.board import Board, Counted, boards
from tests.factories import GIB, make_cluster, make_node
from tests.factories.batch import reconcile
from tests.inventory.placement.pending.made import GPU, MEMORY, of_memory, offer


def test_the_most_that_any_node_gives_and_the_largest_card_of_a_stack() -> None:
    board = Board(
        [offer("a", there=8), offer("b", there=4, largest=None), of_memory("c", there=32), of_memory("d", largest=None)]
    )
    assert board.most == {GPU: 8, MEMORY: 32}
    assert board.stacks == {"nvidia", "gpushare"}
    assert [board.largest_card(name) for name in ("nvidia", "gpushare", "hami")] == [80 * GIB, 16 * GIB, None]


def test_nodes_of_stacks_and_all_of_them_for_none() -> None:
    board = Board([offer("a"), of_memory("b"), offer("c", stacks=("hami", "nvidia"))])
    assert [one.node for one in board.of({"nvidia"})] == ["a", "c"]
    assert [one.node for one in board.of(())] == ["a", "b", "c"]


@pytest.mark.django_db
def test_a_node_is_read_as_the_reconciler_wrote_it(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(1.0, 0.4))
    found = boards([cluster.pk])[cluster.pk].offers[0]
    assert (found.node, found.stacks, found.unit, found.reason) == ("a", ("gpushare",), "GiB", "")
    assert (found.resources[MEMORY], found.gap, found.if_let) == (Counted(30, 9), 9 * GIB, 9 * GIB)
    assert found.largest == 15 * GIB


@pytest.mark.django_db
def test_what_a_cordoned_node_would_give_is_known_beside_what_it_gives(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4,))
    Node.objects.filter(name="a").update(unschedulable=True)
    reconcile(cluster, ["a"])
    found = boards([cluster.pk])[cluster.pk].offers[0]
    assert (found.reason, found.gap, found.if_let) == ("cordoned", 0, 9 * GIB)


@pytest.mark.django_db
def test_slots_are_no_more_cards_than_there_are(cluster: Cluster) -> None:
    """HAMi offers each card ten times, and no container gets a card twice."""
    make_node(cluster, "a", "hami", 2, loads=(0.0,))
    stored = msgspec.json.decode(NodeTotals.objects.get(node_name="a").offers)
    assert stored[GPU][0] > 2
    assert boards([cluster.pk])[cluster.pk].most[GPU] == 2


@pytest.mark.django_db
def test_a_table_that_somebody_wrote_into_offers_nothing(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(0.0,))
    NodeTotals.objects.update(offers='{"nvidia.com/gpu": "many"}')
    assert boards([cluster.pk])[cluster.pk].offers[0].resources == {}


@pytest.mark.django_db
def test_all_clusters_of_a_page_are_one_query() -> None:
    made = [make_cluster(name) for name in ("one", "two", "three")]
    make_node(made[0], "a", "nvidia", 1)
    with CaptureQueriesContext(connection) as queries:
        found = boards([one.pk for one in made])
    assert len(queries) == 1
    assert {pk: len(board.offers) for pk, board in found.items()} == {made[0].pk: 1, made[1].pk: 0, made[2].pk: 0}
    assert boards([]) == {}
