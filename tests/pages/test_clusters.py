"""Clusters: whether the numbers are current, and what stands in the way."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from accounts.roles import Role
from inventory.condition import State, sync_of
from inventory.mirror.anew import relist
from inventory.models import Cluster, UsageSource, Watch
from inventory.models.cluster import Kind, WatchState
from tests.cast import make_user, signed_in
from tests.factories import make_cluster, make_node, make_unreadable
from tests.factories.usage import source_of
from tests.pages.reading import get


@pytest.fixture
def operator(db: None) -> Client:
    return signed_in(make_user("olga", Role.OPERATOR))


def test_it_counts_the_clusters_in_step(viewer: Client, fleet: Cluster) -> None:
    make_cluster("new", synced=False)
    assert "1 of 2 clusters in sync" in get(viewer, "/clusters").text


def test_each_kind_has_its_state_age_and_counts(viewer: Client, fleet: Cluster) -> None:
    Watch.objects.filter(kind="pods").update(objects_seen=1200, objects_stored=30, relists=2)
    order = (
        "nodes",
        "pods",
        "daemonsets",
        "config maps",
        "resource slices",
        "resource claims",
        "device taint rules",
        "devices",
        "deployments",
        "services",
        "cluster policies",
        "NVIDIA drivers",
        "GPU clusters",
        "device configs",
        "GPU device plugins",
        "cards",
    )
    rows = {row[0]: row for row in get(viewer, "/clusters/prod").rows[: len(order)]}
    assert tuple(rows) == order
    assert rows["pods"][1].startswith("✓good in sync")
    assert rows["pods"][2] == "2 s ago"
    assert rows["pods"][4:] == ["30 / 1,200", "2", "none yet", ""]


def test_a_cluster_is_one_row_with_what_it_has(viewer: Client, fleet: Cluster) -> None:
    make_unreadable(fleet, "odd")
    (row,) = get(viewer, "/clusters").rows
    assert row[:3] == ["prod", "✓good in sync", "2 s ago"]
    assert row[8] == "!warning 1"


def test_clusters_not_in_sync_stand_above_with_the_reason(viewer: Client, fleet: Cluster) -> None:
    assert "Needs attention" not in get(viewer, "/clusters").text
    Watch.objects.filter(kind="pods").update(state="backing-off", reason="429 Too Many Requests")
    page = get(viewer, "/clusters")
    assert "prod: reconnecting" in page.text
    assert "429 Too Many Requests" in page.text


def test_a_watch_that_backs_off_says_why_and_when_it_tries_again(viewer: Client, fleet: Cluster) -> None:
    later = timezone.now() + timedelta(seconds=20)
    Watch.objects.filter(kind="pods").update(state="backing-off", reason="429 Too Many Requests", next_try_at=later)
    row = get(viewer, "/clusters/prod").rows[1]
    assert "retrying" in row[1]
    assert "429 Too Many Requests" in row[7]
    assert f"next retry {later:%H:%M:%S}" in row[7]


def test_a_cluster_that_was_never_listed_shows_no_sums(viewer: Client) -> None:
    make_cluster("new", synced=False)
    page = get(viewer, "/clusters")
    assert "Initial list in progress" in page.text
    assert page.rows[0][3:7] == ["–"] * 4


def test_daemonsets_that_may_not_be_read_are_a_warning_not_an_error(viewer: Client, fleet: Cluster) -> None:
    Watch.objects.filter(kind="daemonsets").update(state="refused", reason="403")
    page = get(viewer, "/nodes")
    assert "access denied: daemonsets" in page.text
    assert (
        "Possibly missing: the memory unit of the Cambricon plugin, the memory unit of gpushare, the number of shares"
        in page.text
    )
    assert "plugin components. daemonsets: 403" in page.text
    assert [tag["class"] for tag in page.tags_of("div") if "notice" in tag.get("class", "")] == ["notice warning"]


def test_permissions_are_shown_as_the_last_check_found_them(viewer: Client, fleet: Cluster) -> None:
    assert "gpudash cluster check prod" in get(viewer, "/clusters/prod").text
    answers = [("list", True, False), ("watch", False, True), ("get", False, False), ("create", None, False)]
    Cluster.objects.update(
        permissions=[
            {"verb": verb, "resource": "pods", "allowed": allowed, "needed_for": "x", "optional": optional}
            for verb, allowed, optional in answers
        ]
    )
    rows = get(viewer, "/clusters/prod").rows[len(Kind) :]
    assert [row[1] for row in rows] == [
        "✕error not allowed",
        "!warning not allowed (optional)",
        "·no status unknown",
        "✓good allowed",
    ]
    assert "1 permission allowed" in get(viewer, "/clusters/prod").text


def test_objects_that_could_not_be_read_are_named(viewer: Client, fleet: Cluster) -> None:
    make_unreadable(fleet, "odd")
    assert "pods default/odd" in get(viewer, "/clusters/prod").text
    assert "/clusters/prod#unreadable" in get(viewer, "/clusters").links


def test_an_unknown_cluster_leads_to_those_there_are(viewer: Client, fleet: Cluster) -> None:
    assert "/clusters/prod" in get(viewer, "/clusters/prods", 404).links


def test_only_bad_news_is_at_the_top_of_pages(viewer: Client, fleet: Cluster) -> None:
    assert "notice" not in " ".join(tag.get("class", "") for tag in get(viewer, "/nodes").tags_of("div"))


def lapse(**ago: float) -> None:
    Watch.objects.update(expires_at=timezone.now() - timedelta(**ago))


@pytest.mark.parametrize("path", ["/clusters", "/clusters/prod", "/", "/nodes", "/cards"])
def test_dead_watchers_are_not_in_step(viewer: Client, fleet: Cluster, path: str) -> None:
    lapse(minutes=5)
    text = get(viewer, path).text
    assert "not watched" in text
    assert "in sync" not in text.replace("Start the watchers", "").replace("keeps these numbers in sync", "").replace(
        "0 of 1 cluster in sync", ""
    )


def test_a_cluster_that_was_never_reached_says_since_when_and_why(viewer: Client) -> None:
    make_cluster("new", synced=False)
    began = timezone.now() - timedelta(minutes=7)
    Watch.objects.update(state="backing-off", reason="connection refused", trouble_since=began)
    page = get(viewer, "/clusters")
    assert "new: unreachable" in page.text
    assert "7 min" in page.text
    assert "connection refused" in page.text
    assert "none yet" in page.text


def test_a_watch_that_is_open_again_but_silent_is_not_in_step(viewer: Client, fleet: Cluster) -> None:
    Watch.objects.exclude(kind="cards").update(last_event_at=timezone.now() - timedelta(minutes=9))
    rows = get(viewer, "/clusters/prod").rows
    assert [row[1].split(" ")[0] for row in rows[: len(Kind)]] == [*["✕error"] * 9, *["·no"] * 6, "✓good"]
    assert "not reporting 9 min" in rows[0][1]


def test_being_listed_anew_is_said(viewer: Client, fleet: Cluster) -> None:
    relist(fleet, "olga")
    Watch.objects.update(expires_at=timezone.now() + timedelta(seconds=9), state="listing")
    text = get(viewer, "/clusters/prod").text
    assert "relisting" in text
    assert "requested by olga" in text


def test_an_operator_has_it_listed_anew(operator: Client, fleet: Cluster) -> None:
    response = operator.post("/clusters/prod/relist", follow=True)
    assert (
        "Relist requested: nodes, pods, daemonsets, config maps, resource slices, resource claims, device taint rules, "
        "devices, deployments, services, cluster policies, NVIDIA drivers, GPU clusters, device configs, GPU device plugins, cards."
        in response.content.decode()
    )
    assert set(Watch.objects.values_list("relist_reason", flat=True)) == {"requested by olga"}


def test_a_viewer_may_not(viewer: Client, fleet: Cluster) -> None:
    assert viewer.post("/clusters/prod/relist").status_code == 403
    assert "disabled" in next(tag for tag in get(viewer, "/clusters/prod").tags_of("button") if "formaction" in tag)
    assert not Watch.objects.exclude(relist_reason="").exists()


def test_it_takes_a_post_with_a_token_of_the_form(fleet: Cluster) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(make_user("olga", Role.OPERATOR))
    assert strict.post("/clusters/prod/relist").status_code == 403
    assert strict.get("/clusters/prod/relist").status_code == 405


def test_another_cluster_at_the_address_is_told(viewer: Client, fleet: Cluster) -> None:
    Cluster.objects.update(uid="b", recreated_at=timezone.now() - timedelta(minutes=3))
    text = get(viewer, "/clusters/prod").text
    assert "Another cluster responded at this address. Relisted 3 min ago" in text


def test_what_a_cluster_does_not_serve_is_calm(viewer: Client, fleet: Cluster) -> None:
    Watch.objects.filter(kind__startswith="resource").update(state="not-served", reason="404", synced_at=None)
    rows = {row[0]: row[1] for row in get(viewer, "/clusters/prod").rows}
    told = next(state for kind, state in rows.items() if kind.startswith("resource slices"))
    assert "API not available" in told
    assert "1 of 1 cluster in sync" in get(viewer, "/clusters").text
    assert [tag for tag in get(viewer, "/nodes").tags_of("div") if "notice" in tag.get("class", "")] == []


def test_a_kind_that_nobody_watches_since_there_is_nothing_has_dashes(viewer: Client, fleet: Cluster) -> None:
    later = timezone.now() + timedelta(minutes=9)
    gone = {"holder": "", "expires_at": timezone.now() - timedelta(hours=9), "synced_at": None, "last_event_at": None}
    Watch.objects.filter(kind="devices").update(state="not-served", reason="no devices", next_try_at=later, **gone)
    Watch.objects.filter(kind="configmaps").update(state="not-needed", reason="none is named", **gone)
    rows = get(viewer, "/clusters/prod").rows
    devices = next(row for row in rows if row[0].startswith("devices"))
    maps = next(row for row in rows if row[0].startswith("config maps"))
    assert devices[1].startswith("·no status API not available")
    assert maps[1].startswith("·no status not needed")
    assert devices[2:7] == maps[2:7] == ["–"] * 5
    assert "none is named" in maps[7]
    assert "1 of 1 cluster in sync" in get(viewer, "/clusters").text


def test_a_config_map_that_may_not_be_read_is_told_with_what_is_lost(viewer: Client, fleet: Cluster) -> None:
    said = "default/device-plugin-config: 403 Forbidden: no"
    Watch.objects.filter(kind="configmaps").update(state="refused", reason=said)
    text = get(viewer, "/nodes").text
    assert "access denied: config maps" in text
    assert "device plugin settings and their card reports. config maps: default/device-plugin-config" in text


def test_the_rule_that_is_missing_stands_beside_the_permission(viewer: Client, fleet: Cluster) -> None:
    common = {"verb": "list", "needed_for": "x", "optional": True}
    Cluster.objects.update(
        permissions=[
            {**common, "resource": "configmaps", "allowed": False, "rule": 'the ClusterRole: resourceNames: ["x"]'},
            {**common, "resource": "devices", "allowed": None, "served": False, "rule": ""},
        ]
    )
    denied, absent = get(viewer, "/clusters/prod").rows[len(Kind) :]
    assert denied[1:] == [
        "!warning not allowed (optional)",
        'x To grant it, add to the ClusterRole: resourceNames: ["x"]',
    ]
    assert absent[1:] == ["·no status API not available", "x"]


def test_its_state_is_that_of_what_it_serves(api: Client, fleet: Cluster) -> None:
    Watch.objects.filter(kind__startswith="resource").update(state="not-served", synced_at=None)
    (found,) = api.get("/api/v1/clusters").json()["results"]
    assert found["state"] == "watching"


def test_an_optional_kind_that_may_not_be_read_is_said_and_is_no_state_of_the_cluster(
    viewer: Client, cluster: Cluster
) -> None:
    make_node(cluster, "gpu-1")
    Watch.objects.update_or_create(
        cluster=cluster, kind="daemonsets", defaults={"state": WatchState.REFUSED, "reason": "403 Forbidden"}
    )
    assert sync_of(Watch.objects.filter(cluster=cluster)).state == State.WATCHING
    assert "403 Forbidden" in viewer.get(f"/clusters/{cluster.name}").content.decode()
    Watch.objects.filter(kind="pods").update(state=WatchState.REFUSED, reason="401 Unauthorized")
    assert sync_of(Watch.objects.filter(cluster=cluster)).state == State.REFUSED


def test_what_the_exporters_bring_is_said_with_what_was_left_out(viewer: Client, fleet: Cluster) -> None:
    source = source_of(fleet)
    UsageSource.objects.filter(pk=source.pk).update(
        address="http://prometheus.monitoring:9090",
        round_seconds=3.25,
        cards_measured=1200,
        cards_unmatched=3,
        formats=[{"format": "dcgm-exporter", "sure": True, "versions": ["4.8.3"], "cards": 1200, "samples": 24000}],
        problems=[
            {"format": "dcgm-exporter", "code": "sentinel", "count": 7, "example": "<b>9223372036854775794</b>"},
            {"format": "", "code": "a-later-code", "count": 1, "example": ""},
        ],
    )
    page = get(viewer, "/clusters/prod")
    assert "measured last round 0 s ago, in 3.2 s" in page.text or "in 3.3 s" in page.text
    assert "http://prometheus.monitoring:9090" in page.text
    assert ["dcgm-exporter", "4.8.3", "1,200", "24,000"] in page.rows
    doubts = [row for row in page.rows if "sentinel" in row[0] or "a-later-code" in row[0]]
    assert [row[2] for row in doubts] == ["7", "1"]
    assert doubts[0][0].startswith("The exporter reports a code for unknown, not supported or failed")
    assert doubts[0][3] == "<b>9223372036854775794</b>"
    assert "1,200 cards measured" in {tag.get("title") for tag in get(viewer, "/clusters").tags_of("a")}


def test_exporters_that_nobody_reads_or_that_refuse_are_said(viewer: Client, fleet: Cluster) -> None:
    assert "No metrics source is set for this cluster" in get(viewer, "/clusters/prod").text
    source = source_of(fleet)
    UsageSource.objects.filter(pk=source.pk).update(due_at=timezone.now() - timedelta(minutes=9))
    page = get(viewer, "/clusters/prod").text
    assert "✕ error not being read" in page
    assert "gpudash worker usage" in page
    soon = timezone.now() + timedelta(minutes=1)
    UsageSource.objects.filter(pk=source.pk).update(
        state="refused", reason="it wants a token", due_at=soon, trouble_since=timezone.now()
    )
    page = get(viewer, "/clusters/prod").text
    assert "✕ error failed" in page
    assert "it wants a token" in page
    assert f"next retry {soon:%H:%M:%S}" in page


@pytest.mark.parametrize("stored", ["text", {"a": 1}, [1, None], [{"format": None, "versions": None, "cards": None}]])
def test_what_somebody_wrote_into_the_table_breaks_no_page(viewer: Client, fleet: Cluster, stored: object) -> None:
    UsageSource.objects.filter(pk=source_of(fleet).pk).update(formats=stored, problems=stored)
    assert get(viewer, "/clusters/prod").text


def test_more_clusters_are_no_more_queries_for_their_exporters(
    viewer: Client, fleet: Cluster, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    source_of(fleet)
    with CaptureQueriesContext(connection) as one:
        viewer.get("/clusters")
    for name in ("b", "c", "d"):
        source_of(make_cluster(name))
    with django_assert_num_queries(len(one)):
        viewer.get("/clusters")
