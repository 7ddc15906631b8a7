"""Components on pages: of a node, of a cluster, of the fleet."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import UserScope
from accounts.roles import Role
from inventory.models import Cluster, Component, NodeTotals
from stacks.engine.software.base import Statement
from tests.cast import make_user, signed_in
from tests.factories.software import make_software, write
from tests.pages.reading import Page, get
from tests.pages.software import BROKEN, FAILS, READY, WAITS, WELL, node_with, policy, upgrading
from tests.pages.test_counting_links import rows_behind
from wording.said import sentence

MATRIX, ALL = "Nodes by component and state", "Components"


def chips(page: Page) -> list[str]:
    return [tag["title"] for tag in page.tags_of("li") if " · " in tag.get("title", "")]


# A node.


def test_the_first_cause_stands_under_the_steps_with_its_remedy_as_code(viewer: Client, cluster: Cluster) -> None:
    node_with(cluster, "a", BROKEN)
    page = get(viewer, "/nodes/prod/a")
    assert chips(page)[:3] == [
        "Driver · crash-looping · version 580.95",
        "Container toolkit · waiting",
        "Device plugin · waiting",
    ]
    assert "Driver: crash-looping 12 min The container nvidia-driver-ctr ends with exit code 1." in page.text
    assert '<code class="command">kubectl logs -n gpu-operator driver-x --previous</code>' in page.html
    assert [tag["class"] for tag in page.tags_of("li") if "cause" in tag.get("class", "").split()] == ["error cause"]


def test_what_is_not_needed_is_no_step_but_stands_last_among_all(viewer: Client, cluster: Cluster) -> None:
    node_with(cluster, "a", BROKEN)
    page = get(viewer, "/nodes/prod/a")
    assert not [title for title in chips(page) if "MIG" in title]
    rows = page.tables[ALL]
    assert [row[0] for row in rows] == ["Driver", "Container toolkit", "Device plugin", "MIG manager"]
    assert rows[-1][1:3] == ["· not needed", "–"]


def test_what_a_label_switched_off_is_a_step_and_what_a_policy_did_is_none(viewer: Client, cluster: Cluster) -> None:
    why = sentence("Disabled in ClusterPolicy {name}.", name="p")
    by_policy, by_label = Statement(state="disabled", why=why), Statement(state="disabled", remedy="kubectl label")
    node_with(cluster, "a", WELL | {"dcgm": by_policy, "device-plugin": by_label})
    titles = chips(get(viewer, "/nodes/prod/a"))
    assert "Device plugin · disabled" in titles
    assert not [title for title in titles if "DCGM" in title]


def test_a_ready_component_that_explains_others_is_not_called_ready(viewer: Client, cluster: Cluster) -> None:
    warning = sentence("The MIG layout {wanted} could not be applied.", wanted="all-1g")
    mig = Statement(state="ready", version="0.12", warnings=(warning,), explains=True, step="failed")
    node_with(cluster, "a", {"mig-manager": mig, "driver": READY})
    page = get(viewer, "/nodes/prod/a")
    assert "MIG manager 12 min The MIG layout all-1g could not be applied." in page.text
    assert [tag["class"] for tag in page.tags_of("li") if "cause" in tag.get("class", "")] == ["error cause"]


def test_what_is_out_of_date_or_has_warnings_is_said_beside_the_cause(viewer: Client, cluster: Cluster) -> None:
    old = Statement(state="outdated", version="1.0", wanted="2.0", why=sentence("The pod is not Ready."))
    node_with(cluster, "a", {"driver": READY, "container-toolkit": old})
    text = get(viewer, "/nodes/prod/a").text
    assert "warning Container toolkit: outdated The pod is not Ready." in text


def test_commands_in_a_sentence_are_code(viewer: Client, cluster: Cluster) -> None:
    remedy = sentence(
        "If the driver was installed after the plugin, restart the plugin: {command}", command="kubectl delete pod <x>"
    )
    node_with(cluster, "a", {"driver": Statement(state="not ready", remedy=remedy)})
    html = get(viewer, "/nodes/prod/a").html
    assert 'restart the plugin: <code class="command">kubectl delete pod &lt;x&gt;</code>' in html


def test_changes_say_what_was_before(viewer: Client, cluster: Cluster) -> None:
    node_with(cluster, "a", WELL)
    make_software(cluster, "a", WELL | {"driver": FAILS}, minutes_ago=3, keep_changes=True)
    assert "ready → crash-looping · version 1.17.8 → 580.95" in get(viewer, "/nodes/prod/a").text


def test_who_sees_a_part_has_the_reason_in_his_language_and_no_remedy(cluster: Cluster) -> None:
    node_with(cluster, "a", BROKEN)
    make_software(cluster, "", {"gpu-operator": FAILS})
    user = make_user("nora", Role.VIEWER)
    UserScope.objects.create(user=user, places="prod/team-a")
    client = signed_in(user)
    for path in ("/nodes/prod/a", "/clusters/prod", "/components", "/components/list"):
        page = get(client, path)
        assert "The container nvidia-driver-ctr ends with exit code 1." in page.text
        assert "kubectl logs" not in page.html
        assert "gpu-operator/driver-x" not in page.html
    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/"})
    assert 'data-said="unworded"' not in get(client, "/nodes/prod/a").html


# The fleet.


@pytest.fixture
def broken(cluster: Cluster) -> Cluster:
    """Three nodes that fail alike, two that work, and what the cluster has once."""
    for number in range(3):
        node_with(cluster, f"bad-{number}", BROKEN, minutes_ago=30 + number)
    for number in range(2):
        node_with(cluster, f"well-{number}", WELL)
    missing = Statement(state="missing", why=sentence("The DaemonSet selects no node."), remedy="helm upgrade x")
    make_software(cluster, "", {"gpu-operator": missing})
    return cluster


def test_the_first_line_counts_causes_and_what_they_explain(viewer: Client, broken: Cluster) -> None:
    text = get(viewer, "/components").text
    assert "2 causes on 3 nodes · 10 components not ready · 5 nodes" in text


def test_causes_that_are_alike_are_one_row(viewer: Client, broken: Cluster) -> None:
    page = get(viewer, "/components")
    assert "Driver: crash-looping · The container nvidia-driver-ctr ends with exit code 1." in page.text
    assert "ends with exit code 1. 580.95 On bad-0 : kubectl logs" in page.text
    assert "GPU Operator: missing · The DaemonSet selects no node." in page.text
    assert len([tag for tag in page.tags_of("details") if tag.get("data-key", "").startswith("text-")]) == 2
    assert "waits for driver" not in page.text


def test_the_table_has_states_that_there_are_with_problems_first_and_muted_ones_last(
    viewer: Client, broken: Cluster
) -> None:
    page = get(viewer, "/components")
    rows = {row[0]: row[1:] for row in page.tables[MATRIX]}
    assert list(rows) == ["Driver", "Container toolkit", "Device plugin", "MIG manager"]
    assert rows["Driver"] == [
        "1.17.8, 580.95" if rows["Driver"][0].startswith("1") else "580.95, 1.17.8",
        "2",
        "✕ 3",
        "–",
        "–",
    ]
    assert rows["MIG manager"] == ["–", "–", "–", "–", "5"]


def test_each_number_is_that_of_the_rows_behind_it(viewer: Client, broken: Cluster) -> None:
    page = get(viewer, "/components")
    links = {tag["href"]: tag["aria-label"] for tag in page.tags_of("a") if ": " in tag.get("aria-label", "")}
    assert len(links) == 7
    for url, label in links.items():
        assert rows_behind(viewer, url) == int(label.rpartition(": ")[2]), url
    (alike,) = [url for url in page.links if "why=" in url]
    assert rows_behind(viewer, alike) == 3
    (problems,) = [url for url in page.links if url.count("state=") > 2]
    assert rows_behind(viewer, problems) == 10
    assert rows_behind(viewer, "/components/list?first_cause=true&of_nodes=true") == 3


def test_a_group_without_reason_or_version_leads_to_its_rows(viewer: Client, cluster: Cluster) -> None:
    for name in ("a", "b"):
        node_with(cluster, name, {"driver": Statement(state="missing")})
    node_with(cluster, "c", {"driver": FAILS})
    (url,) = [url for url in get(viewer, "/components").links if "why=" in url]
    assert "version=none&why=none" in url
    assert rows_behind(viewer, url) == 2


def test_without_a_fault_the_page_says_so(viewer: Client, cluster: Cluster) -> None:
    assert "No components found" in get(viewer, "/components").text
    node_with(cluster, "a", WELL)
    page = get(viewer, "/components")
    assert "All components ready · 1 node" in page.text
    for title in ("Causes", "Driver upgrades", "MIG changes"):
        assert title not in page.text


def test_the_list_is_filtered_sorted_and_read_as_csv(viewer: Client, broken: Cluster) -> None:
    page = get(viewer, "/components/list?component=driver&state=crash-looping")
    assert [row[1] for row in page.rows] == ["bad-0", "bad-1", "bad-2"]
    assert page.rows[0][2] == "✕ crash-looping root cause"
    lines = b"".join(viewer.get("/components/list?of_nodes=false&format=csv")).decode().splitlines()  # type: ignore[arg-type]
    assert lines[1].startswith("prod,,gpu-operator,nvidia,missing,")
    assert get(viewer, "/components/list?state=broken", 400).text
    assert "No matches" in get(viewer, "/components/list?node=nope").text


def test_the_cluster_has_what_it_has_once(viewer: Client, broken: Cluster) -> None:
    page = get(viewer, "/clusters/prod")
    (row,) = page.tables[ALL]
    assert row[:2] == ["GPU Operator", "✕ missing"]
    assert "helm upgrade x" in row[4]


# Large clusters.


def test_a_thousand_nodes_ask_no_more_than_ten(viewer: Client, cluster: Cluster) -> None:
    policy(cluster, 1)
    paths = ("/components", "/components/list", "/components/list?state=waiting", "/nodes/prod/n-0", "/clusters/prod")
    few = _made(viewer, cluster, 10, paths)
    many = _made(viewer, cluster, 1000, paths)
    assert many == few
    page = get(viewer, "/components")
    assert len(page.html) < 60_000
    assert rows_behind(viewer, "/components/list?component=driver&state=crash-looping") == 100


def _made(viewer: Client, cluster: Cluster, number: int, paths: tuple[str, ...]) -> dict[str, int]:
    Component.objects.all().delete()
    NodeTotals.objects.all().delete()
    now = timezone.now()
    kinds = [BROKEN, upgrading("upgrade-required"), upgrading("upgrade-failed"), *(7 * [upgrading("upgrade-done")])]
    write([(f"n-{one}", kinds[one % len(kinds)]) for one in range(number)], cluster, now)
    NodeTotals.objects.bulk_create(
        NodeTotals(cluster=cluster, node_name=f"n-{one}", cards_total=8, digest=0, changed_at=now)
        for one in range(number)
    )
    counts = {}
    for path in paths:
        viewer.get(path)
        with CaptureQueriesContext(connection) as queries:
            assert viewer.get(path).status_code == 200
        counts[path] = len(queries)
    return counts


def test_since_is_what_the_object_says_and_else_what_gpudash_saw(viewer: Client, cluster: Cluster) -> None:
    said = (datetime.now(UTC) - timedelta(hours=5)).timestamp()
    node_with(cluster, "a", {"driver": Statement(state="missing", since=said), "container-toolkit": WAITS})
    rows = get(viewer, "/nodes/prod/a").tables[ALL]
    assert [row[5] for row in rows] == ["5 h", "12 min"]
