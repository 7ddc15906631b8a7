"""The page of a node: a bar per card, what is on it without a card, components, findings, history."""

from __future__ import annotations

import msgspec
from django.test import Client

from inventory.models import Allocation, Card, Cluster, Node, NodeTotals, Pod
from kube import objects as kube
from tests.factories import GIB, end_allocation, make_cluster, make_finding, make_node
from tests.pages.reading import Page, get

_CARDS = "Cards of the node and their allocations"


def _cards(page: Page) -> list[list[str]]:
    return page.tables[_CARDS]


def test_a_bar_is_split_by_holder_and_the_rest_is_labelled(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.4,))
    page = get(viewer, "/nodes/prod/a")
    pieces = [tag for tag in page.tags_of("a") if "seg" in tag.get("class", "")]
    assert [tag["style"] for tag in pieces] == ["--w:0.2000", "--w:0.2000"]
    assert "default/train-a-0-0 3 GiB" in page.text
    assert "9 GiB free" in page.text


def test_the_hue_of_a_holder_is_that_of_its_namespace_on_every_page(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4, 0.8))
    card = Card.objects.get(index=1)
    found = set()
    for path in ("/nodes/prod/a", "/cards", f"/cards/{card.pk}"):
        pieces = [tag for tag in get(viewer, path).tags_of("a") if "namespace=team-a" in tag.get("href", "")]
        found |= {tag["class"].split()[1] for tag in pieces if "seg" in tag.get("class", "")}
    assert len(found) == 1


def test_more_than_full_is_drawn_past_the_mark(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(2.0,))
    page = get(viewer, "/nodes/prod/a")
    assert {"class": "full-mark", "style": "--w:0.5000", "title": "Capacity"} in page.tags_of("i")
    assert "stack over" in page.html


def test_counted_cards_are_hatched_and_their_holders_stand_apart(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "unknown", 4, loads=(1.0, 0.0))
    page = get(viewer, "/nodes/prod/a")
    assert page.html.count('class="stack unknown"') == 4
    assert _cards(page)[4][0] == "unidentified 2 allocations"
    assert "allocatedResourcesStatus" in _cards(page)[4][3]
    assert "2 of 4 cards free · free memory unknown" in page.text


def test_time_slices_are_shares_and_memory_is_not_metered(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "time-sliced", 1, loads=(0.5,))
    row = _cards(get(viewer, "/nodes/prod/a"))[0]
    assert "2 of 4 shares free" in row[1]
    assert "allocated to 2 pods, memory not metered" in row[1]
    assert row[2] == "not metered"


def test_the_memory_of_a_pod_without_a_card_is_shown_apart(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.4,))
    Allocation.objects.filter(pod="train-a-0-0").update(card=None, card_key="", evidence="count-only")
    NodeTotals.objects.update(unplaced_count=1, memory_unplaced_bytes=3 * GIB)
    row = _cards(get(viewer, "/nodes/prod/a"))[1]
    assert row[:3] == ["unidentified 1 allocation", "default/train-a-0-0 3 GiB", "3"]
    assert "no readable annotation identifies its card" in row[3]


def test_a_pod_of_a_component_that_is_not_ready_says_why(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1)
    pending = kube.ContainerState(waiting=kube.Waiting(reason="CrashLoopBackOff", message="back-off 5m0s"))
    status = kube.PodStatus(phase="Running", containerStatuses=[kube.ContainerStatus(name="plugin", state=pending)])
    _component(cluster, "nvidia-device-plugin", kube.Pod(status=status))
    _component(cluster, "nvidia-dcgm-exporter", None)
    page = get(viewer, "/nodes/prod/a")
    assert "error nvidia-device-plugin not ready · CrashLoopBackOff · plugin: back-off 5m0s" in page.text
    assert "no status nvidia-dcgm-exporter state unreadable" in page.text


def _component(cluster: Cluster, name: str, pod: kube.Pod | None) -> None:
    facts = "{" if pod is None else msgspec.json.encode(pod).decode()
    Pod.objects.create(
        cluster=cluster, uid=name, name=name, node_name="a", component=name, phase="Running", facts=facts, digest=0
    )


def test_findings_and_the_last_ended_allocations_are_on_the_page(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.4,))
    make_finding(cluster, "card-over-committed", "error", "a", "0")
    end_allocation(Allocation.objects.get(pod="train-a-0-0"), minutes_ago=3)
    page = get(viewer, "/nodes/prod/a")
    assert "Card overcommitted" in page.text
    assert page.rows[-1][0] == "default/train-a-0-0"
    assert page.rows[-1][4] == "3 min ago"


def test_the_source_of_unit_driver_and_memory_stands_beside_them(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1)
    Node.objects.update(driver_version="550.54.15", driver_source="node label x")
    text = get(viewer, "/nodes/prod/a").text
    assert "GiB (label aliyun.accelerator/nvidia_mem)" in text
    assert "driver 550.54.15 (node label x)" in text
    assert "15 node label" in text


def test_a_node_whose_object_is_not_there_yet_is_shown_from_its_account(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1)
    Node.objects.all().delete()
    text = get(viewer, "/nodes/prod/a").text
    assert "node unknown" in text
    assert "The node is not in the synced data." in text


def test_an_unknown_node_leads_to_names_that_are_close(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "gpu-00012", "gpushare", 1)
    page = get(viewer, "/nodes/prod/gpu-0012", 404)
    assert "No GPU node gpu-0012 in cluster prod." in page.text
    assert "/nodes/prod/gpu-00012" in page.links


def test_a_node_that_went_says_that_its_cards_are_remembered(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "gone", "gpushare", 3)
    NodeTotals.objects.all().delete()
    page = get(viewer, "/nodes/prod/gone", 404)
    assert "3 of its cards are stored" in page.text
    assert "/cards?cluster=prod&node=gone&removed=any" in page.links


def test_a_node_of_an_unknown_cluster_is_not_found(viewer: Client, cluster: Cluster) -> None:
    assert "Unknown cluster: prode." in get(viewer, "/nodes/prode/a", 404).text


def test_only_the_notice_of_its_own_cluster_is_shown(viewer: Client, cluster: Cluster) -> None:
    make_cluster("other", synced=False)
    make_node(cluster, "a", "gpushare", 1)
    page = get(viewer, "/nodes/prod/a")
    assert not [tag for tag in page.tags_of("div") if tag.get("class") == "notice warning"]


def test_slices_are_told_from_cards(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "sliced", "mig", 7, loads=(1.0, 0.0))
    text = get(viewer, "/nodes/prod/sliced").text
    assert "7 × NVIDIA-A100-SXM4-80GB-MIG-1g.10gb – including slices, on 1 card ·" in text
    assert "slice …sliced-1, 1g.10gb" in text
    card = Card.objects.filter(node_name="sliced", allocations_count=1)[0]
    assert (card.profile, card.parent, card.memory_total_bytes) == ("1g.10gb", "", 9728 * 2**20)
    assert "Slice 1g.10gb card unidentified" in get(viewer, f"/cards/{card.pk}").text


def test_a_pod_that_uses_the_claim_of_another_is_named_beside_the_bar(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    holder = Allocation.objects.get()
    Allocation.objects.filter(pk=holder.pk).update(evidence="claim")
    holder.pk, holder.pod, holder.pod_uid = None, "beside", "beside"
    holder.quantity, holder.memory_bytes, holder.evidence = 0, 0, "claim"
    holder.save()
    page = get(viewer, "/nodes/prod/a")
    assert page.html.count('class="seg') == 1
    assert f"same claim: {holder.namespace}/beside" in _cards(page)[0][1]
    card = get(viewer, f"/cards/{Card.objects.get().pk}")
    assert f"same claim: {holder.namespace}/beside" in card.text
    assert "same claim · main" in card.text
