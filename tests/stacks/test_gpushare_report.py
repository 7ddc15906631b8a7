"""`inspect -o gpushare` prints what `kubectl inspect gpushare` prints, byte for byte; recorded output is under golden_reports/."""

from __future__ import annotations

from pathlib import Path

import pytest

from kube import objects as kube
from stacks.gpushare import report as gpushare
from stacks.gpushare.declared import names
from tests.stacks.build import CONTEXT
from wording.columns import aligned

GOLDEN = Path(__file__).parent / "golden_reports"
NAMES = names(CONTEXT)


def node(name: str, memory: int, count: int, address: str | None = "10.0.0.1") -> kube.Node:
    amounts: kube.Quantities = {"aliyun.com/gpu-mem": str(memory), "aliyun.com/gpu-count": str(count)}
    addresses = [kube.NodeAddress(type="Hostname", address=name)]
    addresses += [kube.NodeAddress(type="InternalIP", address=address)] if address else []
    return kube.Node(
        metadata=kube.Metadata(name=name), status=kube.NodeStatus(allocatable=amounts, addresses=addresses)
    )


def pod(
    name: str,
    on: str,
    amount: int,
    index: str | None = None,
    v2: str | None = None,
    *,
    namespace: str = "default",
    phase: str = "Running",
) -> kube.Pod:
    annotations: dict[str, str] = {}
    if index is not None:
        annotations["ALIYUN_COM_GPU_MEM_IDX"] = index
    if v2 is not None:
        annotations["scheduler.framework.gpushare.allocation"] = v2
    limits = kube.Resources(limits={"aliyun.com/gpu-mem": str(amount)})
    return kube.Pod(
        metadata=kube.Metadata(name=name, namespace=namespace, uid=f"uid-{name}", annotations=annotations),
        spec=kube.PodSpec(nodeName=on, containers=[kube.Container(name="main", resources=limits)]),
        status=kube.PodStatus(phase=phase),
    )


def golden(name: str) -> str:
    return (GOLDEN / f"{name}.txt").read_text()


def summary(nodes: list[kube.Node], pods: list[kube.Pod]) -> str:
    return aligned(gpushare.summary(nodes, pods, NAMES))


def details(nodes: list[kube.Node], pods: list[kube.Pod]) -> str:
    return aligned(gpushare.details(nodes, pods, NAMES))


def row(text: str, name: str) -> list[str]:
    return next(line.split() for line in text.splitlines() if line.startswith(name))


def test_a_pod_without_a_card_has_a_pending_column() -> None:
    assert summary([node("abcd9", 10, 1, "146.12.9.23")], [pod("p", "abcd9", 3)]) == golden("pending-summary")


def test_two_nodes_with_two_cards_each() -> None:
    nodes = [node("cn-b", 15 * 2, 2, "192.168.0.2"), node("cn-a", 15 * 2, 2, "192.168.0.1")]
    pods = [pod("a", "cn-a", 6, "0"), pod("b", "cn-a", 6, "1"), pod("c", "cn-b", 3, "0"), pod("d", "cn-b", 3, "1")]
    assert summary(nodes, pods) == golden("two-nodes-summary")


def test_details_with_a_pending_pod() -> None:
    nodes = [node("nlu-framework-worker-1", 47, 1, "192.168.0.53")]
    pods = [
        pod("gpu-share-pod3", "nlu-framework-worker-1", 11, "0"),
        pod("jupyter-admin888", "nlu-framework-worker-1", 4, namespace="jupyterhub"),
    ]
    assert details(nodes, pods) == golden("pending-details")


def test_a_cluster_without_such_nodes() -> None:
    assert summary([], []) == golden("empty-summary")
    assert details([], []) == golden("empty-details")


def test_a_pod_over_several_cards_fills_several_columns() -> None:
    nodes, pods = [node("n", 60, 4)], [pod("p", "n", 8, v2='{"0":{"0":2,"1":2,"2":2,"3":2}}')]
    assert row(summary(nodes, pods), "n") == ["n", "10.0.0.1", "2/15", "2/15", "2/15", "2/15", "8/60"]
    assert row(details(nodes, pods), "p") == ["p", "default", "2", "2", "2", "2"]


def test_containers_on_one_card_are_added() -> None:
    text = summary([node("n", 30, 2)], [pod("p", "n", 8, v2='{"0":{"1":1},"1":{"1":7}}')])
    assert row(text, "n") == ["n", "10.0.0.1", "0/15", "8/15", "8/30"]


def test_v2_goes_before_v1_and_a_broken_v2_falls_back_to_v1() -> None:
    both = pod("p", "n", 4, "0", v2='{"0":{"1":4}}')
    assert row(summary([node("n", 30, 2)], [both]), "n")[2:4] == ["0/15", "4/15"]
    for broken in ("", "[]", "null", "{}", '{"0":{"x":4}}', '{"a":{"1":4}}', '{"0":{"1":"4"}}', "[" * 5000, "\ud800"):
        assert row(summary([node("n", 30, 2)], [pod("p", "n", 4, "0", v2=broken)]), "n")[2:4] == ["4/15", "0/15"], (
            broken
        )


def test_nodes_with_fewer_cards_are_filled_with_nothing() -> None:
    text = summary([node("big", 60, 4), node("small", 15, 1)], [])
    assert row(text, "small") == ["small", "10.0.0.1", "0/15", "0/0", "0/0", "0/0", "0/15"]


def test_a_card_that_does_not_exist_hides_on_the_largest_node_and_shows_on_a_smaller_one() -> None:
    nodes = [node("big", 60, 4), node("small", 15, 1)]
    pods = [pod("p", "small", 3, "2"), pod("q", "big", 5, "7")]
    text = summary(nodes, pods)
    assert row(text, "small") == ["small", "10.0.0.1", "0/15", "0/0", "3/15", "0/0", "3/15"]
    assert row(text, "big")[-1] == "0/60"
    assert "5 (8%)" in details(nodes, pods)


def test_ended_pods_and_pods_without_a_node_do_not_count() -> None:
    pods = [pod("a", "n", 3, "0", phase="Succeeded"), pod("b", "n", 3, "0", phase="Failed"), pod("c", "", 3, "0")]
    assert row(summary([node("n", 15, 1)], pods), "n") == ["n", "10.0.0.1", "0/15", "0/15"]


def test_memory_without_a_count_has_no_unit_and_no_columns() -> None:
    text = summary([node("n", 10, 0, None)], [pod("p", "n", 3, "0")])
    assert text.splitlines()[0].endswith("GPU Memory()")
    assert row(text, "n") == ["n", "unknown", "0/10"]


@pytest.mark.parametrize(("memory", "unit"), [(200, "GiB"), (202, "MiB")])
def test_the_unit_is_guessed_from_the_first_node(memory: int, unit: str) -> None:
    assert f"GPU Memory({unit})" in summary([node("n", memory, 2)], [])


@pytest.mark.parametrize("index", ["", "x", "1.0", " 1", "0x1", "9" * 30, "1,2"])
def test_an_index_that_is_no_number_is_pending(index: str) -> None:
    assert "PENDING" in summary([node("n", 30, 2)], [pod("p", "n", 3, index)])


def test_a_node_that_claims_countless_cards_is_cut() -> None:
    assert len(summary([node("n", 10**9, 10**9)], []).splitlines()[0].split()) == gpushare.MAX_CARDS + 4


def test_columns_end_where_a_line_does_not_have_them() -> None:
    assert aligned("a\tb\nccc\td\nx\nee\tf\t\n") == "a    b\nccc  d\nx\nee  f  \n"
    assert aligned("a\tb\tc\nlonger\n\tbb\tc\n") == "a  b  c\nlonger\n  bb  c\n"
