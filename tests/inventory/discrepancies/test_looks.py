"""What a look costs, who makes it, and where its findings are shown."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory import tasks
from inventory.discrepancies.look import look, look_over
from inventory.models import Card, DirtyNode, Discrepancy, IdleLook, Watch
from runtime.clock import database_now
from tests.factories import GIB, make_cluster, make_node
from tests.inventory.discrepancies.conftest import Watched, busy

pytestmark = pytest.mark.django_db


def test_a_look_that_finds_the_same_writes_no_condition_and_makes_no_node_dirty(shared: Watched) -> None:
    busy(Card.objects.get(), memory_used_bytes=15 * GIB)
    shared.minutes(6)
    before = list(Discrepancy.objects.values())
    look()
    assert list(Discrepancy.objects.values()) == before
    assert not DirtyNode.objects.exists()


def test_the_schedule_looks(shared: Watched) -> None:
    busy(Card.objects.get())
    tasks.find_idle()
    assert IdleLook.objects.get().findings_at is not None


def test_pages_and_rest_have_them(shared: Watched, viewer: Client, api: Client) -> None:
    busy(Card.objects.get(), memory_used_bytes=15 * GIB)
    shared.minutes(6)
    [one] = api.get("/api/v1/findings?code=uses-more-than-allocated").json()["results"]
    assert one["node"] == "gpu-1"
    assert "Uses more memory than allocated" in viewer.get("/findings").content.decode()
    assert "Uses more memory than allocated" in viewer.get("/nodes/prod/gpu-1").content.decode()


def test_a_look_costs_the_same_at_any_size(db: None) -> None:
    def cost(name: str, nodes: int) -> int:
        cluster = make_cluster(name)
        for number in range(nodes):
            make_node(cluster, f"gpu-{number}", "gpushare", 2, loads=(0.4,))
        for card in Card.objects.filter(cluster=cluster):
            busy(card, memory_used_bytes=15 * GIB, memory_measured_bytes=15 * GIB)
        IdleLook.objects.create(cluster=cluster, looked_at=Now(), window_s=1800, findings_at=database_now())
        Watch.objects.filter(cluster=cluster).update(last_event_at=Now())
        look_over(cluster.pk)
        Discrepancy.objects.update(first_at=Now() - timedelta(minutes=9))
        with CaptureQueriesContext(connection) as captured:
            assert look_over(cluster.pk) == 2 * nodes
        return len(captured)

    assert cost("small", 1) == cost("large", 6)
