"""The packed cards of a node say what the tables of cards and allocations say."""

from __future__ import annotations

import pytest
from django.db.models import Count, QuerySet, Sum

from inventory.models import Allocation, Card, Cluster, NodeTotals, Pod
from inventory.models.choices import NOT_ALLOCATED, CardState
from inventory.pieces import Pieces, unpacked
from stacks.engine.base import UNHEALTHY
from stacks.engine.fitting import Open
from tests.factories import make_cluster, make_fleet, make_node
from tests.factories.batch import CASES, make_case, reconcile
from tests.factories.traits import TRAITS

pytestmark = pytest.mark.django_db


def of(totals: NodeTotals) -> QuerySet[Allocation]:
    return Allocation.objects.filter(cluster=totals.cluster, node_name=totals.node_name, ended_at=None).order_by()


def held(totals: NodeTotals) -> dict[str, int]:
    rows = of(totals).values_list("resource")
    return dict(rows.annotate(Sum("quantity")))


def homeless(totals: NodeTotals) -> set[Open]:
    rows = of(totals).filter(card=None)
    sums = rows.values_list("resource", "stack", "mode").annotate(
        Sum("memory_bytes"), Count("memory_bytes"), Count("id")
    )
    return {Open(*key, memory or 0, metered == number) for *key, memory, metered, number in sums}


def same(totals: NodeTotals) -> Pieces:
    """What is packed, once all of it has been found in the tables."""
    found, rows = unpacked(totals.pieces), Card.objects.filter(cluster=totals.cluster, node_name=totals.node_name)
    assert found is not None
    cards = {card.pk: card for card in rows.filter(removed_at=None)}
    assert {one.piece.id for one in found.cards} == cards.keys()
    for one in found.cards:
        card, piece = cards[one.piece.id], one.piece
        assert (one.stack, one.model) == (card.stack, card.model)
        assert (piece.key, piece.index, piece.mode, piece.profile) == (card.key, card.index, card.mode, card.profile)
        free = card.memory_free_bytes
        assert piece.free == (None if free is None else free + (card.memory_unavailable_bytes or 0))
        assert (piece.total, piece.shares) == (card.memory_total_bytes, card.shares)
        assert piece.unheld == (card.state in NOT_ALLOCATED)
        assert piece.doubtful == (card.state == CardState.UNKNOWN)
        assert piece.healthy == (card.health != UNHEALTHY)
        own = Allocation.objects.filter(card=card, ended_at=None)
        assert (piece.holds, piece.cores) == (own.count(), own.aggregate(sum=Sum("core_percent"))["sum"] or 0)
    assert found.stacks == tuple(totals.stacks)
    assert of(totals).values("pod_uid").distinct().count() == totals.allocations_count
    assert found.held == held(totals)
    assert set(found.open) == homeless(totals)
    return found


@pytest.mark.parametrize("stack", sorted(TRAITS))
def test_each_stack_is_packed_as_its_rows_are(cluster: Cluster, stack: str) -> None:
    make_node(cluster, "a", stack, 4, loads=(0.0, 0.5, 1.0))
    found = same(NodeTotals.objects.get())
    assert found.cards


@pytest.mark.sweep
def test_each_case_is_packed_as_its_rows_are(db: None) -> None:
    cases = sorted({folder.name for folder in CASES.iterdir()} - {"bad-empty-objects"})
    assert len(cases) > 100
    for case in cases:
        name = make_case(make_cluster(case), case, ready=True)
        for totals in NodeTotals.objects.filter(cluster__name=case, node_name=name):
            same(totals)


def test_what_changes_is_packed_again(cluster: Cluster) -> None:
    make_fleet(cluster, 8, 4)
    before = {totals.node_name: same(totals) for totals in NodeTotals.objects.all()}
    gone = Allocation.objects.exclude(card=None).order_by("pk").values_list("node_name", "pod_uid")[::3]
    Pod.objects.filter(uid__in={uid for _, uid in gone}).delete()
    reconcile(cluster, list(before))
    after = {totals.node_name: same(totals) for totals in NodeTotals.objects.all()}
    assert {name for name, found in after.items() if found != before[name]} >= {node for node, _ in gone}


@pytest.mark.parametrize("text", ["", "{", "[]", "[[1]]", '[[], {"a": "b"}, []]', "[[], {}, [1]]"])
def test_a_text_that_cannot_be_read_is_no_empty_node(text: str) -> None:
    assert unpacked(text) is None
