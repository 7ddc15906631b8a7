"""What the three DirectX device plugins for Windows nodes have in common: cards that are shared and not metered.

A container with a device may use the card (in process isolation even all cards) without any memory being set aside, so
memory is never "allocated" here. Which card a pod uses is not in the API; it is plain only where the node has one. Must not
know the resource names.
"""

from __future__ import annotations

import re

import msgspec

from inventory.stacks.engine.base import SHARES, WARNING, Card, Finding, StackReport
from inventory.stacks.engine.describe import Described, describe
from inventory.stacks.engine.names import MAX_CARDS, labels_of
from inventory.stacks.engine.offers import Offer, offer, shortfall, states
from inventory.stacks.engine.overrides import COUNT, Overrides, overrides
from inventory.stacks.engine.requests import Need, counted, holds, requests
from inventory.stacks.shared.instances import Instance, instance_of
from kube.objects import Node, Pod
from kube.quantity import count

GIB = 2**30
#: Karpenter on AWS says how many cards the instance type has.
KARPENTER_COUNT = "karpenter.k8s.aws/instance-gpu-count"
#: "NVIDIA GRID T4-8Q": a slice of 8 GiB of a T4.
_VGPU = re.compile(r"(?:GRID |NVIDIA (?:GRID )?)?(?P<card>[A-Z]+[0-9]+[A-Z]*)-(?P<gib>[0-9]{1,3})[QCAB]")


class Adapters(msgspec.Struct, frozen=True):
    """How many cards a plugin says there are. number: None when it cannot say. source: in words."""

    number: int | None
    source: str = ""
    findings: tuple[Finding, ...] = ()


def held_by(pods: list[Pod], resources: tuple[str, ...]) -> list[tuple[Pod, Need]]:
    """What the holding pods ask of the resources."""
    return [(pod, need) for pod in pods if holds(pod) for need in requests(pod, resources.__contains__)]


def offered(node: Node, resources: tuple[str, ...]) -> dict[str, Offer]:
    """The node's offer of each resource that it states."""
    return {name: offer(node, name) for name in resources if states(node, name)}


def share(
    stack: str, node: Node, offers: dict[str, Offer], held: list[tuple[Pod, Need]], adapters: Adapters
) -> StackReport:
    """The share of a DirectX plugin: cards by the administrator, the plugin or the instance type; holders without a card."""
    given = overrides(node)
    number, findings = _number(node, offers, given, adapters)
    about = _about(node, given)
    slots = max((found.slots or 0 for found in offers.values()), default=0)
    cards = tuple(_card(stack, index, about, slots // number) for index in range(number or 0) if number)
    # Nothing is reserved and there is one adapter: each holder shares that one.
    only = cards[0].key if len(cards) == 1 else None
    for name, found in offers.items():
        findings += shortfall(name, found, "The plugin has withdrawn devices.")
    return StackReport(
        stack=stack,
        cards=cards,
        cards_known=number is not None,
        allocations=tuple(counted(pod, need, stack, SHARES, card=only) for pod, need in held),
        findings=(*adapters.findings, *findings),
    )


def _number(
    node: Node, offers: dict[str, Offer], given: Overrides, adapters: Adapters
) -> tuple[int | None, list[Finding]]:
    """The number of cards, best source first; a finding when the plugin's number is not that of the instance type."""
    if not any(found.slots != 0 for found in offers.values()) and offers:
        return 0, []
    if given.cards is not None:
        return given.cards, []
    table = instance_of(node)
    karpenter = count(labels_of(node).get(KARPENTER_COUNT))
    by_type = table[1].cards if table else karpenter or None
    if adapters.number is not None and adapters.number <= MAX_CARDS:
        if by_type is not None and by_type != adapters.number:
            return adapters.number, [_disagree(adapters, by_type)]
        return adapters.number, []
    return (by_type if by_type is not None and by_type <= MAX_CARDS else None), []


def _disagree(adapters: Adapters, by_type: int) -> Finding:
    text = (
        f"The plugin offers {adapters.number} cards ({adapters.source}), the instance type has {by_type}. The plugin counts. "
        f"State the number of cards in the annotation {COUNT} if it is wrong."
    )
    return Finding(code="labels-disagree", severity=WARNING, text=text)


def _about(node: Node, given: Overrides) -> Described:
    """Model and memory: labels and annotations first, then the instance type, then the name of a vGPU."""
    about = describe(node, given)
    table = instance_of(node)
    if table is not None:
        about = _by_type(about, table[0], table[1])
    vgpu = _VGPU.fullmatch(about.model) if about.model else None
    if vgpu is not None and about.memory_bytes is None:
        return msgspec.structs.replace(
            about, memory_bytes=int(vgpu["gib"]) * GIB, memory_source=f"vGPU name {about.model}"
        )
    return about


def _by_type(about: Described, name: str, instance: Instance) -> Described:
    source = f"instance type {name}"
    model = instance.model if instance.share == 1 else f"{instance.model} (1/{instance.share})"
    vgpu = about.model is not None and _VGPU.fullmatch(about.model) is not None
    # The name of a vGPU says its memory more exactly than the type of the machine does.
    memory = about.memory_bytes if about.memory_bytes is not None or vgpu else instance.memory
    return Described(
        model=about.model or model,
        model_source=about.model_source if about.model else source,
        memory_bytes=memory,
        memory_source=about.memory_source or (source if memory is not None else ""),
    )


def _card(stack: str, index: int, about: Described, shares: int) -> Card:
    return Card(
        key=str(index),
        stack=stack,
        mode=SHARES,
        index=index,
        model=about.model,
        model_source=about.model_source,
        memory_physical_bytes=about.memory_bytes,
        memory_source=about.memory_source,
        shares=shares or None,
    )


def simple_share(
    stack: str, resources: tuple[str, ...], node: Node, pods: list[Pod], adapters: Adapters
) -> StackReport | None:
    """The share of a plugin whose number of adapters needs no more than the node; None when the node is not its own."""
    held, offers = held_by(pods, resources), offered(node, resources)
    return share(stack, node, offers, held, adapters) if held or offers else None
