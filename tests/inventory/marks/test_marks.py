"""The marks of every tool of the table, as they stand on nodes: who did it, why, since when, and whether it keeps pods away."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from inventory.marks import ANNOTATION, FIELD_MANAGER, TAINT, Mark
from inventory.marks.our_cases import our_cases
from inventory.marks.read import marks, upgrade_under_way
from kube.decoders import decoder
from kube.objects import Node

_node = decoder(Node)


def read(**parts: Any) -> list[Mark]:
    return marks(node(**parts), ("nvidia.com/gpu", "dedicated=ml"))


def node(
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    taints: list[dict[str, str]] | None = None,
    cordoned: bool = False,
    by: tuple[str, str] | None = None,
    conditions: list[dict[str, str]] | None = None,
) -> Node:
    """by: (manager, time) of the cordon in managedFields."""
    fields = [
        {"manager": "kubelet", "operation": "Update", "time": "2026-11-26T10:00:00Z", "fieldsV1": {"f:status": {}}}
    ]
    if by:
        fields.append(
            {"manager": by[0], "operation": "Update", "time": by[1], "fieldsV1": {"f:spec": {"f:unschedulable": {}}}}
        )
    spec: dict[str, Any] = {"taints": taints or []} | ({"unschedulable": True} if cordoned else {})
    metadata = {"name": "n", "uid": "u", "labels": labels, "annotations": annotations, "managedFields": fields}
    status = {"conditions": conditions or [], "capacity": {"amd.com/gpu": "8"}}
    return _node.decode(msgspec.json.encode({"metadata": metadata, "spec": spec, "status": status}))


def taint(key: str, value: str = "", effect: str = "NoSchedule") -> dict[str, str]:
    return {"key": key, "effect": effect} | ({"value": value} if value else {})


@pytest.mark.parametrize(
    ("key", "tool"),
    [
        ("nvidia.com/gpu-xid-error", "NVSentinel"),
        ("nvsentinel.nvidia.com/validation-pending", "NVSentinel"),
        ("nvsentinel.dgxc.nvidia.com/nvcre-cert-failed", "NVCRE"),
        ("aiinfra/nccl-healthcheck", "Google cluster health scanner"),
        ("sagemaker.amazonaws.com/node-health-status", "SageMaker HyperPod"),
        ("karpenter.sh/disrupted", "Karpenter"),
        ("node.cluster.x-k8s.io/uninitialized", "Cluster API"),
        ("medik8s.io/remediation", "Medik8s"),
        ("readiness.k8s.io/gpu", "Node Readiness Controller"),
        ("ToBeDeletedByClusterAutoscaler", "Cluster Autoscaler"),
        ("node.kubernetes.io/not-ready", "Kubernetes"),
        ("example.com/broken", ""),
    ],
)
def test_a_taint_that_keeps_pods_away_is_a_mark_of_its_tool_or_of_an_unknown_one(key: str, tool: str) -> None:
    assert read(taints=[taint(key, "x")]) == [
        Mark(kind="taint", tool=tool, key=key, value="x", effect="NoSchedule", blocks=True)
    ]


@pytest.mark.parametrize(
    "usual",
    [
        taint("nvidia.com/gpu", "present"),
        taint("amd.com/gpu"),
        taint("dedicated", "ml"),
        taint("example.com/slow", effect="PreferNoSchedule"),
    ],
)
def test_what_gpu_nodes_always_have_is_no_mark(usual: dict[str, str]) -> None:
    assert read(taints=[usual]) == []


def test_a_cordon_says_kubectl_by_the_managed_fields_and_that_this_is_a_hint() -> None:
    cordoned = read(
        cordoned=True, taints=[taint("node.kubernetes.io/unschedulable")], by=("kubectl-cordon", "2026-11-26T09:00:00Z")
    )

    assert cordoned == [
        Mark(kind="cordon", tool="kubectl", by="kubectl-cordon", hint=True, since="2026-11-26T09:00:00Z", blocks=True)
    ]
    assert read(cordoned=True, by=("karpenter", "2026-11-26T09:00:00Z"))[0].tool == ""
    assert read(cordoned=True) == [Mark(kind="cordon", blocks=True)]


SENTINEL = {
    "k8saas.nvidia.com/cordon-by": "NVSentinel",
    "k8saas.nvidia.com/cordon-reason": "GpuXidError",
    "k8saas.nvidia.com/cordon-timestamp": "2026-11-26T08-00-00Z",
}


def test_nvsentinel_says_by_labels_that_it_cordoned() -> None:
    assert read(cordoned=True, labels=SENTINEL, by=("fault-quarantine", "2026-11-26T08:00:00Z")) == [
        Mark(
            kind="cordon",
            tool="NVSentinel",
            key="k8saas.nvidia.com/cordon-by",
            by="NVSentinel",
            reason="GpuXidError",
            since="2026-11-26T08:00:00Z",
            blocks=True,
        )
    ]
    annotations = {"quarantineHealthEventIsCordoned": "True", "quarantineHealthEvent": "[]"}
    assert read(cordoned=True, annotations=annotations)[0].tool == "NVSentinel"


@pytest.mark.parametrize(
    "parts",
    [
        {"labels": SENTINEL},
        {"labels": SENTINEL | {"k8saas.nvidia.com/uncordon-timestamp": "2026-11-26T08-30-00Z"}},
        {"labels": SENTINEL, "annotations": {"quarantinedNodeUncordonedManually": "True"}},
    ],
    ids=("kubectl is later", "it was lifted", "it was lifted by hand"),
)
def test_labels_left_over_from_an_earlier_cordon_blame_nobody(parts: dict[str, Any]) -> None:
    assert read(cordoned=True, by=("kubectl-cordon", "2026-11-26T09:00:00Z"), **parts)[0].tool == "kubectl"


def test_the_gpu_operator_cordons_for_an_upgrade_unless_the_node_was_cordoned_before() -> None:
    labels = {"nvidia.com/gpu-driver-upgrade-state": "drain-required"}
    before = {"nvidia.com/gpu-driver-upgrade.node-initial-state.unschedulable": "true"}

    assert [(one.kind, one.tool) for one in read(cordoned=True, labels=labels)] == [
        ("cordon", "GPU Operator"),
        ("label", "GPU Operator"),
    ]
    assert read(cordoned=True, labels=labels, annotations=before)[0].tool == ""


@pytest.mark.parametrize(
    ("state", "found"),
    [("", ""), ("upgrade-done", ""), ("upgrade-failed", ""), ("cordon-required", "cordon-required"), ("new", "new")],
)
def test_an_upgrade_is_under_way_in_every_state_that_does_not_say_otherwise(state: str, found: str) -> None:
    assert upgrade_under_way(node(labels={"nvidia.com/gpu-driver-upgrade-state": state})) == found


@pytest.mark.parametrize(
    ("labels", "tool", "blocks"),
    [
        ({"sagemaker.amazonaws.com/node-health-status": "UnschedulablePendingReboot"}, "SageMaker HyperPod", True),
        ({"sagemaker.amazonaws.com/node-health-status": "Surprised"}, "SageMaker HyperPod", False),
        ({"sagemaker.amazonaws.com/deep-health-check-status": "InProgress"}, "SageMaker HyperPod", False),
        ({"node.coreweave.cloud/state": "triage"}, "CoreWeave", False),
        ({"aiinfra/gpu-healthcheck-result": "crash"}, "Google cluster health scanner", False),
        ({"nvsentinel.dgxc.nvidia.com/nvcre-cert-failure": "true"}, "NVCRE", False),
    ],
)
def test_a_label_that_does_not_say_good_is_a_mark(labels: dict[str, str], tool: str, blocks: bool) -> None:
    assert [(one.kind, one.tool, one.blocks) for one in read(labels=labels)] == [("label", tool, blocks)]


@pytest.mark.parametrize(
    "labels",
    [
        {"sagemaker.amazonaws.com/node-health-status": "Schedulable"},
        {"node.coreweave.cloud/state": "production"},
        {"aiinfra/gpu-healthcheck-result": "pass"},
        SENTINEL,
    ],
)
def test_a_label_that_says_good_or_belongs_to_a_cordon_that_is_over_is_none(labels: dict[str, str]) -> None:
    assert read(labels=labels) == []


@pytest.mark.parametrize(
    ("kind", "status", "tool"),
    [
        ("NVCRECertFailed", "True", "NVCRE"),
        ("DrainScheduled", "True", "Draino"),
        ("AcceleratedHardwareReady", "False", "EKS node monitoring agent"),
        ("GPUMissing", "True", "Node Problem Detector"),
        ("GcmNvlinkProblem", "True", "Meta GCM"),
        ("MaintenancePlanned", "True", "Kubernetes"),
    ],
)
def test_a_condition_of_a_tool_is_a_mark_that_keeps_nothing_away(kind: str, status: str, tool: str) -> None:
    said = {"type": kind, "status": status, "reason": "R", "message": "m", "lastTransitionTime": "2026-11-26T09:00:00Z"}

    assert read(conditions=[said]) == [
        Mark(kind="condition", tool=tool, key=kind, value=status, reason="R: m", since="2026-11-26T09:00:00Z")
    ]
    assert read(conditions=[said | {"status": "False" if status == "True" else "True"}]) == []


def test_draino_cordons_and_says_so_by_a_condition() -> None:
    said = {"type": "DrainScheduled", "status": "True", "message": "Drain | Completed: 2026"}
    assert read(cordoned=True, conditions=[said])[0].tool == "Draino"


def why(how: str = "taint", unschedulable: bool = False) -> dict[str, str]:
    case = {"id": "c1", "by": "ana", "at": "2026-11-26T07:00:00Z", "reason": "it failed", "how": how}
    return {ANNOTATION: msgspec.json.encode({"cases": [case | {"was": {"unschedulable": unschedulable}}]}).decode()}


def test_our_mark_says_by_whom_why_and_since_when() -> None:
    assert read(taints=[taint(TAINT, "c1")], annotations=why()) == [
        Mark(
            kind="taint",
            tool="gpudash",
            key=TAINT,
            value="c1",
            effect="NoSchedule",
            by="ana",
            reason="it failed",
            since="2026-11-26T07:00:00Z",
            case="c1",
            blocks=True,
        )
    ]
    assert read(taints=[taint(TAINT, "c9")])[0].case == "c9"


def test_a_cordon_is_ours_only_where_we_did_it_and_nobody_did_it_since() -> None:
    def tool(annotations: dict[str, str], manager: str) -> str:
        return read(cordoned=True, annotations=annotations, by=(manager, "2026-11-26T07:00:00Z"))[0].tool

    assert tool(why("cordon"), FIELD_MANAGER) == "gpudash"
    assert tool(why("cordon"), "kubectl-cordon") == "kubectl"
    assert tool(why("cordon", unschedulable=True), "kubectl-cordon") == "kubectl"
    assert tool(why("taint"), "kubectl-cordon") == "kubectl"


@pytest.mark.parametrize("text", ["", "[]", "{", '{"cases": 3}', '{"cases": [7, {"id": null}]}', "\0"])
def test_an_annotation_that_is_not_ours_to_read_stops_nothing(text: str) -> None:
    assert read(taints=[taint(TAINT, "c1")], annotations={ANNOTATION: text})[0].case == "c1"


def test_a_time_at_the_end_of_the_calendar_stops_nothing() -> None:
    labels = {"k8saas/cordon-by": "NVSentinel", "k8saas/cordon-timestamp": "9999-12-31T23-59-59Z"}
    assert read(cordoned=True, labels=labels, by=("kubectl-cordon", "2026-11-26T07:00:00Z"))[0].tool == "NVSentinel"


def test_our_annotation_holds_no_null() -> None:
    assert [one.id for one in our_cases('{"cases": [{"id": "c\\u0000"}]}')] == ["c"]


def test_texts_of_others_are_cut_and_hold_no_null() -> None:
    mark = read(taints=[taint("example.com/x", "y\0" * 600)])[0]
    assert len(mark.value) <= 500
    assert "\0" not in mark.value
