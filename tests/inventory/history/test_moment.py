"""What is true at one moment: cards, and sums that say how much of themselves is known."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.history.moment import minutes_of, part_of
from inventory.idle import allocations
from inventory.models import Allocation, Card, Cluster, NodeTotals, Subject, Watch
from tests.factories import GIB, make_cluster, make_fleet, make_node
from tests.factories.usage import hours_ago, measure

pytestmark = pytest.mark.django_db


def told(cluster: Cluster) -> dict[tuple[str, int | str], dict[str, int | None]]:
    """{(subject, key): {column: value}} of all rows of this moment."""
    found: dict[tuple[str, int | str], dict[str, int | None]] = {}
    for subject, part, minute in minutes_of(cluster.pk, timezone.now()):
        for place, key in enumerate(minute.keys):
            assert part_of(subject, str(key)) == part
            found[subject, key] = {name: column[place] for name, column in minute.columns.items()}
    return found


def test_a_card_is_told_with_what_is_allocated_and_used(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.5,))
    card = Card.objects.get()
    measure(card, memory_used_bytes=9 * GIB, utilization_ratio=0.25, activity_ratio=0.2)
    assert card.memory_allocated_bytes
    assert told(cluster)[Subject.CARD, card.pk] == {
        "used": 9 * 1024,
        "allocated": card.memory_allocated_bytes >> 20,
        "utilization": 250,
        "activity": 200,
    }


def test_sums_say_how_many_of_their_cards_are_measured(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 4, loads=(0.5,))
    cards = list(Card.objects.order_by("id"))
    for card in cards[:3]:
        measure(card, memory_used_bytes=2 * GIB, utilization_ratio=0.5, activity_ratio=None, activity_measure="")
    total = NodeTotals.objects.get()
    assert total.memory_total_bytes
    assert total.memory_allocated_bytes
    wanted = {
        "used": 6 * 1024,
        "allocated": total.memory_allocated_bytes >> 20,
        "total": total.memory_total_bytes >> 20,
        "utilization": 500,
        "activity": None,
        "cards": 4,
        "measured": 3,
        "unknown": 0,
        "free": (total.memory_free_bytes or 0) >> 20,
        "cards_free": total.cards_free,
    }
    found = told(cluster)
    assert found[Subject.NODE, "gpu-1"] == wanted
    assert found[Subject.POOL, total.pool] == wanted
    assert found[Subject.CLUSTER, ""] == wanted


def test_a_node_whose_allocation_is_not_known_is_counted_and_adds_nothing(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 2, loads=(0.5,))
    make_node(cluster, "gpu-2", "gpushare", 2, loads=(0.5,))
    NodeTotals.objects.filter(node_name="gpu-2").update(memory_allocated_bytes=None)
    known = NodeTotals.objects.get(node_name="gpu-1")
    found = told(cluster)
    assert found[Subject.NODE, "gpu-2"]["allocated"] is None
    whole = found[Subject.CLUSTER, ""]
    assert known.memory_allocated_bytes
    assert (whole["allocated"], whole["unknown"]) == (known.memory_allocated_bytes >> 20, 1)
    assert known.memory_total_bytes
    assert whole["total"] == known.memory_total_bytes >> 20


def test_what_is_on_a_card_of_two_namespaces_is_neithers(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 2, loads=(0.5,))
    first, second = Card.objects.order_by("id")
    Allocation.objects.filter(card=first).update(namespace="a")
    Allocation.objects.filter(card=second).update(namespace="a")
    other = Allocation.objects.filter(card=second).first()
    assert other
    other.pk, other.namespace, other.pod_uid = None, "b", "another"
    other.save()
    for card in (first, second):
        measure(card, memory_used_bytes=3 * GIB)
    found = told(cluster)
    assert (found[Subject.NAMESPACE, "a"]["used"], found[Subject.NAMESPACE, "a"]["measured"]) == (3 * 1024, 1)
    assert found[Subject.NAMESPACE, "a"]["cards"] == 2
    assert (found[Subject.NAMESPACE, "b"]["used"], found[Subject.NAMESPACE, "b"]["cards"]) == (None, 1)


def test_nor_is_a_card_of_a_node_on_which_others_hold_nobody_knows_what(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.5,))
    card = Card.objects.get()
    measure(card, memory_used_bytes=3 * GIB)
    held = Allocation.objects.filter(card=card).first()
    assert held
    mine = held.namespace
    assert told(cluster)[Subject.NAMESPACE, mine]["measured"] == 1
    held.pk, held.card, held.card_key, held.namespace, held.pod_uid = None, None, "", "other", "another"
    held.save()
    assert told(cluster)[Subject.NAMESPACE, mine]["used"] is None


@pytest.mark.parametrize(
    "columns",
    [
        {"last_event_at": Now() - timedelta(minutes=6)},
        {"synced_at": None},
        {"state": "refused", "state_since": Now()},
        {"holder": "", "expires_at": Now() - timedelta(minutes=5)},
    ],
)
def test_a_mirror_that_is_not_in_step_tells_no_allocation(cluster: Cluster, columns: dict[str, Any]) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.5,))
    measure(Card.objects.get(), memory_used_bytes=3 * GIB)
    assert told(cluster)[Subject.CLUSTER, ""]["allocated"] is not None
    Watch.objects.filter(cluster=cluster, kind__in=("nodes", "pods")).update(**columns)
    found = told(cluster)
    assert all(columns["allocated"] is None for columns in found.values())
    assert not any(subject == Subject.NAMESPACE for subject, _key in found)
    assert found[Subject.CLUSTER, ""]["used"] == 3 * 1024


@pytest.mark.parametrize("columns", [{"lost_at": Now()}, {"memory_used_bytes": None}])
def test_what_is_not_measured_is_not_0(cluster: Cluster, columns: dict[str, Any]) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.5,))
    measure(Card.objects.get(), **columns)
    whole = told(cluster)[Subject.CLUSTER, ""]
    assert (whole["used"], whole["measured"], whole["cards"]) == (None, 0, 1)


def test_another_clusters_rows_are_not_in_it(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1)
    other = make_cluster("other")
    make_node(other, "gpu-1", "gpushare", 4)
    assert told(cluster)[Subject.CLUSTER, ""]["cards"] == 1


def test_what_a_namespace_has_and_does_not_use_is_told_where_it_is_measured(cluster: Cluster) -> None:
    """Two cards of one namespace, of which one is idle; a third is shared with another namespace, so nothing of it is said."""
    make_node(cluster, "gpu-1", "gpushare", 4, loads=(0.5,))
    hours_ago(2)
    first, second, third, _ = Card.objects.order_by("index")
    Allocation.objects.exclude(card__in=(first, second, third)).delete()
    Allocation.objects.update(namespace="a")
    shared = Allocation.objects.filter(card=third).first()
    assert shared is not None
    shared.pk, shared.namespace, shared.pod_uid = None, "b", "another"
    shared.save()
    measure(first, memory_used_bytes=2 * GIB, activity_ratio=0.9, active_at=Now())
    measure(second, memory_used_bytes=3 * GIB)
    measure(third, memory_used_bytes=1 * GIB)
    assert told(cluster)[Subject.NAMESPACE, "a"]["idle"] is None, "not looked at yet"
    allocations.look()
    held = {card.pk: card.memory_allocated_bytes or 0 for card in (first, second, third)}
    mine = told(cluster)[Subject.NAMESPACE, "a"]
    assert mine["unused"] == (held[first.pk] + held[second.pk] - 5 * GIB) >> 20
    # Of a card that does nothing it is known that none of its pods works.
    assert mine["idle"] == sum(
        one.memory_bytes >> 20 for one in Allocation.objects.filter(card__in=(second, third), namespace="a")
    )
    assert told(cluster)[Subject.NAMESPACE, "b"]["unused"] is None


def test_idle_memory_is_unknown_where_none_is_metered(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1, loads=(0.5,))
    hours_ago(2)
    measure(Card.objects.get())
    Allocation.objects.update(namespace="a")
    allocations.look()
    assert told(cluster)[Subject.NAMESPACE, "a"]["idle"] is not None
    Allocation.objects.update(memory_bytes=None)
    assert told(cluster)[Subject.NAMESPACE, "a"]["idle"] is None


def test_questions_do_not_grow_with_the_cluster() -> None:
    counts = []
    for nodes in (7, 21):
        one = make_cluster(f"of-{nodes}")
        make_fleet(one, nodes=nodes)
        with CaptureQueriesContext(connection) as questions:
            minutes_of(one.pk, timezone.now())
        counts.append(len(questions))
    assert counts == [8, 8]
