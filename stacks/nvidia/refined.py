"""What is known of single operands beyond their pods: steps of upgrades and MIG changes, steps of the validator, versions.

Sources: NVIDIA/gpu-operator v26.7.0 (assets, validator), NVIDIA/k8s-driver-manager v0.12.0, NVIDIA/mig-parted v0.15.0.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from kube.objects import Node
from stacks.engine.names import labels_of
from stacks.engine.shell import command, label_node, pod_log
from stacks.engine.software.base import NOT_READY, OUTDATED, PENDING, READY, STUCK_S, WAITING, Here, Software, Statement
from stacks.engine.versions import below
from stacks.nvidia import operator, pins
from stacks.nvidia.gfd import MIG_CONFIG, MIG_STATE
from stacks.nvidia.operands import OPERANDS, managed, paused
from stacks.nvidia.state import SKIP_UPGRADE, UPGRADE
from stacks.shared.rancher import rancher
from wording.said import sentence

DRIVER_CONTAINERS = ("nvidia-driver-ctr", "nvidia-gpu-driver-ctr")
#: So long the driver's startup probe lets it build the kernel modules.
BUILD_S = 60 + 120 * 10
#: So long the validator's own steps may take before they end by themselves: a workload of 5 minutes, 30 looks at the node.
_OWN_STEPS, _VALIDATES_S = ("cuda-validation", "plugin-validation"), 6 * 60


def _judged_version(name: str, made: Statement, here: Here) -> Statement:
    """Older than the running operator's own release of the component, unless the ClusterPolicy says so itself."""
    if made.state != READY or not made.version or not managed(here.node, here.software):
        return made
    pin = pins.of(name, operator.release(here.software))
    if not pin or not below(made.version, pin) or _overridden(name, here.software):
        return made
    return msgspec.structs.replace(
        made,
        state=OUTDATED,
        wanted=pin,
        why=sentence(
            "{version} is older than {wanted} of GPU Operator {operator}.",
            version=made.version,
            wanted=pin,
            operator=operator.release(here.software),
        ),
    )


def _overridden(name: str, software: Software) -> bool:
    spec = operator.ruling_spec(software)
    part = OPERANDS[name].enabled(spec) if spec else None
    driver = name == "driver" and bool(software.drivers)
    return driver or (part is not None and bool(part.version))


def _driver(made: Statement, here: Here) -> Statement:
    step = labels_of(here.node).get(UPGRADE, "")
    made = msgspec.structs.replace(made, step=step)
    if made.state == NOT_READY and made.container in DRIVER_CONTAINERS:
        made = msgspec.structs.replace(made, patience_s=BUILD_S)
    if made.container == "k8s-driver-manager":
        if made.state == NOT_READY:
            old = made.since is not None and here.software.now - made.since > STUCK_S
            made = msgspec.structs.replace(
                made,
                state=NOT_READY if old else WAITING,
                why=sentence("The driver manager is waiting until the node has no GPU workloads."),
            )
            if not old:
                return msgspec.structs.replace(made, remedy="")
        return msgspec.structs.replace(
            made,
            remedy=sentence(
                "Stop the pods that use its cards ({list}), or start the upgrade of the node: {command}",
                list=command("kubectl", "get", "pods", "-A", *_on(here.node)),
                command=_upgrade(here.node),
            ),
        )
    if step == "upgrade-failed":
        text = sentence("The driver upgrade of this node failed. It occupies an upgrade slot until it is fixed.")
        return msgspec.structs.replace(
            made,
            warnings=(*made.warnings, text),
            remedy=made.remedy or _upgrade(here.node),
            explains=True,
        )
    if made.state == OUTDATED:
        return _outdated(made, step, here.node)
    if made.state in (NOT_READY, PENDING) and paused(here.node, "paused-for-driver-upgrade"):
        return msgspec.structs.replace(made, explains=True)
    return made


def _outdated(made: Statement, step: str, node: Node) -> Statement:
    """Why the node still has the driver before: it is left out, not yet due, or another operator prepares it (requestor mode)."""
    if labels_of(node).get(SKIP_UPGRADE) == "true":
        return msgspec.structs.replace(
            made,
            step="" if step == "upgrade-required" else step,
            why=sentence("Driver upgrades skip this node because of its label {label}.", label=SKIP_UPGRADE),
            remedy=command("kubectl", "label", "node", node.metadata.name, f"{SKIP_UPGRADE}-"),
        )
    if step == "upgrade-required":
        text = sentence("The driver upgrade of the node to {wanted} is pending.", wanted=made.wanted)
        return msgspec.structs.replace(made, why=text)
    if step == "node-maintenance-required":
        return msgspec.structs.replace(
            made,
            why=sentence(
                "The driver upgrade of the node to {wanted} is pending until the maintenance operator has prepared the node.",
                wanted=made.wanted,
            ),
            remedy=command("kubectl", "get", "nodemaintenances.maintenance.nvidia.com", "-A"),
        )
    return made


def _toolkit(made: Statement, here: Here) -> Statement:
    spec = operator.ruling_spec(here.software)
    env = spec.toolkit.env if spec and spec.toolkit else None
    if made.state != READY or env is None or not rancher(here.node):
        return made
    if {"CONTAINERD_CONFIG", "CONTAINERD_SOCKET"} <= {one.name for one in env}:
        return made
    text = sentence(
        "On k3s and RKE2 the toolkit needs CONTAINERD_CONFIG and CONTAINERD_SOCKET in spec.toolkit.env of the ClusterPolicy."
    )
    return msgspec.structs.replace(made, warnings=(*made.warnings, text))


def _mig(made: Statement, here: Here) -> Statement:
    labels = labels_of(here.node)
    state, wanted = labels.get(MIG_STATE, ""), labels.get(MIG_CONFIG, "")[:63]
    if made.state not in (READY, OUTDATED) or not state:
        return made
    made = msgspec.structs.replace(made, step=state)
    if state == "failed":
        text = sentence("The MIG layout {wanted} could not be applied.", wanted=wanted)
        return msgspec.structs.replace(
            made,
            warnings=(*made.warnings, text),
            remedy=pod_log(here.pod, "nvidia-mig-manager") if here.pod is not None else "",
            explains=True,
        )
    if state == "pending" and paused(here.node, "paused-for-mig-change"):
        text = sentence("The change to the MIG layout {wanted} is pending, although no pod blocks it.", wanted=wanted)
        return msgspec.structs.replace(
            made,
            warnings=(*made.warnings, text),
            remedy=command("kubectl", "delete", "pod", *_of_app(here, "nvidia-mig-manager")),
            explains=True,
            patience_s=STUCK_S,
        )
    if state not in ("success", "pending", "rebooting"):
        text = sentence("{label} has the unknown value {value}.", label=MIG_STATE, value=state[:63])
        return msgspec.structs.replace(made, warnings=(*made.warnings, text))
    return made


def _validator(made: Statement, here: Here) -> Statement:
    """The step that fails, in the operator's own words: driver, toolkit, CUDA workload, plugin."""
    step = made.container
    recent = made.since is None or here.software.now - made.since <= _VALIDATES_S
    if step in _OWN_STEPS and made.state == NOT_READY and recent:
        return msgspec.structs.replace(
            made, state=WAITING, why=sentence("The validator is running its step {step}.", step=step), remedy=""
        )
    if step == "cuda-validation":
        return msgspec.structs.replace(
            made,
            why=sentence("The CUDA workload of the operator validator fails."),
            remedy=sentence(
                "Check its pod, and Fabric Manager on nodes with NVSwitch: {command}",
                command=command("kubectl", "get", "pods", *_of_app(here, "nvidia-cuda-validator")),
            ),
        )
    if step == "plugin-validation":
        return msgspec.structs.replace(
            made,
            why=sentence("The operator validator does not see the resources of the device plugin on the node."),
        )
    if step == "toolkit-validation" and made.state not in (READY, WAITING):
        return msgspec.structs.replace(
            made, why=sentence("nvidia-smi fails in a container: the container toolkit does not work on this node.")
        )
    return made


def _upgrade(node: Node) -> str:
    """The command by which the operator begins its driver upgrade."""
    return label_node(node, (UPGRADE, "upgrade-required"), overwrite=True)


def _of_app(here: Here, app: str) -> tuple[str, ...]:
    """The options of kubectl for pods of the operator on this node."""
    namespace = here.pod.metadata.namespace if here.pod is not None else "gpu-operator"
    return "-n", namespace, "-l", f"app={app}", *_on(here.node)


def _on(node: Node) -> tuple[str, str]:
    """The options of kubectl for pods of one node."""
    return "--field-selector", f"spec.nodeName={node.metadata.name}"


_OF = {"driver": _driver, "container-toolkit": _toolkit, "mig-manager": _mig, "operator-validator": _validator}


def refined(name: str) -> Callable[[Statement, Here], Statement]:
    """What is made of the statement of an operand: its version beside the operator's, then what only this operand shows."""

    def refine(made: Statement, here: Here) -> Statement:
        made = _judged_version(name, made, here)
        return _OF[name](made, here) if name in _OF else made

    return refine


_NEED_RUNTIME = ("device-plugin", "gpu-feature-discovery", "dcgm-exporter", "operator-validator")


def together(found: dict[str, Statement]) -> dict[str, Statement]:
    """Where the toolkit is ready and the pods that need its runtime have no sandbox, the runtime does not know the handler."""
    toolkit = found.get("container-toolkit")
    stuck = [name for name in _NEED_RUNTIME if name in found and found[name].state == PENDING]
    if toolkit is None or toolkit.state not in (READY, OUTDATED) or len(stuck) < 2:
        return found
    if any(found[name].state == READY for name in _NEED_RUNTIME if name in found):
        return found
    why = sentence(
        "Pods that need the nvidia runtime do not start although the toolkit is ready. The container runtime may "
        "lack the handler. The API does not report the cause."
    )
    changed = msgspec.structs.replace(
        toolkit,
        why=why,
        explains=True,
        remedy=sentence(
            "Check CONTAINERD_CONFIG and CONTAINERD_SOCKET of the toolkit, restart its pod, then restart containerd. "
            "For the cause: kubectl describe pod"
        ),
    )
    return found | {"container-toolkit": changed}
