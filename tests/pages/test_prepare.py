"""Set up a stack: what the page renders from synced nodes alone, for whom, and what it says to be unknown."""

from __future__ import annotations

import html
import time
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory import clusters
from inventory.models import Cluster
from inventory.models import Node as NodeRow
from inventory.prepared import kubernetes_from, prepared_of
from kube.objects import Node
from stacks.engine.preparing import prepare, setups
from stacks.engine.setup import Found
from tests.cast import signed_in
from tests.factories import make_cluster
from tests.pages.reading import Page, get
from tests.scopes.world import scoped_user
from tests.stacks.setup.cases import CASES
from tests.stacks.setup.clusters import card, control_plane, node, windows

STACKS = sorted(setups())
TAINT = ("nvidia.com/gpu", "present", "NoSchedule")
NODES = [control_plane("cp-1", version="v1.30.4"), card("gpu-1", TAINT, gpushare="true"), card("gpu-2")]


def sync(cluster: Cluster, *nodes: Node) -> None:
    rows = [
        NodeRow(
            cluster=cluster,
            uid=f"uid-{one.metadata.name}",
            name=one.metadata.name[:253],
            facts=msgspec.json.encode(one).decode(),
            digest=0,
        )
        for one in nodes
    ]
    NodeRow.objects.bulk_create(rows)


def page_of(client: Client, stack: str, status: int = 200) -> Page:
    return get(client, f"/clusters/prod/prepare?stack={stack}", status)


@pytest.fixture
def synced(cluster: Cluster) -> Cluster:
    sync(cluster, *NODES)
    return cluster


def test_without_a_stack_each_is_named_with_what_its_files_are(viewer: Client, synced: Cluster) -> None:
    page = get(viewer, "/clusters/prod/prepare")
    assert {f"/clusters/prod/prepare?stack={name}" for name in STACKS} <= set(page.links)
    told = dict(page.tables["Stacks"])
    assert told["HAMi"] == "Values and command for HAMi's Helm chart, default runtime, node labels."
    assert list(told) == sorted(told, key=str.lower)
    assert "gpudash applies nothing." in page.text


@pytest.mark.parametrize("stack", STACKS)
def test_each_stack_has_the_files_that_the_synced_nodes_decide(viewer: Client, cluster: Cluster, stack: str) -> None:
    found = next(found for name, found in CASES.values() if name == stack)
    sync(cluster, *found.nodes)
    made = prepared_of(cluster.pk, stack).prepared
    assert made == prepare(stack, Found(version=kubernetes_from(found.nodes)[0], nodes=found.nodes))
    page = page_of(viewer, stack)
    assert made.files
    for file in made.files:
        assert f"<code>{html.escape(file.text)}</code></pre>" in page.html
        assert file.name in page.text
        assert str(file.why).replace("`", "") in page.text
        assert not file.shows or file.shows in page.text
    for text in made.warnings:
        assert str(text).replace("`", "") in page.text
    assert len(page.tables.get("Differences", [])) == len(made.differences)
    assert f"gpudash cluster prepare prod --stack {stack} --diff" in page.text
    assert "gpudash applies nothing." in page.text
    assert all("open" not in tag for tag in page.tags_of("details"))
    [chosen] = [tag["value"] for tag in page.tags_of("option") if "selected" in tag]
    assert chosen == stack


def test_the_first_line_says_the_version_who_tells_it_and_which_nodes(viewer: Client, synced: Cluster) -> None:
    page = page_of(viewer, "gpushare")
    assert "gpushare · Kubernetes v1.30.4 kubelet of cp-1 · for 2 of 3 nodes" in page.text
    assert "/nodes/prod/cp-1" in page.links


def test_a_label_that_nodes_lack_is_named_with_them(viewer: Client, synced: Cluster) -> None:
    assert page_of(viewer, "gpushare").tables["Differences"][0] == [
        "label gpushare=true",
        "!warning missing",
        "on 1 of 2 nodes: gpu-2",
    ]
    lacking = NodeRow.objects.get(name="gpu-2")
    lacking.facts = msgspec.json.encode(card("gpu-2", gpushare="true")).decode()
    lacking.save()
    assert page_of(viewer, "gpushare").tables["Differences"][0][1:] == ["✓good present", "on 2 of 2 nodes"]


def test_what_is_not_read_is_not_said_to_be_missing(viewer: Client, synced: Cluster) -> None:
    page = page_of(viewer, "gpushare")
    assert {row[0].split()[0] for row in page.tables["Differences"]} == {"label", "host"}
    assert "It does not know the objects of the cluster." in page.text
    assert "not visible" in page.text


def test_a_cluster_without_nodes_has_the_files_of_the_newest_version(viewer: Client, cluster: Cluster) -> None:
    page = page_of(viewer, "gpushare")
    assert "No node of this cluster is synced." in page.text
    assert "The server version is unknown. The files are for Kubernetes 1.36." in page.text
    assert "gpushare · Kubernetes version unknown · for 0 of 0 nodes" in page.text
    assert "kubescheduler.config.k8s.io/v1" in page.text
    make_cluster("new", synced=False)
    new = get(viewer, "/clusters/new/prepare?stack=hami")
    assert "No node is synced yet: the initial list is not complete." in new.text


@pytest.mark.parametrize("stack", ["nope", "NVIDIA", "a%00b", "%3Cb%3E"])
def test_an_unknown_stack_is_refused_with_those_that_there_are(viewer: Client, synced: Cluster, stack: str) -> None:
    page = page_of(viewer, stack, 400)
    assert f"Must be one of: {', '.join(STACKS)}." in page.text
    assert "<b>" not in page.html


def test_an_unknown_cluster_is_not_found(viewer: Client, synced: Cluster) -> None:
    assert "There is no cluster nope." in get(viewer, "/clusters/nope/prepare?stack=hami", 404).text


def test_who_sees_namespaces_only_gets_neither_page_nor_link(viewer: Client, synced: Cluster) -> None:
    link = "/clusters/prod/prepare"
    part, whole = signed_in(scoped_user("nora", "prod/mine")), signed_in(scoped_user("carl", "prod"))
    for path in (link, f"{link}?stack=gpushare", f"{link}?stack=nope"):
        refused = get(part, path, 403)
        assert "gpu-1" not in refused.html
        assert "kubectl" not in refused.html
    for path in ("/clusters/prod", "/components", "/components/list", "/components/list?cluster=prod"):
        assert link not in get(part, path).links
        assert link in get(whole, path).links
        assert link in get(viewer, path).links
    assert get(whole, f"{link}?stack=gpushare").status == 200
    other = signed_in(scoped_user("olaf", "elsewhere"))
    get(other, f"{link}?stack=gpushare", 404)


def test_of_several_clusters_the_one_that_is_chosen_has_the_link(viewer: Client, synced: Cluster) -> None:
    make_cluster("far")
    assert not any(link.endswith("/prepare") for link in get(viewer, "/components").links)
    assert not any(link.endswith("/prepare") for link in get(viewer, "/components/list").links)
    assert "/clusters/far/prepare" in get(viewer, "/components/list?cluster=far").links
    assert "/clusters/far/prepare" in get(viewer, "/clusters/far").links


@pytest.mark.parametrize("stack", STACKS)
def test_the_number_of_queries_does_not_grow_with_the_nodes(viewer: Client, cluster: Cluster, stack: str) -> None:
    counts = []
    for begin in (0, 300):
        sync(cluster, *(card(f"gpu-{number}") for number in range(begin, begin + 1 + begin)))
        page_of(viewer, stack)
        with CaptureQueriesContext(connection) as queries:
            page_of(viewer, stack)
        counts.append(len(queries))
    assert counts[0] == counts[1] <= 12


@pytest.mark.parametrize("stack", STACKS)
def test_texts_of_the_cluster_are_no_html(viewer: Client, cluster: Cluster, stack: str) -> None:
    mark = "<script>alert(1)</script>"
    strange: dict[str, Any] = {
        "nvidia.com/gpu.present": "true",
        "windows.alibabacloud.com/directx-supported": "true",
        "topology.kubernetes.io/region": mark,
        "nvidia.com/cuda.driver.major": mark,
        "node.kubernetes.io/windows-build": mark,
        "node-role.kubernetes.io/control-plane": mark,
        "nvidia.com/gpu.product": mark,
    }
    taint = (f"a/{mark}", mark, "NoSchedule")
    sync(
        cluster,
        node(f"{mark}-1", f"v1.30.4{mark}", f"rkt{mark}://1", taints=(taint,), **strange),
        node("gpu-1", f"v1.9.4{mark}", f"rkt{mark}://1", taints=(taint,), **strange),
        windows("win-1", runtime=f"rkt{mark}://1", taints=(taint,), **strange),
    )
    page = page_of(viewer, stack)
    assert mark not in page.html
    assert "alert(1)" in page.text


def test_the_version_is_that_of_the_newest_control_plane() -> None:
    plane, old = control_plane("cp-1", version="v1.29.3"), control_plane("cp-0", version="v1.28.9")
    master = control_plane("cp-2", "node-role.kubernetes.io/master", version="v1.29.3")
    gpu, none = card("gpu-1", version="v1.30.1+k3s1"), node("odd", version="weird")
    assert kubernetes_from([none, gpu, old, master, plane]) == ("v1.29.3", "cp-1")
    assert kubernetes_from([none, gpu, card("gpu-0", version="v1.9.9")]) == ("v1.30.1+k3s1", "gpu-1")
    assert kubernetes_from([none]) == kubernetes_from([]) == ("", "")


def test_a_large_cluster_is_answered_soon_and_its_lists_are_short(viewer: Client, cluster: Cluster) -> None:
    sync(cluster, *(card(f"gpu-{number:05d}", TAINT) for number in range(5000)))
    started = time.process_time()
    page = page_of(viewer, "gpushare")
    assert time.process_time() - started < 3
    [row] = [row for row in page.tables["Differences"] if row[0].startswith("label")]
    assert row[2].startswith("on 5000 of 5000 nodes: gpu-00000, ")
    assert row[2].endswith("and 4990 more")
    assert "for 5,000 of 5,000 nodes" in page.text


def test_no_cluster_is_called(viewer: Client, synced: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def called(*_: object) -> None:
        raise AssertionError("a web process called a cluster")

    monkeypatch.setattr(clusters, "client_of", called)
    assert page_of(viewer, "nvidia").status == 200
