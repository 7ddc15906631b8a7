"""The page of a card: its holders now and before, and its memory over time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from inventory.models import Allocation, Card, Cluster
from tests.factories import end_allocation, lose_card, make_node
from tests.pages.reading import get

_ALLOCATIONS, _MEMORY = "Allocations of the card", "Allocated memory over time"


def _card(cluster: Cluster, trait: str = "gpushare", load: float = 0.4) -> Card:
    make_node(cluster, "a", trait, 1, loads=(load,))
    return Card.objects.get()


def test_it_says_what_is_free_of_what_and_where_that_comes_from(viewer: Client, cluster: Cluster) -> None:
    page = get(viewer, f"/cards/{_card(cluster).pk}")
    assert "9 GiB free of 15 GiB" in page.text
    assert "Allocatable memory 15 GiB node total ÷ cards; unit by label aliyun.accelerator/nvidia_mem" in page.text
    assert "First seen 30 d ago" in page.text


def test_holders_now_and_before_are_told_apart(viewer: Client, cluster: Cluster) -> None:
    card = _card(cluster)
    end_allocation(Allocation.objects.get(pod="train-a-0-1"), minutes_ago=5)
    rows = get(viewer, f"/cards/{card.pk}").tables[_ALLOCATIONS]
    assert [row[:2] for row in rows] == [["default/train-a-0-0", "active"], ["default/train-a-0-1", "ended"]]
    assert rows[1][2] == "5 min ago"


def test_the_picture_has_the_same_numbers_as_a_table(viewer: Client, cluster: Cluster) -> None:
    card = _card(cluster)
    page = get(viewer, f"/cards/{card.pk}")
    assert [row[2:] for row in page.tables[_MEMORY]] == [["6 GiB", "2"], ["0 GiB", "0"]]
    assert 'class="area"' in page.html


def test_time_before_the_card_was_seen_is_hatched_and_in_no_row(viewer: Client, cluster: Cluster) -> None:
    card = _card(cluster)
    Card.objects.update(first_seen_at=timezone.now() - timedelta(minutes=5))
    page = get(viewer, f"/cards/{card.pk}?window=6h")
    assert [row[2] for row in page.tables[_MEMORY]] == ["6 GiB"]
    assert "band unknown" in page.html


def test_a_card_whose_holders_are_not_known_has_no_curve(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "n", "nvidia-count", 2, loads=(1.0, 0.0))
    card = Card.objects.filter(index=0).get()
    page = get(viewer, f"/cards/{card.pk}")
    assert 'class="area"' not in page.html
    assert _ALLOCATIONS not in page.tables
    assert "Full history unknown: the kubelet reports only a count" in page.text


def test_a_shared_card_has_holders_over_time_and_no_memory(viewer: Client, cluster: Cluster) -> None:
    card = _card(cluster, "time-sliced", 0.5)
    page = get(viewer, f"/cards/{card.pk}")
    assert page.tables[_MEMORY][0][2:] == ["not metered", "2"]
    assert "allocated to 2 pods, memory not metered" in page.text


def test_an_over_committed_card_says_so_first_and_fits_nothing(admin: Client, cluster: Cluster) -> None:
    text = get(admin, f"/cards/{_card(cluster, load=2.4).pk}").text
    assert "Overcommitted: 36 GiB allocated of 15 GiB" in text
    assert "GiB free" not in text
    launch = get(admin, "/validations/new?suite=cuda-vectoradd&cluster=prod&node=a&card=0&preview=1").text
    assert "Not possible now: 1 aliyun.com/gpu-mem required, 0 free." in launch
    assert "Ready to launch." not in launch


@pytest.mark.parametrize(
    ("health", "said"), [("healthy", "Healthy"), ("unknown", "Unknown health"), ("degraded", "Degraded: degraded")]
)
def test_its_health_is_said_first(viewer: Client, cluster: Cluster, health: str, said: str) -> None:
    card = _card(cluster)
    Card.objects.update(health=health)
    assert f"{said} 9 GiB free of 15 GiB" in get(viewer, f"/cards/{card.pk}").text


def test_a_card_that_is_gone_is_history(viewer: Client, cluster: Cluster) -> None:
    card = _card(cluster)
    lose_card(card)
    text = get(viewer, f"/cards/{card.pk}").text
    assert "Removed from its node" in text
    assert "9 GiB free of" not in text


def test_the_window_can_be_chosen_and_nonsense_is_refused(viewer: Client, cluster: Cluster) -> None:
    card = _card(cluster)
    assert "<code>window</code>" in get(viewer, f"/cards/{card.pk}?window=1y", 400).html
    assert get(viewer, f"/cards/{card.pk}?window=30d").tables[_MEMORY]


def test_an_unknown_card_is_not_found(viewer: Client, cluster: Cluster) -> None:
    assert "/cards" in get(viewer, "/cards/99", 404).links
    get(viewer, "/cards/99999999999999999999999", 404)
