"""The alpha GPU resource of Kubernetes 1.3 to 1.7: `alpha.kubernetes.io/nvidia-gpu`.

Whole cards, counted; which card a pod got is not in the API. The model is in a label that the administrator (or the cloud)
put on the node; the memory is nowhere, so it is unknown unless the administrator states it.
"""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.engine.base import WHOLE, Card, Context, StackReport
from stacks.engine.describe import Described, describe
from stacks.engine.labels import first, model_name
from stacks.engine.names import MAX_CARDS, labels_of
from stacks.engine.node_system import kubernetes_of
from stacks.engine.offers import offer, shortfall, states
from stacks.engine.overrides import overrides
from stacks.engine.requests import allocation, devices, holds, requests
from stacks.engine.software.base import (
    DISABLED,
    MISSING,
    NOT_READY,
    READY,
    UNKNOWN,
    Component,
    Expected,
    Software,
    SoftwareOf,
    Statement,
)
from stacks.engine.stack import NodeLabels, Stack
from stacks.engine.versions import plain_version
from stacks.kubernetes_alpha.setup import SETUP
from stacks.shared.ways import whole_cards
from wording.said import gettext_noop, sentence

NAME = "kubernetes-alpha"
RESOURCE = "alpha.kubernetes.io/nvidia-gpu"
#: Name of a setting (without GPUDASH_) → its default.
SETTINGS = {"ALPHA_DRIVER_PATH": ""}


def driver_path(settings: tuple[tuple[str, str], ...]) -> str:
    """Folder of the driver's libraries on such nodes, "" when nobody has said it. settings: as `Context.settings`."""
    return (SETTINGS | dict(settings))["ALPHA_DRIVER_PATH"]


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Whole cards by count. None when the node has none and no pod holds one."""
    held = [(pod, need) for pod in pods if holds(pod) for need in requests(pod, lambda name: name == RESOURCE)]
    if not held and not states(node, RESOURCE):
        return None
    found, given = offer(node, RESOURCE), overrides(node)
    total = given.cards if given.cards is not None else found.slots
    known = total is not None and total <= MAX_CARDS
    about = describe(node, given)
    return StackReport(
        stack=NAME,
        cards=tuple(_card(index, about) for index in range(total)) if known and total is not None else (),
        cards_known=known,
        allocations=tuple(
            allocation(pod, need, NAME, WHOLE, memory_bytes=about.memory_of(need.quantity)) for pod, need in held
        ),
        findings=tuple(shortfall(RESOURCE, found, sentence("The kubelet offers fewer cards than the node has."))),
        memory_total_bytes=about.memory_of(found.allocatable),
    )


def _card(index: int, about: Described) -> Card:
    return Card(
        key=str(index),
        stack=NAME,
        mode=WHOLE,
        index=index,
        model=about.model,
        model_source=about.model_source,
        memory_total_bytes=about.memory_bytes,
        memory_physical_bytes=about.memory_bytes,
        memory_source=about.memory_source,
        shares=1,
    )


#: Documented for the alpha resource by Kubernetes 1.6 and 1.7.
_NAME_LABEL = "alpha.kubernetes.io/nvidia-gpu-name"


def concerns(node: Node, software: Software) -> bool:
    """Where the kubelet states the resource, or the administrator named the card."""
    stated = (node.status.capacity if node.status else None) or {}
    return RESOURCE in stated or _NAME_LABEL in labels_of(node)


def expected(node: Node, software: Software) -> Expected:
    """What the API can say of it: nothing runs in the cluster, the kubelet counts the devices itself.

    Its flag (1.3 to 1.5: --experimental-nvidia-gpus) or gate (1.6 to 1.10: Accelerators) is not visible.
    """
    version, info = kubernetes_of(node), node.status.nodeInfo if node.status else None
    mine = plain_version((info.kubeletVersion if info else None) or "")
    stated = (node.status.capacity if node.status else None) or {}
    number = devices(stated.get(RESOURCE))
    flag = (
        "--experimental-nvidia-gpus=1"
        if version is not None and version < (1, 6)
        else "--feature-gates=Accelerators=true"
    )
    runtime = (info.containerRuntimeVersion if info else None) or ""
    if version is not None and version >= (1, 11):
        return Statement(
            state=MISSING,
            version=mine,
            why=sentence("Kubernetes 1.11 removed this resource. The kubelet is {version}.", version=mine),
            remedy=sentence("Use a device plugin."),
            source="node status",
        )
    if runtime and not runtime.startswith("docker://"):
        return Statement(
            state=NOT_READY,
            version=mine,
            why=sentence(
                "The kubelet supports cards only for Docker containers. The runtime is {runtime}.", runtime=runtime
            ),
            source="node status",
        )
    if number:
        return Statement(state=READY, version=mine, source="node status")
    if RESOURCE in stated and _NAME_LABEL not in labels_of(node):
        return Statement(
            state=DISABLED,
            version=mine,
            why=sentence("The kubelet reports 0 cards: {flag} is not set, or the node has no card.", flag=flag),
            source="node status",
        )
    return Statement(
        state=NOT_READY if RESOURCE in stated else UNKNOWN,
        version=mine,
        why=sentence("The label {label} names a card, but the kubelet reports none.", label=_NAME_LABEL),
        remedy=sentence("On the host: load the driver and start the kubelet with {flag}", flag=flag),
        source="node status",
    )


STACK = Stack(
    name=NAME,
    label="Kubernetes 1.3–1.7 alpha",
    resources=(RESOURCE,),
    read=read,
    settings=SETTINGS,
    software=SoftwareOf(node=(Component(name="kubelet-gpu", expected=expected),), concerns=concerns),
    node_labels=NodeLabels(
        prefixes=("alpha.kubernetes.io/",), naming=(_NAME_LABEL,), model=first((_NAME_LABEL,), model_name)
    ),
    ways=(whole_cards(gettext_noop("Alpha GPU resource, whole cards"), NAME, (RESOURCE,)),),
    setup=SETUP,
)
