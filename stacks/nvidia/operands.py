"""Operands of the GPU Operator, or of the device plugin alone: which should run on a node, and why the others should not.

An operand's name is its word in the labels `nvidia.com/gpu.deploy.<word>`. The label's value is a state, its absence a policy.
Sources: NVIDIA/gpu-operator v1.11.1 to v26.7.0 (assets, controllers); NVIDIA/k8s-device-plugin v0.20.0 (deployments).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kube.objects import Node
from kube.software import ClusterPolicySpec
from kube.software import Operand as Part
from stacks.engine.names import labels_of
from stacks.engine.node_system import is_windows
from stacks.engine.shell import label_node
from stacks.engine.software.absent import DAEMONSETS
from stacks.engine.software.base import (
    DISABLED,
    LEFT_OUT,
    MISSING,
    NOT_NEEDED,
    PAUSED,
    UNKNOWN,
    WANTED,
    Expected,
    Software,
    Statement,
)
from stacks.nvidia import dra_driver, operator
from stacks.nvidia.declared import NODE_LABELS
from stacks.nvidia.evidence import PRESENT, evidence, ruled_out
from stacks.nvidia.gfd import MIG_STATE
from stacks.nvidia.state import UPGRADE
from stacks.shared.served import by_another, selected_by_another
from wording.said import sentence

DEPLOY = "nvidia.com/gpu.deploy."
_CONFIG = "nvidia.com/gpu.workload.config"
_PAUSED_FOR = {
    "paused-for-driver-upgrade": sentence("paused for a driver upgrade"),
    "paused-for-mig-change": sentence("paused for a MIG change"),
    "paused-for-vgpu-change": sentence("paused for a vGPU change"),
}
CONTAINER, PASSTHROUGH, VGPU = "container", "vm-passthrough", "vm-vgpu"


class Operand(NamedTuple):
    """enabled: its part of the ClusterPolicy. default: whether it runs where the policy says nothing. configs: kinds of nodes."""

    enabled: Callable[[ClusterPolicySpec], Part | None]
    default: bool = True
    configs: tuple[str, ...] = (CONTAINER,)


OPERANDS = {
    "driver": Operand(lambda spec: spec.driver),
    "vgpu-manager": Operand(lambda spec: spec.vgpuManager, False, (VGPU,)),
    "vfio-manager": Operand(lambda spec: spec.vfioManager, True, (PASSTHROUGH,)),
    "cc-manager": Operand(lambda spec: spec.ccManager, False, (PASSTHROUGH, VGPU)),
    "kata-manager": Operand(lambda spec: spec.kataManager, False, (PASSTHROUGH,)),
    "container-toolkit": Operand(lambda spec: spec.toolkit),
    "mig-manager": Operand(lambda spec: spec.migManager),
    "vgpu-device-manager": Operand(lambda spec: spec.vgpuDeviceManager, True, (VGPU,)),
    "device-plugin": Operand(lambda spec: spec.devicePlugin),
    "mps-control-daemon": Operand(lambda spec: spec.devicePlugin),
    "sandbox-device-plugin": Operand(lambda spec: spec.sandboxDevicePlugin, True, (PASSTHROUGH, VGPU)),
    "kata-sandbox-device-plugin": Operand(lambda spec: spec.kataSandboxDevicePlugin, False, (PASSTHROUGH,)),
    "gpu-feature-discovery": Operand(lambda spec: spec.gfd),
    "dcgm": Operand(lambda spec: spec.dcgm, False),
    "dcgm-exporter": Operand(lambda spec: spec.dcgmExporter),
    "node-status-exporter": Operand(lambda spec: spec.nodeStatusExporter, False),
    "sandbox-validator": Operand(lambda spec: spec.validator, True, (PASSTHROUGH, VGPU)),
    "operator-validator": Operand(lambda spec: spec.validator),
}
#: Not needed to give out a card.
OPTIONAL = frozenset(
    ("mps-control-daemon", "gpu-feature-discovery", "dcgm", "dcgm-exporter", "node-status-exporter", "kata-manager")
)
_MPS = "nvidia.com/mps.capable"


def managed(node: Node | None, software: Software) -> bool:
    """Whether the GPU Operator sets up the node, by its labels, or the cluster, by its objects."""
    if node is not None and any(name.startswith(DEPLOY) for name in labels_of(node)):
        return True
    if software.policies or software.deployments.get(operator.NAME) or software.gpuclusters:
        return True
    sets = (one for name in OPERANDS for one in software.daemonsets.get(name, ()))
    return any((one.metadata.labels or {}).get("app.kubernetes.io/managed-by") == "gpu-operator" for one in sets)


def concerns(node: Node, software: Software) -> bool:
    """Whether NVIDIA's software is in the cluster, or the node has such a card."""
    if is_windows(node):
        return False
    installed = any(software.daemonsets.get(name) for name in (*OPERANDS, dra_driver.PLUGIN))
    known = installed or managed(node, software)
    stated = (node.status.capacity if node.status else None) or {}
    return known or any(name.startswith("nvidia.com/") for name in stated)


def expected(node: Node, software: Software) -> dict[str, Expected]:
    """Of each operand: whether it should run on the node."""
    if not managed(node, software):
        return {name: _alone(name, node, software) for name in OPERANDS}
    config = _config(labels_of(node), software)
    return {name: _of_operator(name, node, software, config) for name in OPERANDS}


def without(node: Node, software: Software) -> Statement | None:
    """One answer for all components, of a node without an NVIDIA card."""
    if evidence(node) and labels_of(node).get(PRESENT) != "false":
        return None
    made = _without_card(node)
    if made.state == UNKNOWN and by_another(node, lambda name: name.startswith("nvidia.com/")):
        return _of_another()
    return made


def _of_another() -> Statement:
    return Statement(state=NOT_NEEDED, why=sentence("Another stack allocates the NVIDIA cards of this node."))


def _without_card(node: Node) -> Statement:
    if labels_of(node).get(PRESENT) == "false" or ruled_out(node):
        return Statement(
            state=NOT_NEEDED,
            why=sentence("Node Feature Discovery found no NVIDIA card on this node."),
            source="labels of Node Feature Discovery",
        )
    return Statement(state=UNKNOWN, why=sentence("The API does not report whether this node has an NVIDIA card."))


def _alone(name: str, node: Node, software: Software) -> Expected:
    """Without the operator: what was installed, and the plugin that each card needs. The rest is a matter of the host."""
    sets = software.daemonsets.get(name, ())
    if not sets and name != "device-plugin":
        return LEFT_OUT
    if _other_plugin(node, software):
        return _of_another()
    if name == "mps-control-daemon" and labels_of(node).get(_MPS) != "true":
        return _no_mps()
    return WANTED


def _other_plugin(node: Node, software: Software) -> bool:
    """Whether another stack gives out the cards, so that NVIDIA's plugin must not run."""
    if selected_by_another(node, software, "device-plugin"):
        return True
    own = "nvidia.com/gpu" in ((node.status.allocatable if node.status else None) or {})
    return not own and bool(by_another(node, lambda name: name.startswith("nvidia.com/")))


def _no_mps() -> Statement:
    return Statement(
        state=NOT_NEEDED, why=sentence("{label} is not true on this node.", label=_MPS), source=f"label {_MPS}"
    )


def _of_operator(name: str, node: Node, software: Software, config: str) -> Expected:
    labels, found = labels_of(node), OPERANDS[name]
    label = f"{DEPLOY}{name}"
    value = labels.get(label)
    if name == "mps-control-daemon" and labels.get(_MPS) != "true":
        return _no_mps()
    if name == "mps-control-daemon":
        value = labels.get(f"{DEPLOY}device-plugin")
    if config not in found.configs and not value:
        if CONTAINER not in found.configs and not _virtual_machines(software):
            return LEFT_OUT
        return Statement(
            state=NOT_NEEDED,
            why=sentence("Not needed with the workload configuration {config}.", config=config),
            source=f"label {_CONFIG}",
        )
    if value == "pre-installed":
        version = NODE_LABELS.driver(labels)
        return Statement(
            state=NOT_NEEDED,
            version=version[0] if version else "",
            why=sentence("The node uses the driver of the host."),
            source=f"label {label}",
        )
    if (off := _off(name, found, software)) is not None:
        return off
    if value == "false" or labels.get(f"{DEPLOY}operands") == "false":
        return Statement(
            state=DISABLED,
            why=sentence("Disabled on this node by the label {label}.", label=f"{label}=false"),
            remedy=label_node(node, (label, "true"), overwrite=True),
            source=f"label {label}",
        )
    if value is None or (value == "" and not operator.below_release(software, "26.7")):
        return _without_label(name, node, software)
    if value == "":
        return Statement(
            state=MISSING,
            why=sentence("The label {label} is empty, so the operator creates no pod.", label=label),
            remedy=label_node(node, (label, "true"), overwrite=True),
            source=f"label {label}",
        )
    if "paused-for-" in value:
        return _paused(value, label, labels)
    if value != "true":
        return Statement(
            state=UNKNOWN,
            why=sentence("The label {label} has the unknown value {value}.", label=label, value=value[:63]),
            source=f"label {label}",
        )
    return WANTED


def _config(labels: dict[str, str], software: Software) -> str:
    spec = operator.ruling_spec(software)
    sandbox = spec.sandboxWorkloads if spec else None
    if sandbox is None or not sandbox.enabled:
        return CONTAINER
    said = labels.get(_CONFIG, "")
    return said if said in (CONTAINER, PASSTHROUGH, VGPU) else sandbox.defaultWorkload or CONTAINER


def _virtual_machines(software: Software) -> bool:
    """Whether the operator may set up nodes for virtual machines."""
    spec = operator.ruling_spec(software)
    return bool(spec and spec.sandboxWorkloads and spec.sandboxWorkloads.enabled)


def _off(name: str, found: Operand, software: Software) -> Statement | None:
    """Switched off in the ClusterPolicy, or off by default."""
    if not software.policies:
        if not found.default and not software.daemonsets.get(name) and DAEMONSETS in software.read:
            return Statement(state=DISABLED, why=sentence("Off by default in the GPU Operator, and not installed."))
        return None
    policy, spec = operator.ruling(software), operator.ruling_spec(software)
    part = found.enabled(spec) if spec else None
    if name == "driver" and part is not None and part.useNvidiaDriverCRD:
        return None
    enabled = part.enabled if part is not None and part.enabled is not None else found.default
    if enabled:
        return None
    return Statement(
        state=DISABLED,
        why=sentence("Disabled in ClusterPolicy {name}.", name=policy.metadata.name),
        source=f"ClusterPolicy {policy.metadata.name}",
    )


def _without_label(name: str, node: Node, software: Software) -> Expected:
    labels = labels_of(node)
    if not any(key.startswith(DEPLOY) for key in labels):
        if _other_plugin(node, software):
            return _of_another()
        return Statement(
            state=MISSING,
            why=sentence("The GPU Operator did not label this node: no label {prefix}*.", prefix=DEPLOY),
            remedy=sentence("Check the pod of the Deployment gpu-operator and the labels of Node Feature Discovery."),
            source="node labels",
        )
    if name == "mig-manager":
        return Statement(state=NOT_NEEDED, why=sentence("The cards of this node do not support MIG: no deploy label."))
    if labels.get(f"{DEPLOY}dra-driver") == "true":
        return Statement(state=NOT_NEEDED, why=sentence("The DRA driver offers the cards of this node."))
    return Statement(
        state=NOT_NEEDED,
        why=sentence("The operator did not select this node: no label {label}.", label=f"{DEPLOY}{name}"),
    )


def _paused(value: str, label: str, labels: dict[str, str]) -> Statement:
    reason = next((text for word, text in _PAUSED_FOR.items() if word in value), None)
    step = labels.get(UPGRADE, "") if "driver" in value else labels.get(MIG_STATE, "") if "mig" in value else ""
    return Statement(
        state=PAUSED,
        why=sentence("The component is {reason}.", reason=reason)
        if reason is not None
        else sentence("The component is paused: {value}.", value=value[:63]),
        source=f"label {label}",
        step=step,
    )


def paused(node: Node, reason: str) -> bool:
    """Whether an operand is paused for this reason. reason: the label's value."""
    labels = labels_of(node)
    return any(labels.get(f"{DEPLOY}{name}") == reason for name in OPERANDS)
