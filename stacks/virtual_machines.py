"""NVIDIA cards for virtual machines (KubeVirt, Kata Containers): passed through as a whole, or cut into vGPUs.

The sandbox device plugin names a passed-through card after its PCI name (`nvidia.com/TU104GL_TESLA_T4`) or `nvidia.com/pgpu`, and
a vGPU after its type: `nvidia.com/NVIDIA_A10-12Q` has 12 GB of the frame buffer of its card. Of how many cards the vGPUs are parts
is not in the resource.
Sources: NVIDIA/kubevirt-gpu-device-plugin d26f2374, pkg/device_plugin; NVIDIA vGPU user guide (names of types).
"""

from __future__ import annotations

import re

import msgspec

from kube.objects import Node, Pod
from stacks.engine.base import DEVICE_STATUS, WARNING, WHOLE, Allocation, Card, Context, Finding, StackReport
from stacks.engine.describe import Described, describe
from stacks.engine.devices import Device, Held, held, where, with_ordinals, worse
from stacks.engine.groups import Group, all_known, believed, given_out
from stacks.engine.labels import GIB, MIB
from stacks.engine.names import labels_of
from stacks.engine.offers import offer, shortfall
from stacks.engine.overrides import MEMORY, overrides
from stacks.engine.requests import allocation, holds
from stacks.engine.stack import Components, NodeLabels, Stack
from wording.said import sentence

NAME = "virtual-machines"
_DOMAIN = "nvidia.com/"
PGPU = f"{_DOMAIN}pgpu"
#: What runs on the node: the plugin for containers, or that for virtual machines.
WORKLOAD = f"{_DOMAIN}gpu.workload.config"
_OF_CONTAINERS = (f"{_DOMAIN}gpu", f"{_DOMAIN}gpu.shared")
#: Board, then GB of frame buffer and series: Q, A, B, C; forms such as "1-5C" and "1-10CME" are parts of a card in MIG mode.
_VGPU = re.compile(
    r"nvidia\.com/((?:GRID_|NVIDIA_)?([A-Za-z][A-Za-z0-9_.-]{0,40}?)-(?:[0-9]-)?([0-9]{1,3})[QABC](?:ME|[0-9])?)"
)
#: The name of the chip begins the PCI name: TU104GL, GA102GL, GH100, GV100GL.
_PCI = re.compile(r"nvidia\.com/G?[A-Z]{1,2}[0-9]{2,3}[A-Z]{0,4}_([A-Za-z0-9_]{1,80})")
#: Further names of an administrator's own; those of the other plugins are in lower case.
_OWN = re.compile(r"nvidia\.com/[A-Z][A-Za-z0-9_.-]{0,62}")
#: What the plugin hands over with cards, and what else is on their boards. It counts each by its own PCI name.
_NO_CARD = re.compile(r"nvidia\.com/.*(?:NVSWITCH|AUDIO|USB).*", re.IGNORECASE)
_LONGEST_ID = 64


def owns(resource: str, context: Context) -> bool:
    """Cards that are passed through by their PCI name or alias, and vGPUs by their type; also what is passed through beside them."""
    return resource == PGPU or any(one.fullmatch(resource) for one in (_NO_CARD, _VGPU, _PCI))


def marks(node: Node) -> bool:
    """Whether the node's cards are for virtual machines."""
    return labels_of(node).get(WORKLOAD, "").startswith("vm-")


def counts_here(node: Node, context: Context) -> tuple[str, ...]:
    """Names that an administrator has given to cards of this node."""
    return tuple(name for name in _offered(node) if _OWN.fullmatch(name) and not _NO_CARD.fullmatch(name))


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards and vGPUs by count, and who holds them. None when the node has none and no pod holds one."""
    here = counts_here(node, context) if marks(node) else ()

    def mine(resource: str) -> bool:
        return (owns(resource, context) or resource in here) and not _NO_CARD.fullmatch(resource)

    stated = [name for name in _offered(node) if mine(name)]
    held_ = [entry for pod in pods if holds(pod) for entry in held(pod, mine, _device)]
    if not stated and not held_:
        return None
    given = overrides(node)
    about = describe(node, given)
    groups = [_group(node, name, about, given.memory_bytes) for name in stated]
    cards = _cards(groups, held_)
    by_resource, keys = {group.resource: group for group in groups}, {card.key for card in cards}
    allocations: list[Allocation] = []
    findings = _mixed(node, groups)
    for entry in held_:
        places, wrong = where(entry, keys)
        group = by_resource.get(entry.need.resource)
        allocations += [_allocation(entry, group, card, quantity) for card, quantity in places.items()]
        findings += wrong if group is not None and group.number is not None else []
    for group in groups:
        findings += shortfall(
            group.resource, group.offer, sentence("The plugin marked devices as unhealthy, or lost them.")
        )
    return StackReport(
        stack=NAME,
        vendor=NAME,
        cards=tuple(cards),
        cards_known=all_known(groups, (entry.need.resource for entry in held_)),
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=given_out(groups),
        physical_cards=_physical(groups, about),
    )


def _offered(node: Node) -> list[str]:
    status = node.status
    return sorted({**(status.capacity or {}), **(status.allocatable or {})}) if status else []


def _group(node: Node, resource: str, about: Described, by_hand: int | None) -> Group:
    found, vgpu, pci = offer(node, resource), _VGPU.fullmatch(resource), _PCI.fullmatch(resource)
    source = f"resource {resource}"
    if vgpu is not None:
        memory = by_hand if by_hand is not None else int(vgpu[3]) * GIB or 512 * MIB
        about = Described(
            model=vgpu[2],
            model_source=source,
            memory_bytes=memory,
            memory_source=f"annotation {MEMORY}" if by_hand is not None else source,
        )
    elif pci is not None and about.model is None:
        about = msgspec.structs.replace(about, model=pci[1].replace("_", " "), model_source=source)
    profile = vgpu[1] if vgpu is not None else ""
    return Group(stack=NAME, resource=resource, offer=found, number=believed(found.slots), about=about, profile=profile)


def _device(name: str) -> Device | None:
    """Passed-through cards are called by IOMMU groups ("17"), vGPUs by the UUIDs of their mediated devices."""
    if not 0 < len(name) <= _LONGEST_ID or not name.isprintable():
        return None
    return Device(f"iommu-{name}") if name.isdigit() else Device(name)


def _cards(groups: list[Group], held_: list[Held]) -> list[Card]:
    cards: list[Card] = []
    for group in groups:
        named: dict[str, Device] = {}
        for entry in held_:
            for item in entry.devices if entry.need.resource == group.resource else ():
                named[item.key] = worse(named.get(item.key), item)
        some = dict(list(named.items())[: group.number or 0])
        cards += [group.card(item, index) for item, index in with_ordinals(some, group.number or 0, offset=len(cards))]
    return list({card.key: card for card in cards}.values())


def _allocation(entry: Held, group: Group | None, card: str | None, quantity: int) -> Allocation:
    return allocation(
        entry.pod,
        entry.need,
        NAME,
        WHOLE,
        quantity=quantity,
        card=card,
        evidence=DEVICE_STATUS,
        memory_bytes=group.about.memory_of(quantity) if group is not None else None,
    )


def _physical(groups: list[Group], about: Described) -> int | None:
    """Boards: vGPUs are parts of as many as labels or the administrator say."""
    if not any(group.profile and group.number for group in groups):
        return sum(group.number or 0 for group in groups)
    return about.cards


def _mixed(node: Node, groups: list[Group]) -> list[Finding]:
    """`labels-disagree` where the node gives out cards to virtual machines and to containers: it can do one only."""
    beside = [name for name in _OF_CONTAINERS if offer(node, name).slots]
    here = [group.resource for group in groups if group.number]
    if not beside or not here:
        return []
    text = sentence(
        "The node offers {machines} for virtual machines and {containers} for containers. A card serves only one of "
        "them, so one number is stale. Check the label {workload} and both device plugins on this node.",
        machines=", ".join(here[:5]),
        containers=", ".join(beside),
        workload=WORKLOAD,
    )
    return [Finding(code="labels-disagree", severity=WARNING, text=text)]


_PLUGIN = "nvidia-kubevirt-gpu-device-plugin"

STACK = Stack(
    name=NAME,
    label="Cards of virtual machines (KubeVirt, Kata)",
    resources=(PGPU, f"{_DOMAIN}TU104GL_TESLA_T4", f"{_DOMAIN}GRID_T4-1Q", f"{_DOMAIN}NVIDIA_A10-12Q"),
    owns=owns,
    read=read,
    marks=marks,
    counts_here=counts_here,
    node_labels=NodeLabels(names=(WORKLOAD, f"{_DOMAIN}vgpu.config", f"{_DOMAIN}vgpu.config.state")),
    components=Components(
        # The plugin of the project; that of the GPU Operator is declared with the operator.
        by_label={"name": {"nvidia-kubevirt-gpu-dp-ds": _PLUGIN}},
        device_plugins=(_PLUGIN,),
    ),
)
