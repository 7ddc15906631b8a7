"""Alibaba Cloud's DirectX device plugin for Windows nodes: `windows.alibabacloud.com/directx`.

The device is the class of all display adapters of the host, shared by host and containers, so capacity is no number of cards:
that comes from the administrator or the instance type. Source: the plugin's page in the documentation of ACK.
"""

from __future__ import annotations

import re

import msgspec

from kube.objects import Node, Pod
from stacks.directx_alibaba.setup import SETUP
from stacks.engine.base import Context, StackReport
from stacks.engine.names import labels_of
from stacks.engine.node_system import WINDOWS_BUILD, is_windows, kubernetes_of
from stacks.engine.shell import label_node
from stacks.engine.software.base import (
    MISSING,
    NOT_NEEDED,
    PENDING,
    READY,
    WANTED,
    Component,
    Expected,
    Here,
    Software,
    SoftwareOf,
    Statement,
)
from stacks.engine.software.pods import NO_IMAGE
from stacks.engine.stack import Components, NodeLabels, Stack
from stacks.engine.versions import Version
from stacks.shared.directx import Adapters, simple_share
from stacks.shared.ways import shares_of_cards
from wording.said import gettext_noop, sentence

NAME = "directx-alibaba"
RESOURCES = ("windows.alibabacloud.com/directx",)
SUPPORTED = "windows.alibabacloud.com/directx-supported"
TOPOLOGY = "windows.alibabacloud.com/deployment-topology"
#: Builds of Windows that the image is made for: 1809, 1909, 2004.
_BUILDS = ("10.0.17763", "10.0.18363", "10.0.19041")
_REGION = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
_ADDRESS = re.compile(r"registry(?:-vpc)?\.([a-z0-9-]+)\.aliyuncs\.com/")
_KUBERNETES_FLOOR = Version(1, 20, 4)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Shared cards and their holders. None when the node does not offer the resource and no pod holds it."""
    return simple_share(NAME, RESOURCES, node, pods, Adapters({}))


def concerns(node: Node, software: Software) -> bool:
    """Windows nodes, where the plugin is installed or the node is one of its kind."""
    return is_windows(node) and (bool(software.daemonsets.get(NAME)) or SUPPORTED in labels_of(node))


def expected(node: Node, software: Software) -> Expected:
    """On Windows nodes of instance types with a card, which ACK labels."""
    labels = labels_of(node)
    if labels.get(SUPPORTED) == "true" or RESOURCES[0] in ((node.status.allocatable if node.status else None) or {}):
        return WANTED
    return Statement(state=NOT_NEEDED, why=sentence("The node has no label {label}=true.", label=SUPPORTED))


def refine(made: Statement, here: Here) -> Statement:
    """The image of another region, a build without an image, and the service that the host must run."""
    labels = labels_of(here.node)
    if made.state == MISSING and labels.get(TOPOLOGY) != "2.0" and here.software.daemonsets.get(NAME):
        return msgspec.structs.replace(
            made,
            why=sentence("The label {label}=2.0 is missing.", label=TOPOLOGY),
            remedy=label_node(here.node, (TOPOLOGY, "2.0")),
        )
    build = labels.get(WINDOWS_BUILD, "")
    image = (
        next((one.image or "" for one in (here.pod.spec.containers or ())), "") if here.pod and here.pod.spec else ""
    )
    if made.reason in NO_IMAGE:
        region, address = next((labels[name] for name in _REGION if labels.get(name)), ""), _ADDRESS.search(image)
        if address is not None and region and address[1] != region:
            return msgspec.structs.replace(
                made,
                why=sentence(
                    "The image cannot be pulled: its registry is in {address}, the node is in {region}.",
                    address=address[1],
                    region=region,
                ),
                remedy=sentence("Use the image {image}", image=image.replace(address[1], region)),
            )
        if build and build not in _BUILDS:
            return msgspec.structs.replace(
                made,
                why=sentence("The image is not made for Windows build {build}.", build=build),
                remedy=sentence("Use a node with one of these builds: {builds}", builds=", ".join(_BUILDS)),
            )
    if made.state == PENDING and here.pod is not None:
        return msgspec.structs.replace(
            made, remedy=sentence("Check that the service rancher-wins runs on the host; its pipe is mounted.")
        )
    version = kubernetes_of(here.node)
    if made.state == READY and version is not None and version < _KUBERNETES_FLOOR:
        text = sentence("Kubernetes {version} is below 1.20.4, which the plugin needs.", version=str(version))
        return msgspec.structs.replace(made, warnings=(*made.warnings, text))
    return made


STACK = Stack(
    name=NAME,
    label=gettext_noop("Alibaba Cloud DirectX"),
    resources=RESOURCES,
    read=read,
    resource_words=("directx",),
    components=Components(
        by_label={"k8s-app": {"directx-device-plugin-windows": NAME}},
        device_plugins=(NAME,),
    ),
    software=SoftwareOf(
        node=(
            Component(
                name=NAME, expected=expected, main=("directx",), offers=lambda name: name in RESOURCES, refine=refine
            ),
        ),
        concerns=concerns,
    ),
    node_labels=NodeLabels(prefixes=("windows.alibabacloud.com/",), present=(SUPPORTED,), given_by={SUPPORTED: NAME}),
    ways=(shares_of_cards(gettext_noop("Alibaba Cloud DirectX"), NAME, RESOURCES),),
    setup=SETUP,
)
