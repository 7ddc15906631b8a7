"""The page of a node: a bar per card, what is on it without a card, components, findings, history."""

from __future__ import annotations

import re
from datetime import timedelta

import msgspec
from django.test import Client
from django.utils import timezone

from inventory.models import Allocation, Card, Cluster, ComponentChange, Finding, Node, NodeChange, NodeTotals, Pod
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
    assert [tag["title"].split(" · ")[0] for tag in pieces] == ["default/train-a-0-0", "default/train-a-0-1"]
    assert "train-a-0-0 3 GiB train-a-0-1 3 GiB 9 GiB free" in page.text


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
    assert (_cards(page)[4][0], _cards(page)[4][-1]) == ("unidentified", "2 allocations")
    assert "allocatedResourcesStatus" in page.text
    assert "2 of 4 cards free · free memory unknown" in page.text


def test_time_slices_are_shares_and_memory_is_not_metered(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "time-sliced", 1, loads=(0.5,))
    page = get(viewer, "/nodes/prod/a")
    assert "2 of 4 shares free" in _cards(page)[0][1]
    assert "allocated to 2 pods, memory not metered" in [tag.get("title") for tag in page.tags_of("td")]
    assert _cards(page)[0][2].startswith("not metered")


def test_the_memory_of_a_pod_without_a_card_is_shown_apart(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.4,))
    Allocation.objects.filter(pod="train-a-0-0").update(card=None, card_key="", evidence="count-only")
    NodeTotals.objects.update(unplaced_count=1, memory_unplaced_bytes=3 * GIB)
    page = get(viewer, "/nodes/prod/a")
    assert _cards(page)[1] == ["unidentified", "default/train-a-0-0 3 GiB", "3", "1 allocation"]
    assert "no readable annotation identifies its card" in page.text


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
    text = get(viewer, "/nodes/prod/a").text
    assert "Card overcommitted" in text
    assert re.search(r"default/train-a-0-0 · ended after \d+ \w+ · card 0 3 min ago", text)


def test_the_source_of_unit_driver_and_memory_stands_beside_them(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1)
    Node.objects.update(driver_version="550.54.15", driver_source="node label x")
    text = get(viewer, "/nodes/prod/a").text
    assert "Memory unit GiB label aliyun.accelerator/nvidia_mem" in text
    assert "Driver 550.54.15 node label x" in text


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
    assert "7 × NVIDIA-A100-SXM4-80GB-MIG-1g.10gb – including slices, on 1 card" in text
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
    assert f"same claim: {holder.namespace}/beside" in [tag.get("title") for tag in page.tags_of("td")]
    card = get(viewer, f"/cards/{Card.objects.get().pk}")
    assert f"same claim: {holder.namespace}/beside" in card.html
    assert {row[-1] for row in card.tables["Allocations of the card"]} == {"80 GiB", "same claim"}


def test_what_is_overcommitted_is_not_less_than_nothing_free(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(2.4, 0.0))
    text = get(viewer, "/nodes/prod/a").text
    assert "15 GiB free of 30 GiB · largest free block 15 GiB ( card 1 )" in text
    assert "−" not in text


def test_what_sources_report_of_one_card_is_one_row(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0,))
    keys = list(Card.objects.order_by("pk").values_list("key", flat=True))
    for code, severity in (("ecc-uncorrected", "error"), ("row-remap-pending", "warning"), ("xid-hardware", "warning")):
        make_finding(cluster, code, severity, "a", keys[0])
    make_finding(cluster, "ecc-uncorrected", "error", "a", keys[1])
    page = get(viewer, "/nodes/prod/a")
    rows = [tag["data-key"].split("-")[0] for tag in page.tags_of("li") if "data-key" in tag]
    assert (rows.count("cause"), rows.count("finding")) == (1, 2)
    assert "Uncorrectable ECC errors +2 · Drain and reset the card." in page.text
    assert "2 cards 30 min" in page.text
    # The page of the card says it once: in its head, from the reports.
    card = Card.objects.get(key=keys[0])
    assert "Uncorrectable ECC errors" not in get(viewer, f"/cards/{card.pk}").text


def test_what_changed_since_yesterday_is_a_list(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.4,))
    now = timezone.now()
    Allocation.objects.filter(pod="train-a-0-0").update(started_at=now - timedelta(hours=3))
    Allocation.objects.filter(pod="train-a-0-1").update(started_at=now - timedelta(days=3))
    Finding.objects.filter(pk=make_finding(cluster, "exporter-silent", "warning", "a").pk).update(
        ended_at=now - timedelta(minutes=10)
    )
    for days, before, after in ((0, "550.54", "580.10"), (2, "540.01", "550.54")):
        ComponentChange.objects.create(
            cluster=cluster,
            node_name="a",
            name="driver",
            state_before="ready",
            state_after="ready",
            version_before=before,
            version_after=after,
            at=now - timedelta(days=days, hours=1),
        )
    page = get(viewer, "/nodes/prod/a")
    keys = [tag["data-key"].split("-")[0] for tag in page.tags_of("li") if "data-key" in tag]
    assert keys == ["change", "finding", "change", "pod"]  # the first: its plugin came
    assert "Exporter stopped reporting · ended 10 min ago" in page.text
    assert "Driver · version 550.54 → 580.10" in page.text
    assert "default/train-a-0-0 · allocated · card 0 3 h ago" in page.text
    week = get(viewer, "/nodes/prod/a?window=7d").text
    assert "540.01" in week
    assert "default/train-a-0-1" in week


def test_cordons_drivers_and_labels_stand_on_the_same_axis(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.4,))
    now = timezone.now()
    for hours, what, before, after in (
        (8, "cordoned", "", "yes"),
        (7, "driver", "570.1", "580.2"),
        (6, "label nvidia.com/mig.config", "", "all-balanced"),
        (5, "offers nvidia.com/gpu", "8", "7"),
        (4, "cordoned", "yes", ""),
        (3, "boot", "one", "two"),
        (2, "ready", "", "unknown"),
        (30, "kernel", "5.15", "6.1"),
    ):
        NodeChange.objects.create(
            cluster=cluster, node_name="a", what=what, before=before, after=after, at=now - timedelta(hours=hours)
        )
    page = get(viewer, "/nodes/prod/a")
    for text in (
        "Cordoned 8 h ago",
        "Driver · 570.1 → 580.2 7 h ago",
        "nvidia.com/mig.config · – → all-balanced 6 h ago",
        "nvidia.com/gpu · 8 → 7 5 h ago",
        "Uncordoned 4 h ago",
        "Restarted 3 h ago",
        "Not ready · unknown 2 h ago",
    ):
        assert text in page.text
    assert "6.1" not in page.text
    assert "6.1" in get(viewer, "/nodes/prod/a?window=7d").text
    track = page.html.partition("<span>Node</span>")[2].partition("</div>")[0]
    widths = [float(width) for width in re.findall(r"--w:([0-9.]+)", track)]
    # Four hours of a cordon, two of not being ready; what happened at once is narrow.
    assert [round(width * 24) for width in sorted(widths)[-2:]] == [2, 4]


def test_a_driver_that_its_component_tells_of_is_told_once(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1)
    then = timezone.now() - timedelta(hours=7)
    NodeChange.objects.create(cluster=cluster, node_name="a", what="driver", before="570.1", after="580.2", at=then)
    assert get(viewer, "/nodes/prod/a").text.count("570.1 → 580.2") == 1
    ComponentChange.objects.create(
        cluster=cluster, node_name="a", name="driver", version_before="570.1", version_after="580.2", at=then
    )
    assert get(viewer, "/nodes/prod/a").text.count("570.1 → 580.2") == 1


def test_commands_are_there_to_be_copied(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1)
    page = get(viewer, "/nodes/prod/a")
    copied = [tag["data-copy"] for tag in page.tags_of("button") if "data-copy" in tag]
    assert {"a", "kubectl cordon a", "kubectl drain a --ignore-daemonsets --delete-emptydir-data"} <= set(copied)
    assert all(f">{text}<" in page.html for text in copied)
