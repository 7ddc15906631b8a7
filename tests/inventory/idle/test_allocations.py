"""From what was measured to rows of what is held without work."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from inventory.idle import allocations
from inventory.models import Allocation, Card, CardUsage, Cluster, IdleAllocation, IdleLook, Pod, UsageSource
from tests.factories import GIB, make_cluster, make_node
from tests.factories.usage import hours_ago, measure, source_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def one(cluster: Cluster) -> Card:
    """A card that one pod allocations."""
    make_node(cluster, "gpu-1", "nvidia", 1, loads=(1.0,))
    hours_ago(2)
    return Card.objects.get()


def look() -> dict[str, int]:
    """The verdicts."""
    allocations.look()
    found: dict[str, int] = IdleLook.objects.get().verdicts
    return found


def test_a_card_on_which_nothing_ran_is_held_without_work(one: Card) -> None:
    measure(one)
    assert look() == {"idle": 1}
    [row] = allocations.idle_now()
    assert row.allocation.card == one
    assert (row.confidence, row.measure, row.cards) == ("certain", "graphics_active", 1.0)
    assert (row.memory_bytes, row.memory_used_bytes) == (row.allocation.memory_bytes, 9 * GIB)
    assert abs((row.written_at - row.idle_since) - timedelta(hours=2)) < timedelta(minutes=1)
    assert row.card_seconds == pytest.approx(7200, rel=0.01)
    assert row.byte_seconds == pytest.approx(7200 * row.memory_bytes, rel=0.01)


def test_work_ends_it(one: Card) -> None:
    usage = measure(one)
    look()
    CardUsage.objects.filter(pk=usage.pk).update(activity_ratio=0.4, active_at=Now())
    assert look() == {"works": 1}
    assert not IdleAllocation.objects.exists()


@pytest.mark.parametrize(
    ("columns", "verdict"),
    [
        ({"activity_ratio": None, "activity_measure": ""}, "not-collected"),
        ({"lost_at": Now()}, "not-collected"),
        ({"watched_since": Now() - timedelta(minutes=20)}, "too-short"),
        ({"active_ago": timedelta(minutes=20)}, "works"),
    ],
)
def test_what_was_not_watched_is_not_said_to_be_idle(one: Card, columns: dict[str, Any], verdict: str) -> None:
    measure(one, **columns)
    assert look() == {verdict: 1}
    assert not IdleAllocation.objects.exists()


def test_when_nobody_measures_any_more_nothing_is_idle(one: Card) -> None:
    measure(one)
    look()
    source_of(one.cluster, timedelta(minutes=6))
    assert look() == {"not-collected": 1}
    assert not IdleAllocation.objects.exists()


def test_when_nobody_looks_any_more_nothing_is_idle(one: Card) -> None:
    measure(one)
    look()
    IdleAllocation.objects.update(written_at=Now() - timedelta(minutes=11))
    IdleLook.objects.update(looked_at=Now() - timedelta(minutes=11))
    assert not allocations.idle_now().exists()
    assert not allocations.looks_now().exists()


def test_a_hold_that_ended_is_not_idle_before_the_next_look(one: Card) -> None:
    measure(one)
    look()
    Allocation.objects.update(ended_at=Now())
    assert not allocations.idle_now().exists()


@pytest.mark.parametrize("changed", [{"phase": "Pending"}, {"component": "dcgm-exporter"}])
def test_a_pod_that_does_not_run_or_is_no_workload_is_left_out(one: Card, changed: dict[str, str]) -> None:
    measure(one)
    Pod.objects.exclude(pending=True).update(**changed)
    assert look() == {"not-running": 1}


def test_a_cluster_whose_exporters_are_read_no_more_has_no_rows(one: Card) -> None:
    measure(one)
    look()
    UsageSource.objects.all().delete()
    allocations.look()
    assert not IdleAllocation.objects.exists()
    assert not IdleLook.objects.exists()


def test_a_card_that_is_given_out_by_memory_counts_as_its_part(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.25,))
    hours_ago(2)
    card = Card.objects.get()
    measure(card)
    assert look() == {"idle": Allocation.objects.count()}
    total = sum(row.cards or 0 for row in allocations.idle_now())
    assert total == pytest.approx(card.memory_allocated_bytes / card.memory_total_bytes)  # type: ignore[operator]


def test_where_the_card_is_not_known_all_cards_of_the_node_must_be_idle(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "nvidia-count", 3)
    hours_ago(2)
    first, *others = Card.objects.order_by("pk")
    held = Allocation.objects.filter(card=None).count()
    assert held
    for card in others:
        measure(card)
    assert look() == {"not-collected": held}
    usage = measure(first)
    assert look() == {"idle": held}
    assert {row.cards for row in allocations.idle_now()} == {float(row.quantity) for row in Allocation.objects.all()}
    CardUsage.objects.filter(pk=usage.pk).update(activity_ratio=0.4, active_at=Now())
    assert look() == {"shared": held}


def test_a_look_costs_the_same_at_any_size(cluster: Cluster) -> None:
    def cost(name: str, nodes: int) -> int:
        own = make_cluster(name)
        for number in range(nodes):
            make_node(own, f"gpu-{number}", "nvidia", 2, loads=(1.0,))
        hours_ago(2)
        for card in Card.objects.filter(cluster=own):
            measure(card)
        with CaptureQueriesContext(connection) as captured:
            assert allocations.look_over(own.pk) == 2 * nodes
        return len(captured)

    assert cost("small", 1) == cost("large", 6)
