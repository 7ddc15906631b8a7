"""The software of gpushare: device plugin on nodes, scheduler extender with its Service, and how kube-scheduler is started.

What the file of kube-scheduler says is on the host and not in the API. Sources: AliyunContainerService/gpushare-scheduler-extender
c0b6141 (config/, docs/install.md), gpushare-device-plugin 45fb8b8; KEP-785.
"""

from __future__ import annotations

import msgspec

from kube.objects import Node, Pod
from stacks.engine.components import command_line
from stacks.engine.names import labels_of
from stacks.engine.node_facts import driver_version
from stacks.engine.registry import registry
from stacks.engine.shell import delete_pod, label_node
from stacks.engine.software.absent import unselected
from stacks.engine.software.base import (
    LEFT_OUT,
    MISSING,
    NOT_READY,
    OFFERS_NOTHING,
    OUTDATED,
    READY,
    UNKNOWN,
    WANTED,
    Component,
    Expected,
    Here,
    Software,
    SoftwareOf,
    Statement,
)
from stacks.engine.software.deployments import not_found, of_deployment
from stacks.engine.versions import NEWEST, Version, below, image_version, version_of
from stacks.gpushare.declared import CORE_RESOURCE, NODE_LABELS, PLUGIN
from stacks.gpushare.scheduler_files import NODE_PORT, config_api
from stacks.gpushare.setup import EXTENDER as SCHD_EXTENDER
from stacks.gpushare.setup import MAKER
from stacks.shared.hand_labelled import without_label
from stacks.shared.served import by_another
from wording.said import sentence

EXTENDER, SERVICE, CONFIG, SCHEDULER = (
    *("gpushare-scheduler-extender", "gpushare-service", "gpushare-scheduler-config"),
    "kube-scheduler",
)
LABEL = ("gpushare", "true")
_RESOURCES = ("aliyun.com/gpu-mem", "aliyun.com/gpu-count", "aliyun.com/gpu")
_DRIVER_FLOOR, _MPS_CAPABILITY = "384.81", 7


def concerns(node: Node, software: Software) -> bool:
    """Where gpushare is installed, or the node carries its marks."""
    if software.daemonsets.get(PLUGIN) or software.deployments.get(EXTENDER):
        return labels_of(node).get("kubernetes.io/os") != "windows"
    return bool(labels_of(node).get("gpushare")) or _offered(node)


def _offered(node: Node) -> bool:
    stated = (node.status.capacity if node.status else None) or {}
    return any(name in stated for name in _RESOURCES)


def expected(node: Node, software: Software) -> Expected:
    """On nodes with the label gpushare=true, and on those that offer its resources (ACK has labels of its own)."""
    labels = labels_of(node)
    if labels.get("gpushare") == "true" or _offered(node):
        return WANTED
    if not software.daemonsets.get(PLUGIN):
        return LEFT_OUT
    marked = any(labels.get(name) == "true" for name in NODE_LABELS.present)
    if marked or any(labels.get(name) for name in NODE_LABELS.naming):
        return WANTED
    return without_label(node, software, LABEL, MAKER, lambda name: name in _RESOURCES)


def refine(made: Statement, here: Here) -> Statement:
    """Mistakes that the project's users make, and floors."""
    if made.state == MISSING and labels_of(here.node).get("gpushare") != "true" and not made.remedy:
        made = msgspec.structs.replace(made, remedy=label_node(here.node, LABEL))
    if made.reason == OFFERS_NOTHING:
        count = ((here.node.status.capacity if here.node.status else None) or {}).get("aliyun.com/gpu-count")
        if count not in (None, "0", 0):
            return msgspec.structs.replace(
                made,
                remedy=sentence(
                    "In MiB mode the device list exceeds the gRPC limit of 4 MiB. Start the plugin with --memory-unit=GiB."
                ),
            )
        return msgspec.structs.replace(
            made,
            remedy=sentence(
                "Make the NVIDIA container runtime the default of Docker or containerd, then restart the plugin: {command}",
                command=_restart(here),
            ),
        )
    warnings = list(made.warnings)
    other = by_another(here.node, lambda name: name in _RESOURCES or name == CORE_RESOURCE)
    if made.state in (READY, OUTDATED) and other:
        warnings.append(
            sentence(
                "The node also offers {name}: two plugins offer the same cards. Remove the other plugin from this node.",
                name=other,
            )
        )
    driver = driver_version(here.node)
    if driver and below(driver, _DRIVER_FLOOR):
        warnings.append(
            sentence("Driver {version} is below {floor}, which gpushare needs.", version=driver, floor=_DRIVER_FLOOR)
        )
    major = _capability(here.node).partition(".")[0] if _mps(here.pod) else ""
    if major.isdigit() and int(major) < _MPS_CAPABILITY:
        warnings.append(
            sentence(
                "MPS needs compute capability {floor}.0. The card has {major}.", floor=_MPS_CAPABILITY, major=major
            )
        )
    return msgspec.structs.replace(made, warnings=tuple(warnings)) if warnings else made


def _capability(node: Node) -> str:
    said = (writer.cuda(labels_of(node)).capability for writer in registry.labels)
    return next(filter(None, said), "")


def _mps(pod: Pod | None) -> bool:
    return "--mps" in command_line((pod.spec.containers if pod is not None and pod.spec else None) or ())


def _restart(here: Here) -> str:
    return delete_pod(here.pod) if here.pod is not None else ""


def in_cluster(software: Software) -> dict[str, Statement]:
    """Extender, its Service, kube-scheduler's start, and whether the plugin is installed and selects a node."""
    extender, plugin = of_deployment(EXTENDER, software), software.daemonsets.get(PLUGIN)
    if extender is None and not plugin:
        return {}
    found: dict[str, Statement] = {}
    if extender is not None:
        found[EXTENDER] = _extender(extender)
    else:
        found[EXTENDER] = not_found(software, EXTENDER, remedy="gpudash cluster prepare NAME --stack gpushare")
    found[SERVICE] = _service(software)
    found[CONFIG] = _config(software)
    missing = unselected(PLUGIN, software) if plugin else not_found(software, PLUGIN, "daemonsets")
    if missing is not None and missing.state != UNKNOWN:
        found[PLUGIN] = missing
    return found


def _extender(made: Statement) -> Statement:
    if made.state in (READY, OUTDATED):
        return made
    effect = sentence("New pods with aliyun.com/gpu-mem cannot be scheduled while it is down.")
    rights = sentence(
        "Permissions are not visible. Check: {command}",
        command="kubectl auth can-i list configmaps --as=system:serviceaccount:kube-system:gpushare-schd-extender",
    )
    return msgspec.structs.replace(made, warnings=(*made.warnings, effect, rights))


def _service(software: Software) -> Statement:
    found = [one for one in software.services if one.metadata.name == SCHD_EXTENDER]
    if not found:
        return not_found(software, SERVICE, "services", "gpudash cluster prepare NAME --stack gpushare")
    spec, name = found[0].spec, f"Service {found[0].metadata.namespace}/{found[0].metadata.name}"
    ports = (spec.ports if spec else None) or ()
    numbers_of = [one.nodePort for one in ports if one.nodePort]
    if spec is None or spec.type not in ("NodePort", "LoadBalancer") or not numbers_of:
        return Statement(
            state=NOT_READY,
            why=sentence("The Service has no node port. kube-scheduler needs one to reach the extender."),
            source=name,
        )
    if NODE_PORT not in numbers_of:
        text = sentence(
            "The node port is {port}. The published scheduler file uses {usual}.", port=numbers_of[0], usual=NODE_PORT
        )
        return Statement(state=READY, warnings=(text,), source=name)
    return Statement(state=READY, source=name)


def _config(software: Software) -> Statement:
    """By the command line of kube-scheduler, where it is a pod of this cluster."""
    pods = software.pods.get(SCHEDULER, ())
    if not pods:
        return Statement(
            state=UNKNOWN,
            why=sentence(
                "kube-scheduler is not visible: the control plane is managed, or kube-scheduler is not a pod."
            ),
            remedy=sentence("On the control plane: grep -- '--config' in the manifest of kube-scheduler"),
        )
    lines = {pod.metadata.name: command_line((pod.spec.containers if pod.spec else None) or ()) for pod in pods}
    name = f"pod kube-system/{sorted(lines)[0]}"
    version = _scheduler_version(pods)
    api = config_api(version)
    if any("--config" not in line and "--policy-config-file" not in line for line in lines.values()):
        return Statement(
            state=MISSING,
            why=sentence("kube-scheduler runs without --config and --policy-config-file."),
            remedy=_with_config(api)
            if api
            else sentence("Start kube-scheduler with --policy-config-file and a policy with an extender entry."),
            source=name,
        )
    if api and any("--policy-config-file" in line for line in lines.values()):
        return Statement(
            state=NOT_READY,
            why=sentence("kube-scheduler has --policy-config-file, which Kubernetes 1.23 removed."),
            remedy=_with_config(api),
            source=name,
        )
    return Statement(
        state=UNKNOWN,
        why=sentence("kube-scheduler uses a configuration file. Its content is not visible in the API."),
        remedy=sentence(
            "On the control plane, check the file for the extender's entry (managedResources aliyun.com/gpu-mem)."
        ),
        source=name,
    )


def _with_config(api: str) -> str:
    return sentence(
        "Start kube-scheduler with --config and a file with an extender entry (apiVersion {api}).",
        api=f"kubescheduler.config.k8s.io/{api}",
    )


def _scheduler_version(pods: tuple[Pod, ...]) -> Version:
    images = (image_version(one.image) for pod in pods for one in (pod.spec.containers if pod.spec else None) or ())
    return next((version for image in images if (version := version_of(image)) is not None), NEWEST)


SOFTWARE = SoftwareOf(
    node=(
        Component(
            name=PLUGIN,
            expected=expected,
            main=("gpushare",),
            offers=lambda resource: resource in ("aliyun.com/gpu-mem", "aliyun.com/gpu"),
            refine=refine,
        ),
    ),
    concerns=concerns,
    cluster=in_cluster,
    schedulers=(EXTENDER, SERVICE, CONFIG),
    services=(("kube-system", SCHD_EXTENDER),),
    served_by=(PLUGIN, EXTENDER),
)
