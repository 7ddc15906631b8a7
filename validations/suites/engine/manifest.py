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
from validations.suites.engine.family import Family, Mount
from validations.suites.engine.fit import BROKEN
from validations.suites.engine.options import Values
from validations.suites.engine.placement import Choice, binds, limits, pick, pod_annotations, registry
from validations.suites.engine.target import Run, Settings, Target
from validations.suites.engine.workload import Workload

MANAGED_BY = "app.kubernetes.io/managed-by"
RUN_LABEL = "gpudash.io/run"
SUITE_LABEL = "gpudash.io/suite"
CONTAINER = "suite"
_LONGEST_ID = 50


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
    if given := pod_annotations(choice, target, values, cards, run.moment):
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
                "spec": _pod_spec(target, values, workload, choice, cards),
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


def _pod_spec(target: Target, values: Values, workload: Workload, choice: Choice, cards: int) -> dict[str, Any]:
    mounts = choice.family.mounts(target)
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "os": {"name": target.os},
        # Where nodes do not have the label yet, the affinity alone says where to.
        **({"nodeSelector": {"kubernetes.io/os": target.os}} if choice.family.os_label else {}),
        **({"nodeName": target.node} if binds(choice, target, cards) else {"affinity": _affinity(target)}),
        "containers": [_container(target, values, workload, limits(choice, target, values, cards), mounts)],
    }
    if tolerations := [_toleration(taint) for taint in target.taints if _tolerable(taint)]:
        spec["tolerations"] = tolerations
    if runtime_class := _runtime_class(target, values):
        spec["runtimeClassName"] = runtime_class
    if security := _pod_security(target, values):
        spec["securityContext"] = security
    volumes: list[dict[str, Any]] = [{"name": one.name, "hostPath": {"path": one.host_path}} for one in mounts]
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


def _tolerable(taint: Taint) -> bool:
    """PreferNoSchedule needs no toleration; taints of a broken node are no place to go."""
    return taint.effect in ("NoSchedule", "NoExecute") and taint.key not in BROKEN


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
    target: Target, values: Values, workload: Workload, devices: dict[str, str], mounts: tuple[Mount, ...]
) -> dict[str, Any]:
    memory = workload.host_memory
    container: dict[str, Any] = {"name": CONTAINER, "image": workload.image}
    if workload.command:
        container["command"] = list(workload.command)
    if workload.args:
        container["args"] = list(workload.args)
    if workload.env:
        container["env"] = [{"name": name, "value": value} for name, value in sorted(workload.env.items())]
    # Windows has no out-of-memory killer: a limit there only makes allocations fail in the middle.
    limited = {"memory": memory} if target.os == "linux" else {}
    container["resources"] = {"limits": limited | devices, "requests": {"cpu": "100m", "memory": memory}}
    if target.os == "linux":
        container["securityContext"] = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    mounted: list[dict[str, Any]] = [{"name": one.name, "mountPath": one.path, "readOnly": True} for one in mounts]
    if workload.shared_memory:
        mounted.append({"name": "shm", "mountPath": "/dev/shm"})  # noqa: S108 (where programs look for shared memory)
    if mounted:
        container["volumeMounts"] = mounted
    return container
