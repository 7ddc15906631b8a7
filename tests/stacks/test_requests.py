"""The counting rule: who holds, and how much."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kube import listed
from kube.objects import Pod
from stacks.engine.requests import MOST_DEVICES, Host, ended, holds, host, requests, waits
from tests.stacks.build import container, pod


@pytest.mark.parametrize(
    ("node", "phase", "held", "waiting"),
    [
        ("n", "Running", True, False),
        ("n", "Pending", True, False),
        ("n", None, True, False),
        ("n", "Unknown", True, False),
        ("n", "Succeeded", False, False),
        ("n", "Failed", False, False),
        (None, "Pending", False, True),
        ("", None, False, True),
        (None, "Failed", False, False),
    ],
)
def test_a_pod_holds_when_it_has_a_node_and_has_not_ended(
    node: str | None, phase: str | None, held: bool, waiting: bool
) -> None:
    it = pod(spec={"nodeName": node}, status={"phase": phase})
    assert (holds(it), waits(it)) == (held, waiting)


def test_a_terminating_pod_still_holds() -> None:
    it = pod(
        metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"}, spec={"nodeName": "n"}, status={"phase": "Running"}
    )
    assert holds(it)
    assert not ended(it)


def test_a_pod_without_anything_neither_holds_nor_raises() -> None:
    assert not holds(Pod())
    assert requests(Pod(), lambda name: True) == []


def _needs(app: list[Any], init: list[Any]) -> list[tuple[str, int, bool]]:
    it = pod(spec={"nodeName": "n", "containers": app, "initContainers": init})
    return [(need.container, need.quantity, need.init) for need in requests(it, lambda name: name == "example.com/gpu")]


def test_app_containers_add_up() -> None:
    assert _needs([container("a", gpu="1"), container("b", gpu="2"), container("c", cpu="9")], []) == [
        ("a", 1, False),
        ("b", 2, False),
    ]


def test_an_init_container_that_asks_for_less_adds_nothing() -> None:
    assert _needs([container("a", gpu="2")], [container("i", gpu="2")]) == [("a", 2, False)]


def test_the_excess_of_an_init_container_is_its_own() -> None:
    assert _needs(
        [container("a", gpu="2")], [container("i", gpu="1"), container("big", gpu="5"), container("j", gpu="3")]
    ) == [
        ("a", 2, False),
        ("big", 3, True),
    ]


def test_a_sidecar_counts_beside_the_app_and_under_later_init_containers() -> None:
    before = _needs([container("a", gpu="1")], [container("s", sidecar=True, gpu="1"), container("i", gpu="3")])
    assert before == [("a", 1, False), ("s", 1, True), ("i", 2, True)]
    after = _needs([container("a", gpu="1")], [container("i", gpu="3"), container("s", sidecar=True, gpu="1")])
    assert after == [("a", 1, False), ("s", 1, True), ("i", 1, True)]


def test_each_resource_has_its_own_peak() -> None:
    it = pod(
        spec={
            "nodeName": "n",
            "containers": [container("a", gpu="1", mem="4")],
            "initContainers": [container("i", gpu="3", mem="1"), container("j", gpu="1", mem="6")],
        }
    )
    found = {(need.container, need.resource): need.quantity for need in requests(it, lambda name: True)}
    assert found == {
        ("a", "example.com/gpu"): 1,
        ("a", "example.com/mem"): 4,
        ("i", "example.com/gpu"): 2,
        ("j", "example.com/mem"): 2,
    }


def test_limits_come_before_requests_and_requests_count_where_there_is_no_limit() -> None:
    both = {"name": "a", "resources": {"limits": {"example.com/gpu": "2"}, "requests": {"example.com/gpu": "1"}}}
    other = {"name": "b", "resources": {"limits": {"cpu": "1"}, "requests": {"example.com/gpu": "3"}}}
    assert _needs([both, other], []) == [("a", 2, False), ("b", 3, False)]


@pytest.mark.parametrize("text", ["abc", "-1", "1e400", str(MOST_DEVICES + 1), "", "0"])
def test_what_is_no_number_of_devices_is_not_counted(text: str) -> None:
    assert _needs([container("a", gpu=text)], []) == []


def _own(cpu: str, memory: str = "1Gi", **more: Any) -> dict[str, Any]:
    return {"name": "c", "resources": {"requests": {"cpu": cpu, "memory": memory}}, **more}


@pytest.mark.parametrize(
    ("spec", "cpu", "gib"),
    [
        ({"containers": [_own("500m"), _own("1")]}, 1500, 2),
        ({"containers": [_own("1")], "initContainers": [_own("3", "2Gi")]}, 3000, 2),
        ({"containers": [_own("1")], "initContainers": [_own("1", restartPolicy="Always"), _own("3")]}, 4000, 2),
        ({"containers": [_own("1")], "initContainers": [_own("3"), _own("1", restartPolicy="Always")]}, 3000, 2),
        ({"containers": [_own("1")], "overhead": {"cpu": "250m", "memory": "1Gi"}}, 1250, 2),
        ({"containers": [_own("1")], "resources": {"requests": {"cpu": "8"}}}, 8000, 1),
        ({"containers": [{"name": "c", "resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}]}, 2000, 1),
        ({"containers": [{"name": "c"}, _own("much", "-1")]}, 0, 0),
        ({}, 0, 0),
    ],
)
def test_what_a_pod_requests_of_the_node_s_own_is_counted_as_the_scheduler_counts(
    spec: dict[str, Any], cpu: int, gib: int
) -> None:
    assert host(msgspec.convert(spec, listed.PodSpec)) == Host(cpu, gib * 2**30)
