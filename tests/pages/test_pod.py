"""The page of a pod: waiting, running and ended; its message taken apart, its mistakes, and the ways to it."""

from __future__ import annotations

import time

import msgspec
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Allocation, Card, Cluster, Node, NodeTotals, Pod
from inventory.placement.pending.asked import asks_of
from inventory.placement.pending.board import boards
from inventory.placement.pending.decided import with_deciding
from inventory.placement.pending.mistakes import mistakes
from kube import objects as kube
from tests.factories import (
    TRAITS,
    end_allocation,
    make_claim,
    make_claiming_pod,
    make_cluster,
    make_finding,
    make_fleet,
    make_node,
    make_pending_pod,
)
from tests.factories.batch import reconcile
from tests.pages.reading import get

AFFINITY = "node(s) didn't match Pod's node affinity/selector"


def waits(cluster: Cluster, message: str = "", quantity: int = 20, **requests: int) -> str:
    """A pod that waits; requests: instead of memory. Returns the path of its page."""
    pod = make_pending_pod(cluster, "hungry", minutes=12, quantity=quantity)
    if message:
        pod.pending_message = message
    if requests:
        pod.requests = {name.replace("__", "/").replace("_", "."): number for name, number in requests.items()}
    pod.save()
    return f"/pods/{cluster.name}/{pod.namespace}/hungry"


def test_the_message_is_a_table_of_counts_meanings_and_what_to_do(viewer: Client, cluster: Cluster) -> None:
    path = waits(
        cluster,
        f"0/34 nodes are available: 27 {AFFINITY}, 7 node(s) had untolerated taint {{dedicated: ml}}. "
        "preemption: 0/34 nodes are available: 34 Preemption is not helpful for scheduling.",
    )
    page = get(viewer, path)
    assert page.rows[0] == [
        "27 of 34",
        "The pod's node selector or node affinity excludes these nodes.",
        "Compare the pod's nodeSelector and affinity with the labels of the intended nodes.",
    ]
    assert AFFINITY in page.titles
    assert page.rows[1][0] == "7 of 34"
    assert page.rows[1][1].startswith("Taint not tolerated: dedicated: ml.")
    assert "Preemption: 34 · Preemption would not help" in page.text
    assert "Pending for 12 min" in page.text


def test_what_the_system_s_own_scheduler_says_is_understood_and_summed(viewer: Client, cluster: Cluster) -> None:
    skip = ", ".join(f"1 The node cpu-{number} is not for GPU share, need skip" for number in range(3))
    page = get(viewer, waits(cluster, f"0/5 nodes are available: {skip}, 2 Insufficient GPU Memory in one device."))
    assert [row[0] for row in page.rows[:2]] == ["3 of 5", "2 of 5"]
    assert "These nodes do not offer card memory as a resource." in page.rows[0][1]
    assert "No single card of these nodes has that much free memory" in page.rows[1][1]


def test_what_nobody_knows_is_shown_as_text(viewer: Client, cluster: Cluster) -> None:
    page = get(viewer, waits(cluster, "0/2 nodes are available: 2 <b>moon</b> phase {{ x }} %(y)s."))
    assert page.rows[0][1] == "<b>moon</b> phase {{ x }} %(y)s"
    assert "<b>moon</b>" not in page.html
    assert "No explanation for this reason" in page.rows[0][2]
    other = get(viewer, waits(cluster, "pod group is not ready, 2 Pending"))
    assert "pod group is not ready, 2 Pending" in other.text


def test_the_closest_nodes_and_what_they_lack(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "full", "gpushare", 2, loads=(1.0,))
    make_node(cluster, "roomy", "gpushare", 2, loads=(0.4,))
    make_node(cluster, "away", "gpushare", 2, loads=(0.0,))
    make_node(cluster, "other", "nvidia", 2, loads=(0.0,))
    Node.objects.filter(name="away").update(unschedulable=True)
    reconcile(cluster, ["away"])
    page = get(viewer, waits(cluster, quantity=12))
    near = {row[0].split(" ")[0]: row for row in page.rows if row[0].split(" ")[0] in ("full", "roomy", "away")}
    assert list(near) == ["roomy", "full", "away"]
    assert near["roomy"][1] == "largest free block 9 GiB, requested 12 GiB"
    assert near["roomy"][2] == "card 0: train-roomy-0-0"
    assert near["roomy"][3] == "18 of 30"
    assert near["full"][1:4] == [
        "largest free block 0 GiB, requested 12 GiB",
        "card 0: train-full-0-1, train-full-0-0",
        "0 of 30",
    ]
    assert near["away"][1:3] == ["cordoned", "–"]
    assert "No card has 12 GiB free. Largest: 9 GiB on roomy. · Pending for 12 min" in page.text
    assert "other" not in [row[0].split(" ")[0] for row in page.rows]


def test_a_taint_is_lacking_only_where_the_scheduler_does_not_say_another(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "tainted", "gpushare", 2, loads=(0.0,))
    row = Node.objects.get(name="tainted")
    facts = msgspec.json.decode(row.facts, type=kube.Node)
    facts.spec = kube.NodeSpec(
        taints=[kube.Taint("dedicated", "ml", "NoSchedule"), kube.Taint("soft", "", "PreferNoSchedule")]
    )
    Node.objects.filter(pk=row.pk).update(facts=msgspec.json.encode(facts).decode())
    named = "0/1 nodes are available: 1 node(s) had untolerated taint {dedicated: ml}."
    assert "taint dedicated=ml:NoSchedule" in get(viewer, waits(cluster, named, 4)).text
    assert (
        "taint dedicated=ml:NoSchedule" in get(viewer, waits(cluster, named.replace(" {dedicated: ml}", "(s)"), 4)).text
    )
    none = get(viewer, waits(cluster, f"0/1 nodes are available: 1 {AFFINITY}.", 4))
    assert "taint dedicated" not in none.text
    assert "nothing in the synced data" in none.text
    assert "The pod's selector excludes some nodes" in none.text


@pytest.mark.parametrize(
    ("stack", "requests", "said"),
    [
        (
            "gpushare",
            {"aliyun_com__gpu-mem": 8192},
            "8,192 GiB. Use GiB if MiB was intended. The largest card of this stack has 15 GiB.",
        ),
        (
            "gpushare",
            {"aliyun_com__gpu-mem": 20},
            "No card has 20 GiB. Largest: 15 GiB.",
        ),
        ("gpushare-mib", {"aliyun_com__gpu-mem": 6}, "6 MiB. Use MiB if GiB was intended."),
        ("nvidia", {"nvidia_com__gpu": 9}, "No node has 9 × nvidia.com/gpu. Most: 2."),
        (
            "nvidia",
            {"nvidia_com__gpus": 1},
            "No node of the cluster offers nvidia.com/gpus. A similar resource is nvidia.com/gpu.",
        ),
        ("nvidia", {"aliyun_com__gpu-mem": 4}, "No node of the cluster offers aliyun.com/gpu-mem"),
    ],
)
def test_likely_mistakes_are_said(
    viewer: Client, cluster: Cluster, stack: str, requests: dict[str, int], said: str
) -> None:
    make_node(cluster, "a", stack, 2, loads=(0.0,))
    assert said in get(viewer, waits(cluster, **requests)).text.partition("Pending for")[0]


@pytest.mark.parametrize(
    ("stack", "requests"),
    [
        ("gpushare", {"aliyun_com__gpu-mem": 12}),
        ("gpushare-mib", {"aliyun_com__gpu-mem": 4096}),
        ("nvidia", {"nvidia_com__gpu": 2}),
        ("hami", {"nvidia_com__gpu": 1, "nvidia_com__gpumem": 8000}),
    ],
)
def test_what_could_fit_somewhere_is_no_mistake(
    viewer: Client, cluster: Cluster, stack: str, requests: dict[str, int]
) -> None:
    assert stack in TRAITS
    make_node(cluster, "a", stack, 2, loads=(1.0,))
    waits(cluster, **requests)
    [pod] = with_deciding(Pod.objects.filter(pending=True))
    assert pod.deciding.code in ("memory", "cards", "scheduler")  # type: ignore[attr-defined]
    assert mistakes(asks_of(pod), boards([cluster.pk])[cluster.pk]) == []


def test_resources_of_two_systems_that_no_node_has_together(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2)
    make_node(cluster, "b", "gpushare", 2)
    page = get(viewer, waits(cluster, **{"nvidia_com__gpu": 1, "aliyun_com__gpu-mem": 4}))
    assert "No node offers both aliyun.com/gpu-mem and nvidia.com/gpu" in page.text


def test_what_it_asks_for_stands_in_the_field_s_terms(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2)
    assert "aliyun.com/gpu-mem 20 (20 GiB) gpushare" in get(viewer, waits(cluster)).text
    make_claim(cluster, "fold-gpu")
    make_claiming_pod(cluster, "fold", claim="fold-gpu")
    page = get(viewer, "/pods/prod/team-a/fold")
    assert "claim fold-gpu gpu.nvidia.com: 1" in page.text
    assert "No free devices match all claims of the pod." in page.text


def test_a_running_pod_shows_its_cards_owner_and_findings(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    held = Allocation.objects.get()
    finding = make_finding(cluster, "bound-without-card", "warning", "a")
    finding.pod = f"{held.namespace}/{held.pod}"
    finding.save()
    page = get(viewer, f"/pods/prod/{held.namespace}/{held.pod}")
    assert "Running" in page.text
    assert f"/cards/{held.card_id}" in page.links
    assert "/nodes/prod/a" in page.links
    assert page.rows[0][0].startswith("a · card …GPU-a-0")
    assert held.owner_name in page.text
    assert "Pod without a recorded card" in page.text
    assert "Why it is pending" not in page.text


def test_an_ended_pod_is_remembered_by_what_it_held(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    held = Allocation.objects.get()
    held.terminating = True
    held.save()
    end_allocation(held, minutes_ago=3)
    path = f"/pods/prod/{held.namespace}/{held.pod}"
    Pod.objects.filter(name=held.pod).delete()
    page = get(viewer, path)
    assert "Deleted. Past allocations are below." in page.text
    assert "Last allocation ended 3 min ago" in page.text
    assert "still allocated" not in page.text
    assert "still allocated" not in get(viewer, "/allocations?ended=true").text
    assert any("ended=any" in link and held.pod in link for link in page.links)


def test_a_pod_that_has_a_node_and_does_not_start_says_why(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    row = Pod.objects.exclude(node_name="").get(requests__has_key="nvidia.com/gpu")
    facts = msgspec.json.decode(row.facts, type=kube.Pod)
    pending = kube.ContainerState(waiting=kube.Waiting("ImagePullBackOff", "no such image"))
    facts.status = kube.PodStatus(phase="Pending", containerStatuses=[kube.ContainerStatus("main", state=pending)])
    Pod.objects.filter(pk=row.pk).update(facts=msgspec.json.encode(facts).decode(), phase="Pending")
    page = get(viewer, f"/pods/prod/{row.namespace}/{row.name}")
    assert "Node assigned, not running yet" in page.text
    assert "ImagePullBackOff: main: no such image" in page.text


def test_a_name_that_is_not_there_offers_those_that_are_close(viewer: Client, cluster: Cluster) -> None:
    path = waits(cluster)
    page = get(viewer, f"{path}x", 404)
    assert "No GPU pod" in page.text
    assert path in page.links


def test_two_thousand_long_names_that_look_alike_are_compared_within_a_second(viewer: Client, cluster: Cluster) -> None:
    row = Pod.objects.get(name=waits(cluster).rpartition("/")[2])
    alike = "ab" * 123
    rows = [Pod(**_copied(row), uid=f"alike-{number}", name=f"{alike}-{number:04}") for number in range(2_000)]
    Pod.objects.bulk_create(rows)
    began = time.process_time()
    page = get(viewer, f"/pods/prod/{row.namespace}/{alike}", 404)
    assert time.process_time() - began < 1
    assert f"/pods/prod/{row.namespace}/{alike}-0000" in page.links


def _copied(row: Pod) -> dict[str, object]:
    own = ("id", "uid", "name")
    return {one.attname: getattr(row, one.attname) for one in Pod._meta.concrete_fields if one.attname not in own}


@pytest.mark.parametrize("text", ["hungry", "team-a/hungry"])
def test_the_search_finds_a_pod_by_its_name(viewer: Client, cluster: Cluster, text: str) -> None:
    path = waits(cluster)
    assert viewer.get(f"/search?q={text}").headers["Location"] == path


def test_the_search_finds_one_that_is_gone_and_does_not_choose_between_two(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    held = Allocation.objects.get()
    end_allocation(held)
    Pod.objects.filter(name=held.pod).delete()
    for text in (held.pod, f"{held.namespace}/{held.pod}"):
        assert viewer.get(f"/search?q={text}").headers["Location"] == f"/pods/prod/{held.namespace}/{held.pod}"
    waits(cluster)
    waits(make_cluster("second"))
    page = get(viewer, "/search?q=hungry")
    assert {"/pods/prod/team-a/hungry", "/pods/second/team-a/hungry"} <= set(page.links)


def test_it_is_two_clicks_from_the_overview(viewer: Client, cluster: Cluster) -> None:
    path = waits(cluster)
    lists = {link.partition("?")[0] for link in get(viewer, "/").links}
    assert "/allocations/pending" in lists
    assert path in get(viewer, "/allocations/pending").links


def test_lists_link_the_pods_that_hold(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    held = Allocation.objects.get()
    path, card = f"/pods/prod/{held.namespace}/{held.pod}", Card.objects.get()
    for page in ("/allocations", f"/cards/{card.pk}"):
        assert path in get(viewer, page).links, page


def test_queries_do_not_grow_with_the_cluster(viewer: Client) -> None:
    counts = []
    for nodes in (4, 120):
        cluster = make_cluster("prod")
        make_fleet(cluster, nodes=nodes, cards=2)
        path = waits(cluster)
        get(viewer, path)
        with CaptureQueriesContext(connection) as queries:
            get(viewer, path)
        counts.append(len(queries))
        assert NodeTotals.objects.count() >= nodes
        cluster.delete()
    assert counts[1] <= counts[0] <= 30
