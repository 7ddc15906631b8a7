"""HAMi: parts of NVIDIA cards by memory and cores, recorded on nodes and pods as annotations.

`nvidia.com/gpu` on a node with HAMi's register is a number of slots, not of cards. The register says which cards there are,
the pod's record which of them each container got. The registers of other vendors' cards have the same form (`vendors`); one of a
vendor that is not known shows as not understood.
"""

from __future__ import annotations

import math

import msgspec

from kube.objects import Node, Pod
from stacks.engine import health_reports
from stacks.engine.base import INFO, WARNING, Card, Context, Finding, StackReport
from stacks.engine.describe import Described, describe
from stacks.engine.labels import MIB, number
from stacks.engine.names import annotations_of, labels_of
from stacks.engine.offers import Offer, offer, shortfall
from stacks.engine.overrides import overrides
from stacks.engine.registry import looks_like_gpu
from stacks.engine.requests import devices
from stacks.engine.stack import Components, Kept, NodeLabels, Stack
from stacks.engine.sums import total
from stacks.hami.pods import GPU_MEMORY, NAME, Place, holding
from stacks.hami.records import ALLOCATED, REGISTER, Registered, register
from stacks.hami.refusals import REFUSALS, memory_of
from stacks.hami.settings import CONFIG_MAPS, NOTHING, PLUGIN, Settings, settings
from stacks.hami.setup import SETUP
from stacks.hami.software import SOFTWARE
from stacks.hami.vendors import PREFIXES, TAKEN, Vendor, vendors_of
from stacks.hami.ways import CORDON, way
from stacks.shared.plugin_daemonsets import of
from wording.said import sentence

GPU = "nvidia.com/gpu"
#: What HAMi adds to a request of a vendor's own resource: properties of the slots, held together with them.
RESOURCES = (
    GPU_MEMORY,
    "nvidia.com/gpumem-percentage",
    "nvidia.com/gpucores",
    "nvidia.com/priority",
    "amd.com/gpumem",
    "amd.com/gpucores",
)
_NODE_PREFIX = "hami.io/node-"


def marks(node: Node) -> bool:
    """Whether HAMi has registered cards of this node: its `nvidia.com/gpu` are then slots, counted here."""
    annotations = node.metadata.annotations
    if not annotations:
        return False
    found = [name for name in annotations if name.startswith(_NODE_PREFIX) and "register" in name]
    return any(not _is_left_over(node, name) for name in found)


def _is_left_over(node: Node, name: str, context: Context | None = None) -> bool:
    """Whether HAMi has registered these cards once, and the plugin of their vendor gives them out now. name: of the register.

    Without a context it is only what the numbers say for sure.
    """
    resource = (
        GPU if name == REGISTER else next((one.resource for one in vendors_of(node)[0] if one.register == name), "")
    )
    listed = register(annotations_of(node)[name]) if resource else None
    if listed is None:
        return False
    if listed.is_left_over(offer(node, resource).slots):
        return True
    return name == REGISTER and context is not None and _is_shared_by_nvidia(node, context)


def _is_shared_by_nvidia(node: Node, context: Context) -> bool:
    """Whether labels say that NVIDIA's plugin offers the cards several times, as often as they are offered.

    HAMi may split them as often: its register and NVIDIA's labels look alike then, each may be left over, and HAMi's plugin decides.
    """
    if of(context.daemonsets, PLUGIN):
        return False
    labels = labels_of(node)
    count, times = number(labels.get("nvidia.com/gpu.count", "")), number(labels.get("nvidia.com/gpu.replicas", ""))
    return bool(count and times and times > 1) and offer(node, GPU).slots == (count or 0) * (times or 0)


def counts_here(node: Node, context: Context) -> tuple[str, ...]:
    """NVIDIA's resources by the names that an administrator may have given them, and those of other vendors' registered cards."""
    others = _vendors(node)
    mine = _named(node, settings(context, node.metadata.name)) if _of_nvidia(node, others, context) else ()
    return (*mine, *(resource for vendor in others for resource in vendor.resources))


def _vendors(node: Node) -> list[Vendor]:
    """Other vendors whose cards HAMi has registered on this node and gives out."""
    return [vendor for vendor in vendors_of(node)[0] if not _is_left_over(node, vendor.register)]


def _of_nvidia(node: Node, others: list[Vendor], context: Context) -> bool:
    """Whether the mark of HAMi on this node is about NVIDIA's cards: its own register, or one that is not read."""
    if REGISTER in annotations_of(node):
        return not _is_left_over(node, REGISTER, context)
    return not others


def _named(node: Node, said: Settings) -> list[str]:
    return sorted({_counted(node, said), *said.names} - {*RESOURCES, ""})


def _counted(node: Node, said: Settings) -> str:
    """What the slots are called: by HAMi's settings, else the resource of which the node offers as many as the register has."""
    status = node.status
    offered = {**(status.allocatable or {}), **(status.capacity or {})} if status else {}
    if said.count in offered:
        return said.count
    text = annotations_of(node).get(REGISTER)
    if GPU in offered or text is None or (listed := register(text)) is None:
        return GPU
    slots = sum(card.shares for card in listed.cards)
    found = [name for name, value in offered.items() if looks_like_gpu(name) and devices(value) == slots]
    return found[0] if len(found) == 1 else GPU


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards by the register, holders by the pods' records. None when HAMi has registered no cards of this node."""
    if not marks(node):
        return None
    known, strange = _vendors(node), vendors_of(node)[1]
    findings = [_not_read(name) for name in strange]
    parts = [_part(node, pods, context, vendor, findings) for vendor in known]
    if _of_nvidia(node, known, context):
        said = settings(context, node.metadata.name, pods)
        nvidia = Vendor("", REGISTER, ALLOCATED, _counted(node, said), said.memory or GPU_MEMORY)
        parts.insert(0, _part(node, pods, context, nvidia, findings, said.scaling))
    if not parts and not strange:
        return None
    if not parts:
        return StackReport(stack=NAME, cards_known=False, findings=tuple(findings))
    # A register of a vendor that is not read has cards too.
    hidden = bool(strange) and not any(part.cards for part in parts)
    return msgspec.structs.replace(
        parts[0],
        cards_known=parts[0].cards_known and not hidden,
        findings=tuple(findings),
        others=tuple(parts[1:]),
    )


def _part(
    node: Node,
    pods: list[Pod],
    context: Context,
    vendor: Vendor,
    findings: list[Finding],
    scaling: float | None = None,
) -> StackReport:
    """The cards of one register and who holds them; findings are added to those given. scaling: by how much memory is stretched."""
    listed = _registered(node, vendor.register, findings)
    mine = vendor.register == REGISTER
    about = describe(node, overrides(node)) if mine else Described()
    place = Place(vendor, {card.uuid: card for card in listed or ()}, listed is not None)
    held = [found for pod in pods if (found := holding(pod, place, context)) is not None]
    findings += [item for found in held for item in found.findings]
    offered = offer(node, vendor.resource)
    findings += shortfall(vendor.resource, offered, sentence("HAMi offers fewer slots than the cards have."))
    return StackReport(
        stack=NAME,
        vendor=vendor.name,
        cards=tuple(_card(card, about, vendor, scaling) for card in listed or ()),
        cards_known=listed is not None,
        allocations=tuple(item for found in held for item in found.allocations),
        recheck_at=min((due for found in held for due in found.due), default=None),
        memory_total_bytes=_total(node, vendor, listed, offered),
    )


def _registered(node: Node, name: str, findings: list[Finding]) -> list[Registered] | None:
    text = annotations_of(node).get(name)
    if text is None:
        return None
    listed = register(text)
    if listed is None:
        said = sentence(
            "The annotation {name} of this node is invalid. Its cards are unknown. Restart the HAMi device plugin.",
            name=name,
        )
        findings.append(Finding(code="annotation-unreadable", severity=WARNING, text=said))
        return None
    if listed.repeated:
        said = sentence(
            "The annotation {name} of this node lists {names} more than once. gpudash uses the first entry.",
            name=name,
            names=", ".join(listed.repeated[:5]),
        )
        findings.append(Finding(code="annotation-unreadable", severity=WARNING, text=said))
    return listed.cards


def _not_read(name: str) -> Finding:
    said = sentence(
        "{name} lists cards of a vendor that gpudash does not support. They are excluded from the totals of this node.",
        name=name,
    )
    return Finding(code="resource-not-understood", severity=INFO, text=said)


def _card(card: Registered, about: Described, vendor: Vendor, scaling: float | None) -> Card:
    """scaling: by how much the memory of the register is stretched."""
    memory, source = vendor.memory_of(card), f"annotation {vendor.register}"
    own = math.ceil(card.memory / MIB / scaling) * MIB if scaling is not None else None
    return Card(
        key=card.uuid,
        stack=NAME,
        mode=vendor.mode(card),
        index=card.index,
        uuid=card.uuid,
        model=card.type.removeprefix("NVIDIA-") or about.model,
        model_source=source if card.type else about.model_source,
        health=vendor.health_of(card),
        told=health_reports.of_register(NAME, vendor.health_of(card), f"annotation {vendor.register}"),
        memory_total_bytes=memory,
        memory_physical_bytes=about.memory_bytes if about.memory_bytes is not None else own,
        memory_source=source if memory is not None else "",
        shares=card.shares,
        resource=vendor.resource,
    )


def _total(node: Node, vendor: Vendor, listed: list[Registered] | None, offered: Offer) -> int | None:
    """What HAMi can still give out: the memory of cards that are healthy and not cordoned.

    Where the kubelet has no slot left to give, the plugin is gone and HAMi takes the cards out of its account.
    """
    if listed is None:
        return None
    if offered.allocatable == 0:
        return 0
    allocatable = node.status.allocatable if node.status else None
    if allocatable is not None and offered.slots is None:
        # No slots under any name, or under a name that cannot be told from others.
        return None if any(looks_like_gpu(name) for name in allocatable) else 0
    cordoned = {part.strip() for part in annotations_of(node).get(CORDON, "").split(",")}
    return total(vendor.memory_of(card) for card in listed if card.healthy and card.uuid not in cordoned)


STACK = Stack(
    name=NAME,
    label="HAMi",
    resources=RESOURCES,
    read=read,
    marks=marks,
    takes=(GPU, *TAKEN),
    slots=(GPU, *TAKEN, "hygon.com/dcunum", "kunlunxin.com/vxpu"),
    resource_prefixes=PREFIXES,
    counts_here=counts_here,
    node_labels=NodeLabels(names=("gpu",)),
    components=Components(
        by_label={"app.kubernetes.io/component": {PLUGIN: PLUGIN, "hami-scheduler": "hami-scheduler"}},
        device_plugins=(PLUGIN,),
        daemonsets=(PLUGIN,),
    ),
    software=SOFTWARE,
    config_maps=CONFIG_MAPS,
    refusals=REFUSALS,
    memory_of=memory_of,
    ways=(way(lambda node: _counted(node, NOTHING)),),
    kept=Kept(
        pod_labels=("hami.io/vgpu-node",),
        pod_annotations=("hami.io/", "nvidia.com/use-gpu", "nvidia.com/nouse-gpu"),
        node_annotations=(_NODE_PREFIX, CORDON),
        # Change with every registration, or are large, and are not read.
        node_annotations_dropped=("hami.io/node-handshake", "hami.io/node-nvidia-score"),
    ),
    setup=SETUP,
)
