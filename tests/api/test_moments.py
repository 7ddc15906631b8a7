"""Lists of a time: what was the case then, in REST and in CSV."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from inventory.models import Allocation, Card, Cluster, Finding
from resources.moments import moment_of
from tests.factories import make_finding, make_node
from tests.pages.validations.rows import make_run
from validations.models import Run

#: Two days ago at 02:00, whenever the test runs; DAY stands for it in addresses.
NIGHT = datetime.now(UTC).replace(hour=2, minute=0, second=0, microsecond=0) - timedelta(days=2)


def dated(query: str) -> str:
    return query.replace("DAY-1", f"{NIGHT - timedelta(days=1):%Y-%m-%d}").replace("DAY", f"{NIGHT:%Y-%m-%d}")


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22T02:00",
        "2026-11-22 02:00",
        "2026-11-22T02:00:00",
        "2026-11-22T02:00:00.000",
        "2026-11-22T02:00Z",
        "2026-11-22 02:00 UTC",
        "2026-11-22T10:00+08:00",
        "2026-11-22T10:00 08:00",
        "2026-11-21T21:00-0500",
    ],
)
def test_a_moment_is_understood_as_it_is_written(text: str) -> None:
    assert moment_of(text) == datetime(2026, 11, 22, 2, tzinfo=UTC)


def test_a_day_is_its_beginning() -> None:
    assert moment_of("2026-11-22") == datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.django_db
@pytest.mark.parametrize(("text", "age"), [("24h", 24), ("-24h", 24), ("7d", 168), ("90m", 1.5), ("90 min", 1.5)])
def test_an_age_is_that_long_ago(text: str, age: float) -> None:
    found = moment_of(text)
    assert found is not None
    assert abs(timezone.now() - found - timedelta(hours=age)) < timedelta(seconds=30)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-13-01",
        "2026-11-22T25:00",
        "2026-W47-7",
        "20261122",
        "1",
        "٢٤h",
        "24h ago",
        "9" * 50 + "d",
    ],
)
def test_what_is_no_moment_is_none(text: str) -> None:
    assert moment_of(text) is None


@pytest.fixture
def night(cluster: Cluster) -> Cluster:
    """A card that was held until 03:00, from 03:00 on by another, and since yesterday by a third."""
    now = timezone.now()
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    late = Allocation.objects.get()
    Card.objects.update(first_seen_at=NIGHT - timedelta(days=1))
    for number, (begin, end) in enumerate(((1, 3), (3, 5))):
        late.pk, late.pod, late.pod_uid = None, f"night-{number}", f"night-{number}"
        late.started_at = NIGHT + timedelta(hours=begin - 2)
        late.ended_at = NIGHT + timedelta(hours=end - 2)
        late.save()
    Allocation.objects.filter(ended_at=None).update(started_at=NIGHT + timedelta(hours=3), pod="today")
    assert now > NIGHT
    return cluster


def pods(client: Client, query: str, path: str = "allocations") -> list[str]:
    response: Any = client.get(dated(f"/api/v1/{path}?{query}"))
    assert response.status_code == 200, response.content
    return sorted(row["pod"] for row in response.json()["results"])


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("at=DAYT02:00Z", ["night-0"]),
        ("at=DAYT02:59:59Z", ["night-0"]),
        ("at=DAYT03:00Z", ["night-1"]),
        ("at=DAYT04:00Z", ["night-1"]),
        ("at=DAYT00:30Z", []),
        ("from=DAYT02:00Z&to=DAYT04:00Z", ["night-0", "night-1"]),
        ("from=DAYT03:00Z&to=DAYT04:00Z", ["night-1"]),
        ("from=DAYT04:30Z", ["night-1", "today"]),
        ("to=DAYT02:30Z", ["night-0"]),
        ("at=DAYT02:00Z&ended=false", []),
        ("", ["today"]),
    ],
)
def test_allocations_are_those_of_the_time(api: Client, night: Cluster, query: str, found: list[str]) -> None:
    assert pods(api, query) == found


def test_cards_name_who_held_them_then_and_make_nothing_up(api: Client, night: Cluster) -> None:
    [card] = api.get(dated("/api/v1/cards?at=DAYT02:00Z")).json()["results"]
    assert [one["pod"] for one in card["allocations"]] == ["night-0"]
    assert card["allocations_count"] == 1
    told = ("memory_free_bytes", "memory_allocated_bytes", "memory_used_bytes", "memory_unused_bytes", "worst_severity")
    assert {card[name] for name in told} == {None}
    assert (card["state"], card["health"], card["health_reports"]) == ("unknown", "unknown", [])
    assert card["allocations"][0]["usage_note"] == "past"
    assert api.get(dated("/api/v1/cards?at=2020-01-01")).json()["results"] == []
    [now] = api.get(dated("/api/v1/cards")).json()["results"]
    assert [one["pod"] for one in now["allocations"]] == ["today"]
    assert now["memory_free_bytes"] == 0


def test_the_search_for_a_holder_is_of_that_time_too(api: Client, night: Cluster) -> None:
    assert len(api.get(dated("/api/v1/cards?q=night-0&at=DAYT02:00Z")).json()["results"]) == 1
    assert api.get(dated("/api/v1/cards?q=night-0")).json()["results"] == []
    assert pods(api, "q=night&at=DAYT02:00Z") == ["night-0"]


def test_findings_and_runs_are_those_of_the_time(api: Client, night: Cluster) -> None:
    finding, run = make_finding(night), make_run(night, node="a")
    for model, row, began in ((Finding, finding, "first_seen_at"), (Run, run, "created_at")):
        times = {began: NIGHT, "ended_at": NIGHT + timedelta(hours=1)}
        model.objects.filter(pk=row.pk).update(**times)  # type: ignore[attr-defined]
    for path in ("findings", "runs"):
        assert len(api.get(dated(f"/api/v1/{path}?at=DAYT02:30Z")).json()["results"]) == 1, path
        assert api.get(dated(f"/api/v1/{path}?at=DAYT03:00Z")).json()["results"] == [], path


def test_csv_is_of_the_same_time(api: Client, night: Cluster) -> None:
    for path, column, value in (("allocations", "pod", "night-0"), ("cards", "allocations_count", "1")):
        response: Any = api.get(dated(f"/api/v1/{path}?at=DAYT02:00Z&format=csv"))
        rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
        assert [row[column] for row in rows] == [value], path
    assert rows[0]["memory_free_bytes"] == ""


@pytest.mark.parametrize("path", ["allocations", "findings", "runs", "cards"])
@pytest.mark.parametrize(
    ("query", "name", "said"),
    [
        ("at=yesterday", "at", "2026-11-22T02:00"),
        ("from=02:00", "from", "2026-11-22T02:00"),
        ("to=soon", "to", "default zone: UTC"),
        ("at=2999-01-01", "at", "future"),
        ("from=2999-01-01", "from", "future"),
        ("from=DAY&to=DAY-1", "to", "before from"),
        ("at=DAY&from=DAY-1", "at", "either at, or from and to"),
        ("at=DAY&at=DAY-1", "at", "Given twice"),
    ],
)
def test_a_bad_time_is_refused_with_its_name_and_the_form(
    api: Client, cluster: Cluster, path: str, query: str, name: str, said: str
) -> None:
    response = api.get(dated(f"/api/v1/{path}?{query}"))
    assert response.status_code == 400
    [told] = [one for one in response.json()["errors"] if one["field"] == name]
    assert said in str(told)


@pytest.mark.parametrize("query", ["state=free", "min_free_bytes=1Gi", "health=healthy", "ordering=-memory_free_bytes"])
def test_what_is_known_of_now_alone_is_not_asked_for_with_a_time(api: Client, cluster: Cluster, query: str) -> None:
    assert api.get(dated(f"/api/v1/cards?{query}")).status_code == 200
    response = api.get(dated(f"/api/v1/cards?{query}&at=DAYT02:00"))
    assert response.status_code == 400
    assert "combined with a time" in response.content.decode()
