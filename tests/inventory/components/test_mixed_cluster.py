"""Several stacks in one cluster: what one gives out is not missing from another, and the first cause is what is under way."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from inventory.reconcile.software import finding_text
from stacks.engine.software.base import Statement
from tests.inventory.components.case import Case, made

NOW = "2026-11-20T12:00:00Z"
LONG_AGO, JUST_NOW = "2026-11-20T08:00:00Z", "2026-11-20T11:58:00Z"
FEATURES = {"feature.node.kubernetes.io/cpu-model.vendor_id": "AMD"}
CARD = FEATURES | {"feature.node.kubernetes.io/pci-10de.present": "true", "nvidia.com/gpu.present": "true"}
DEPLOY, UPGRADE = "nvidia.com/gpu.deploy.", "nvidia.com/gpu-driver-upgrade"


def node(labels: dict[str, str], offers: dict[str, str] | None = None, taints: tuple[str, ...] = ()) -> dict[str, Any]:
    system = labels.get("kubernetes.io/os", "linux")
    return {
        "kind": "Node",
        "metadata": {"name": "n", "uid": "n", "labels": {"kubernetes.io/os": system, **labels}},
        "spec": {"taints": [{"key": key, "effect": "NoSchedule"} for key in taints]},
        "status": {
            "capacity": offers or {},
            "allocatable": offers or {},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kubeletVersion": "v1.34.1", "containerRuntimeVersion": "containerd://2.1.4"},
        },
    }


def daemonset(
    name: str, labels: dict[str, str], selector: dict[str, str], inits: tuple[str, ...] = ()
) -> dict[str, Any]:
    containers = [{"name": "main", "image": "registry.test/plugin:v1.0.0"}]
    spec = {"nodeSelector": selector, "containers": containers, "initContainers": [{"name": one} for one in inits]}
    return {
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "kube-system", "uid": name},
        "spec": {"template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def pod(of: dict[str, Any], running: str = "", since: str = LONG_AGO) -> dict[str, Any]:
    """Ready, or in an init container that runs since a time."""
    template = of["spec"]["template"]
    inits = [
        {"name": one["name"], "state": {"running": {"startedAt": since}} if one["name"] == running else {}}
        for one in template["spec"]["initContainers"]
    ]
    ready = "False" if running else "True"
    return {
        "kind": "Pod",
        "metadata": {
            "name": f"{of['metadata']['name']}-x",
            "namespace": "kube-system",
            "uid": f"{of['metadata']['name']}-x",
            "labels": template["metadata"]["labels"],
            "ownerReferences": [{"kind": "DaemonSet", "name": of["metadata"]["name"], "uid": of["metadata"]["uid"]}],
        },
        "spec": {**template["spec"], "nodeName": "n"},
        "status": {
            "phase": "Pending" if running else "Running",
            "startTime": since,
            "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": ready}],
            "initContainerStatuses": inits if running else [],
            "containerStatuses": [{"name": "main", "ready": not running, "state": {} if running else {"running": {}}}],
        },
    }


OPERATORS = daemonset("operators", {"app": "nvidia-device-plugin-daemonset"}, {f"{DEPLOY}device-plugin": "true"})
DRIVER = daemonset(
    "driver",
    {"app": "nvidia-driver-daemonset", "app.kubernetes.io/component": "nvidia-driver"},
    {f"{DEPLOY}driver": "true"},
    ("k8s-driver-manager",),
)
VALIDATOR = daemonset(
    "validator",
    {"app": "nvidia-operator-validator"},
    {f"{DEPLOY}operator-validator": "true"},
    ("cuda-validation", "plugin-validation"),
)
HAMI = daemonset("hami", {"app.kubernetes.io/component": "hami-device-plugin"}, {"gpu": "on"})
GPUSHARE = daemonset("gpushare", {"name": "gpushare-device-plugin-ds"}, {"gpushare": "true"})
WDDM = daemonset("wddm", {"app": "device-plugin-wddm"}, {"kubernetes.io/os": "windows"})
ALIBABA = daemonset("alibaba", {"k8s-app": "directx-device-plugin-windows"}, {"kubernetes.io/os": "windows"})
NFD = daemonset("nfd", {"app": "nfd-worker"}, {"kubernetes.io/os": "linux"})
GKE = daemonset("gke", {"k8s-app": "nvidia-gpu-device-plugin"}, {"cloud.google.com/gke-gpu": "true"})


def found(*objects: dict[str, Any]) -> dict[str, Statement]:
    return case(*objects).all_of_node("n")


def case(*objects: dict[str, Any]) -> Case:
    return made(list(objects), NOW, {})


@pytest.mark.parametrize(
    ("here", "others", "component"),
    [
        # The GPU Operator's plugin is to run here, though it is paused and the node offers nothing.
        (node(CARD | {f"{DEPLOY}device-plugin": "paused-for-driver-upgrade"}), (OPERATORS, HAMI), "hami-device-plugin"),
        (node(CARD | {f"{DEPLOY}device-plugin": "true"}), (OPERATORS, GPUSHARE), "gpushare-device-plugin"),
        # gpushare's is, though it sleeps.
        (node(CARD | {"gpushare": "true"}), (GPUSHARE, HAMI), "hami-device-plugin"),
        # Nodes without a card, by Node Feature Discovery.
        (node(FEATURES), (HAMI,), "hami-device-plugin"),
        (node(FEATURES), (GPUSHARE,), "gpushare-device-plugin"),
        # The operator has not labelled what HAMi gives out, and need not.
        (node({"gpu": "on"}, {"nvidia.com/gpu": "10"}), (OPERATORS, HAMI, pod(HAMI)), "driver"),
        # No label of NVIDIA's, and another gives out the cards.
        (node({}, {"aliyun.com/gpu-mem": "15"}), (OPERATORS, GPUSHARE, pod(GPUSHARE)), "device-plugin"),
        # Windows nodes are of one DirectX stack, and of no Linux software.
        (
            node({"kubernetes.io/os": "windows", "windows.alibabacloud.com/directx-supported": "true"}),
            (WDDM, ALIBABA),
            "directx-wddm",
        ),
        (node({"kubernetes.io/os": "windows"}, {"microsoft.com/directx": "1"}, ("sku",)), (WDDM,), "directx-wddm"),
        (
            node({"kubernetes.io/os": "windows", "node.kubernetes.io/instance-type": "g4dn.2xlarge"}),
            (NFD,),
            "nfd-worker",
        ),
    ],
)
def test_what_another_gives_out_is_not_needed(
    here: dict[str, Any], others: tuple[dict[str, Any], ...], component: str
) -> None:
    assert found(here, *others)[component].state == "not needed"


@pytest.mark.parametrize(
    ("here", "others", "component", "state"),
    [
        (node(CARD | {f"{DEPLOY}device-plugin": "false"}), (OPERATORS, HAMI), "hami-device-plugin", "missing"),
        # The label is there, and no plugin that goes by it.
        (node(CARD | {f"{DEPLOY}device-plugin": "true"}), (HAMI,), "hami-device-plugin", "missing"),
        (node({"kubernetes.io/os": "windows"}), (WDDM,), "directx-wddm", "pending"),
        (node({}), (HAMI,), "hami-device-plugin", "unknown"),
    ],
)
def test_where_none_does_it_is_still_said(
    here: dict[str, Any], others: tuple[dict[str, Any], ...], component: str, state: str
) -> None:
    assert found(here, *others)[component].state == state


def test_a_plugin_that_does_not_go_by_the_operators_label_is_judged_by_its_pod() -> None:
    labels = CARD | {f"{DEPLOY}operands": "false", "cloud.google.com/gke-gpu": "true"}
    here = found(node(labels, {"nvidia.com/gpu": "2"}), OPERATORS, DRIVER, GKE, pod(GKE))
    assert (here["device-plugin"].state, here["device-plugin"].version) == ("ready", "1.0.0")
    assert here["driver"].state == "disabled"
    asleep = found(node(labels, {"nvidia.com/gpu": "0"}), OPERATORS, GKE, pod(GKE))
    assert asleep["device-plugin"].state == "not ready"


def test_the_worker_of_a_node_that_does_not_report_is_not_forgotten() -> None:
    silent = node(FEATURES, taints=("node.kubernetes.io/unreachable",))
    silent["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
    assert found(silent, NFD, pod(NFD))["nfd-worker"].state == "unknown"


def test_the_driver_that_is_replaced_is_the_first_cause_and_no_failure() -> None:
    labels = CARD | {f"{DEPLOY}driver": "true", f"{DEPLOY}device-plugin": "paused-for-driver-upgrade"}
    upgraded = case(node(labels), OPERATORS, DRIVER, pod(DRIVER, "k8s-driver-manager", JUST_NOW)).of_node("n")
    assert (upgraded.first_cause, upgraded.statements["driver"].state) == ("driver", "waiting")
    assert upgraded.statements["driver"].remedy == ""
    stuck = case(node(labels), OPERATORS, DRIVER, pod(DRIVER, "k8s-driver-manager", LONG_AGO)).of_node("n")
    assert (stuck.first_cause, stuck.statements["driver"].state) == ("driver", "not ready")
    assert "kubectl" in stuck.statements["driver"].remedy


@pytest.mark.parametrize("step", ["cuda-validation", "plugin-validation"])
def test_a_validation_that_runs_has_not_failed_yet(step: str) -> None:
    labels = CARD | {f"{DEPLOY}operator-validator": "true"}
    for since, state in ((JUST_NOW, "waiting"), (LONG_AGO, "not ready")):
        statement = found(node(labels), VALIDATOR, pod(VALIDATOR, step, since))["operator-validator"]
        assert (statement.state, statement.container) == (state, step)


def test_a_finding_of_what_is_ready_says_that_it_holds_up_others() -> None:
    stuck = Statement(state="ready", warnings=("The change is pending.",), explains=True, remedy="kubectl delete pod")
    text = "mig-manager blocks other components. The change is pending. Remedy: kubectl delete pod."
    assert finding_text("mig-manager", stuck) == text


def test_a_remedy_that_is_a_sentence_has_one_full_stop() -> None:
    lacking = Statement(state="missing", why="No pod.", remedy="Use another node.")
    assert finding_text("plugin", lacking) == "plugin is missing. No pod. Remedy: Use another node."


def test_a_node_of_another_maker_lacks_nothing_of_nvidia() -> None:
    """Its instance type is known, and has cards."""
    labels = {"node.kubernetes.io/instance-type": "Standard_ND96isr_MI300X_v5"}
    here = case(node(labels), OPERATORS, DRIVER).of_node("n")
    assert here.first_cause == ""
    assert "driver" not in here.statements


@pytest.mark.parametrize(
    ("labels", "step", "why", "remedy"),
    [
        (
            {f"{UPGRADE}-state": "upgrade-required", f"{UPGRADE}.skip": "true"},
            "",
            f"Driver upgrades skip this node because of its label {UPGRADE}.skip.",
            f"kubectl label node n {UPGRADE}.skip-",
        ),
        (
            {f"{UPGRADE}-state": "node-maintenance-required"},
            "node-maintenance-required",
            "The driver upgrade of the node to 2.0.0 is pending until the maintenance operator has prepared the node.",
            "kubectl get nodemaintenances.maintenance.nvidia.com -A",
        ),
        (
            {f"{UPGRADE}-state": "upgrade-required", f"{UPGRADE}.skip": "false"},
            "upgrade-required",
            "The driver upgrade of the node to 2.0.0 is pending.",
            None,
        ),
    ],
)
def test_a_driver_that_stays_old_says_who_keeps_it(
    labels: dict[str, str], step: str, why: str, remedy: str | None
) -> None:
    newer = deepcopy(DRIVER)
    newer["spec"]["template"]["spec"]["containers"][0]["image"] = "registry.test/plugin:v2.0.0"
    said = found(node(CARD | {f"{DEPLOY}driver": "true"} | labels), newer, pod(DRIVER))["driver"]
    assert (said.state, said.step, said.why) == ("outdated", step, why)
    assert remedy is None or said.remedy == remedy
