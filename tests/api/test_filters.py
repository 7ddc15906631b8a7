"""Filters and orders, as pages and REST use them."""

from __future__ import annotations

from typing import Any

import pytest
from django.http import QueryDict

from inventory.models import Allocation, Card, Cluster, NodeTotals
from inventory.queries import rows as querysets
from resources.allocation import AllocationFilter
from resources.card import CardFilter
from resources.cluster import ClusterFilter
from resources.component import ComponentChangeFilter, ComponentFilter
from resources.filter_sets import StrictFilterSet
from resources.finding import FindingFilter
from resources.node import NodeFilter
from resources.pod import PodFilter
from tests.factories import GIB, end_allocation, lose_card, make_cluster, make_finding, make_node, make_pending_pod

ALL = (
    (ClusterFilter, querysets.clusters),
    (NodeFilter, querysets.node_totals),
    (CardFilter, querysets.cards_ever),
    (AllocationFilter, querysets.allocations_ever),
    (PodFilter, querysets.pods),
    (FindingFilter, querysets.findings_ever),
    (ComponentFilter, querysets.components),
    (ComponentChangeFilter, querysets.component_changes),
)


def nodes(query: str) -> list[str]:
    found = NodeFilter(QueryDict(query), querysets.node_totals())
    assert not found.errors
    return [account.node_name for account in found.ordered()]


def cards(query: str) -> list[Card]:
    found = CardFilter(QueryDict(query), querysets.cards_ever())
    assert not found.errors
    return list(found.ordered())


def allocations(query: str) -> list[Allocation]:
    found = AllocationFilter(QueryDict(query), querysets.allocations_ever())
    assert not found.errors
    return list(found.ordered())


@pytest.mark.parametrize(("kind", "rows"), ALL)
def test_every_filter_and_order_runs(fleet: Cluster, kind: type[StrictFilterSet], rows: Any) -> None:
    samples = {
        "min_free_bytes": "1Gi",
        "min_gap_bytes": "1Gi",
        "min_used_bytes": "1Gi",
        "min_unused_bytes": "1Gi",
        "card_id": "1",
        "cluster": "prod",
        **dict.fromkeys(("at", "from", "to"), "2020-01-01"),
    }
    for name, field in kind.base_filters.items():
        value = samples.get(name) or (field.extra.get("words") or ["x"])[0]
        asked = kind(QueryDict(f"{name}={value}"), rows())
        assert not asked.errors, name
        list(asked.ordered())
    everything = len(kind(QueryDict(), rows()).ordered())
    for order in kind.orders:
        assert len(kind(QueryDict(f"ordering=-{order}"), rows()).ordered()) == everything, order


@pytest.mark.parametrize(("kind", "rows"), ALL)
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("nonsense=1", "nonsense"),
        ("ordering=secret", "ordering"),
        ("ordering=cluster,cluster", "ordering"),
        ("ordering=--cluster", "ordering"),
        ("q=a%00b", "q"),
        ("q=" + "a" * 600, "q"),
        ("q=a&q=b", "q"),
        ("cluster=nowhere", "cluster"),
    ],
)
def test_what_makes_no_sense_is_an_error_with_its_name(
    cluster: Cluster, kind: type[StrictFilterSet], rows: Any, query: str, name: str
) -> None:
    asked = kind(QueryDict(query), rows())
    if kind is ClusterFilter and name == "cluster":
        assert not asked.errors  # here it is a name to look for
        return
    assert list(asked.errors) == [name]
    assert list(asked.ordered()) == []


@pytest.mark.parametrize(("value", "size"), [("8GB", 8 * 10**9), ("8 Gi", 8 * 2**30), ("8 GiB", 8 * 2**30), ("8", 8)])
def test_an_amount_may_have_a_unit_and_is_bytes_without(cluster: Cluster, value: str, size: int) -> None:
    asked = CardFilter({"min_free_bytes": value}, querysets.cards_present())
    assert asked.is_valid()
    assert asked.form.cleaned_data["min_free_bytes"] == size


@pytest.mark.parametrize(
    "value", ["-1", "8GBs", "8 Qi", "8 G i", "Gi", "0x10", "1e400", "9999999999999999999", "9Ei", "١٢"]
)
def test_an_amount_that_is_none_is_refused(cluster: Cluster, value: str) -> None:
    asked = CardFilter({"min_free_bytes": value}, querysets.cards_present())
    assert list(asked.errors) == ["min_free_bytes"]


@pytest.mark.parametrize("value", ["8589934592", "8Gi", "8192Mi", "0.0078125Ti"])
def test_an_amount_is_bytes_or_a_quantity(cluster: Cluster, value: str) -> None:
    asked = CardFilter(QueryDict(f"min_free_bytes={value}"), querysets.cards_present())
    assert not asked.errors
    assert asked.form.cleaned_data["min_free_bytes"] == 8 * GIB


def test_cards_with_room_are_found_and_unknown_ones_are_not_among_them(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 3, loads=(0.0, 0.4, 1.0))
    make_node(cluster, "b", "nvidia-count", 2)
    assert [(card.node_name, card.index) for card in cards("min_free_bytes=8Gi")] == [("a", 0), ("a", 1)]


def test_an_order_puts_the_unknown_last_in_both_directions(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.0, 1.0))
    make_node(cluster, "b", "directx", 1)
    assert [card.memory_free_bytes for card in cards("ordering=memory_free_bytes")] == [0, 15 * GIB, None]
    assert [card.memory_free_bytes for card in cards("ordering=-memory_free_bytes")] == [15 * GIB, 0, None]


def test_cards_come_by_node_and_index_and_gone_ones_only_when_asked_for(cluster: Cluster) -> None:
    make_node(cluster, "b", "gpushare", 1)
    make_node(cluster, "a", "gpushare", 2)
    lose_card(Card.objects.get(node_name="a", index=0))
    assert [(card.node_name, card.index) for card in cards("")] == [("a", 1), ("b", 0)]
    assert [(card.node_name, card.index) for card in cards("removed=true")] == [("a", 0)]
    assert len(cards("removed=any")) == 3


def test_several_values_of_one_name_are_any_of_them(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 4)
    assert {card.state for card in cards("state=free&state=full")} == {"free", "full"}


def test_nodes_are_found_by_what_their_node_row_says(cluster: Cluster) -> None:
    make_node(cluster, "up", "gpushare", 1)
    make_node(cluster, "down", "gpushare", 1, ready=False)
    make_node(cluster, "mute", "directx", 1, ready=None)
    assert nodes("ready=true") == ["up"]
    assert nodes("ready=false") == ["down"]
    assert nodes("ready=unknown") == ["mute"]
    assert nodes("os=windows") == ["mute"]
    assert nodes("stack=gpushare") == ["down", "up"]
    assert nodes("stack=gpu") == []
    assert nodes("stack=%25") == []
    assert nodes("q=UP") == ["up"]


def test_a_card_is_found_by_who_holds_it(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 3, loads=(1.0, 0.0, 1.0))
    assert [card.uuid for card in cards("q=train-a-0-0")] == ["GPU-a-0"]
    assert [card.uuid for card in cards("q=GPU-a-2")] == ["GPU-a-2"]
    end_allocation(Allocation.objects.get(pod="train-a-0-0"))
    assert cards("q=train-a-0-0") == []


def test_history_is_apart_from_what_is_held_now(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(1.0, 1.0))
    end_allocation(Allocation.objects.order_by("id")[0])
    assert len(allocations("")) == len(allocations("ended=true")) == 1
    assert len(allocations("ended=any")) == 2
    assert allocations("")[0].ended_at is None


def test_allocations_without_a_card_can_be_asked_for(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia-count", 2, loads=(1.0, 0.0))
    make_node(cluster, "b", "nvidia", 1, loads=(1.0,))
    assert [hold.node_name for hold in allocations("placed=false")] == ["a"]
    assert [hold.node_name for hold in allocations("placed=true")] == ["b"]
    assert [hold.node_name for hold in allocations("evidence=count-only")] == ["a"]


def test_pods_are_found_by_the_resource_that_they_ask_for(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(1.0,))
    make_pending_pod(cluster, "late")
    found = PodFilter(QueryDict("resource=aliyun.com/gpu-mem&pending=true"), querysets.pods())
    assert [pod.name for pod in found.ordered()] == ["late"]


def test_findings_come_worst_first(cluster: Cluster) -> None:
    for severity in ("info", "error", "warning"):
        make_finding(cluster, f"code-{severity}", severity)
    found = FindingFilter(QueryDict(""), querysets.findings_ever()).ordered()
    assert [finding.severity for finding in found] == ["error", "warning", "info"]


def test_rows_of_other_clusters_stay_out(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1)
    make_node(make_cluster("other"), "b", "gpushare", 1)
    assert nodes("cluster=other") == ["b"]
    assert nodes("") == ["a", "b"]
    assert NodeTotals.objects.count() == 2
