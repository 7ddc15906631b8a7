"""What a node gives out whole, as the suites are told it."""

from __future__ import annotations

import pytest

from inventory.models import Card, Cluster, NodeTotals
from tests.factories import make_node
from validations.targets import find_place


def whole(cluster: Cluster, node: str) -> int | None:
    return find_place(cluster.name, node).target.whole_cards


def test_cards_of_one_pod_each_are_whole(prod: Cluster) -> None:
    assert whole(prod, "gpu-1") == 4


@pytest.mark.parametrize("kind", ["time-sliced", "gpushare", "hami"])
def test_shared_cards_are_not_whole(prod: Cluster, kind: str) -> None:
    make_node(prod, "dev-1", kind, 2)
    assert whole(prod, "dev-1") == 0


def test_instances_of_a_card_in_mig_mode_are_not_whole(prod: Cluster) -> None:
    cards = list(Card.objects.filter(cluster=prod, node_name="gpu-1"))
    Card.objects.filter(pk=cards[0].pk).update(model="NVIDIA A100-SXM4-40GB MIG 1g.5gb")
    Card.objects.filter(pk=cards[1].pk).update(uuid="MIG-feb88891-0321-5fef-9c87-d4af3b54259e")
    assert whole(prod, "gpu-1") == 2


def test_of_a_node_without_known_cards_nothing_is_said(prod: Cluster) -> None:
    Card.objects.filter(cluster=prod, node_name="gpu-1").delete()
    assert whole(prod, "gpu-1") is None


def test_what_a_pod_holds_on_an_unknown_card_is_held_against_each_card_until_it_is_known(prod: Cluster) -> None:
    make_node(prod, "mib-1", "gpushare-mib", 2, loads=(0.0, 0.0))
    assert find_place(prod.name, "mib-1", "0").target.card_free == 7611
    NodeTotals.objects.filter(node_name="mib-1").update(memory_unplaced_bytes=6717 * 2**20)
    assert find_place(prod.name, "mib-1", "0").target.card_free == 894
