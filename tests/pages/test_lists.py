"""What all lists have: filters, order, pages, an honest count, CSV; on each of them."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client

from inventory.models import Allocation, Card, Cluster, Pod
from tests.factories import (
    make_claim,
    make_claiming_pod,
    make_cluster,
    make_finding,
    make_fleet,
    make_node,
    make_pending_pod,
    not_metered,
)
from tests.pages.reading import Page, get

LISTS = ("/nodes", "/cards", "/allocations", "/allocations/pending", "/findings")


def names(page: Page) -> list[str]:
    """First cell of each row, up to its first blank."""
    return [row[0].split(" ")[0] for row in page.rows]


@pytest.mark.parametrize("path", LISTS)
def test_a_list_without_rows_says_so(viewer: Client, cluster: Cluster, path: str) -> None:
    assert "No entries." in get(viewer, path).text


@pytest.mark.parametrize("path", LISTS)
def test_before_the_first_list_is_complete_nothing_is_not_the_same_as_none(viewer: Client, path: str) -> None:
    make_cluster("new", synced=False)
    page = get(viewer, path)
    assert "new : initial list" in page.text
    assert "unknown" in page.text
    assert "No data yet." in page.text


@pytest.mark.parametrize("path", LISTS)
def test_a_filter_that_finds_nothing_offers_the_whole_list(viewer: Client, fleet: Cluster, path: str) -> None:
    page = get(viewer, f"{path}?q=nosuchthing")
    assert "No matches for this filter." in page.text
    assert path in page.links


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("colour=red", "colour"),
        ("ordering=colour", "ordering"),
        ("cursor=nonsense", "cursor"),
        ("page_size=0", "page_size"),
        ("page_size=9999", "page_size"),
        ("page_size=%EF%BC%95", "page_size"),
        ("format=pdf", "format"),
        ("cluster=nope", "cluster"),
        ("q=%00", "q"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_fields_name(
    viewer: Client, fleet: Cluster, path: str, query: str, field: str
) -> None:
    page = get(viewer, f"{path}?{query}", 400)
    assert f"<code>{field}</code>" in page.html
    assert path in page.links


@pytest.mark.parametrize("path", LISTS)
def test_the_csv_is_of_the_same_rows(viewer: Client, fleet: Cluster, path: str) -> None:
    make_finding(fleet)
    response: Any = viewer.get(f"{path}?format=csv")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    flat = "&group=none" if path == "/findings" else ""
    assert len(rows) == len(get(viewer, f"{path}?page_size=200{flat}").rows)
    assert f"{path}?format=csv" in get(viewer, path).links


def test_the_csv_keeps_the_filter_of_the_page(viewer: Client, fleet: Cluster) -> None:
    page = get(viewer, "/nodes?stack=gpushare")
    link = next(link for link in page.links if "format=csv" in link)
    response: Any = viewer.get(link)
    rows = list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))
    assert {row["stacks"] for row in rows} == {"gpushare"}


def test_a_click_on_a_head_sorts_and_the_next_one_turns_it_round(viewer: Client, cluster: Cluster) -> None:
    for name, load in (("b", 0.4), ("a", 1.0), ("c", 0.0)):
        make_node(cluster, name, "gpushare", 1, loads=(load,))
    page = get(viewer, "/nodes")
    link = next(link for link in page.links if "ordering=-memory_free_bytes" in link)
    down = get(viewer, link)
    assert names(down) == ["c", "b", "a"]
    assert {"aria-sort": "descending", "scope": "col", "class": "num"} in down.tags_of("th")
    up = get(viewer, next(link for link in down.links if "ordering=memory_free_bytes" in link))
    assert names(up) == ["a", "b", "c"]


def test_what_is_not_known_comes_last_in_both_directions(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "known", "gpushare", 1)
    make_node(cluster, "counted", "nvidia-count", 1)
    not_metered("counted")
    for order in ("memory_free_bytes", "-memory_free_bytes"):
        assert names(get(viewer, f"/nodes?ordering={order}")) == ["known", "counted"]


def test_pages_go_forth_and_back_without_loss_or_repeat(viewer: Client, cluster: Cluster) -> None:
    make_fleet(cluster, nodes=23, cards=1)
    page, seen = get(viewer, "/nodes?page_size=5"), []
    while True:
        seen += names(page)
        following = [tag["href"] for tag in page.tags_of("a") if tag.get("rel") == "next"]
        if not following:
            break
        page = get(viewer, following[0])
    assert seen == [f"gpu-{number:05d}" for number in range(23)]
    back = next(tag["href"] for tag in page.tags_of("a") if tag.get("rel") == "prev")
    assert names(get(viewer, back)) == [f"gpu-{number:05d}" for number in range(15, 20)]


def test_the_count_is_exact_and_says_what_part_is_shown(viewer: Client, cluster: Cluster) -> None:
    make_fleet(cluster, nodes=7, cards=1)
    assert "5 of 7" in get(viewer, "/nodes?page_size=5").text
    assert "all 7" in get(viewer, "/nodes").text


def test_the_form_shows_the_filter_in_force_and_keeps_what_it_has_no_field_for(viewer: Client, fleet: Cluster) -> None:
    page = get(viewer, "/nodes?stack=nvidia&zone=zone-a&ordering=-node")
    options = [tag for tag in page.tags_of("option") if "selected" in tag]
    assert [tag["value"] for tag in options] == ["nvidia"]
    hidden = {
        tag["name"]: tag["value"] for tag in page.tags_of("input") if tag.get("type") == "hidden" and "value" in tag
    }
    assert hidden["zone"] == "zone-a"
    assert hidden["ordering"] == "-node"
    assert "zone: zone-a" in page.text
    assert "/nodes?stack=nvidia&ordering=-node" in page.links


def test_every_field_of_a_form_has_a_label(viewer: Client, fleet: Cluster) -> None:
    for path in LISTS:
        html = get(viewer, path).html
        form = " ".join(html[html.index('<form class="filters"') :].partition("</form>")[0].split())
        assert form.count("<label") == form.count("<select") + form.count('<input type="text"')
        assert form.count('<input type="search"') == len(
            re.findall(r'<input type="search"[^>]* aria-label="[^"]+"', form)
        )


def test_nodes_show_what_is_not_known_as_not_known(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "counted", "nvidia-count", 8, loads=(1.0,), ready=None)
    not_metered("counted")
    row = get(viewer, "/nodes").rows[0]
    assert row[0] == "counted ·no status readiness unknown"
    assert row[3] == "unknown / 640"
    assert row[4:6] == ["unknown", "unknown"]
    page = get(viewer, "/nodes?columns=name,allocations_count")
    assert page.rows[0][1] == "8"
    assert "8 unidentified" in page.titles


def test_nodes_can_be_asked_for_room(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "roomy", "gpushare", 1, loads=(0.0,))
    make_node(cluster, "full", "gpushare", 1, loads=(1.0,))
    assert names(get(viewer, "/nodes?min_gap_bytes=8Gi")) == ["roomy"]


def test_cards_name_their_holders_and_count_the_rest(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "time-sliced", 1, loads=(1.0,))
    page = get(viewer, "/cards?columns=node,allocations,memory_allocated_bytes,allocations_count")
    assert page.rows[0][2:] == ["not metered", "4"]
    assert any(title.startswith("default/train-a-0-0") for title in page.titles)


def test_a_card_whose_holders_are_not_known_has_no_number_of_holders(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia-count", 2, loads=(1.0, 0.0))
    page = get(viewer, "/cards?columns=node,memory_allocated_bytes,memory_free_bytes,allocations_count")
    assert "unknown: the kubelet reports only a count for this node" in page.titles
    assert page.rows[0][1:] == ["unknown"] * 3


def test_an_over_committed_card_is_marked_with_a_sign_and_a_negative_rest(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(36 / 15,))
    row = get(viewer, "/cards?columns=node,memory_allocated_bytes,memory_free_bytes").rows[0]
    assert row[1:] == ["✕error 36 / 15", "−21"]


def test_cards_that_are_gone_are_listed_only_when_asked_for(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2)
    card = Card.objects.get(index=1)
    card.removed_at = card.changed_at
    card.save()
    assert len(get(viewer, "/cards").rows) == 1
    assert "removed" in get(viewer, "/cards?removed=true").rows[0][0]


def test_allocations_say_how_the_card_is_known(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(1.0,))
    make_node(cluster, "b", "nvidia-count", 2, loads=(1.0, 0.0))
    page = get(viewer, "/allocations")
    assert {row[4] for row in page.rows} == {"a · card 0", "b · unknown"}
    assert {"pod annotation (v1)", "unidentified (count only)"} <= set(page.titles)


def test_a_pod_that_is_being_deleted_still_holds_and_is_marked(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    make_node(cluster, "b", "gpushare", 1, loads=(1.0,))
    Allocation.objects.update(terminating=True)
    page = get(viewer, "/allocations")
    assert all("terminating, still allocated" in row[0] for row in page.rows)
    # What a system's own scheduler does is said of its pods only.
    held = "Terminating. Allocated until the pod is deleted."
    said = {title for title in page.titles if title.startswith(held)}
    assert sorted(said) == [held, f"{held} The gpushare scheduler already counts it as free."]


def test_history_is_a_table_of_its_own(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    held = Allocation.objects.get()
    Allocation.objects.update(ended_at=held.started_at)
    assert get(viewer, "/allocations").rows == []
    assert "ended 10 min ago" in get(viewer, "/allocations?ended=true").rows[0][6]


def test_waiting_pods_are_named_with_what_they_want_and_why_they_wait(viewer: Client, cluster: Cluster) -> None:
    make_pending_pod(cluster, "hungry", minutes=12, quantity=20)
    row = get(viewer, "/allocations/pending").rows[0]
    assert row[0] == "hungry"
    assert row[2] == "aliyun.com/gpu-mem: 20"
    assert row[3].startswith("No node of the cluster offers aliyun.com/gpu-mem.")
    assert row[3].endswith("0/3 nodes are available: 3 Insufficient GPU Memory in one device.")
    assert "1 pending pod, oldest: 12 min" in get(viewer, "/allocations").text


def test_the_pod_that_is_pending_for_longest_comes_first(viewer: Client, cluster: Cluster) -> None:
    for name, minutes in (("a-new", 1), ("b-old", 50), ("c-middle", 9)):
        make_pending_pod(cluster, name, minutes=minutes)
    assert names(get(viewer, "/allocations/pending")) == ["b-old", "c-middle", "a-new"]
    assert names(get(viewer, "/allocations/pending?ordering=pod")) == ["a-new", "b-old", "c-middle"]


def test_a_pod_that_waits_for_its_claim_shows_what_was_asked_and_why_it_is_not_given(
    viewer: Client, cluster: Cluster
) -> None:
    condition = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('90Gi')) >= 0"
    exactly = {"deviceClassName": "gpu.nvidia.com", "count": 2, "selectors": [{"cel": {"expression": condition}}]}
    make_claim(cluster, "fold-gpu-x7k2p", request={"exactly": exactly})
    make_claiming_pod(cluster, "fold", claim="fold-gpu-x7k2p", template="two-gpus")
    row = get(viewer, "/allocations/pending").rows[0]
    assert row[2] == "gpu.nvidia.com: 2, memory >= 90Gi"
    folded = "0/3 nodes are available: 3 cannot allocate all claims."
    assert row[3] == f"3 of 3 nodes: No free devices match all claims of the pod. {folded}"
    assert "claim fold-gpu-x7k2p" in get(viewer, "/allocations/pending").titles


def test_each_way_to_fulfil_a_request_is_a_line(viewer: Client, cluster: Cluster) -> None:
    ways = [{"name": "big", "deviceClassName": "mig.nvidia.com"}, {"name": "any", "deviceClassName": "gpu.nvidia.com"}]
    make_claim(cluster, "either", request={"firstAvailable": ways})
    make_claiming_pod(cluster, claim="either")
    assert get(viewer, "/allocations/pending").rows[0][2] == "mig.nvidia.com: 1 or gpu.nvidia.com: 1"


@pytest.mark.parametrize(
    ("claim", "template", "made", "said"),
    [
        ("", "mig-3gg", None, "No claim created from the template mig-3gg yet."),
        ("lost", "", None, "The claim lost is not synced:"),
        (
            "held",
            "",
            {
                "status": {
                    "allocation": {
                        "devices": {"results": [{"driver": "gpu.nvidia.com", "pool": "dra-1", "device": "gpu-0"}]}
                    }
                }
            },
            "The claim held is allocated on dra-1. The pod can run only there.",
        ),
    ],
)
def test_what_keeps_a_pod_from_its_claim_is_said(
    viewer: Client, cluster: Cluster, claim: str, template: str, made: dict[str, Any] | None, said: str
) -> None:
    if made is not None:
        make_claim(cluster, claim, **made)
    make_claiming_pod(cluster, claim=claim, template=template)
    page = get(viewer, "/allocations/pending")
    assert page.rows[0][3].startswith(said)
    assert page.rows[0][3].endswith("3 cannot allocate all claims.")


def test_a_pod_of_which_nothing_says_why_it_waits_says_what_its_claim_lacks(viewer: Client, cluster: Cluster) -> None:
    make_claiming_pod(cluster, template="typo")
    Pod.objects.update(pending_reason="", pending_message="")
    why = get(viewer, "/allocations/pending").rows[0][3]
    assert why.startswith("No claim created from the template typo yet.")
    assert "unknown" not in why


def test_findings_come_worst_first_with_what_to_do(viewer: Client, cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1)
    make_finding(cluster, "units-mixed", "warning")
    make_finding(cluster, "card-over-committed", "error", "a", "0")
    page = get(viewer, "/findings?group=none")
    assert [row[0] for row in page.rows] == ["✕error Card overcommitted", "!warning Mixed memory units"]
    assert page.rows[0][1] == "a · card 0"
    assert "Delete a pod that can run elsewhere" in page.rows[0][2]
    assert "1 error" in page.text


def test_a_finding_of_an_unknown_code_is_shown_by_its_code(viewer: Client, cluster: Cluster) -> None:
    make_finding(cluster, "never-heard-of", "info")
    assert get(viewer, "/findings").rows[0][0] == "iinfo never-heard-of"
