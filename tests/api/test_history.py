"""What was, in REST: equal steps, and a gap is null."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from inventory.models import Card, Cluster, Subject
from tests.factories import make_node
from tests.factories.history import put_day, put_minute


def ask(client: Client, path: str, status: int = 200) -> dict[str, Any]:
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == status
    found: dict[str, Any] = answer.json()
    return found


def test_a_card(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "gpushare", 1)
    card = Card.objects.get()
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    put_minute(cluster, now, Subject.CARD, str(card.pk), used=1024, allocated=None, activity=500)
    told = ask(viewer, f"cards/{card.pk}/history?window=1h")
    assert (told["cluster"], told["subject"], told["key"]) == ("prod", "card", str(card.pk))
    assert (told["window"], told["step_s"]) == ("1h", 60)
    begin, end = (datetime.fromisoformat(told[name]) for name in ("begins_at", "ends_at"))
    assert end - begin == timedelta(hours=1)
    columns = told["columns"]
    assert len(columns["memory_used_bytes"]) == 60
    assert columns["memory_used_bytes"][-1] == columns["memory_used_peak_bytes"][-1] == 1 << 30
    assert columns["memory_used_bytes"][:-1] == [None] * 59
    assert columns["activity_ratio"][-1] == 0.5
    assert columns["memory_allocated_bytes"] is columns["cards"] is None


def test_a_sum_over_days(viewer: Client, cluster: Cluster) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date()
    put_day(cluster, yesterday, used=3072, measured=7, cards=8, allocated=4096, total=8192, unknown=1)
    columns = ask(viewer, "clusters/prod/history?window=30d")["columns"]
    place = columns["memory_used_bytes"].index(3 << 30)
    known = {name: column[place] for name, column in columns.items() if column is not None}
    assert known == {
        "memory_used_bytes": 3 << 30,
        "memory_allocated_bytes": 4 << 30,
        "memory_total_bytes": 8 << 30,
        "cards": 8,
        "cards_measured": 7,
        "unknown": 1,
    }


def test_a_node_a_pool_and_a_namespace(viewer: Client, cluster: Cluster) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).date()
    for number, (subject, key) in enumerate(((Subject.NODE, "a"), (Subject.POOL, "b"), (Subject.NAMESPACE, "c")), 1):
        put_day(cluster, yesterday, subject, key, used=number * 1024)
    for number, path in enumerate(
        ("nodes/prod/a/history?", "clusters/prod/history?pool=b", "clusters/prod/history?namespace=c"), 1
    ):
        told = ask(viewer, f"{path}&window=7d")
        assert number << 30 in told["columns"]["memory_used_bytes"]


@pytest.mark.parametrize(
    ("path", "status", "field"),
    [
        ("clusters/prod/history?window=2h", 400, "window"),
        ("clusters/prod/history?since=yesterday", 400, "since"),
        ("clusters/prod/history?node=a&pool=b", 400, "pool"),
        ("clusters/prod/history?pool=a&namespace=b", 400, "namespace"),
        ("cards/1/history?namespace=x", 400, "namespace"),
        ("cards/99999999999999999999/history", 400, "card"),
        ("cards/7/history", 404, ""),
        ("nodes/prod/nope/history", 404, ""),
        ("clusters/nope/history", 404, ""),
        ("clusters/prod/history?pool=nope", 404, ""),
        ("clusters/prod/history?namespace=a%00b", 404, ""),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(
    viewer: Client, cluster: Cluster, path: str, status: int, field: str
) -> None:
    told = ask(viewer, path, status)
    assert not field or field in str(told)
