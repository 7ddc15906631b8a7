"""A pod as somebody would write it who wants it on a node that the finder names: YAML to copy. Of a claim also its template.

The scheduler places it, so that device plugins, extenders and claims get what they need: the node is selected by its label, never by
nodeName. The image is the reader's. Source: the API reference of Kubernetes 1.36.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from inventory.models import ResourceSlice as SliceRow
from inventory.placement.finder.finder import Taking
from inventory.placement.finder.request import Request
from inventory.queries.availability import taints_of
from kube.claims import GROUP, ResourceSlice
from kube.decoders import decoder
from kube.objects import Node, Taint
from kube.quantity import written, written_millis
from stacks.engine.names import labels_of
from stacks.engine.rendering import yaml_text

Json = dict[str, Any]
#: What the reader replaces.
IMAGE = "IMAGE"
NAME, _CLAIM, _CONTAINER = "gpu-pod", "gpu", "main"
_HOSTNAME, _OS = "kubernetes.io/hostname", "kubernetes.io/os"
_VERSION = re.compile(r"v?(\d{1,3})\.(\d{1,3})")
_slice = decoder(ResourceSlice)


def manifests(found: Iterable[Taking], request: Request) -> list[str]:
    """YAML for each of the nodes; "" where none can be made. One query where some are asked by claims."""
    chosen = list(found)
    slices = _slices(chosen)
    return [yaml_text(*documents(one, request, slices.get((one.cluster, one.node), ()))) for one in chosen]


def documents(one: Taking, request: Request, slices: Sequence[ResourceSlice] = ()) -> list[Json]:
    """The objects, in the order in which they are created; none where the claim's devices are not known. slices: of the node."""
    container: Json = {"name": _CONTAINER, "image": IMAGE, "resources": _resources(one, request)}
    spec = _placed(one)
    metadata: Json = {"name": NAME} | ({"labels": dict(one.answer.labels)} if one.answer.labels else {})
    pod: Json = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    if one.way.claim is None:
        spec["containers"] = [container]
        return [pod]
    wanted = one.way.claim(request.want, slices, [card.piece.key for card in one.cards], one.answer.parts)
    if wanted is None:
        return []
    container["resources"]["claims"] = [{"name": _CLAIM}]
    spec["resourceClaims"] = [{"name": _CLAIM, "resourceClaimTemplateName": NAME}]
    spec["containers"] = [container]
    return [_template(wanted, one.facts), pod]


def _resources(one: Taking, request: Request) -> Json:
    own = {"cpu": written_millis(request.cpu_millis)} if request.cpu_millis is not None else {}
    own |= {"memory": written(request.host_memory)} if request.host_memory is not None else {}
    found: Json = {"requests": own} if own else {}
    return found | ({"limits": dict(one.answer.limits)} if one.answer.limits else {})


def _placed(one: Taking) -> Json:
    """What has the scheduler put it on the node."""
    labels = labels_of(one.facts)
    windows = labels.get(_OS) == "windows"
    spec: Json = {"os": {"name": "windows"}} if windows else {}
    selector = {name: labels[name] for name in (_HOSTNAME, *([_OS] if windows else ())) if name in labels}
    if selector:
        spec["nodeSelector"] = selector
    if _HOSTNAME not in labels:
        named = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [one.node]}]}
        required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [named]}}
        spec["affinity"] = {"nodeAffinity": required}
    if one.answer.scheduler:
        spec["schedulerName"] = one.answer.scheduler
    if tolerations := [_toleration(taint) for taint in taints_of(one.facts)]:
        spec["tolerations"] = tolerations
    return spec


def _toleration(taint: Taint) -> Json:
    if taint.value:
        return {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
    return {"key": taint.key, "operator": "Exists", "effect": taint.effect}


def _template(wanted: Json, node: Node) -> Json:
    version = _served(node)
    request = {"name": _CLAIM} | (wanted if version == "v1beta1" else {"exactly": wanted})
    return {
        "apiVersion": f"{GROUP}/{version}",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": NAME},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def _served(node: Node) -> str:
    """The version of the API that a cluster has whose kubelet is that of the node: it is not older than its kubelets."""
    info = node.status.nodeInfo if node.status else None
    match = _VERSION.match((info.kubeletVersion if info else None) or "")
    version = (int(match[1]), int(match[2])) if match else (1, 34)
    return "v1" if version >= (1, 34) else "v1beta2" if version == (1, 33) else "v1beta1"


def _slices(found: list[Taking]) -> dict[tuple[str, str], list[ResourceSlice]]:
    """(cluster, node) → slices of its devices, of the nodes that are asked by claims."""
    asked = [one for one in found if one.way.claim is not None]
    grouped: dict[tuple[str, str], list[ResourceSlice]] = defaultdict(list)
    if asked:
        rows = SliceRow.objects.filter(
            cluster__name__in={one.cluster for one in asked}, node_name__in={one.node for one in asked}
        ).order_by("id")
        for cluster, node, facts in rows.values_list("cluster__name", "node_name", "facts"):
            with suppress(msgspec.DecodeError):  # somebody wrote into the table
                grouped[cluster, node].append(_slice.decode(facts))
    return grouped
