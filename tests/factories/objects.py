"""A node of some trait and the pods on it, as the API server would send them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from tests.factories.traits import Trait

#: An object of the API, as JSON has it.
Thing = dict[str, Any]

NAMESPACES = ("default", "team-a", "team-b")
#: Of no known number of cards: nodes of any kind and size are made of it.
INSTANCE_TYPE = "ecs.ebmgn6e.24xlarge"
#: What a node has of its own, and what each pod requests of it.
HOST, OF_A_POD = {"cpu": "96", "memory": "768Gi"}, {"cpu": "1500m", "memory": "4Gi"}


def node_object(trait: Trait, name: str, cards: int, ready: bool | None, now: datetime, number: int = 0) -> Thing:
    """number: of the node among those of its cluster, for its address."""
    amounts = {trait.resource: str(cards * trait.slots)} | ({trait.counts: str(cards)} if trait.counts else {})
    labels = {"kubernetes.io/hostname": name, "kubernetes.io/os": trait.os}
    labels["node.kubernetes.io/instance-type"] = INSTANCE_TYPE
    labels["topology.kubernetes.io/zone"] = "zone-a"
    labels |= {label: value.format(cards=cards) for label, value in trait.labels}
    status = {True: "True", False: "False", None: "Unknown"}[ready]
    condition = {"type": "Ready", "status": status}
    if not ready:
        condition |= {"reason": "KubeletNotReady", "message": "container runtime is down"}
    return {
        "metadata": {
            "name": name,
            "uid": f"node-{name}",
            "creationTimestamp": stamp(now - timedelta(days=30)),
            "labels": labels,
            "annotations": _annotations(trait, name, cards),
        },
        "spec": {},
        "status": {
            "capacity": amounts | HOST,
            "allocatable": amounts | HOST,
            "conditions": [condition],
            "addresses": [{"type": "InternalIP", "address": _address(number)}],
            "nodeInfo": {"kubeletVersion": "v1.33.1", "operatingSystem": trait.os},
        },
    }


def _annotations(trait: Trait, node: str, cards: int) -> dict[str, str]:
    found = {name: value.format(cards=cards) for name, value in trait.annotations}
    if trait.register:
        each = (trait.register.format(node=node, index=index) for index in range(cards))
        found["hami.io/node-nvidia-register"] = "".join(each)
    return found


def _address(number: int) -> str:
    return f"10.{number // 62500}.{number // 250 % 250}.{number % 250 + 1}"


def holders(trait: Trait, node: str, cards: int, loads: tuple[float, ...], now: datetime) -> Iterator[Thing]:
    """The pods that hold the cards of a node. loads: held share of each card, repeated."""
    for index in range(cards):
        for number, quantity in enumerate(trait.parts(loads[index % len(loads)])):
            yield _holder(trait, node, index, number, quantity, now)


def _holder(trait: Trait, node: str, index: int, number: int, quantity: int, now: datetime) -> Thing:
    namespace = NAMESPACES[index % 3]
    pod = _pod(f"train-{node}-{index}-{number}", namespace, {trait.resource: str(quantity)})
    pod["metadata"] |= {
        "creationTimestamp": stamp(now - timedelta(minutes=11 + index)),
        "annotations": trait.written(node, index, quantity, now - timedelta(minutes=10 + index)),
        "ownerReferences": [{"kind": "ReplicaSet", "name": f"train-{namespace}", "controller": True}],
    }
    pod["spec"]["nodeName"] = node
    started = stamp(now - timedelta(minutes=10 + index))
    running = {"name": "main", "state": {"running": {"startedAt": started}}}
    if trait.device_ids:
        device = {"resourceID": trait.device_ids.format(node=node, index=index, number=number), "health": "Healthy"}
        running["allocatedResourcesStatus"] = [{"name": trait.resource, "resources": [device]}]
    pod["status"] = {"phase": "Running", "startTime": started, "containerStatuses": [running]}
    return pod


def pending_pod(name: str, resource: str, quantity: int, minutes: int, now: datetime) -> Thing:
    """A pod that no node takes."""
    pod = _pod(name, "team-a", {resource: str(quantity)})
    pod["metadata"] |= {
        "creationTimestamp": stamp(now - timedelta(minutes=minutes)),
        "ownerReferences": [{"kind": "Job", "name": "batch", "controller": True}],
    }
    message = "0/3 nodes are available: 3 Insufficient GPU Memory in one device."
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}
    pod["status"] = {"phase": "Pending", "conditions": [condition]}
    return pod


def claiming_pod(name: str, claim: str, minutes: int, now: datetime, template: str = "") -> Thing:
    """A pod that no node takes and that names one claim. claim: "" for one that has not been made from its template."""
    pod = pending_pod(name, "cpu", 1, minutes, now)
    named = {"resourceClaimTemplateName": template} if template else {"resourceClaimName": claim}
    pod["spec"]["resourceClaims"] = [{"name": "gpu", **named}]
    pod["status"]["conditions"][0]["message"] = "0/3 nodes are available: 3 cannot allocate all claims."
    if template and claim:
        pod["status"]["resourceClaimStatuses"] = [{"name": "gpu", "resourceClaimName": claim}]
    return pod


def claim_object(name: str, request: Thing, namespace: str = "team-a", **more: Any) -> Thing:
    """A claim of one request, as resource.k8s.io/v1 has it."""
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"claim-{name}"},
        "spec": {"devices": {"requests": [{"name": "gpu", **request}]}},
        **more,
    }


def _pod(name: str, namespace: str, limits: dict[str, str]) -> Thing:
    container = {"name": "main", "resources": {"limits": limits, "requests": OF_A_POD | limits}}
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"pod-{name}"},
        "spec": {"containers": [container]},
    }


def gpushare_plugin(unit: str) -> Thing:
    """The DaemonSet of gpushare's device plugin. unit: GiB or MiB."""
    labels = {"app": "gpushare", "component": "gpushare-device-plugin", "name": "gpushare-device-plugin-ds"}
    command = ["gpushare-device-plugin-v2", "-logtostderr", "--v=5", f"--memory-unit={unit}"]
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "gpushare", "command": command}]}}
    return {
        "metadata": {"name": "gpushare-device-plugin-ds", "namespace": "kube-system", "uid": "daemonset-gpushare"},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }


def stamp(moment: datetime) -> str:
    """As the API writes times."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def encoded(thing: Thing) -> bytes:
    return json.dumps(thing).encode()
