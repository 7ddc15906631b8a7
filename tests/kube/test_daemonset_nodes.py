"""Which nodes a DaemonSet runs on."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from kube.daemonset_nodes import runs_on
from kube.objects import Node, TemplateSpec

LABELS = {"pool": "large", "gpus": "8", "arch": "amd64"}


def node(labels: dict[str, str] | None = None, *taints: str, **spec: Any) -> Node:
    """taints: "key=value:Effect"."""
    made = []
    for taint in taints:
        name, _, effect = taint.rpartition(":")
        key, _, value = name.partition("=")
        made.append({"key": key, "value": value or None, "effect": effect})
    return msgspec.convert({"metadata": {"name": "n1", "labels": labels}, "spec": {"taints": made} | spec}, Node)


def template(*terms: Any, **spec: Any) -> TemplateSpec:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return msgspec.convert(spec | ({"affinity": {"nodeAffinity": required}} if terms else {}), TemplateSpec)


def expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "wanted"),
    [
        ({}, True),
        ({"pool": "large"}, True),
        ({"pool": "large", "arch": "amd64"}, True),
        ({"pool": "small"}, False),
        ({"pool": "large", "zone": "a"}, False),
    ],
)
def test_every_label_of_the_selector_is_asked_for(selector: dict[str, str], wanted: bool) -> None:
    assert runs_on(template(nodeSelector=selector), node(LABELS)) is wanted


@pytest.mark.parametrize(
    ("term", "wanted"),
    [
        (expression("pool", "In", "small", "large"), True),
        (expression("pool", "In", "small"), False),
        (expression("zone", "In", "a"), False),
        (expression("pool", "NotIn", "small"), True),
        (expression("pool", "NotIn", "large"), False),
        (expression("zone", "NotIn", "a"), True),
        (expression("pool", "Exists"), True),
        (expression("zone", "Exists"), False),
        (expression("pool", "DoesNotExist"), False),
        (expression("zone", "DoesNotExist"), True),
        (expression("gpus", "Gt", "7"), True),
        (expression("gpus", "Gt", "8"), False),
        (expression("gpus", "Lt", "9"), True),
        (expression("gpus", "Lt", "8"), False),
        (expression("zone", "Lt", "8"), False),
        (expression("pool", "Gt", "1"), False),
        (expression("gpus", "Gt", "many"), False),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}, True),
        ({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n2"]}]}, False),
        ({"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n1"]}]}, False),
        ({"matchFields": [{"key": "metadata.uid", "operator": "In", "values": ["n1"]}]}, None),
        ({}, False),
        (expression("pool", "Like", "lar*"), None),
    ],
)
def test_a_term_of_the_affinity(term: dict[str, Any], wanted: bool | None) -> None:
    assert runs_on(template(term), node(LABELS)) is wanted


def test_all_of_a_term_and_one_of_the_terms() -> None:
    both = {"matchExpressions": [*expression("pool", "Exists")["matchExpressions"], {"key": "x", "operator": "Exists"}]}
    assert runs_on(template(both), node(LABELS)) is False
    assert runs_on(template(both, expression("pool", "Exists")), node(LABELS)) is True
    assert runs_on(template(expression("pool", "Exists"), nodeSelector={"pool": "small"}), node(LABELS)) is False


def test_an_affinity_without_terms_takes_no_node() -> None:
    empty = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}}}
    assert runs_on(template(affinity=empty), node(LABELS)) is False
    assert runs_on(template(affinity={"nodeAffinity": {}}), node(LABELS)) is True


@pytest.mark.parametrize(
    ("taint", "tolerations", "wanted"),
    [
        ("gpu=yes:NoSchedule", [], False),
        ("gpu=yes:NoExecute", [], False),
        ("gpu=yes:PreferNoSchedule", [], True),
        ("gpu=yes:NoSchedule", [{"operator": "Exists"}], True),
        ("gpu=yes:NoSchedule", [{"key": "gpu", "operator": "Exists"}], True),
        ("gpu=yes:NoSchedule", [{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}], False),
        ("gpu=yes:NoSchedule", [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}], True),
        ("gpu=yes:NoSchedule", [{"key": "gpu", "operator": "Equal", "value": "no"}], False),
        ("gpu:NoSchedule", [{"key": "gpu", "operator": "Equal"}], True),
        ("gpu=5:NoSchedule", [{"key": "gpu", "operator": "Gt", "value": "3"}], None),
        ("node.kubernetes.io/not-ready:NoExecute", [], True),
        ("node.kubernetes.io/not-ready:NoSchedule", [], False),
        ("node.kubernetes.io/unreachable:NoExecute", [], True),
        ("node.kubernetes.io/disk-pressure:NoSchedule", [], True),
        ("node.kubernetes.io/memory-pressure:NoSchedule", [], True),
        ("node.kubernetes.io/pid-pressure:NoSchedule", [], True),
        ("node.kubernetes.io/unschedulable:NoSchedule", [], True),
        ("node.kubernetes.io/network-unavailable:NoSchedule", [], False),
    ],
)
def test_a_taint_keeps_it_away_unless_it_is_tolerated(taint: str, tolerations: list[Any], wanted: bool | None) -> None:
    assert runs_on(template(tolerations=tolerations), node(LABELS, taint)) is wanted


def test_one_in_the_network_of_the_host_does_not_wait_for_another() -> None:
    assert runs_on(template(hostNetwork=True), node(None, "node.kubernetes.io/network-unavailable:NoSchedule")) is True


def test_a_named_node_is_the_only_one() -> None:
    assert runs_on(template(nodeName="n2"), node()) is False
    assert runs_on(template(nodeName="n1"), node()) is True


def test_a_label_that_is_not_read_leaves_it_open() -> None:
    def reads(key: str) -> bool:
        return key != "hidden"

    assert runs_on(template(nodeSelector={"hidden": "1"}), node(LABELS), reads) is None
    assert runs_on(template(expression("hidden", "DoesNotExist")), node(LABELS), reads) is None
    assert runs_on(template(nodeSelector={"hidden": "1", "pool": "small"}), node(LABELS), reads) is False
    assert runs_on(template(nodeSelector={"hidden": "1"}), node({"hidden": "1"}), reads) is True
