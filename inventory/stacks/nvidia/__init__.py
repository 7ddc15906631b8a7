"""NVIDIA's device plugin (also under the GPU Operator): `nvidia.com/gpu` and `nvidia.com/gpu.shared`.

Whole cards, time-slicing and MPS. Which card a pod holds is known only where the kubelet says so (`allocatedResourcesStatus`);
else the node knows a count. Where another system has registered the cards these resources are its slots (`Context.taken`), so
this stack says nothing of them.
MIG profiles (`nvidia.com/mig-*`) are not read here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from inventory.stacks.engine.base import (
    COUNT_ONLY,
    DEVICE_STATUS,
    ERROR,
    HEALTH_UNKNOWN,
    HEALTHY,
    PARTS,
    SHARES,
    UNHEALTHY,
    WARNING,
    WHOLE,
    Allocation,
    Card,
    Context,
    Finding,
    StackReport,
)
from inventory.stacks.engine.describe import Described, describe
from inventory.stacks.engine.offers import shortfall, states
from inventory.stacks.engine.overrides import overrides
from inventory.stacks.engine.requests import Need, holds, name_of, requests
from inventory.stacks.engine.stack import Stack
from inventory.stacks.nvidia.declared import COMPONENTS, KEPT, NODE_LABELS
from inventory.stacks.nvidia.device_status import Device, devices
from inventory.stacks.nvidia.layout import RESOURCES, Group, groups
from kube.objects import Node, Pod

NAME = "nvidia"


class _Held(NamedTuple):
    pod: Pod
    need: Need
    devices: list[Device]


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards, holders and findings of the plugin's resources. None when the node has none, or they are another system's slots."""
    names = tuple(name for name in RESOURCES if name not in context.taken)
    held = [entry for pod in pods if holds(pod) for entry in _held(pod, names)]
    if not held and not any(states(node, name) for name in names):
        return None
    given = overrides(node)
    about, found = describe(node, given), [group for group in groups(node, given) if group.resource in names]
    cards = _cards(found, about, held, context.known_uuids)
    allocations, findings = _place(
        held, {group.resource: group for group in found}, about, {card.key for card in cards}
    )
    for group in found:
        findings += [*group.findings, *shortfall(group.resource, group.offer, _withheld(group))]
    return StackReport(
        stack=NAME,
        cards=tuple(cards),
        cards_known=_cards_known(found, held),
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=_memory_total(found, about),
    )


def _held(pod: Pod, names: tuple[str, ...]) -> list[_Held]:
    """The pod's needs with the devices that its status names for each."""
    needs = requests(pod, names.__contains__)
    if not needs:
        return []
    named = devices(pod, names)
    taken = {
        entry.key for need in needs if not need.init for entry in named.get((need.container, False, need.resource), ())
    }
    held = []
    for need in needs:
        mine = named.get((need.container, need.init, need.resource), [])
        if need.init and len(mine) != need.quantity:
            # An init container's devices are reused by the app containers; its excess is what they did not take.
            mine = [entry for entry in mine if entry.key not in taken]
        held.append(_Held(pod, need, mine))
    return held


def _cards_known(found: list[Group], held: list[_Held]) -> bool:
    """Whether every resource that is stated has a known number of cards, and none is held that is not stated."""
    stated = {group.resource for group in found if group.stated}
    counted = all(group.cards is not None or not group.stated for group in found)
    return counted and all(entry.need.resource in stated for entry in held)


def _withheld(group: Group) -> str:
    if group.mode == WHOLE:
        return "The plugin has marked devices unhealthy, or the node has lost them."
    return f"The plugin has marked devices unhealthy; each card has {group.replicas or 'several'} of them."


def _cards(found: list[Group], about: Described, held: list[_Held], known: tuple[str, ...]) -> list[Card]:
    """All cards of the node: those that a status has named, those seen before, and for the rest their ordinals."""
    cards: list[Card] = []
    single = sum(1 for group in found if group.cards) == 1
    for group in found:
        if group.cards:
            named = _named(group, held, known if single else ())
            cards += _group_cards(group, about, named, offset=len(cards))
    return cards


def _named(group: Group, held: list[_Held], known: tuple[str, ...]) -> dict[str, Device]:
    """Card key → device: what statuses name first, then UUIDs seen before, never more than the capacity has."""
    named: dict[str, Device] = {}
    for entry in held:
        if entry.need.resource == group.resource:
            for item in entry.devices:
                if item.number is None or item.number < (group.cards or 0):
                    named[item.key] = _worse(named.get(item.key), item)
    for uuid in known:
        named.setdefault(uuid, Device(uuid, None, HEALTH_UNKNOWN))
    return dict(list(named.items())[: group.cards])


def _worse(before: Device | None, now: Device) -> Device:
    return before if before is not None and before.health == UNHEALTHY else now


def _group_cards(group: Group, about: Described, named: dict[str, Device], offset: int) -> list[Card]:
    total = group.cards or 0
    with_uuid = sum(1 for item in named.values() if item.uuid is not None)
    # Ordinals are given from the end, so that learning one more UUID renames one card only.
    ordinals = [index for index in range(offset, offset + total) if str(index) not in named][with_uuid:]
    keys = [(key, item.uuid, item.number, item.health) for key, item in named.items()]
    keys += [(str(index), None, index, HEALTH_UNKNOWN) for index in ordinals]
    return [_card(group, about, key, uuid, index, health) for key, uuid, index, health in keys]


def _card(group: Group, about: Described, key: str, uuid: str | None, index: int | None, health: str) -> Card:
    all_given_out = bool(group.offer.capacity) and group.offer.capacity == group.offer.allocatable
    return Card(
        key=key,
        stack=NAME,
        mode=group.mode,
        index=index,
        uuid=uuid,
        model=about.model,
        model_source=about.model_source,
        health=HEALTHY if health == HEALTH_UNKNOWN and all_given_out else health,
        memory_total_bytes=None if group.mode == SHARES else about.memory_bytes,
        memory_physical_bytes=about.memory_bytes,
        memory_source=about.memory_source,
        shares=1 if group.mode == WHOLE else group.replicas,
    )


def _place(
    held: list[_Held], by_resource: dict[str, Group], about: Described, keys: set[str]
) -> tuple[list[Allocation], list[Finding]]:
    allocations: list[Allocation] = []
    findings: list[Finding] = []
    for entry in held:
        group = by_resource.get(entry.need.resource)
        where, wrong = _where(entry, keys)
        allocations += [_allocation(entry, group, about, card, quantity) for card, quantity in where.items()]
        findings += wrong
    return allocations, findings


def _where(entry: _Held, keys: set[str]) -> tuple[dict[str | None, int], list[Finding]]:
    """Card key (None: not known) → quantity, which add up to the need."""
    need, named = entry.need, entry.devices
    if not named:
        return {None: need.quantity}, []
    if len(named) != need.quantity:
        text = (
            f"The status of {name_of(entry.pod)} names {len(named)} devices of {need.resource} for the container "
            f"{need.container}, which asks for {need.quantity}. Its cards are shown as not known."
        )
        return {None: need.quantity}, [_finding("request-annotation-mismatch", WARNING, text, entry.pod)]
    where: dict[str | None, int] = {}
    strange: list[str] = []
    for item in named:
        key = item.key if item.key in keys else None
        where[key] = where.get(key, 0) + 1
        strange += [item.key] if key is None else []
    return where, [_unknown_card(entry, strange)] if strange else []


def _unknown_card(entry: _Held, strange: Iterable[str]) -> Finding:
    text = (
        f"The status of {name_of(entry.pod)} names {', '.join(strange)}, but the node's capacity has no room for one more "
        "card. Compare the capacity of the node with nvidia-smi -L."
    )
    return _finding("index-out-of-range", ERROR, text, entry.pod)


def _finding(code: str, severity: str, text: str, pod: Pod) -> Finding:
    return Finding(code=code, severity=severity, text=text, pod=name_of(pod))


def _allocation(entry: _Held, group: Group | None, about: Described, card: str | None, quantity: int) -> Allocation:
    return Allocation(
        pod_uid=entry.pod.metadata.uid,
        namespace=entry.pod.metadata.namespace,
        pod=entry.pod.metadata.name,
        container=entry.need.container,
        resource=entry.need.resource,
        quantity=quantity,
        evidence=COUNT_ONLY if card is None else DEVICE_STATUS,
        stack=NAME,
        card=card,
        mode=group.mode if group else SHARES,
        memory_bytes=_memory(group, about, quantity),
    )


def _memory(group: Group | None, about: Described, slots: int | None) -> int | None:
    """What a number of slots is in bytes: whole cards, or equal parts of one; shares are not metered."""
    if group is None or about.memory_bytes is None or slots is None:
        return None
    if group.mode == WHOLE:
        return about.memory_bytes * slots
    return about.memory_bytes * slots // group.replicas if group.mode == PARTS and group.replicas else None


def _memory_total(found: list[Group], about: Described) -> int | None:
    total = 0
    for group in found:
        if group.offer.slots != 0 and (group.offer.slots is not None or len(found) == 1):
            part = _memory(group, about, group.offer.allocatable)
            if part is None:
                return None
            total += part
    return total


STACK = Stack(
    name=NAME,
    label="NVIDIA device plugin",
    resources=RESOURCES,
    read=read,
    resource_prefixes=("nvidia.com/",),
    # A card in MIG mode is given out by its profiles, and in no total of this stack.
    uncounted_resources=("nvidia.com/mig-",),
    node_labels=NODE_LABELS,
    components=COMPONENTS,
    kept=KEPT,
)
