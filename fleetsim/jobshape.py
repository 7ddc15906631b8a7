"""What a POSTed Job must look like before the demo acts on it: types of every field that is read, and the rules of the API."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from fleetsim.resources import JOBS
from fleetsim.status import bad_request, invalid

Causes = list[tuple[str, str, str]]
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?\Z")
_LONGEST = 63


class _Metadata(msgspec.Struct):
    name: str = ""
    generateName: str = ""
    namespace: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Resources(msgspec.Struct):
    limits: dict[str, str | int] | None = None
    requests: dict[str, str | int] | None = None


class _Container(msgspec.Struct):
    name: str = ""
    image: str = ""
    command: list[str] | None = None
    args: list[str] | None = None
    resources: _Resources | None = None


class _Toleration(msgspec.Struct):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None


class _Requirement(msgspec.Struct):
    key: str = ""
    operator: str = ""
    values: list[str] | None = None


class _Term(msgspec.Struct):
    matchExpressions: list[_Requirement] | None = None
    matchFields: list[_Requirement] | None = None


class _Required(msgspec.Struct):
    nodeSelectorTerms: list[_Term] | None = None


class _NodeAffinity(msgspec.Struct):
    requiredDuringSchedulingIgnoredDuringExecution: _Required | None = None


class _Affinity(msgspec.Struct):
    nodeAffinity: _NodeAffinity | None = None


class _PodSpec(msgspec.Struct):
    containers: list[_Container] | None = None
    initContainers: list[_Container] | None = None
    restartPolicy: str = ""
    nodeName: str | None = None
    nodeSelector: dict[str, str] | None = None
    tolerations: list[_Toleration] | None = None
    affinity: _Affinity | None = None


class _Template(msgspec.Struct):
    metadata: _Metadata | None = None
    spec: _PodSpec | None = None


class _Spec(msgspec.Struct):
    template: _Template | None = None
    parallelism: int | None = None
    completions: int | None = None
    backoffLimit: int | None = None
    activeDeadlineSeconds: int | None = None
    ttlSecondsAfterFinished: int | None = None
    suspend: bool | None = None


class _Job(msgspec.Struct):
    metadata: _Metadata | None = None
    spec: _Spec | None = None
    kind: str = "Job"
    apiVersion: str = "batch/v1"


#: So that msgspec knows the fields of a Job before there are threads: see kube/decoders.py, which nothing here may import.
msgspec.json.Decoder(_Job)


def check(obj: dict[str, Any], namespace: str) -> None:
    """Raises ApiError 400 (a field of the wrong type, another kind or namespace) or 422 (missing or not allowed)."""
    try:
        job = msgspec.convert(obj, _Job)
    except msgspec.ValidationError as error:
        raise bad_request(f'Job in version "v1" cannot be handled as a Job: json: {error}') from None
    if job.kind != JOBS.kind or job.apiVersion != JOBS.api_version:
        raise bad_request(f"the object provided is a {job.apiVersion} {job.kind}, not a batch/v1 Job")
    metadata = job.metadata or _Metadata()
    if metadata.namespace not in ("", namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    causes = _name_causes(metadata) + _spec_causes(job.spec)
    if causes:
        raise invalid("Job", "batch", metadata.name, causes)


def _name_causes(metadata: _Metadata) -> Causes:
    if not metadata.name and not metadata.generateName:
        return [("metadata.name", "FieldValueRequired", "Required value: name or generateName is required")]
    name = metadata.name or f"{metadata.generateName}xxxxx"
    if len(name) > _LONGEST or not _NAME.match(name):
        return [("metadata.name", "FieldValueInvalid", f"Invalid value: {name!r}: must be a DNS label")]
    return []


def _spec_causes(spec: _Spec | None) -> Causes:
    if spec is None or spec.template is None or spec.template.spec is None:
        return [("spec.template.spec.containers", "FieldValueRequired", "Required value")]
    causes: Causes = []
    for field in ("parallelism", "completions"):
        if getattr(spec, field) not in (None, 1):
            causes.append((f"spec.{field}", "FieldValueNotSupported", "the demo runs one pod at a time"))
    if spec.suspend:
        causes.append(("spec.suspend", "FieldValueNotSupported", "the demo does not suspend Jobs"))
    for field in ("backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"):
        if (getattr(spec, field) or 0) < 0:
            causes.append((f"spec.{field}", "FieldValueInvalid", "must be greater than or equal to 0"))
    return causes + _pod_causes(spec.template.spec)


def _pod_causes(spec: _PodSpec) -> Causes:
    causes: Causes = []
    if spec.restartPolicy != "Never":
        message = f'Unsupported value: "{spec.restartPolicy}": the demo supports "Never"'
        causes.append(("spec.template.spec.restartPolicy", "FieldValueNotSupported", message))
    if spec.initContainers:
        path = "spec.template.spec.initContainers"
        causes.append((path, "FieldValueNotSupported", "the demo runs no init containers"))
    containers = spec.containers or []
    if not containers:
        causes.append(("spec.template.spec.containers", "FieldValueRequired", "Required value"))
    names = [container.name for container in containers]
    for index, container in enumerate(containers):
        path = f"spec.template.spec.containers[{index}]"
        if not _NAME.match(container.name):
            causes.append((f"{path}.name", "FieldValueInvalid", f"Invalid value: {container.name!r}"))
        if not container.image:
            causes.append((f"{path}.image", "FieldValueRequired", "Required value"))
        causes += _quantity_causes(path, container)
        if container.name in names[:index]:
            causes.append((f"{path}.name", "FieldValueDuplicate", f"Duplicate value: {container.name!r}"))
    return causes


def _quantity_causes(path: str, container: _Container) -> Causes:
    """Extended resources are whole numbers; anything else would be read as "asks for nothing"."""
    resources = container.resources or _Resources()
    given = {"limits": resources.limits or {}, "requests": resources.requests or {}}
    return [
        (
            f"{path}.resources.{field}[{name}]",
            "FieldValueInvalid",
            f"Invalid value: {str(amount)[:40]!r}: must be an integer",
        )
        for field, amounts in given.items()
        for name, amount in amounts.items()
        if "/" in name and not re.fullmatch(r"[0-9]{1,15}", str(amount))
    ]
