"""`gpudash inspect`: the table, the JSON, and which cluster and node are meant."""

from __future__ import annotations

import gc
import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from inventory.models import Allocation, Card, Cluster, Node, NodeTotals, Watch
from inventory.queries.free import free_cards
from inventory.queries.pod_usage import with_pod_usage
from resources.inspection import report
from resources.inspection.table import amount
from tests.factories import GIB, make_cluster, make_finding, make_node, not_metered
from tests.factories.usage import measure, source_of

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    out = io.StringIO()
    call_command("inspect", *words, stdout=out)
    return out.getvalue()


def as_json(*words: str) -> Any:
    return json.loads(run(*words, "-o", "json"))


def test_json_has_the_fields_that_scripts_rely_on(cluster: Cluster) -> None:
    make_node(cluster, "n", "gpushare", 1, loads=(0.4,))
    make_finding(cluster, node_name="n", card_key="0")
    found = as_json()
    assert list(found) == ["cluster", "synced_at", "nodes", "findings"]
    (node,) = found["nodes"]
    assert list(node) == [
        "name", "ready", "stacks", "unit", "unit_source", "cards_total", "cards_allocated",
        "memory_total_bytes", "memory_allocated_bytes", "cards", "unplaced", "health", "health_reports",
        "cards_free", "cards_unavailable", "memory_free_bytes", "memory_unavailable_bytes", "unavailable_reason",
    ]  # fmt: skip
    (card,) = node["cards"]
    assert list(card) == [
        "index", "uuid", "model", "stack", "health", "memory_total_bytes", "memory_physical_bytes",
        "memory_allocated_bytes", "allocations", "health_reports",
        "memory_used_bytes", "utilization_ratio", "temperature_celsius", "power_watts", "measured_at", "usage_source",
        "memory_free_bytes", "memory_unavailable_bytes", "unavailable_reason",
    ]  # fmt: skip
    allocation = card["allocations"][0]
    assert list(allocation) == [
        "namespace", "pod", "container", "resource", "quantity", "memory_bytes", "core_percent", "evidence",
        "memory_used_bytes",
    ]  # fmt: skip
    assert list(found["findings"][0]) == ["code", "severity", "node", "card", "pod", "text", "first_seen_at"]


def test_json_counts_what_it_knows_and_says_null_of_the_rest(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4, 0.0))
    make_node(cluster, "b", "nvidia-count", 2, loads=(1.0, 0.0))
    make_node(cluster, "c", "directx", 1, loads=(0.25,))
    memory, count, shared = as_json()["nodes"]
    assert (memory["unit"], memory["memory_total_bytes"], memory["memory_allocated_bytes"]) == (
        "GiB",
        30 * GIB,
        6 * GIB,
    )
    assert [card["memory_allocated_bytes"] for card in memory["cards"]] == [6 * GIB, 0]
    assert (count["cards_total"], count["cards_allocated"], len(count["unplaced"])) == (2, 1, 1)
    assert [card["memory_allocated_bytes"] for card in count["cards"]] == [None, None]
    assert shared["memory_total_bytes"] is None
    assert [held["memory_bytes"] for held in shared["cards"][0]["allocations"]] == [None] * 4


def test_json_has_what_is_measured_now(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "nvidia", 2, loads=(1.0,))
    make_node(cluster, "gpu-2", "gpushare", 1, loads=(0.5,))
    first, second = Card.objects.filter(node_name="gpu-1").order_by("index")
    shared = Card.objects.get(node_name="gpu-2")
    told = {"utilization_ratio": 0.5, "temperature_celsius": 61.0, "power_watts": 212.0, "version": "4.5"}
    measure(first, **told)
    measure(second, lost_at=Now())
    entry = {"container": "main", "uid": "", "memory": GIB, "of_pod": False, "format": "hami-monitor"}
    one = Allocation.objects.filter(card=shared).order_by("started_at", "id")[0]
    measure(shared, holders=[entry | {"namespace": one.namespace, "pod": one.pod, "container": one.container}])
    nodes = {node["name"]: node for node in as_json()["nodes"]}
    card, silent = nodes["gpu-1"]["cards"]
    known = [card[name] for name in ("memory_used_bytes", "utilization_ratio", "temperature_celsius", "power_watts")]
    assert known == [9 * GIB, 0.5, 61.0, 212.0]
    assert card["usage_source"] == "dcgm-exporter 4.5"
    assert card["measured_at"]
    assert card["allocations"][0]["memory_used_bytes"] == 9 * GIB
    assert {silent[name] for name in ("memory_used_bytes", "measured_at", "usage_source")} == {None}
    assert [held["memory_used_bytes"] for held in nodes["gpu-2"]["cards"][0]["allocations"]] == [GIB, None]
    # The same as pages and REST say.
    with_holders = {held.pk: held.used.memory_used_bytes for held in with_pod_usage(Allocation.objects.all())}  # type: ignore[attr-defined]
    assert sorted(value for value in with_holders.values() if value) == [GIB, *[9 * GIB]]
    source_of(cluster, timedelta(minutes=6))
    assert as_json()["nodes"][0]["cards"][0]["memory_used_bytes"] is None


def test_the_table_has_what_is_used_where_it_is_measured(cluster: Cluster) -> None:
    make_node(cluster, "gpu-1", "nvidia", 1, loads=(1.0,))
    assert "USED" not in run("-d")
    measure(Card.objects.get())
    text = run("-d")
    assert "FREE  UNAVAILABLE  USED   POD" in text
    assert ", 9 GiB used" in text


def test_free_is_what_pods_can_be_given_and_the_rest_is_apart_with_its_reason(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4, 0.0))
    make_node(cluster, "b", "gpushare", 2, loads=(0.4, 0.0), ready=False)
    make_node(cluster, "c", "gpushare", 2, loads=(0.4, 0.0))
    ill = {
        "state": "unavailable",
        "unavailable_reason": "unhealthy",
        "memory_free_bytes": 0,
        "memory_unavailable_bytes": 15 * GIB,
    }
    Card.objects.filter(node_name="c", index=1).update(**ill)
    kept = {"cards_free": 0, "cards_unavailable": 1, "memory_free_bytes": 9 * GIB, "memory_unavailable_bytes": 15 * GIB}
    NodeTotals.objects.filter(node_name="c").update(**kept)
    nodes = {node["name"]: node for node in as_json()["nodes"]}
    assert {name: [one[column] for column in _FREE] for name, one in nodes.items()} == {
        "a": [1, None, 24 * GIB, None, None],
        "b": [0, 1, 0, 24 * GIB, "not-ready"],
        "c": [0, 1, 9 * GIB, 15 * GIB, None],
    }
    assert [card["unavailable_reason"] for card in nodes["c"]["cards"]] == [None, "unhealthy"]
    free = free_cards([cluster])
    assert (free.named, free.unavailable) == (1, {"not-ready": 1, "unhealthy": 1})
    lines = {line.split()[0]: line for line in run().splitlines() if line.strip()}
    assert "24 GiB       -" in lines["a"]
    assert "0 B          24 GiB, not-ready" in lines["b"]
    assert "9 GiB        15 GiB, unhealthy" in lines["c"]


def test_of_a_cluster_without_word_nothing_is_free(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 1, loads=(0.4,))
    Watch.objects.filter(cluster=cluster).update(last_event_at=Now() - timedelta(hours=1))
    (node,) = as_json()["nodes"]
    assert [node[column] for column in _FREE] == [0, None, 0, 9 * GIB, "stale-cluster"]
    assert node["cards"][0]["memory_unavailable_bytes"] == 9 * GIB
    assert "9 GiB, stale-cluster" in run("-d")


_FREE = ("cards_free", "cards_unavailable", "memory_free_bytes", "memory_unavailable_bytes", "unavailable_reason")


def test_inspecting_costs_the_same_at_any_size(cluster: Cluster) -> None:
    def cost(nodes: int) -> int:
        own = make_cluster(f"of-{nodes}")
        for number in range(nodes):
            make_node(own, f"gpu-{number}", "gpushare", 2, loads=(0.5,))
        for card in Card.objects.filter(cluster=own):
            measure(card)
        with CaptureQueriesContext(connection) as captured:
            report.inspect(own)
        return len(captured)

    assert cost(1) == cost(6) == 7


def test_json_of_one_node_has_that_node_and_its_findings(cluster: Cluster) -> None:
    for name in ("a", "b"):
        make_node(cluster, name, cards=1)
        make_finding(cluster, node_name=name)
    found = as_json("b")
    assert [node["name"] for node in found["nodes"]] == ["b"]
    assert [finding["node"] for finding in found["findings"]] == ["b"]


def test_a_cluster_that_is_not_synced_says_so(db: None) -> None:
    make_cluster("fresh", synced=False)
    assert as_json()["synced_at"] is None
    assert "NOT SYNCED" in run()


def test_the_table_has_a_line_per_node_and_a_question_mark_for_the_unknown(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4, 0.0))
    make_node(cluster, "b", "nvidia-count", 2, loads=(1.0, 0.0), ready=None)
    not_metered("b")
    lines = {line.split()[0]: line for line in run().splitlines() if line}
    assert "1 of 2" in lines["a"]
    assert "6 GiB of 30 GiB" in lines["a"]
    assert "24 GiB" in lines["a"]
    assert "? of 160 GiB" in lines["b"]
    assert lines["b"].split()[1] == "?"


def test_details_have_a_line_per_holder_and_one_for_pods_without_a_card(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.4, 0.0))
    make_node(cluster, "b", "nvidia-count", 2, loads=(1.0, 0.0))
    text = run("-d")
    assert "default/train-a-0-0/main" in text
    assert "3 aliyun.com/gpu-mem = 3 GiB" in text
    assert "annotation-v1" in text
    assert any(line.lstrip().startswith("?") and "train-b-0-0" in line for line in text.splitlines())


def test_findings_are_printed(cluster: Cluster) -> None:
    make_finding(cluster, "index-out-of-range", "error", "n", "9")
    assert "index-out-of-range" in run()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "?"),
        (0, "0 B"),
        (1023, "1023 B"),
        (GIB, "1 GiB"),
        (3 * GIB // 2, "1.5 GiB"),
        (-GIB, "-1 GiB"),
        (2**50, "1024 TiB"),
    ],
)
def test_an_amount_is_readable_and_unknown_is_not_zero(value: int | None, text: str) -> None:
    assert amount(value) == text


def test_an_unknown_node_fails_with_close_names(cluster: Cluster) -> None:
    make_node(cluster, "gpu-node-17", cards=1)
    with pytest.raises(CommandError, match="gpu-node-17"):
        run("gpu-node-71")


def test_a_node_without_a_gpu_is_not_called_unknown(cluster: Cluster) -> None:
    Node.objects.create(cluster=cluster, uid="u", name="plain", facts="{}", digest=0)
    with pytest.raises(CommandError, match="has no known GPU"):
        run("plain")


def test_several_clusters_must_be_chosen_from(cluster: Cluster) -> None:
    make_node(make_cluster("other"), "n", cards=1)
    with pytest.raises(CommandError, match="other, prod"):
        run()
    assert as_json("--cluster", "other")["cluster"] == "other"
    with pytest.raises(CommandError, match="other, prod"):
        run("--cluster", "none")


def test_without_a_cluster_it_says_how_to_add_one(db: None) -> None:
    with pytest.raises(CommandError, match="cluster add"):
        run()


def test_gpushare_reads_the_mirror(cluster: Cluster) -> None:
    make_node(cluster, "b", "gpushare", 2, loads=(0.4, 1.0))
    make_node(cluster, "a", "nvidia", 2)
    assert run("-o", "gpushare").splitlines() == [
        "NAME  IPADDRESS  GPU0(Allocated/Total)  GPU1(Allocated/Total)  GPU Memory(GiB)",
        "b     10.0.0.1   6/15                   15/15                  21/30",
        "-" * 48,
        "Allocated/Total GPU Memory In Cluster:",
        "21/30 (70%)  ",
    ]
    assert "train-b-0-0  default" in run("b", "-d", "-o", "gpushare")


def test_gpushare_follows_the_names_of_a_fork(cluster: Cluster, settings: Any) -> None:
    make_node(cluster, "b", "gpushare", 2)
    settings.GPUSHARE_RESOURCE = "rainbond.com/gpu-mem"
    assert run("-o", "gpushare").splitlines()[-1] == "0/0 (0%)  "


def test_gpushare_of_a_node_without_memory_prints_the_heads(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2)
    assert run("a", "-o", "gpushare").splitlines()[0] == "NAME  IPADDRESS  GPU Memory()"


def test_a_statement_that_many_cards_share_is_read_once_and_nothing_is_collected_meanwhile(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_node(cluster, "a", "nvidia-count", 8)
    told = (
        '[{"source":"kubelet","level":"healthy","code":"device-healthy","says":"The kubelet calls the device healthy"}]'
    )
    Card.objects.update(health_reports=told)
    read: list[str] = []
    collects: list[bool] = []
    print_all, show = report.as_json, report.shown

    def shown(column: str) -> Any:
        read.append(column)
        return show(column)

    def as_json(found: report.Inspection) -> Any:
        collects.append(gc.isenabled())
        return print_all(found)

    monkeypatch.setattr(report, "shown", shown)
    monkeypatch.setattr(report, "as_json", as_json)
    out = io.StringIO()
    call_command("inspect", "-o", "json", stdout=out)
    (node,) = (one for one in json.loads(out.getvalue())["nodes"] if one["name"] == "a")
    assert [len(card["health_reports"]) for card in node["cards"]] == [1] * 8
    assert read.count(told) == 1
    assert (collects, gc.isenabled()) == ([False], True)
