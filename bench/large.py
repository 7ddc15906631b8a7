"""The objects of a large cluster as etcd stores them: nodes of all kinds, pods of 4 KB that use GPUs, and system pods.

Made from templates by replacing marks, so that 150,000 pods take seconds. Sizes and proportions are those of a real fleet: of 20
nodes 7 share memory (gpushare v1 and v2), 10 are NVIDIA's (whole cards counted, whole cards named, time-sliced), 3 are Windows.
Of 30 DaemonSets 8 are of GPU software: gpushare's plugins, and operands of the GPU Operator, with a pod each on NVIDIA's nodes.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

from tests.controlplane.objects import (
    KINDS,
    Json,
    Kind,
    condition,
    daemonset,
    node,
    placed,
    plugin_labels,
    plugin_spec,
    pod,
    uuid_of,
)

#: Kind → (nodes of each 20, GPU pods on each of them). The mean is 20 pods a node.
MIX = {"gib": (4, 26), "mib": (3, 26), "count": (3, 7), "status": (3, 7), "sliced": (4, 26), "directx": (3, 24)}
CARDS = 8
SYSTEM_PODS = 10
POD_BYTES = 4096
_CREATED = "2026-01-01T00:00:00Z"
#: Operand of the GPU Operator → the value of the label `app` of its pods.
OPERANDS = {
    "device-plugin": "nvidia-device-plugin-daemonset",
    "driver": "nvidia-driver-daemonset",
    "container-toolkit": "nvidia-container-toolkit-daemonset",
    "gpu-feature-discovery": "gpu-feature-discovery",
    "dcgm-exporter": "nvidia-dcgm-exporter",
    "operator-validator": "nvidia-operator-validator",
}
_DEPLOY = "nvidia.com/gpu.deploy."
#: DaemonSets that have nothing to do with GPUs.
_AGENTS = 22
_IN_TURN = [name for name, (share, _) in MIX.items() for _ in range(share)]


@dataclass(frozen=True)
class Scale:
    """How large. A node has 8 cards; on the mean 20 pods use them, and 10 system pods do not."""

    nodes: int

    @property
    def cards(self) -> int:
        return self.nodes * CARDS

    def kind(self, number: int) -> Kind:
        return KINDS[_IN_TURN[number % len(_IN_TURN)]]

    def node_name(self, number: int) -> str:
        return f"{self.kind(number).name}-{number}"


LARGE, SMALL, TINY = Scale(5000), Scale(200), Scale(50)


def objects(scale: Scale) -> Iterator[tuple[str, bytes]]:
    """(etcd key, stored JSON) of everything."""
    for made in _daemonsets():
        yield f"/registry/daemonsets/kube-system/{made['metadata']['name']}", json.dumps(made).encode()
    for number in range(scale.nodes):
        name = scale.node_name(number)
        yield f"/registry/minions/{name}", json.dumps(_node(scale, number)).encode()
    yield from pods(scale)


def pods(scale: Scale) -> Iterator[tuple[str, bytes]]:
    """(etcd key, stored JSON) of the pods alone."""
    templates = {name: _template(_gpu_pod(kind)) for name, kind in KINDS.items()}
    systems = {name: [_template(_system_pod(KINDS[name], index)) for index in range(SYSTEM_PODS)] for name in KINDS}
    for number in range(scale.nodes):
        kind, name = scale.kind(number), scale.node_name(number)
        for index in range(MIX[kind.name][1]):
            marks = _marks(kind, name, index)
            yield from _filled(templates[kind.name], f"team-{index % 20}", f"train-{name}-{index}", name, marks)
        for index, template in enumerate(systems[kind.name]):
            yield from _filled(template, "kube-system", f"system-{index}-{name}", name, {})
    pending = _template(_pending_pod())
    for number in range(scale.nodes // 10):
        yield from _filled(pending, f"team-{number % 20}", f"pending-{number}", "", {})


def written(scale: Scale) -> dict[str, int]:
    """Rows that a mirror of `objects` has, by table. Of system pods it keeps GPU software, which Windows has not."""
    kinds = [scale.kind(number).name for number in range(scale.nodes)]
    users = sum(MIX[name][1] for name in kinds)
    software = sum(len(OPERANDS) if _is_nvidia(KINDS[name]) else name != "directx" for name in kinds)
    return {
        "node": scale.nodes,
        "card": scale.cards,
        "pod": users + software + scale.nodes // 10,
        "allocation": users,
    }


def _is_nvidia(kind: Kind) -> bool:
    return kind.resource.startswith("nvidia")


def _daemonsets() -> Iterator[Json]:
    """Numbered from 1: those of gpushare by unit, the operands, and agents."""
    for number, unit in enumerate(("GiB", "MiB"), 1):
        made = _stored(daemonset(unit), number)
        made["spec"]["template"]["spec"]["nodeSelector"] = {"bench/unit": unit}
        yield made
    for number, (operand, app) in enumerate(OPERANDS.items(), 3):
        yield _daemonset(app, number, {f"{_DEPLOY}{operand}": "true"})
    for number in range(_AGENTS):
        yield _daemonset(f"agent-{number}", 100 + number, {})


def _daemonset(app: str, number: int, selector: dict[str, str]) -> Json:
    labels = {"app": app}
    containers = [{"name": app, "image": f"registry.local/{app}:v1.2.3"}]
    template = {"metadata": {"labels": labels}, "spec": {"nodeSelector": selector, "containers": containers}}
    made = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": app, "namespace": "kube-system", "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    return _stored(made, number)


class Movable:
    """The gpushare pods that tell their card by annotation v1, node by node in turn: numbers from 0 on."""

    def __init__(self, scale: Scale) -> None:
        self._nodes = [scale.node_name(number) for number in range(scale.nodes) if scale.kind(number).name == "gib"]
        self._template = _template(_gpu_pod(KINDS["gib"]))

    def __len__(self) -> int:
        return len(self._nodes) * MIX["gib"][1]

    def moved(self, number: int, by: int) -> tuple[str, bytes, str, str]:
        """(etcd key, stored JSON, uid, card) of a pod that is so many cards further than where `pods` has put it."""
        index, node_name = number // len(self._nodes), self._nodes[number % len(self._nodes)]
        card, namespace, name = str((index + by) % CARDS), f"team-{index % 20}", f"train-{node_name}-{index}"
        key, value = next(_filled(self._template, namespace, name, node_name, {"@CARD@": card}))
        return key, value, uid_of(namespace, name), card


def uid_of(namespace: str, name: str) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, f"{namespace}/{name}"))


def _filled(
    template: str, namespace: str, name: str, node_name: str, marks: dict[str, str]
) -> Iterator[tuple[str, bytes]]:
    uid = uid_of(namespace, name)
    for mark, value in {"@UID@": uid, "@NAMESPACE@": namespace, "@NAME@": name, "@NODE@": node_name, **marks}.items():
        template = template.replace(mark, value)
    yield f"/registry/pods/{namespace}/{name}", template.encode()


def _marks(kind: Kind, node_name: str, index: int) -> dict[str, str]:
    """Which card the pod is on: in turn."""
    card = index % CARDS
    marks = {"@CARD@": str(card)}
    if kind.evidence == "status":
        marks["@UUID@"] = uuid_of(node_name, card)
    return marks


#: What a pod asks for, in the unit of its resource.
_QUANTITY = {"gib": 3, "mib": 1500}


def _gpu_pod(kind: Kind) -> Json:
    quantity = _QUANTITY.get(kind.name, 1)
    made = pod("@NAME@", kind, quantity, "@NODE@", "@NAMESPACE@")
    notes, status = placed(kind, "@NODE@", {0: quantity})
    if kind.evidence == "v1":
        notes["ALIYUN_COM_GPU_MEM_IDX"] = "@CARD@"
    elif kind.evidence == "v2":
        notes["scheduler.framework.gpushare.allocation"] = json.dumps({"0": {"@CARD@": quantity}})
    elif kind.evidence == "status":
        status["containerStatuses"][0]["allocatedResourcesStatus"][0]["resources"][0]["resourceID"] = "@UUID@"
    made["metadata"]["annotations"] = notes
    made["metadata"]["ownerReferences"] = [_owner("ReplicaSet", "train-7d9c5f6b8c")]
    made["status"] = status
    return made


def _pending_pod() -> Json:
    made = pod("@NAME@", KINDS["count"], 8, namespace="@NAMESPACE@")
    reason = {
        **condition("PodScheduled", "False", "Unschedulable"),
        "message": "0/5000 nodes: Insufficient nvidia.com/gpu.",
    }
    made["status"] = {"phase": "Pending", "conditions": [reason]}
    return made


def _system_pod(kind: Kind, index: int) -> Json:
    """The first of each node is the device plugin, where the kind has one that is known by its labels."""
    made = pod("@NAME@", kind, 1, "@NODE@", "@NAMESPACE@")
    container = made["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}}
    made["metadata"]["labels"] = {
        "app": f"system-{index}",
        "controller-revision-hash": "6f5d8c7b9d",
        "pod-template-generation": "1",
    }
    owner = 100 + index
    if index == 0 and kind.unit is not None:
        made["metadata"]["labels"] = plugin_labels()
        made["spec"] |= plugin_spec("GiB" if kind.name == "gib" else "MiB")
        owner = 1 if kind.name == "gib" else 2
    elif index < len(OPERANDS) and _is_nvidia(kind):
        app = list(OPERANDS.values())[index]
        made["metadata"]["labels"] = {"app": app}
        made["spec"]["containers"][0] |= {"name": app, "image": f"registry.local/{app}:v1.2.3"}
        owner = 3 + index
    made["metadata"]["ownerReferences"] = [_owner("DaemonSet", f"system-{index}", _uid(owner))]
    made["status"] = placed(KINDS["directx"], "", {})[1]
    return made


def _owner(kind: str, name: str, uid: str = "0" * 36) -> Json:
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _template(made: Json) -> str:
    """The pod with all that real ones carry (defaults, volumes, tolerations, managed fields), 4 KB long."""
    made["metadata"] |= {"uid": "@UID@", "creationTimestamp": _CREATED, "generateName": "train-7d9c5f6b8c-"}
    container = made["spec"]["containers"][0]
    container |= {
        "imagePullPolicy": "IfNotPresent",
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "env": [{"name": f"SETTING_{index}", "value": f"value of setting {index}"} for index in range(6)],
        "volumeMounts": [
            {"name": "token", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
        ],
    }
    made["spec"] |= {
        "restartPolicy": "Always",
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "enableServiceLinks": True,
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
        "tolerations": [_tolerates("not-ready"), _tolerates("unreachable")],
        "volumes": [{"name": "token", "emptyDir": {}}],
    }
    made["status"] |= {"hostIP": "10.0.0.1", "podIP": "10.1.0.1", "qosClass": "Burstable"}
    made["metadata"]["managedFields"] = [_managed(0)]
    room = POD_BYTES - len(json.dumps(made))
    made["metadata"]["managedFields"] = [_managed(max(0, room // len(_FIELD)))]
    return json.dumps(made)


_FIELD = '"f:field-1000": {}, '


def _managed(fields: int) -> Json:
    return {
        "manager": "kubelet",
        "operation": "Update",
        "apiVersion": "v1",
        "time": _CREATED,
        "fieldsType": "FieldsV1",
        "fieldsV1": {"f:status": {f"f:field-{1000 + index}": {} for index in range(fields)}},
    }


def _tolerates(what: str) -> Json:
    return {"key": f"node.kubernetes.io/{what}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}


def _node(scale: Scale, number: int) -> Json:
    kind = scale.kind(number)
    made = _stored(node(scale.node_name(number), kind, CARDS), number)
    if _is_nvidia(kind):
        made["metadata"]["labels"] |= {
            "nvidia.com/gpu.present": "true",
            **{f"{_DEPLOY}{name}": "true" for name in OPERANDS},
        }
    elif kind.unit is not None:
        made["metadata"]["labels"] |= {"gpushare": "true", "bench/unit": "GiB" if kind.name == "gib" else "MiB"}
    images = [{"names": [f"registry.local/image-{index}@sha256:{'b' * 64}"], "sizeBytes": 10**9} for index in range(30)]
    made["status"]["images"] = images
    pressure = [condition(name, "False", "Kubelet") for name in ("MemoryPressure", "DiskPressure", "PIDPressure")]
    made["status"]["conditions"] = [*pressure, *made["status"]["conditions"]]
    return made


def _stored(thing: Json, number: int) -> Json:
    thing["metadata"] |= {"uid": _uid(number), "creationTimestamp": _CREATED}
    return thing


def _uid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"
