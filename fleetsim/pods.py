"""Pod objects of the demo and the changes of state that scheduler, kubelet and controllers make to them."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from fleetsim.clock import rfc3339

Pod = dict[str, Any]

_OWNER_API = {
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "Notebook": "kubeflow.org/v1",
    "PyTorchJob": "kubeflow.org/v1",
    "Node": "v1",
}
TOKEN_MOUNT = {
    "name": "kube-api-access",
    "readOnly": True,
    "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
}
DEFAULT_TOLERATIONS = [
    {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
    {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
]


def owner(kind: str, name: str, uid: str) -> dict[str, Any]:
    """An owner reference of the controller."""
    return {
        "apiVersion": _OWNER_API[kind],
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def container(name: str, image: str, limits: dict[str, str] | None = None) -> dict[str, Any]:
    """A container; extended resources are requested as they are limited."""
    resources: dict[str, Any] = {"requests": {"cpu": "500m", "memory": "1Gi"}}
    if limits:
        resources = {"limits": dict(limits), "requests": {"cpu": "2", "memory": "8Gi", **limits}}
    return {
        "name": name,
        "image": image,
        "resources": resources,
        "volumeMounts": [TOKEN_MOUNT],
        "terminationMessagePath": "/dev/termination-log",
        "imagePullPolicy": "IfNotPresent",
    }


def new(
    namespace: str, name: str, uid: str, containers: list[dict[str, Any]], now: float, restart: str = "Always"
) -> Pod:
    """A pod that nobody has scheduled yet."""
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": uid,
            "creationTimestamp": rfc3339(now),
            "labels": {},
        },
        "spec": {
            "containers": containers,
            "restartPolicy": restart,
            "terminationGracePeriodSeconds": 30,
            "dnsPolicy": "ClusterFirst",
            "serviceAccountName": "default",
            "schedulerName": "default-scheduler",
            "tolerations": list(DEFAULT_TOLERATIONS),
            "enableServiceLinks": True,
        },
        "status": {"phase": "Pending", "qosClass": "Burstable"},
    }


def set_condition(pod: Pod, kind: str, status: str, now: float, reason: str = "", message: str = "") -> None:
    """Set one condition; the transition time moves only when the status changes, as the API has it."""
    rows: list[dict[str, Any]] = pod["status"].setdefault("conditions", [])
    row: dict[str, Any] = {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": rfc3339(now)}
    if reason:
        row.update({"reason": reason, "message": message})
    for index, known in enumerate(rows):
        if known["type"] == kind:
            if known["status"] == status:
                row["lastTransitionTime"] = known["lastTransitionTime"]
            rows[index] = row
            return
    rows.append(row)


def unschedulable(pod: Pod, message: str, now: float) -> None:
    set_condition(pod, "PodScheduled", "False", now, "Unschedulable", message)


def bind(pod: Pod, node: str, now: float) -> None:
    pod["spec"]["nodeName"] = node
    set_condition(pod, "PodScheduled", "True", now)


def creating(pod: Pod, node_ip: str, now: float, reason: str = "ContainerCreating", message: str = "") -> None:
    """The kubelet has seen the pod; its containers wait."""
    status = pod["status"]
    status.setdefault("startTime", rfc3339(now))
    status["hostIP"] = node_ip
    waiting = {"reason": reason, **({"message": message} if message else {})}
    status["containerStatuses"] = [
        _container_status(one, {"waiting": waiting}, ready=False) for one in pod["spec"]["containers"]
    ]
    set_condition(pod, "Initialized", "True", now)
    set_condition(pod, "Ready", "False", now, "ContainersNotReady", "containers with unready status")
    set_condition(pod, "ContainersReady", "False", now, "ContainersNotReady", "containers with unready status")


def running(pod: Pod, pod_ip: str, now: float, devices: list[str], resource: str) -> None:
    """All containers run. devices: ids for allocatedResourcesStatus of the container that asked for `resource`."""
    status = pod["status"]
    status.update({"phase": "Running", "podIP": pod_ip})
    rows = []
    for one in pod["spec"]["containers"]:
        row = _container_status(one, {"running": {"startedAt": rfc3339(now)}}, ready=True)
        if devices and resource in (one["resources"].get("limits") or {}):
            health = [{"resourceID": device, "health": "Healthy"} for device in devices]
            row["allocatedResourcesStatus"] = [{"name": resource, "resources": health}]
        rows.append(row)
    status["containerStatuses"] = rows
    for kind in ("Initialized", "ContainersReady", "Ready"):
        set_condition(pod, kind, "True", now)


def finished(pod: Pod, exit_code: int, now: float, reason: str = "") -> None:
    """All containers have ended; exit code 0 is Succeeded."""
    status = pod["status"]
    status["phase"] = "Failed" if exit_code else "Succeeded"
    for row in status.get("containerStatuses", []):
        started = row["state"].get("running", {}).get("startedAt", rfc3339(now))
        ended = {
            "exitCode": exit_code,
            "reason": reason or ("Error" if exit_code else "Completed"),
            "startedAt": started,
            "finishedAt": rfc3339(now),
            "containerID": row.get("containerID", ""),
        }
        row.update({"state": {"terminated": ended}, "ready": False, "started": False})
    why = "PodFailed" if exit_code else "PodCompleted"
    for kind in ("ContainersReady", "Ready"):
        set_condition(pod, kind, "False", now, why, "")


def evicted(pod: Pod, message: str, now: float) -> None:
    """The kubelet threw the pod out."""
    finished(pod, 137, now)
    pod["status"].update({"phase": "Failed", "reason": "Evicted", "message": message})
    set_condition(pod, "DisruptionTarget", "True", now, "TerminationByKubelet", message)


def terminating(pod: Pod, now: float, grace_s: int = 30) -> None:
    """Deletion has been asked for. deletionTimestamp is when the grace period ends, as the API has it."""
    pod["metadata"].setdefault("deletionTimestamp", rfc3339(now + grace_s))
    pod["metadata"].setdefault("deletionGracePeriodSeconds", grace_s)


def _container_status(one: dict[str, Any], state: dict[str, Any], *, ready: bool) -> dict[str, Any]:
    row = {
        "name": one["name"],
        "state": state,
        "lastState": {},
        "ready": ready,
        "started": ready,
        "restartCount": 0,
        "image": one["image"],
        "imageID": "",
    }
    if "waiting" not in state:
        row["imageID"] = f"{one['image'].partition(':')[0]}@sha256:{digest(one['image'])}"
        row["containerID"] = f"containerd://{digest(one['name'] + one['image'])}"
    return row


def digest(text: str) -> str:
    """64 hexadecimal digits that are the same for the same text."""
    return sha256(text.encode()).hexdigest()


def init_done(one: dict[str, Any], at: float) -> dict[str, Any]:
    """Status of an init container that ended well, soon after the pod was created."""
    ended = {"exitCode": 0, "reason": "Completed", "startedAt": rfc3339(at + 1), "finishedAt": rfc3339(at + 12)}
    return init_row(one, {"terminated": ended}, ready=True)


def init_row(one: dict[str, Any], state: dict[str, Any], *, ready: bool = False, restarts: int = 0) -> dict[str, Any]:
    """Status of a container in this state."""
    return {
        "name": one["name"],
        "image": one["image"],
        "imageID": "",
        "ready": ready,
        "restartCount": restarts,
        "state": state,
        "lastState": {},
    }


def not_begun(pod: Pod) -> None:
    """None of the main containers has been created."""
    waiting = {"waiting": {"reason": "PodInitializing"}}
    rows = [init_row(one, waiting) for one in pod["spec"]["containers"]]
    pod["status"].update({"phase": "Pending", "containerStatuses": rows})


def initializing(pod: Pod, step: str, since: float, state: dict[str, Any] | None = None, restarts: int = 0) -> None:
    """The init container `step` runs since a time, or is in `state`; those before it have ended, those after it wait."""
    rows: list[dict[str, Any]] = []
    reached = False
    for one in pod["spec"]["initContainers"]:
        if reached:
            rows.append(init_row(one, {"waiting": {"reason": "PodInitializing"}}))
        elif one["name"] == step:
            reached = True
            rows.append(init_row(one, state or {"running": {"startedAt": rfc3339(since)}}, restarts=restarts))
        else:
            rows.append(init_done(one, since - 14))
    not_begun(pod)
    pod["status"]["initContainerStatuses"] = rows
    message = f"containers with incomplete status: [{step}]"
    set_condition(pod, "Initialized", "False", since, "ContainersNotInitialized", message)
    unready(pod, since)


def unready(pod: Pod, since: float) -> None:
    for kind in ("ContainersReady", "Ready"):
        set_condition(pod, kind, "False", since, "ContainersNotReady", "containers with unready status")
