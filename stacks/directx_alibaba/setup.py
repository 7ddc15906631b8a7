"""The setup of Alibaba Cloud's DirectX plugin: its DaemonSet with an image of the nodes' region, and the labels that it selects.

Source: the plugin's page in the documentation of ACK.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from kube.objects import Node
from stacks.engine.names import INSTANCE_TYPE, labels_of
from stacks.engine.node_facts import node_facts
from stacks.engine.node_system import os_of
from stacks.engine.rendering import label_commands, names, script, some, yaml_text
from stacks.engine.setup import COMMANDS, OBJECTS, File, Found, Json, Label, Plan, Setup, list_at, named, text_at
from stacks.engine.versions import Version
from wording.said import sentence, series

NAME = "directx-alibaba"
NAMESPACE = "kube-system"
DAEMONSET = "directx-device-plugin-windows"
SUPPORTED = "windows.alibabacloud.com/directx-supported"
TOPOLOGY = "windows.alibabacloud.com/deployment-topology"
_RESOURCE = "windows.alibabacloud.com/directx"
_REGION_LABEL = "topology.kubernetes.io/region"
#: No longer than a label of Kubernetes takes beside the plugin's name.
_REGION = re.compile(r"(?=.{4,30}$)[a-z]{2}-[a-z]+(?:-[a-z0-9]+)*")
_IMAGE = re.compile(r"registry(?:-vpc)?\.([a-z0-9-]+)\.aliyuncs\.com/.*")
#: Types of machines with a card of their own or a part of one.
_TYPES = re.compile(r"ecs\.(?:vgn|sgn|gn)[0-9a-z-]*\..*")
#: Windows Server 1809, 1909 and 2004: there is no image for another build.
_BUILDS = ("10.0.17763", "10.0.18363", "10.0.19041")
_FLOOR = Version(1, 20, 4)
_UNKNOWN = "REGION"


def render(found: Found) -> Plan:
    nodes = _nodes(found)
    regions = _regions(found, nodes)
    sets = [_daemonset(region, alone=len(regions) == 1, first=place == 0) for place, region in enumerate(regions)]
    labels = (Label(SUPPORTED, "true", nodes), Label(TOPOLOGY, "2.0", nodes))
    why = sentence("The device plugin, on each node with both labels.")
    if len(sets) > 1:
        why = series((why, sentence("One for each region, since a node pulls from the registry of its own.")))
    files = (
        File(
            "directx-device-plugin-windows.yaml",
            yaml_text(*sets),
            OBJECTS,
            why,
        ),
        _commands(labels),
    )
    return Plan(
        files=files,
        objects=tuple(sets),
        labels=labels,
        warnings=tuple(_warnings(found, nodes, regions)),
        nodes=nodes,
    )


SETUP = Setup(
    name=NAME,
    renders=sentence("DaemonSet with the image of the nodes' region, node labels."),
    render=render,
)


def _nodes(found: Found) -> tuple[Node, ...]:
    """Windows nodes of which something says that they have a card."""
    return tuple(node for node in named(found.nodes) if os_of(node) == "windows" and _has_card(node))


def _has_card(node: Node) -> bool:
    labels = labels_of(node)
    capacity = (node.status.capacity if node.status else None) or {}
    types = (labels.get(name, "") for name in INSTANCE_TYPE)
    return labels.get(SUPPORTED) == "true" or _RESOURCE in capacity or any(_TYPES.fullmatch(one) for one in types)


def _regions(found: Found, nodes: Sequence[Node]) -> list[str]:
    """Those of the nodes: first that of the plugin that is there, then that of most nodes."""
    there = found.of("DaemonSet", NAMESPACE, DAEMONSET)
    images = [text_at(one, "image") for one in list_at(there, "spec", "template", "spec", "containers")]
    known = [match[1] for image in images if (match := _IMAGE.fullmatch(image)) and _REGION.fullmatch(match[1])]
    counted = Counter(region for node in nodes if _REGION.fullmatch(region := node_facts(node).region))
    ordered = sorted(counted, key=lambda region: (region not in known, -counted[region], region))
    return ordered or known[:1] or [_UNKNOWN]


def _daemonset(region: str, alone: bool, first: bool) -> Json:
    name = DAEMONSET if first else f"{DAEMONSET}-{region}"
    labels = {"k8s-app": name}
    container = {
        "name": "directx",
        "image": f"registry-vpc.{region}.aliyuncs.com/acs/directx-device-plugin-windows:v1.0.0",
        "command": ["pwsh.exe", "-NoLogo", "-NonInteractive", "-File", "entrypoint.ps1"],
        "volumeMounts": [
            {"name": "host-binary", "mountPath": "c:/host/opt/bin"},
            {"name": "wins-pipe", "mountPath": r"\\.\pipe\rancher_wins"},
        ],
    }
    terms = [_term(system, "" if alone else region) for system in ("kubernetes.io/os", "beta.kubernetes.io/os")]
    spec = {
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}},
        "tolerations": [{"operator": "Exists"}],
        "hostNetwork": True,
        "containers": [container],
        "volumes": [
            {"name": "host-binary", "hostPath": {"path": "c:/opt/bin", "type": "DirectoryOrCreate"}},
            {"name": "wins-pipe", "hostPath": {"path": r"\\.\pipe\rancher_wins"}},
        ],
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }


def _term(system: str, region: str) -> Json:
    asked = [
        {"key": "type", "operator": "NotIn", "values": ["virtual-kubelet"]},
        {"key": system, "operator": "In", "values": ["windows"]},
        {"key": TOPOLOGY, "operator": "In", "values": ["2.0"]},
        {"key": SUPPORTED, "operator": "In", "values": ["true"]},
    ]
    asked += [{"key": _REGION_LABEL, "operator": "In", "values": [region]}] if region else []
    return {"matchExpressions": asked}


def _commands(labels: Sequence[Label]) -> File:
    lines = [
        "# The plugin runs on nodes with both labels. ACK sets them automatically for machine types that it knows."
    ]
    lines += [line for label in labels for line in label_commands(label)]
    if not labels[0].nodes:
        given = " ".join(f"{label.key}={label.value}" for label in labels)
        lines += [f"# No Windows node reports a card. For each that has one: kubectl label node NODE {given}"]
    lines += ["kubectl apply -f directx-device-plugin-windows.yaml"]
    return File("commands.sh", script(lines), COMMANDS, sentence("Run `sh commands.sh` in this folder."))


def _warnings(found: Found, nodes: Sequence[Node], regions: Sequence[str]) -> Iterator[str]:
    version = found.kubernetes
    if version < _FLOOR:
        yield sentence(
            "The DirectX plugin of Alibaba Cloud needs Kubernetes {floor} or newer. This cluster has {version}. Update Kubernetes "
            "first.",
            floor=str(_FLOOR),
            version=str(version),
        )
    if regions == [_UNKNOWN]:
        yield sentence(
            "No node with a card has the region label {label}. Write the region for {placeholder} in the address of the image, "
            "for example cn-hangzhou.",
            label=_REGION_LABEL,
            placeholder=_UNKNOWN,
        )
    if len(regions) > 1:
        without = [node for node in nodes if _REGION_LABEL not in labels_of(node)]
        if without:
            yield sentence(
                "The nodes are in several regions. These have no region label: {nodes}. The plugin does not run there.",
                nodes=names(without),
            )
    others = [node for node in nodes if (build := node_facts(node).windows_build) and not build.startswith(_BUILDS)]
    if others:
        builds = sorted({node_facts(node).windows_build for node in others})
        yield sentence(
            "The plugin's images are for the Windows builds {images}. These nodes have {builds}: {nodes}. Use an older Windows or "
            "another plugin there.",
            images=", ".join(_BUILDS),
            builds=some(builds),
            nodes=names(others),
        )
    if nodes:
        yield sentence(
            "The plugin needs the service rancher-wins on each node. It is not visible in the API: run `Get-Service "
            "rancher-wins` on the node."
        )
