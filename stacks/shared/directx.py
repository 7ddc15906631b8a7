"""What the three DirectX device plugins for Windows nodes have in common: cards that are shared and not metered.

A container with a device may use the card (in process isolation even all cards) without any memory being set aside, so
memory is never "allocated" here. Which card a pod uses is known where the node has one, and where the kubelet names the device: its
id begins with the PnP id of the adapter. Must not know the resource names.
"""

from __future__ import annotations

import re

import msgspec

from kube.objects import Node, Pod
from stacks.engine import health_reports
from stacks.engine.base import DEVICE_STATUS, SHARES, WARNING, Allocation, Card, Finding, StackReport
from stacks.engine.describe import Described, describe
from stacks.engine.devices import Device, Held, Reader, held, where, with_ordinals, worse
from stacks.engine.names import MAX_CARDS
from stacks.engine.offers import Offer, offer, shortfall, states
from stacks.engine.overrides import COUNT, Overrides, overrides
from stacks.engine.requests import allocation, holds
from stacks.shared.instances import by_instance_type
from wording.said import sentence

GIB = 2**30
#: "NVIDIA GRID T4-8Q": a slice of 8 GiB of a T4.
_VGPU = re.compile(r"(?:GRID |NVIDIA (?:GRID )?)?(?P<card>[A-Z]+[0-9]+[A-Z]*)-(?P<gib>[0-9]{1,3})[QCAB]")
#: "PCI\\VEN_10DE&DEV_1EB8&SUBSYS_…&REV_A1\\4&2B8E0F3A&0&00E0": enumerator, hardware, instance.
_PNP = re.compile(r"[A-Z][A-Z0-9_]{1,20}\\[^\\]{1,64}\\[^\\]{1,40}")


class Adapters(msgspec.Struct, frozen=True):
    """How many cards a plugin says there are, by resource. numbers: None where it cannot say. source: in words.

    apart: cards of one resource are never those of another.
    """

    numbers: dict[str, int | None]
    source: str = ""
    apart: bool = False
    findings: tuple[Finding, ...] = ()

    @property
    def total(self) -> int | None:
        known = [number for number in self.numbers.values() if number is not None]
        if not known or len(known) < len(self.numbers):
            return None
        return sum(known) if self.apart else max(known)


class _Pool(msgspec.Struct, frozen=True):
    """Cards that the same resource gives out. resource: "" where it is not told apart. shares: of each card."""

    resource: str
    number: int
    shares: int | None


def adapter(resource_id: str) -> Device | None:
    """The id of an adapter as Windows names it; None when it is none."""
    return Device(resource_id) if _PNP.fullmatch(resource_id) else None


def held_by(pods: list[Pod], resources: tuple[str, ...], read: Reader) -> list[Held]:
    """What the holding pods ask of the resources, with the devices that their statuses name."""
    return [entry for pod in pods if holds(pod) for entry in held(pod, resources.__contains__, read)]


def offered(node: Node, resources: tuple[str, ...]) -> dict[str, Offer]:
    """The node's offer of each resource that it states."""
    return {name: offer(node, name) for name in resources if states(node, name)}


def share(stack: str, node: Node, offers: dict[str, Offer], held_: list[Held], adapters: Adapters) -> StackReport:
    """The share of a DirectX plugin: cards by the administrator, the plugin or the instance type, and their holders."""
    given = overrides(node)
    about = _about(node, given)
    pools, findings = _pools(offers, given, about, adapters)
    only = pools is not None and sum(pool.number for pool in pools) == 1
    cards: list[Card] = []
    for pool in pools or ():
        named = _named(pool, held_)
        cards += [
            _card(stack, pool, device, index, about, only)
            for device, index in with_ordinals(named, pool.number, len(cards))
        ]
    allocations: list[Allocation] = []
    for entry in held_:
        places, wrong = where(entry, {card.key for card in cards})
        allocations += [_allocation(stack, entry, card, quantity) for card, quantity in places.items()]
        findings += wrong
    for name, found in offers.items():
        findings += shortfall(name, found, sentence("The plugin does not offer all devices any more."))
    return StackReport(
        stack=stack,
        cards=tuple(cards),
        cards_known=pools is not None,
        allocations=tuple(allocations),
        findings=(*adapters.findings, *findings),
        memory_total_bytes=about.memory_bytes if only else None,
    )


def _pools(
    offers: dict[str, Offer], given: Overrides, about: Described, adapters: Adapters
) -> tuple[list[_Pool] | None, list[Finding]]:
    """The cards, best source first, None when no source says it; a finding when the plugin's number is not that of the type."""
    offering = {name: found.slots for name, found in offers.items() if found.slots != 0}
    if not offering and offers:
        return [], []
    by_type, total, findings = about.cards, adapters.total, []
    if given.cards is None and total is not None and total <= MAX_CARDS:
        if by_type is not None and by_type != total:
            findings = [_disagree(adapters, total, by_type)]
        if adapters.apart:
            numbers = [(name, number) for name, number in adapters.numbers.items() if number]
            return [_Pool(name, number, _shares(offering.get(name), number)) for name, number in numbers], findings
        by_type = total
    if by_type is None or by_type > MAX_CARDS:
        return None, findings
    slots = max((number or 0 for number in offering.values()), default=0)
    name = next(iter(offering)) if len(offering) == 1 else ""
    return [_Pool(name, by_type, _shares(slots, by_type))] if by_type else [], findings


def _shares(slots: int | None, cards: int) -> int | None:
    return (slots or 0) // cards or None


def _named(pool: _Pool, held_: list[Held]) -> dict[str, Device]:
    """Card key → device: what statuses name, never more than there are."""
    named: dict[str, Device] = {}
    for entry in held_:
        if pool.resource in ("", entry.need.resource):
            for item in entry.devices:
                named[item.key] = worse(named.get(item.key), item)
    return dict(list(named.items())[: pool.number])


def _disagree(adapters: Adapters, number: int, by_type: int) -> Finding:
    text = sentence(
        "The plugin offers {number} cards ({source}), the instance type has {by_type}. gpudash uses the plugin. If "
        "it is wrong, set the annotation {count}.",
        number=number,
        source=adapters.source,
        by_type=by_type,
        count=COUNT,
    )
    return Finding(code="labels-disagree", severity=WARNING, text=text)


def _about(node: Node, given: Overrides) -> Described:
    """Model and memory: the name of a vGPU says its memory more exactly than the type of the machine does."""
    about = describe(node, given)
    vgpu = _VGPU.fullmatch(about.model) if about.model else None
    if vgpu is None or (about.memory_bytes is not None and not by_instance_type(about.memory_source)):
        return about
    return msgspec.structs.replace(about, memory_bytes=int(vgpu["gib"]) * GIB, memory_source=f"vGPU name {about.model}")


def _card(stack: str, pool: _Pool, device: Device, index: int | None, about: Described, only: bool) -> Card:
    return Card(
        key=device.key,
        stack=stack,
        mode=SHARES,
        index=index,
        model=about.model,
        model_source=about.model_source,
        health=device.health,
        told=health_reports.of_device(device.health, pool.resource),
        # Where there are several, a container may use any of them: nobody gives out the memory of one.
        memory_total_bytes=about.memory_bytes if only else None,
        memory_physical_bytes=about.memory_bytes,
        memory_source=about.memory_source,
        shares=pool.shares,
        resource=pool.resource,
    )


def _allocation(stack: str, entry: Held, card: str | None, quantity: int) -> Allocation:
    return allocation(entry.pod, entry.need, stack, SHARES, quantity=quantity, card=card, evidence=DEVICE_STATUS)


def simple_share(
    stack: str, resources: tuple[str, ...], node: Node, pods: list[Pod], adapters: Adapters
) -> StackReport | None:
    """The share of a plugin whose number of adapters needs no more than the node; None when the node is not its own."""
    held_, offers = held_by(pods, resources, adapter), offered(node, resources)
    return share(stack, node, offers, held_, adapters) if held_ or offers else None
