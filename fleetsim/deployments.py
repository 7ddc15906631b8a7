"""What the demo's cluster runs once: operators, schedulers and their Service. Objects and pods that stay as they are made.

gpushare's extender has nowhere to run, see `softwarecases.py`; all others are ready.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from fleetsim import pods, softwarecases, teams
from fleetsim.clock import DAY, rfc3339
from fleetsim.constraints import untolerated
from fleetsim.machines import Machine
from fleetsim.nodetypes import CONTROL_PLANE, CPU, HAMI
from fleetsim.plugins import (
    HAMI_CHART,
    HAMI_LABELS,
    NFD_IMAGE,
    NFD_LABELS,
    OPERATOR,
    OPERATOR_NS,
    VALIDATOR_IMAGE,
    Toleration,
)
from fleetsim.resources import DEPLOYMENTS, PODS, SERVICES, VERSION
from fleetsim.usage import noise
from fleetsim.world import World

_MASTER = "node-role.kubernetes.io/master"
_ON_CONTROL_PLANE: tuple[Toleration, ...] = (
    {"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"},
)
EXTENDER, EXTENDER_LABELS = "gpushare-schd-extender", {"app": "gpushare", "component": "gpushare-schd-extender"}
#: As the cluster's own.
KUBE_SCHEDULER = VERSION["gitVersion"].removesuffix("-gpudash-demo")


@dataclass(frozen=True)
class DeploySpec:
    """One Deployment of one replica. wanted: by what node the cluster has it. labels: of its pods, by which they are selected.

    containers: (name, image). gone: it has nowhere to run.
    """

    name: str
    namespace: str
    wanted: Callable[[Machine], bool]
    containers: tuple[tuple[str, str], ...]
    labels: dict[str, str]
    chart: dict[str, str] = field(default_factory=dict)
    selector: dict[str, str] = field(default_factory=dict)
    tolerations: tuple[Toleration, ...] = _ON_CONTROL_PLANE
    gone: bool = False


def _operator(machine: Machine) -> bool:
    return machine.kind.operator


_OPERATOR_LABELS = {"app": "gpu-operator", "app.kubernetes.io/component": "gpu-operator"}
DEPLOYMENTS_OF_THE_FLEET = (
    DeploySpec(
        "gpu-operator",
        OPERATOR_NS,
        _operator,
        (("gpu-operator", VALIDATOR_IMAGE),),
        _OPERATOR_LABELS,
        {"app.kubernetes.io/version": OPERATOR, "helm.sh/chart": f"gpu-operator-{OPERATOR}"},
    ),
    *(
        DeploySpec(
            f"gpu-operator-node-feature-discovery-{role}",
            OPERATOR_NS,
            _operator,
            ((role, NFD_IMAGE),),
            {**NFD_LABELS, "role": role},
        )
        for role in ("master", "gc")
    ),
    DeploySpec(
        EXTENDER,
        "kube-system",
        lambda machine: machine.labels.get("gpushare") == "true",
        ((EXTENDER, "registry.cn-hangzhou.aliyuncs.com/acs/k8s-gpushare-schd-extender:1.11-d170d8a"),),
        EXTENDER_LABELS,
        selector={_MASTER: ""},
        tolerations=(
            {"key": _MASTER, "operator": "Exists", "effect": "NoSchedule"},
            {"key": "node.cloudprovider.kubernetes.io/uninitialized", "operator": "Exists", "effect": "NoSchedule"},
        ),
        gone=True,
    ),
    DeploySpec(
        "hami-scheduler",
        "kube-system",
        lambda machine: machine.kind is HAMI,
        (
            ("kube-scheduler", f"registry.cn-hangzhou.aliyuncs.com/google_containers/kube-scheduler:{KUBE_SCHEDULER}"),
            ("vgpu-scheduler-extender", "projecthami/hami:v2.10.0"),
        ),
        {**HAMI_LABELS, "app.kubernetes.io/component": "hami-scheduler"},
        HAMI_CHART,
    ),
    DeploySpec(
        "dra-driver-nvidia-gpu-controller",
        "dra-driver-nvidia-gpu",
        lambda machine: bool(machine.kind.dra),
        (("compute-domain", "registry.k8s.io/dra-driver-nvidia/dra-driver-nvidia-gpu:v0.5.0"),),
        {"app.kubernetes.io/name": "dra-driver-nvidia-gpu", "dra-driver-nvidia-gpu-component": "controller"},
    ),
)


def create(world: World) -> None:
    """Those of which the fleet has a node, on the control plane where it has one."""
    rng = Random(noise.seed_of(world.seed, "deployments"))
    home = _home(world)
    if home is None:
        return
    for spec in DEPLOYMENTS_OF_THE_FLEET:
        if any(spec.wanted(machine) for machine in world.machines):
            world.store.create(DEPLOYMENTS, _deployment(world, spec, rng))
            world.store.create(PODS, _pod(world, spec, home, rng))
            if spec.name == EXTENDER:
                world.store.create(SERVICES, _service(world, rng))
    if home.kind is CONTROL_PLANE:
        world.store.create(PODS, _kube_scheduler(world, home, rng))


def _home(world: World) -> Machine | None:
    """Where such pods run; None in a fleet in which nothing takes them."""
    spec = {"tolerations": list(_ON_CONTROL_PLANE)}
    linux = [one for one in world.machines if not one.kind.windows and untolerated(spec, one.taints) is None]
    ranks = {CONTROL_PLANE.key: 0, CPU.key: 1}
    return min(linux, key=lambda one: (ranks.get(one.kind.key, 2), one.number), default=None)


def _pod_spec(spec: DeploySpec) -> dict[str, Any]:
    result: dict[str, Any] = {
        "containers": [pods.container(name, image) for name, image in spec.containers],
        "restartPolicy": "Always",
        "serviceAccountName": spec.name,
        "tolerations": [dict(one) for one in spec.tolerations],
    }
    return result | ({"nodeSelector": dict(spec.selector)} if spec.selector else {})


def _deployment(world: World, spec: DeploySpec, rng: Random) -> dict[str, Any]:
    counts = {"unavailableReplicas": 1} if spec.gone else {"readyReplicas": 1, "availableReplicas": 1}
    return {
        "metadata": {
            "name": spec.name,
            "namespace": spec.namespace,
            "uid": teams.uid(rng),
            "generation": 1,
            "creationTimestamp": rfc3339(world.now - 60 * DAY),
            "labels": {**spec.labels, **spec.chart},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": dict(spec.labels)},
            "template": {"metadata": {"labels": dict(spec.labels)}, "spec": _pod_spec(spec)},
        },
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, **counts},
    }


def _pod(world: World, spec: DeploySpec, home: Machine, rng: Random) -> dict[str, Any]:
    age = softwarecases.AGE_S if spec.gone else rng.uniform(1, 20) * DAY
    template, revision = _pod_spec(spec), pods.digest(spec.name)[:10]
    owner = f"{spec.name}-{revision}"
    name = f"{owner}-{teams.letters(rng, 5)}"
    pod = pods.new(spec.namespace, name, teams.uid(rng), template["containers"], world.now - age)
    pod["metadata"]["labels"] = {**spec.labels, "pod-template-hash": revision}
    pod["metadata"]["ownerReferences"] = [pods.owner("ReplicaSet", owner, teams.uid(rng))]
    pod["spec"] |= template
    if spec.gone:
        pods.unschedulable(pod, world.scheduler.refusal(pod), world.now - age + 1)
    else:
        _run(world, pod, home, world.now - age)
    return pod


def _run(world: World, pod: dict[str, Any], home: Machine, at: float) -> None:
    pods.bind(pod, home.name, at)
    pods.creating(pod, home.ip, at + 1)
    pods.running(pod, world.next_ip(), at + 10, [], "")


def _service(world: World, rng: Random) -> dict[str, Any]:
    port = {"name": "http", "port": 12345, "targetPort": 12345, "nodePort": 32766, "protocol": "TCP"}
    return {
        "metadata": {
            "name": EXTENDER,
            "namespace": "kube-system",
            "uid": teams.uid(rng),
            "creationTimestamp": rfc3339(world.now - 60 * DAY),
            "labels": dict(EXTENDER_LABELS),
        },
        "spec": {"type": "NodePort", "ports": [port], "selector": dict(EXTENDER_LABELS)},
        "status": {"loadBalancer": {}},
    }


def _kube_scheduler(world: World, home: Machine, rng: Random) -> dict[str, Any]:
    """The mirror pod of the control plane's. What its configuration file says is on the host."""
    command = [
        "kube-scheduler",
        "--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
        "--config=/etc/kubernetes/scheduler-config.yaml",
        "--kubeconfig=/etc/kubernetes/scheduler.conf",
        "--leader-elect=true",
    ]
    container = pods.container("kube-scheduler", f"registry.k8s.io/kube-scheduler:{KUBE_SCHEDULER}")
    at = world.now - 20 * DAY
    pod = pods.new("kube-system", f"kube-scheduler-{home.name}", teams.uid(rng), [container | {"command": command}], at)
    pod["metadata"]["labels"] = {"component": "kube-scheduler", "tier": "control-plane"}
    pod["metadata"]["ownerReferences"] = [pods.owner("Node", home.name, teams.uid(rng))]
    _run(world, pod, home, at)
    return pod
