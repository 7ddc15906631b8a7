"""NVIDIA's device plugin (also under the GPU Operator), and Google's: `nvidia.com/gpu`, `nvidia.com/gpu.shared`, `nvidia.com/mig-*`.

Whole cards, time-slicing, MPS and MIG slices. Which card a pod holds is known only where the kubelet says so
(`allocatedResourcesStatus`); else the node knows a count. Where another system has registered the cards these resources are its slots
(`Context.taken`), so this stack says nothing of them.
"""

from __future__ import annotations

from collections.abc import Callable

from kube.objects import Node, Pod
from stacks.engine import measured
from stacks.engine.base import DEVICE_STATUS, SHARES, WHOLE, Allocation, Context, Finding, StackReport
from stacks.engine.describe import describe
from stacks.engine.devices import Held, held, where
from stacks.engine.names import labels_of
from stacks.engine.offers import shortfall
from stacks.engine.overrides import overrides
from stacks.engine.requests import allocation, holds
from stacks.engine.stack import Stack
from stacks.nvidia import gfd, mig, plugin_config, slices, state, visible
from stacks.nvidia.cards import NAME, as_slices, cards_of, memory_of, total_memory
from stacks.nvidia.declared import COMPONENTS, KEPT, NODE_LABELS
from stacks.nvidia.group import Group
from stacks.nvidia.ids import device
from stacks.nvidia.layout import RESOURCES, groups
from stacks.nvidia.rooms import rooms
from stacks.nvidia.setup import SETUP
from stacks.nvidia.software import SOFTWARE
from stacks.nvidia.ways import WAYS
from wording.said import sentence


def owns(resource: str, context: Context) -> bool:
    """Cards, shares of them, and each MIG profile."""
    return resource in RESOURCES or mig.profile_of(resource) is not None


def marks(node: Node) -> bool:
    """Whether labels say why the node offers less than it has: it may name no resource at all then."""
    return state.explains(node)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards, holders and findings of the plugin's resources. None when the node has none, or they are another system's slots."""

    def mine(resource: str) -> bool:
        return owns(resource, context) and resource not in context.taken

    held_ = [entry for pod in pods if holds(pod) for entry in held(pod, mine, device)]
    names = _names(node, mine)
    explained = state.explains(node)
    if not held_ and not names and not explained:
        return None
    given = overrides(node)
    about = describe(node, given)
    said = plugin_config.said(node, pods, context)
    found = [as_slices(group, held_) for group in groups(node, given, about, names or list(RESOURCES[:1]), said)]
    cards = cards_of(found, held_, context.known_uuids, measured.uuids(context))
    allocations, findings = _place(held_, {group.resource: group for group in found}, {card.key for card in cards})
    for group in found:
        # Devices that are withheld on purpose have no fault.
        findings += [] if explained else [*group.findings, *shortfall(group.resource, group.offer, _withheld(group))]
    findings += [] if explained else said.findings
    findings += state.findings(node, any(group.cards and not group.profile for group in found))
    findings += visible.by_hand(pods)
    return StackReport(
        stack=NAME,
        cards=tuple(cards),
        cards_known=_cards_known(found, held_) and bool(names),
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=total_memory(found),
        explained=explained,
        physical_cards=slices.physical(found, gfd.read(labels_of(node)), about),
        rooms=() if explained else rooms(found, gfd.read(labels_of(node)), about),
    )


def _names(node: Node, mine: Callable[[str], bool]) -> list[str]:
    """The resources of this stack that the node states, whole cards first."""
    status = node.status
    stated = {**(status.capacity or {}), **(status.allocatable or {})} if status else {}
    return sorted(name for name in stated if mine(name))


def _cards_known(found: list[Group], held_: list[Held]) -> bool:
    """Whether every resource that is stated has a known number of cards, and none is held that is not stated."""
    stated = {group.resource for group in found if group.stated}
    counted = all(group.cards is not None or not group.stated for group in found)
    return counted and all(entry.need.resource in stated for entry in held_)


def _withheld(group: Group) -> str:
    if group.mode == WHOLE:
        return sentence("The plugin marked devices as unhealthy, or the node lost them.")
    return sentence(
        "The plugin marked devices as unhealthy. Each card has {shares} of them.",
        shares=group.replicas or sentence("several"),
    )


def _place(held_: list[Held], by_resource: dict[str, Group], keys: set[str]) -> tuple[list[Allocation], list[Finding]]:
    allocations: list[Allocation] = []
    findings: list[Finding] = []
    for entry in held_:
        group = by_resource.get(entry.need.resource)
        places, wrong = where(entry, keys)
        allocations += [_allocation(entry, group, card, quantity) for card, quantity in places.items()]
        findings += wrong
    return allocations, findings


def _allocation(entry: Held, group: Group | None, card: str | None, quantity: int) -> Allocation:
    return allocation(
        entry.pod,
        entry.need,
        NAME,
        group.mode if group else SHARES,
        quantity=quantity,
        card=card,
        evidence=DEVICE_STATUS,
        memory_bytes=memory_of(group, quantity),
    )


STACK = Stack(
    name=NAME,
    label="NVIDIA device plugin",
    resources=RESOURCES,
    owns=owns,
    read=read,
    marks=marks,
    resource_prefixes=("nvidia.com/",),
    resource_words=("/mig-",),
    # A card in MIG mode whose profile is of no known form, or that InstaSlice cuts, is in no total of this stack.
    uncounted_resources=("nvidia.com/mig-", "instaslice.redhat.com/mig-"),
    node_labels=NODE_LABELS,
    components=COMPONENTS,
    software=SOFTWARE,
    kept=KEPT,
    findings=state.FINDINGS,
    config_maps=plugin_config.CONFIG_MAPS,
    ways=WAYS,
    setup=SETUP,
)
