"""The GPU Operator itself, and its custom resources: ClusterPolicy, NVIDIADriver, GPUCluster.

The state of a ClusterPolicy says nothing of single nodes, and is `ready` where there are no GPU nodes, no labels of Node Feature
Discovery, or DaemonSets that select nothing. The reason of its conditions is read, not the state alone.
Source: NVIDIA/gpu-operator v26.7.0 (internal/conditions, controllers).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kube.objects import Condition, Node
from kube.software import ClusterPolicy, ClusterPolicySpec, GPUCluster, NVIDIADriver, PolicyStatus
from stacks.engine.names import labels_of
from stacks.engine.shell import describe_object
from stacks.engine.software.base import DISABLED, MISSING, NOT_NEEDED, NOT_READY, READY, UNKNOWN, Software, Statement
from stacks.engine.software.deployments import DEPLOYMENTS, not_read, of_deployment, release_of
from stacks.engine.software.pods import seconds
from stacks.engine.versions import below, numbers, plain_version
from stacks.nvidia.dra_driver import CONTROLLER
from wording.said import quote, sentence

NAME = "gpu-operator"
_VERSION = "app.kubernetes.io/version"
#: Reasons of the condition Ready that are no good news though the state is `ready`.
_MISLEADING = {
    "NFDLabelsMissing": sentence("The state is ready, but no node has labels of Node Feature Discovery."),
    "NoGPUNodes": sentence("The state is ready, but the operator sees no node with a GPU."),
}
_KNOWN_STATES = frozenset(("ready", "notReady", "ignored", "disabled", ""))


def ruling(software: Software) -> ClusterPolicy:
    """The ClusterPolicy that the operator follows: the oldest."""
    return min(software.policies, key=lambda one: (one.metadata.creationTimestamp or "", one.metadata.name))


def ruling_spec(software: Software) -> ClusterPolicySpec | None:
    """What it sets; None where there is no ClusterPolicy, or it sets nothing."""
    return ruling(software).spec if software.policies else None


def release(software: Software) -> str:
    """The running operator's version; "" where nothing says it."""
    if found := release_of(NAME, software):
        return found
    labels = (ruling(software).metadata.labels or {}) if software.policies else {}
    chart = labels.get("helm.sh/chart", "").removeprefix("gpu-operator-")
    return plain_version(labels.get(_VERSION, "") or chart)


def below_release(software: Software, floor: str) -> bool:
    """Whether the operator is older than this; also where its version is not known."""
    found = release(software)
    return not numbers(found) or below(found, floor)


def in_cluster(software: Software) -> dict[str, Statement]:
    """Operator, ClusterPolicies, NVIDIADrivers, GPUClusters."""
    found: dict[str, Statement] = {}
    operator = of_deployment(NAME, software)
    if operator is not None:
        if operator.state != READY:
            text = sentence("While it is down, the states of its resources do not change.")
            operator = msgspec.structs.replace(operator, warnings=(*operator.warnings, text))
        found[NAME] = operator
    elif software.policies and DEPLOYMENTS not in software.read:
        found[NAME] = Statement(state=UNKNOWN, why=not_read(DEPLOYMENTS))
    elif software.policies:
        found[NAME] = Statement(
            state=MISSING,
            why=sentence("A ClusterPolicy exists, but no Deployment of the GPU Operator."),
            remedy="helm upgrade --install gpu-operator nvidia/gpu-operator -n gpu-operator",
            source=DEPLOYMENTS,
        )
    controller = of_deployment(CONTROLLER, software)
    if controller is not None:  # only compute domains need it
        found[CONTROLLER] = controller
    rules = ruling(software).metadata.name if software.policies else ""
    for policy in software.policies:
        found[f"clusterpolicy/{policy.metadata.name}"] = _policy(policy, rules, software)
    for driver in software.drivers:
        found[f"nvidiadriver/{driver.metadata.name}"] = _driver(driver, software)
    for cluster in software.gpuclusters:
        found[f"gpucluster/{cluster.metadata.name}"] = _gpucluster(cluster, software)
    return found


def _condition(status: PolicyStatus | None, kind: str) -> Condition | None:
    conditions = (status.conditions if status else None) or ()
    return next((one for one in conditions if one.type == kind), None)


def _state(status: PolicyStatus | None) -> tuple[str, str, float | None]:
    """(state, why, since), by the condition Error first: the state stays `ready` beside some errors."""
    said = (status.state if status else None) or ""
    error, ready = _condition(status, "Error"), _condition(status, "Ready")
    if error is not None and error.status == "True":
        why = quote(f"{error.reason}: {error.message}"[:1000]) if error.message else quote(error.reason or "")
        return NOT_READY, why, seconds(error.lastTransitionTime)
    if said == "ready":
        text = _MISLEADING.get((ready.reason if ready else None) or "", "")
        return READY, text, seconds(ready.lastTransitionTime) if ready else None
    if said == "ignored":
        return NOT_NEEDED, sentence("The operator ignores this resource: an older one applies."), None
    if said == "disabled":
        return DISABLED, "", None
    if said == "notReady":
        return NOT_READY, sentence("The operator reports the state notReady."), None
    if said in _KNOWN_STATES:
        return UNKNOWN, sentence("The operator has not set a state yet."), None
    return UNKNOWN, sentence("The operator reports the unknown state {state}.", state=said[:63]), None


def _policy(policy: ClusterPolicy, rules: str, software: Software) -> Statement:
    state, why, since = _state(policy.status)
    warnings: tuple[str, ...] = ()
    if policy.metadata.name != rules and state != NOT_NEEDED:
        state, why = (
            NOT_NEEDED,
            sentence("The operator ignores this ClusterPolicy: the older {name} applies.", name=rules),
        )
    elif state == READY and why:
        warnings, why = (why,), ""
    if software.gpuclusters and policy.metadata.name == rules:
        state = NOT_READY
        why = why or sentence("A GPUCluster also exists. The operator uses only one of the two.")
    return Statement(
        state=state,
        version=plain_version((policy.metadata.labels or {}).get(_VERSION, "")),
        why=why,
        warnings=warnings,
        since=since,
        source=f"ClusterPolicy {policy.metadata.name}",
        remedy=describe_object("clusterpolicy", policy.metadata) if state == NOT_READY else "",
    )


def _driver(driver: NVIDIADriver, software: Software) -> Statement:
    state, why, since = _state(driver.status)
    error = _condition(driver.status, "Error")
    reason = (error.reason if error is not None and error.status == "True" else None) or ""
    wanted = (driver.spec.version if driver.spec else None) or ""
    remedy = describe_object("nvidiadriver", driver.metadata) if state == NOT_READY else ""
    if reason == "ConflictingNodeSelector":
        others = [one.metadata.name for one in software.drivers if one.metadata.name != driver.metadata.name]
        mine = _nodes_of(driver, software.nodes())
        if wanted and mine and (driver.spec is not None and driver.spec.nodeSelector):
            why = sentence(
                "{reason}: its node selector overlaps with {others}. It sets {version} for {nodes}, but the operator "
                "does not roll it out.",
                reason=reason,
                others=", ".join(others) or "another NVIDIADriver",
                version=plain_version(wanted),
                nodes=", ".join(mine[:5]),
            )
        else:
            why = sentence(
                "{reason}: its node selector overlaps with {others}.",
                reason=reason,
                others=", ".join(others) or "another NVIDIADriver",
            )
        remedy = sentence(
            "Change the node selectors of the NVIDIADrivers so that they do not overlap. After deleting one, edit the other."
        )
    elif reason == "Reconciled":
        state, why = DISABLED, sentence("The ClusterPolicy does not use NVIDIADriver resources (useNvidiaDriverCRD).")
    return Statement(
        state=state,
        version=plain_version(wanted),
        why=why,
        since=since,
        remedy=remedy,
        source=f"NVIDIADriver {driver.metadata.name}",
    )


def _nodes_of(driver: NVIDIADriver, nodes: Iterable[Node]) -> list[str]:
    wanted = (driver.spec.nodeSelector if driver.spec else None) or {}
    return sorted(
        node.metadata.name
        for node in nodes
        if labels_of(node).get("nvidia.com/gpu.present") == "true"
        and all(labels_of(node).get(key) == value for key, value in wanted.items())
    )


def _gpucluster(found: GPUCluster, software: Software) -> Statement:
    state, why, since = _state(found.status)
    if software.policies:
        state = NOT_READY
        why = why or sentence("A ClusterPolicy also exists. The operator uses only one of the two.")
    return Statement(state=state, why=why, since=since, source=f"GPUCluster {found.metadata.name}")
