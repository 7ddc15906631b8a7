"""Clusters: whether the numbers are current, and what stands in the way."""

from __future__ import annotations

from datetime import timedelta

from django.test import Client
from django.utils import timezone

from inventory.models import Cluster, Watch
from tests.factories import make_cluster, make_unreadable
from tests.pages.reading import get


def test_it_counts_the_clusters_in_step(viewer: Client, fleet: Cluster) -> None:
    make_cluster("new", synced=False)
    assert "1 of 2 clusters are in step" in get(viewer, "/clusters").text


def test_each_kind_has_its_state_age_and_counts(viewer: Client, fleet: Cluster) -> None:
    Watch.objects.filter(kind="pods").update(objects_seen=1200, objects_kept=30, relists=2)
    rows = {row[0].split(" ")[0]: row for row in get(viewer, "/clusters").rows}
    assert list(rows) == ["nodes", "pods", "daemonsets", "cards"]
    assert rows["pods"][1].startswith("✓good in step")
    assert rows["pods"][2] == "2 s ago"
    assert rows["pods"][4:] == ["30 / 1,200", "2"]


def test_a_watch_that_backs_off_says_why_and_when_it_tries_again(viewer: Client, fleet: Cluster) -> None:
    later = timezone.now() + timedelta(seconds=20)
    Watch.objects.filter(kind="pods").update(state="backing-off", reason="429 Too Many Requests", next_try_at=later)
    row = get(viewer, "/clusters/prod").rows[1]
    assert "backing off" in row[1]
    assert "429 Too Many Requests" in row[1]
    assert f"next try {later:%H:%M:%S}" in row[1]


def test_a_cluster_that_was_never_listed_shows_no_sums(viewer: Client) -> None:
    make_cluster("new", synced=False)
    text = get(viewer, "/clusters").text
    assert "not complete" in text
    assert "with a GPU" not in text


def test_daemonsets_that_may_not_be_read_are_a_warning_not_an_error(viewer: Client, fleet: Cluster) -> None:
    Watch.objects.filter(kind="daemonsets").update(state="refused", reason="403")
    page = get(viewer, "/nodes")
    assert "DaemonSets may not be read" in page.text
    assert [tag["class"] for tag in page.tags_of("div") if "notice" in tag.get("class", "")] == ["notice warning"]


def test_permissions_are_shown_as_the_last_check_found_them(viewer: Client, fleet: Cluster) -> None:
    assert "manage.py cluster check prod" in get(viewer, "/clusters/prod").text
    answers = [("list", True, False), ("watch", False, True), ("get", False, False), ("create", None, False)]
    Cluster.objects.update(
        permissions=[
            {"verb": verb, "resource": "pods", "allowed": allowed, "needed_for": "x", "optional": optional}
            for verb, allowed, optional in answers
        ]
    )
    rows = get(viewer, "/clusters/prod").rows[4:]
    assert [row[1] for row in rows] == [
        "✓good allowed",
        "!warning not allowed (optional)",
        "✕error not allowed",
        "·no statement not known",
    ]


def test_objects_that_could_not_be_read_are_named(viewer: Client, fleet: Cluster) -> None:
    make_unreadable(fleet, "odd")
    assert "pods default/odd" in get(viewer, "/clusters/prod").text
    assert "/clusters/prod#unreadable" in get(viewer, "/clusters").links


def test_an_unknown_cluster_leads_to_those_there_are(viewer: Client, fleet: Cluster) -> None:
    assert "/clusters/prod" in get(viewer, "/clusters/prods", 404).links


def test_only_bad_news_is_at_the_top_of_pages(viewer: Client, fleet: Cluster) -> None:
    assert "notice" not in " ".join(tag.get("class", "") for tag in get(viewer, "/nodes").tags_of("div"))
