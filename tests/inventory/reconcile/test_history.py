"""Cards and allocations through time: what goes is history, what comes back goes on, and nothing is invented."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from inventory.models import Allocation, Card, NodeTotals
from tests.inventory.reconcile.conftest import Fleet
from tests.inventory.reconcile.objects import ended_pod, share_node, share_pod, whole_node, whole_pod

STARTED = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def recently(moment: datetime | None) -> bool:
    return moment is not None and abs(timezone.now() - moment) < timedelta(minutes=1)


def keys(**filters: object) -> list[str]:
    return sorted(Card.objects.filter(**filters).values_list("key", flat=True))


def test_a_node_that_goes_takes_its_cards_out_and_leaves_its_history(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node("gpu-1"), whole_node("gpu-2"))
    fleet.put("pods", whole_pod("a", "gpu-1", ("GPU-a",)))
    fleet.reconcile()
    fleet.drop("nodes", whole_node("gpu-1"))
    fleet.reconcile()
    assert all(recently(card.removed_at) for card in Card.objects.filter(node_name="gpu-1"))
    assert Card.objects.filter(node_name="gpu-1").count() == 2
    held = Allocation.objects.get()
    assert recently(held.ended_at)
    assert held.card is not None
    assert list(NodeTotals.objects.values_list("node_name", flat=True)) == ["gpu-2"]
    assert Card.objects.filter(node_name="gpu-2", removed_at=None).count() == 2


def test_a_node_that_comes_back_has_the_same_cards(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node())
    fleet.reconcile()
    before = dict(Card.objects.values_list("key", "id"))
    first_seen = Card.objects.earliest("id").first_seen_at
    fleet.drop("nodes", whole_node())
    fleet.reconcile()
    fleet.put("nodes", whole_node())
    fleet.reconcile()
    assert dict(Card.objects.filter(removed_at=None).values_list("key", "id")) == before
    assert Card.objects.earliest("id").first_seen_at == first_seen


def test_a_card_that_goes_ends_what_was_on_it(fleet: Fleet) -> None:
    fleet.put("nodes", share_node("s1", 30, cards=2))
    fleet.put("pods", share_pod("a", "s1", 4, 1))
    fleet.reconcile()
    fleet.drop("pods", share_pod("a", "s1", 4, 1))
    fleet.put("nodes", share_node("s1", 15, cards=1))
    fleet.reconcile()
    assert (keys(removed_at=None), keys(removed_at__isnull=False)) == (["0"], ["1"])
    assert Allocation.objects.filter(ended_at=None).count() == 0


def test_a_pod_holds_since_it_started(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node())
    fleet.put("pods", whole_pod("a", uuids=("GPU-a",)))
    fleet.reconcile()
    held = Allocation.objects.get()
    assert (held.started_at, held.ended_at, held.card_key) == (STARTED, None, "GPU-a")


def test_a_pod_that_ends_has_held_until_its_container_finished(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node())
    fleet.put("pods", whole_pod("a", uuids=("GPU-a",)))
    fleet.reconcile()
    fleet.put("pods", ended_pod("a", "2026-03-02T09:30:00Z", uuids=("GPU-a",)))
    fleet.reconcile()
    assert Allocation.objects.get().ended_at == datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
    assert NodeTotals.objects.get().allocations_count == 0


@pytest.mark.parametrize("finished", ["2999-01-01T00:00:00Z", "nonsense", ""])
def test_an_end_that_cannot_be_true_is_now(fleet: Fleet, finished: str) -> None:
    fleet.put("nodes", whole_node())
    fleet.put("pods", whole_pod("a"))
    fleet.reconcile()
    fleet.put("pods", ended_pod("a", finished))
    fleet.reconcile()
    assert recently(Allocation.objects.get().ended_at)


def test_an_end_before_the_start_is_the_start(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node())
    fleet.put("pods", whole_pod("a"))
    fleet.reconcile()
    fleet.put("pods", ended_pod("a", "1970-01-01T00:00:00Z"))
    fleet.reconcile()
    assert Allocation.objects.get().ended_at == STARTED


def test_a_pod_that_is_deleted_has_held_until_now(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node())
    fleet.put("pods", whole_pod("a"))
    fleet.reconcile()
    fleet.drop("pods", whole_pod("a"))
    fleet.reconcile()
    assert recently(Allocation.objects.get().ended_at)


def test_a_hold_whose_card_becomes_known_is_the_same_hold(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node())
    fleet.put("pods", whole_pod("a"))
    fleet.reconcile()
    before = Allocation.objects.get()
    assert (before.card_key, before.card_id, before.evidence) == ("", None, "count-only")
    fleet.put("pods", whole_pod("a", uuids=("GPU-a",)))
    fleet.reconcile()
    after = Allocation.objects.get()
    assert (after.id, after.started_at, after.ended_at) == (before.id, before.started_at, None)
    assert (after.card_key, after.card.key if after.card else "", after.evidence) == ("GPU-a", "GPU-a", "device-status")


def test_a_hold_of_two_unknown_cards_becomes_two_since_the_start(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node())
    fleet.put("pods", whole_pod("a", cards=2))
    fleet.reconcile()
    fleet.put("pods", whole_pod("a", uuids=("GPU-a", "GPU-b"), cards=2))
    fleet.reconcile()
    rows = list(Allocation.objects.order_by("card_key").values_list("card_key", "quantity", "started_at", "ended_at"))
    assert rows == [("GPU-a", 1, STARTED, None), ("GPU-b", 1, STARTED, None)]


def test_a_hold_that_is_found_on_another_card_ends_there_and_begins_here(fleet: Fleet) -> None:
    fleet.put("nodes", share_node("s1", 30))
    fleet.put("pods", share_pod("a", "s1", 4, 0))
    fleet.reconcile()
    fleet.put("pods", share_pod("a", "s1", 4, 1))
    fleet.reconcile()
    old, new = Allocation.objects.order_by("id")
    assert (old.card_key, recently(old.ended_at)) == ("0", True)
    assert (new.card_key, new.ended_at, recently(new.started_at)) == ("1", None, True)


def test_a_hold_that_grows_is_changed_in_place(fleet: Fleet) -> None:
    fleet.put("nodes", share_node("s1", 30))
    fleet.put("pods", share_pod("a", "s1", 4, 0))
    fleet.reconcile()
    fleet.put("pods", share_pod("a", "s1", 6, 0))
    fleet.reconcile()
    held = Allocation.objects.get()
    assert (held.quantity, held.memory_bytes) == (6, 6 * 2**30)


def test_a_pod_that_is_being_deleted_still_holds(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node())
    going = whole_pod("a")
    going.metadata.deletionTimestamp = "2026-03-02T10:00:00Z"
    fleet.put("pods", going)
    fleet.reconcile()
    held = Allocation.objects.get()
    assert (held.terminating, held.ended_at) == (True, None)


def test_a_pod_that_arrives_before_its_node_is_accounted_when_the_node_comes(fleet: Fleet) -> None:
    fleet.put("pods", whole_pod("a"))
    fleet.reconcile()
    assert Allocation.objects.count() == 0
    fleet.put("nodes", whole_node())
    fleet.reconcile()
    assert Allocation.objects.get().ended_at is None


def test_a_node_without_a_gpu_is_not_in_the_books(fleet: Fleet) -> None:
    fleet.put("nodes", whole_node("cpu-1", cards=0, annotations={}))
    plain = whole_node("cpu-2", cards=0)
    plain.metadata.labels = {}
    fleet.put("nodes", plain)
    fleet.reconcile()
    assert not NodeTotals.objects.filter(node_name="cpu-2").exists()
    assert Card.objects.count() == 0
