"""A Deployment of a component → what is true of it, by its pods."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from kube.daemonset_nodes import obstacles
from kube.objects import Node, Pod, TemplateSpec
from kube.software import Deployment
from stacks.engine.shell import command, describe_object
from stacks.engine.software.base import DISABLED, MISSING, PENDING, READY, UNKNOWN, Software, Statement
from stacks.engine.software.pods import of_pod, version_in
from stacks.engine.versions import plain_version
from wording.said import Said, sentence

DEPLOYMENTS = "deployments"
VERSION_LABEL = "app.kubernetes.io/version"
_MASTER, _CONTROL_PLANE = "node-role.kubernetes.io/master", "node-role.kubernetes.io/control-plane"


def of_deployment(
    name: str, software: Software, main: tuple[str, ...] = (), waits: Mapping[str, str] | None = None
) -> Statement | None:
    """What is true of a component that a Deployment runs; None where there is no sign of it.

    Of several Deployments the first that is not ready. Where Deployments are not read, the pods alone are judged.
    """
    deployments = software.deployments.get(name, ())
    pods = [one for one in software.pods.get(name, ()) if one.metadata.deletionTimestamp is None]
    if not deployments:
        if not pods:
            return None
        made = [of_pod(pod, None, main, waits or {}, False) for pod in pods]
        return next((one for one in made if one.state == READY), made[0])
    made = [_of(one, software, main, waits or {}) for one in deployments]
    return next((one for one in made if one.state != READY), made[0])


def _of(found: Deployment, software: Software, main: tuple[str, ...], waits: Mapping[str, str]) -> Statement:
    name = f"{found.metadata.namespace}/{found.metadata.name}"
    template = found.spec.template if found.spec else None
    spec = template.spec if template else None
    version = plain_version((found.metadata.labels or {}).get(VERSION_LABEL, "")) or version_in(
        (spec.containers if spec else None) or (), main
    )
    source = f"Deployment {name}"
    if found.spec is not None and found.spec.replicas == 0:
        return Statement(
            state=DISABLED,
            version=version,
            why=sentence("The Deployment {name} has 0 replicas.", name=name),
            remedy=command(
                "kubectl", "scale", "deployment", "-n", found.metadata.namespace, found.metadata.name, "--replicas=1"
            ),
            source=source,
        )
    ready = (found.status.readyReplicas if found.status else None) or 0
    wanted = found.spec.replicas if found.spec and found.spec.replicas is not None else 1
    if ready >= wanted:
        return Statement(state=READY, version=version, source=source)
    judged = _pods(found, name, software, main, waits, version)
    if ready and judged is not None:
        text = sentence("{ready} of {wanted} replicas are ready.", ready=ready, wanted=wanted)
        return Statement(state=READY, version=version, source=source, warnings=(text,))
    return judged or Statement(
        state=PENDING,
        version=version,
        why=_no_pod(found, name),
        remedy=describe_object("deployment", found.metadata),
        source=source,
    )


def _pods(
    found: Deployment, name: str, software: Software, main: tuple[str, ...], waits: Mapping[str, str], version: str
) -> Statement | None:
    mine = [
        one
        for several in software.pods.values()
        for one in several
        if belongs(one, found) and one.metadata.deletionTimestamp is None
    ]
    made = [of_pod(pod, None, main, waits, False) for pod in mine]
    worst = next((one for one in made if one.state != READY), None)
    if worst is None:
        return None
    if worst.state == PENDING and not any(pod.spec is not None and pod.spec.nodeName for pod in mine):
        template = found.spec.template if found.spec else None
        hint, remedy = _nowhere(template.spec if template else None, software, found)
        if hint:
            worst = msgspec.structs.replace(worst, why=hint, remedy=remedy)
    return msgspec.structs.replace(worst, version=version or worst.version)


def belongs(pod: Pod, deployment: Deployment) -> bool:
    """Whether the pod is of one of the Deployment's ReplicaSets, which are named after it and the hash of their template."""
    if pod.metadata.namespace != deployment.metadata.namespace:
        return False
    for owner in pod.metadata.ownerReferences or ():
        if owner.uid == deployment.metadata.uid:
            return True
        if owner.kind == "ReplicaSet" and owner.name.rpartition("-")[0] == deployment.metadata.name:
            return True
    return False


def _nowhere(spec: TemplateSpec | None, software: Software, found: Deployment) -> tuple[str, str]:
    """(why no node takes the pods, what to do), where a label of the node selector is on no node, or a taint keeps all off."""
    nodes: list[Node] = list(software.nodes())
    if spec is None or not nodes:
        return "", ""
    for key, value in (spec.nodeSelector or {}).items():
        if any((node.metadata.labels or {}).get(key) == value for node in nodes):
            continue
        if key == _MASTER and any(_CONTROL_PLANE in (node.metadata.labels or {}) for node in nodes):
            return (
                sentence(
                    "No node has the label {key} of its nodeSelector. Kubernetes 1.24 and later use {other}.",
                    key=key,
                    other=_CONTROL_PLANE,
                ),
                sentence(
                    "Change nodeSelector and toleration of the Deployment {name} to {other}.",
                    name=f"{found.metadata.namespace}/{found.metadata.name}",
                    other=_CONTROL_PLANE,
                ),
            )
        return (
            sentence("No node has the label {key}={value} of its nodeSelector.", key=key, value=value),
            sentence("Label a node, or change the nodeSelector of the Deployment."),
        )
    kept = [obstacles(spec, node) for node in nodes]
    taints = {one.key for several in kept for one in several if one.kind == "taint"}
    if taints and all(any(one.kind == "taint" for one in several) for several in kept):
        return sentence("It tolerates the taints of no node: {taints}.", taints=", ".join(sorted(taints)[:3])), ""
    return "", ""


def _no_pod(found: Deployment, name: str) -> str:
    conditions = (found.status.conditions if found.status else None) or ()
    failed = next((one for one in conditions if one.type == "ReplicaFailure" and one.status == "True"), None)
    if failed is not None and failed.message:
        return sentence(
            "The Deployment {name} cannot create its pod: {message}", name=name, message=failed.message[:400]
        )
    return sentence("The Deployment {name} has no ready pod.", name=name)


def not_found(software: Software, name: str, kind: str = DEPLOYMENTS, remedy: str = "") -> Statement:
    """Of a component that a stack of this cluster needs, and of which there is no sign."""
    if kind not in software.read:
        return Statement(state=UNKNOWN, why=not_read(kind))
    return Statement(
        state=MISSING,
        why=sentence("The cluster has no {kind} for {name}.", kind=_KIND_NAMES.get(kind, kind), name=name),
        remedy=remedy,
        source=kind,
    )


_KIND_NAMES = {DEPLOYMENTS: "Deployment", "services": "Service", "daemonsets": "DaemonSet"}


def not_read(kind: str) -> Said:
    """That a kind is not read."""
    name = f"{_KIND_NAMES[kind]}s" if kind in _KIND_NAMES else kind
    return sentence(
        "{kind} are not available: the initial list is not complete, or the cluster role does not allow it.", kind=name
    )


def release_of(name: str, software: Software) -> str:
    """Of the first Deployment of a component, by its label or its image; "" where nothing says it."""
    for found in software.deployments.get(name, ()):
        template = found.spec.template if found.spec else None
        containers = (template.spec.containers if template and template.spec else None) or ()
        version = plain_version((found.metadata.labels or {}).get(VERSION_LABEL, "")) or version_in(containers, ())
        if version:
            return version
    return ""
