"""JSON merge patch (RFC 7386), and which fields a client may change: labels, annotations, a Job's time to live, a node's taints and
whether pods are scheduled on it.

A strategic merge patch is taken as a merge patch where it has no list of objects. The rest of an object belongs to the
simulation; a patch that touches it is refused and not ignored.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from fleetsim.resources import JOBS, NODES, Resource
from fleetsim.status import ApiError, conflict, invalid

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


def merge_patch(obj: dict[str, Any], patch: dict[str, Any], content_type: str) -> dict[str, Any]:
    """The patched object; `obj` stays as it is. Raises ApiError 415 on a kind of patch that is not understood."""
    media = content_type.partition(";")[0].strip().lower()
    if media not in (MERGE, STRATEGIC):
        raise ApiError(415, "UnsupportedMediaType", f"the body of the request was in an unknown format: {media}")
    if media == STRATEGIC and _has_object_list(patch):
        raise ApiError(415, "UnsupportedMediaType", "the demo merges no lists: use application/merge-patch+json")
    patch = {name: value for name, value in patch.items() if name not in ("kind", "apiVersion")}
    return _merge(obj, patch)


def _merge(target: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    result = dict(target)
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        elif isinstance(value, dict):
            inner = result.get(name)
            result[name] = _merge(inner if isinstance(inner, dict) else {}, value)
        else:
            result[name] = value
    return result


def _has_object_list(value: object) -> bool:
    if isinstance(value, dict):
        return any(_has_object_list(inner) for inner in value.values())
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def check_patch(resource: Resource, obj: dict[str, Any], patched: dict[str, Any]) -> None:
    """Raises ApiError 422 when more is changed than a client may, 409 when the patch names another resource version."""
    name = obj["metadata"]["name"]
    metadata = patched.get("metadata")
    given = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if given not in (None, obj["metadata"]["resourceVersion"]):
        raise conflict(
            resource.plural, name, "the object has been modified; please apply your changes to the latest one"
        )
    causes = []
    if _fixed(resource, obj) != _fixed(resource, patched):
        causes.append(
            (
                "",
                "FieldValueForbidden",
                "the demo lets only labels, annotations, a Job's TTL and a node's taints be changed",
            )
        )
    elif not all(_is_string_map(patched["metadata"].get(field)) for field in ("labels", "annotations")):
        causes.append(("metadata", "FieldValueInvalid", "labels and annotations are maps of text"))
    elif not _is_ttl((patched.get("spec") or {}).get("ttlSecondsAfterFinished")):
        causes.append(("spec.ttlSecondsAfterFinished", "FieldValueInvalid", "must be a non-negative number"))
    elif not _are_taints((patched.get("spec") or {}).get("taints")):
        causes.append(("spec.taints", "FieldValueInvalid", "must be a list of taints"))
    if causes:
        raise invalid(resource.kind, resource.group, name, causes)


def _fixed(resource: Resource, obj: dict[str, Any]) -> dict[str, Any]:
    """The object without what a client may change."""
    rest = deepcopy(obj)
    if isinstance(rest.get("metadata"), dict):
        for field in ("labels", "annotations", "resourceVersion"):
            rest["metadata"].pop(field, None)
    if resource is JOBS and isinstance(rest.get("spec"), dict):
        rest["spec"].pop("ttlSecondsAfterFinished", None)
    if resource is NODES and isinstance(rest.get("spec"), dict):
        for field in ("taints", "unschedulable"):
            rest["spec"].pop(field, None)
    return rest


def _are_taints(value: object) -> bool:
    return value is None or (
        isinstance(value, list)
        and all(isinstance(one, dict) and isinstance(one.get("key"), str) and one.get("effect") for one in value)
    )


def _is_string_map(value: object) -> bool:
    return value is None or (isinstance(value, dict) and all(isinstance(one, str) for one in value.values()))


def _is_ttl(value: object) -> bool:
    return value is None or (type(value) is int and value >= 0)
