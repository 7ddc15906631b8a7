"""What is a run's own, and as it was posted: its Job, and the one pod that the Job controller made of it. Pure.

Labels prove nothing: whoever may create pods in the namespace writes any label. A pod counts when the Job of the run owns it and it
runs what was posted. Others may add what does not decide what runs (tolerations, another container, a node); what the suite's
container runs, and with which files and variables, is exactly what was posted. What a person with rights in the namespace can still
do is in docs/security.md.
Source: batch/v1 Job (its controller's labels and owner reference), core/v1 PodSpec and the defaults that the API server sets there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kube.quantity import parse
from kube.workloads import Job, Pod
from validations.models import Run
from validations.suites.engine.group import is_index_variable
from validations.suites.engine.manifest import CONTAINER, job_name
from validations.suites.engine.placement import registry
from wording.said import sentence

#: Labels that the Job controller writes on its pods; the second one before Kubernetes 1.27.
_OWNER_LABELS = ("batch.kubernetes.io/controller-uid", "controller-uid")
#: Lists whose items have names, or no order: others may add items.
_NAMED = frozenset(("containers", "volumes", "imagePullSecrets"))
_UNORDERED = frozenset(("tolerations",))
#: What the suite's container runs: nothing of it may be added either.
_RUNS = ("command", "args", "workingDir", "env", "envFrom", "volumeMounts", "volumeDevices", "lifecycle")
#: What lets another container, of the same pod or of the node, write into the log of the suite's container.
_REACHES_IN = ("ephemeralContainers", "shareProcessNamespace", "hostPID")
#: Quantities, which the API server writes in its own way ("1024Mi" → "1Gi").
_QUANTITIES = frozenset(("limits", "requests", "sizeLimit"))


def owned(run: Run, job: Job | None, pods: Iterable[Pod]) -> list[Pod]:
    """The pods that the Job of this run made. job: None when it is away."""
    return [pod for pod in pods if _is_owned(run, job, pod)]


def _is_owned(run: Run, job: Job | None, pod: Pod) -> bool:
    metadata, name = pod.metadata, job_name(run.pk)
    if not run.job_uid or not metadata.name.startswith(f"{name}-"):
        return False
    owners = [one for one in metadata.ownerReferences or [] if one.controller]
    if [(one.kind, one.name, one.uid) for one in owners] != [("Job", name, run.job_uid)]:
        return False
    if run.job_uid not in [(metadata.labels or {}).get(label) for label in _OWNER_LABELS]:
        return False
    # Both moments are the API server's, in the one form that it writes.
    begun = job.metadata.creationTimestamp if job is not None else None
    return begun is None or (metadata.creationTimestamp or "") >= begun


def forged(run: Run, pods: list[Pod]) -> str:
    """Why what these pods (its own) say is not the result of this run; "" when there is no reason to think so."""
    uids = {pod.metadata.uid for pod in pods} | ({run.pod_uid} - {""})
    most = _pods_of(run.manifest)
    if len(uids) > most:
        return sentence("The Job has {number} pods instead of {most}.", number=len(uids), most=most)
    template = _template(run.manifest)
    found = next((place for pod in pods if (place := difference(_spec(template), pod.whole_spec))), "")
    return sentence("The pod differs from the one that gpudash created ({place}).", place=found) if found else ""


def other_job(job: Job, manifests: Iterable[Any]) -> str:
    """Where the Job is not the one of any of these manifests: a place in its spec; "" when it is one of them."""
    found = "spec"
    for manifest in manifests:
        spec = manifest.get("spec") if isinstance(manifest, Mapping) else None
        if not isinstance(spec, Mapping):
            continue
        given = job.spec if isinstance(job.spec, Mapping) else {}
        found = _differs({**spec, "template": {}}, given, "spec") or _of_template(_template(manifest), given)
        if not found:
            return ""
    return found


def _of_template(asked: Any, spec: Mapping[str, Any]) -> str:
    there = spec.get("template")
    there = there if isinstance(there, Mapping) else {}
    metadata = _differs(asked.get("metadata", {}), there.get("metadata"), "spec.template.metadata")
    return metadata or difference(_spec(asked), there.get("spec"), "spec.template.spec")


def _template(manifest: Any) -> Any:
    try:
        return dict(manifest["spec"]["template"])
    except (TypeError, KeyError, ValueError):
        return {}


def _pods_of(manifest: Any) -> int:
    """Pods that the Job makes: one, or one on each node of a group."""
    spec = manifest.get("spec") if isinstance(manifest, Mapping) else None
    most = spec.get("completions") if isinstance(spec, Mapping) else None
    return most if isinstance(most, int) else 1


def _spec(template: Mapping[str, Any]) -> Any:
    return template.get("spec")


def difference(asked: Any, there: Any, path: str = "spec") -> str:
    """The first place at which a pod's spec does not run what was posted; "" when there is none. asked: of the manifest."""
    if not isinstance(asked, Mapping) or not isinstance(there, Mapping) or not asked.get("containers"):
        return path
    if added := next((name for name in _REACHES_IN if there.get(name)), ""):
        return f"{path}.{added}"
    return _differs(asked, there, path)


def _differs(asked: Any, there: Any, path: str) -> str:
    """What is asked for has to be there; more may be."""
    key = path.rpartition(".")[2]
    if isinstance(asked, Mapping):
        if not isinstance(there, Mapping):
            return path
        if key == f"containers[{CONTAINER}]":
            there = {**there, "env": _variables(asked, there)}
            if added := _added(asked, there):
                return f"{path}.{added}"
        if key in _QUANTITIES:
            return next((f"{path}.{name}" for name, one in asked.items() if not _as_much(one, there.get(name))), "")
        return next((at for name, one in asked.items() if (at := _differs(one, there.get(name), f"{path}.{name}"))), "")
    if isinstance(asked, list):
        return _list_differs(asked, there, path, key)
    # What is empty is left out by the API server.
    same = _as_much(asked, there) if key in _QUANTITIES else asked == there or (asked == "" and there is None)
    return "" if same else path


def _variables(asked: Mapping[str, Any], there: Mapping[str, Any]) -> Any:
    """The container's environment without what the Job controller and a sharing system's webhook add to it."""
    env = there.get("env")
    env = [one for one in env if not is_index_variable(one)] if isinstance(env, list) else env
    own = {_name(one) for one in asked.get("env") or []}
    added = registry.variables - own
    return [one for one in env if _name(one) not in added] if isinstance(env, list) else env


def _added(asked: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    return next((name for name in _RUNS if there.get(name) and not asked.get(name)), "")


def _list_differs(asked: list[Any], there: Any, path: str, key: str) -> str:
    if not isinstance(there, list):
        return path
    if key in _NAMED:
        named: dict[str, Any] = {}
        for one in there:
            # Of two with one name none is believed.
            named[_name(one)] = None if _name(one) in named else one
        pairs = ((one, named.get(_name(one)), f"{path}[{_name(one)}]") for one in asked)
        return next((at for one, other, place in pairs if (at := _differs(one, other, place))), "")
    if key in _UNORDERED:
        return "" if all(any(not _differs(one, other, path) for other in there) for one in asked) else path
    if len(asked) != len(there) or (key == "env" and any("valueFrom" in one for one in there if isinstance(one, dict))):
        return path
    both = enumerate(zip(asked, there, strict=True))
    return next((at for number, (one, other) in both if (at := _differs(one, other, f"{path}[{number}]"))), "")


def _name(one: Any) -> str:
    return str(one.get("name")) if isinstance(one, Mapping) else ""


def _as_much(asked: Any, there: Any) -> bool:
    """Whether two quantities are one. Parts of a whole are compared as they are written: `parse` rounds them."""
    if str(asked) == str(there):
        return True
    whole = not any(str(one).endswith(("m", "u", "n")) or "." in str(one) for one in (asked, there))
    return whole and parse(asked) is not None and parse(asked) == parse(there)
