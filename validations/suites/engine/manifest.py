"""The batch/v1 Job of a run: one pod, one try, least privilege, on the node that was asked for.

The node is chosen by affinity, so that scheduler and device plugin make the allocation; by nodeName only where the pod brings
its card too (`placement.binds`). The Job has no TTL: that is added once its log is stored.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from kube.objects import Taint
from validations.suites.engine.declaration import Declaration
from validations.suites.engine.family import Family
from validations.suites.engine.fit import harmless, tolerable
from validations.suites.engine.options import Values
from validations.suites.engine.placement import Choice, binds, limits, pick, pod_annotations, registry
from validations.suites.engine.security import PodSecurity
from validations.suites.engine.target import Run, Settings, Target
from validations.suites.engine.workload import Workload

MANAGED_BY = "app.kubernetes.io/managed-by"
RUN_LABEL = "gpudash.io/run"
SUITE_LABEL = "gpudash.io/suite"
CONTAINER = "suite"
_LONGEST_ID = 50
#: On Windows the limit of main memory is so many times what is asked for.
_WINDOWS_MEMORY = 4


def run_label(run_id: str) -> str:
    """The run's id as a label value and name part: itself when it is one, else a digest that stands for it alone."""
    if re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", run_id) and len(run_id) <= _LONGEST_ID:
        return run_id
    return "x" + hashlib.sha256(run_id.encode("utf-8", "replace")).hexdigest()[:32]


def job_name(run_id: str) -> str:
    """The Job's name: the same for the same run, so that creating it twice makes one. At most 58 characters."""
    return f"gpudash-{run_label(run_id)}"


def job(suite: Declaration, target: Target, values: Values, run: Run) -> dict[str, Any]:
    """The Job. Raises ValueError when no resource of the target suits."""
    choice = pick(suite.families, target, values)
    workload = suite.workload(target, values)
    cards = int(values.get("cards", suite.cards))
    labels = {MANAGED_BY: "gpudash", RUN_LABEL: run_label(run.id), SUITE_LABEL: suite.id}
    pod: dict[str, Any] = {"labels": labels}
    if given := dict(pod_annotations(choice, target, values, cards, run.moment)) | dict(workload.annotations):
        pod["annotations"] = given
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": job_name(run.id), "namespace": run.namespace, "labels": dict(labels)},
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "backoffLimit": 0,
            "activeDeadlineSeconds": int(values["deadline_s"]),
            "template": {
                "metadata": pod,
                "spec": _pod_spec(suite, target, values, workload, choice, cards),
            },
        },
    }


class Bound(NamedTuple):
    """What a pod asks for that brings its node and its card. units: in the unit of the family's resource."""

    family: Family
    units: int


def bound(manifest: Mapping[str, Any], stack: str, settings: Settings) -> Bound | None:
    """What the Job's pod asks for when no scheduler sees it; None when one does. stack: sharing system of the node.

    Raises AttributeError, KeyError, IndexError, TypeError or ValueError for what is no Job of ours.
    """
    spec = manifest.get("spec", {}).get("template", {}).get("spec", {})
    if not spec.get("nodeName"):
        return None
    for name, amount in spec["containers"][0]["resources"]["limits"].items():
        family = registry.serving(name, stack, settings)
        if family is not None and family.binds:
            return Bound(family, int(amount))
    return None


def pod_security(suite: Declaration, target: Target, values: Values) -> PodSecurity:
    """The strictest level of the Pod Security Standards that the pod keeps. Raises ValueError when no resource suits."""
    if pick(suite.families, target, values).family.mounts(target):
        return "privileged"
    if suite.workload(target, values).capabilities:
        return "privileged"
    if target.os != "linux" or not int(values.get("run_as_user", 0)):
        return "baseline"
    return suite.pod_security


def _pod_spec(
    suite: Declaration, target: Target, values: Values, workload: Workload, choice: Choice, cards: int
) -> dict[str, Any]:
    mounts = choice.family.mounts(target)
    read_only = target.os == "linux" and not suite.writes
    devices = limits(choice, target, values, cards) | {name: str(amount) for name, amount in workload.devices.items()}
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "os": {"name": target.os},
        # Where nodes do not have the label yet, the affinity alone says where to.
        **({"nodeSelector": {"kubernetes.io/os": target.os}} if choice.family.os_label else {}),
        **({"nodeName": target.node} if binds(choice, target, cards) else {"affinity": _affinity(target)}),
        "containers": [_container(target, workload, choice, devices, read_only)],
    }
    if tolerations := [_toleration(one) for one in target.taints if not harmless(one) and tolerable(one, target)]:
        spec["tolerations"] = tolerations
    if runtime_class := _runtime_class(target, values):
        spec["runtimeClassName"] = runtime_class
    if security := _pod_security(target, values):
        spec["securityContext"] = security
    volumes: list[dict[str, Any]] = [{"name": one.name, "hostPath": {"path": one.host_path}} for one in mounts]
    if read_only:
        volumes.append({"name": "tmp", "emptyDir": {"sizeLimit": workload.disk}})
    if workload.shared_memory:
        volumes.append({"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": workload.shared_memory}})
    if volumes:
        spec["volumes"] = volumes
    if values.get("pull_secret"):
        spec["imagePullSecrets"] = [{"name": values["pull_secret"]}]
    return spec


def _affinity(target: Target) -> dict[str, Any]:
    term = {"key": "kubernetes.io/hostname", "operator": "In", "values": [target.hostname or target.node]}
    required = {"nodeSelectorTerms": [{"matchExpressions": [term]}]}
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}


def _toleration(taint: Taint) -> dict[str, str]:
    if taint.value:
        return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    return {"key": taint.key, "operator": "Exists", "effect": taint.effect}


def _runtime_class(target: Target, values: Values) -> str:
    wanted = str(values.get("runtime_class", "none"))
    if target.os != "linux" or wanted == "none":
        return ""
    if wanted == "auto":
        return "nvidia" if "nvidia" in target.runtime_classes else ""
    return wanted


def _pod_security(target: Target, values: Values) -> dict[str, Any]:
    """Windows pods may not carry the Linux fields at all."""
    if target.os != "linux":
        return {}
    security: dict[str, Any] = {"seccompProfile": {"type": "RuntimeDefault"}}
    user = int(values.get("run_as_user", 0))
    return security | ({"runAsNonRoot": True, "runAsUser": user, "runAsGroup": user} if user else {})


def _container(
    target: Target, workload: Workload, choice: Choice, devices: dict[str, str], read_only: bool
) -> dict[str, Any]:
    container: dict[str, Any] = {"name": CONTAINER, "image": workload.image}
    if workload.command:
        container["command"] = list(workload.command)
    if workload.args:
        container["args"] = list(workload.args)
    if workload.env:
        container["env"] = [{"name": name, "value": value} for name, value in sorted(workload.env.items())]
    container["resources"] = _resources(target, workload, choice, devices)
    if target.os == "linux":
        added = {"add": list(workload.capabilities)} if workload.capabilities else {}
        security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"], **added}}
        container["securityContext"] = security | ({"readOnlyRootFilesystem": True} if read_only else {})
    mounts = choice.family.mounts(target)
    mounted: list[dict[str, Any]] = [{"name": one.name, "mountPath": one.path, "readOnly": True} for one in mounts]
    if read_only:
        mounted.append({"name": "tmp", "mountPath": "/tmp"})  # noqa: S108 (where programs look for a folder to write to)
    if workload.shared_memory:
        mounted.append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108 (where programs look for shared memory)
    if mounted:
        container["volumeMounts"] = mounted
    return container


def _resources(target: Target, workload: Workload, choice: Choice, devices: dict[str, str]) -> dict[str, Any]:
    """What the container gets, and no more. Process ids are for the kubelet to limit: no field of a pod does."""
    memory = workload.host_memory
    # Windows has no out-of-memory killer: at its limit allocations fail in the middle, so the limit is only for what has run wild.
    most = memory if target.os == "linux" else _times(_WINDOWS_MEMORY, memory)
    given = {"cpu": str(workload.cpus), "memory": most}
    asked = {"cpu": "100m", "memory": memory}
    if choice.family.disk_limit:
        given["ephemeral-storage"] = workload.disk
        # Without a request of its own the limit would be one: nodes say too little of their disks to be chosen by that.
        asked["ephemeral-storage"] = "0"
    return {"limits": given | devices, "requests": asked}


def _times(factor: int, quantity: str) -> str:
    """A quantity of `options.QUANTITY`, so many times, written as the API server would."""
    number, unit = int(quantity[:-2]) * factor, quantity[-2:]
    while number % 1024 == 0 and unit != "Ti":
        number, unit = number // 1024, {"Ki": "Mi", "Mi": "Gi", "Gi": "Ti"}[unit]
    return f"{number}{unit}"
