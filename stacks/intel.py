"""Intel's GPU device plugin: `gpu.intel.com/i915` and `gpu.intel.com/xe`, one resource for each kernel driver.

A node offers each card as many times as `-shared-dev-num` says (1 where it is not given). That number is in the command line of
the plugin only; else labels that count PCI devices give it. Who shares a card is not metered. A device is called `card0-3`: the
fourth share of the card that the kernel calls card0. Source: intel/intel-device-plugins-for-kubernetes 94a91bc9, cmd/gpu_plugin.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from kube.objects import Container, Node, Pod
from kube.quantity import count
from stacks.engine.base import DEVICE_STATUS, SHARES, WARNING, WHOLE, Allocation, Card, Context, Finding, StackReport
from stacks.engine.components import by_command, command_line
from stacks.engine.describe import Described, describe
from stacks.engine.devices import Device, Held, held, where, worse
from stacks.engine.groups import Group, all_known, given_out
from stacks.engine.labels import first, model_name
from stacks.engine.names import MAX_CARDS, labels_of
from stacks.engine.offers import offer, shortfall, states
from stacks.engine.overrides import overrides
from stacks.engine.requests import allocation, holds
from stacks.engine.software.base import (
    LEFT_OUT,
    NOT_READY,
    READY,
    WANTED,
    Component,
    Expected,
    Software,
    SoftwareOf,
    Statement,
)
from stacks.engine.stack import Components, NodeLabels, Stack
from stacks.engine.versions import image_version
from stacks.shared.ways import shares_of_cards, whole_cards
from wording.said import gettext_noop, sentence

NAME = "intel"
_DOMAIN = "gpu.intel.com/"
#: One for each driver; dxg is that of Windows' subsystem for Linux.
CARDS = (f"{_DOMAIN}dxg", f"{_DOMAIN}i915", f"{_DOMAIN}xe")
#: One device that means all cards, for those who measure: nobody holds a card by it.
MONITORING = (f"{_DOMAIN}monitoring", f"{_DOMAIN}i915_monitoring", f"{_DOMAIN}xe_monitoring")
#: Of an older plugin beside its own scheduler: properties of the shares that are asked for with them.
_PROPERTIES = (f"{_DOMAIN}millicores", f"{_DOMAIN}memory.max", f"{_DOMAIN}tiles")
PRESENT = "intel.feature.node.kubernetes.io/gpu"
_BY_ID = re.compile(r"gpu\.intel\.com/device-id\.[0-9a-f]{4}-[0-9a-f]{4}\.count")
_COUNT = f"{_DOMAIN}device.count"
_DEVICE = re.compile(r"card([0-9]{1,3})-[0-9]{1,6}")
_FLAG = re.compile(r"(?:^|\s)--?shared-dev-num(?:=|\s+)(\S+)")
PLUGIN = "intel-gpu-plugin"


def owns(resource: str, context: Context) -> bool:
    """Cards, what watches them, and properties of a share."""
    return resource in CARDS or resource in MONITORING or resource in _PROPERTIES


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards of each driver and who holds them. None when the node has none and no pod holds one."""
    held_ = [entry for pod in pods if holds(pod) for entry in held(pod, lambda name: name in CARDS, _device)]
    stated = [resource for resource in CARDS if states(node, resource)]
    if not held_ and not stated and not any(states(node, name) for name in MONITORING):
        return None
    given = overrides(node)
    findings: list[Finding] = []
    about = describe(node, given, NODE_LABELS)
    groups = _groups(node, stated, given.cards, by_command(PLUGIN, pods, context, _shares), about, findings)
    cards = _cards(groups, held_)
    allocations: list[Allocation] = []
    keys = {card.key for card in cards}
    for entry in held_:
        places, wrong = where(entry, keys)
        group = next((one for one in groups if one.resource == entry.need.resource), None)
        allocations += [_allocation(entry, group, key, quantity) for key, quantity in places.items()]
        # Without a known number of cards a name that is none of them says nothing.
        findings += wrong if group is not None and group.number is not None else []
    for group in groups:
        findings += shortfall(group.resource, group.offer, _withheld(group))
    return StackReport(
        stack=NAME,
        vendor=NAME,
        cards=cards,
        cards_known=all_known(groups, (entry.need.resource for entry in held_)),
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=given_out(groups),
    )


def _withheld(group: Group) -> str:
    if group.shares == 1:
        return sentence("The plugin marked devices as unhealthy, or the node lost them.")
    return sentence(
        "The plugin marked devices as unhealthy. Each card has {shares} of them.",
        shares=group.shares or sentence("several"),
    )


def _groups(
    node: Node, stated: list[str], by_hand: int | None, shares: int | None, about: Described, findings: list[Finding]
) -> list[Group]:
    offers = {resource: offer(node, resource) for resource in stated}
    slots = [found.slots for found in offers.values()]
    labelled = by_hand if by_hand is not None else _labelled(node)
    by_label = _divided(slots, labelled)
    if shares is None or by_hand is not None:
        shares = by_label if by_label is not None else shares
    elif labelled is not None and by_label is not None and by_label != shares:
        findings.append(_disagree(labelled, slots, shares))
    if shares is None and by_hand is None and all(number in (None, 0, 1) for number in slots):
        shares = 1  # of one device there is one card, however often it may be shared
    return [
        Group(
            stack=NAME,
            resource=name,
            offer=found,
            number=_number(found.slots, shares),
            mode=WHOLE if shares == 1 else SHARES,
            each=shares,
            shares=shares,
            about=about,
        )
        for name, found in offers.items()
    ]


def _divided(slots: list[int | None], cards: int | None) -> int | None:
    """How often each card is offered, where so many cards give these slots; None when they cannot."""
    numbers = [number for number in slots if number is not None]
    if not cards or len(numbers) < len(slots) or not sum(numbers) or sum(numbers) % cards:
        return None
    shares = sum(numbers) // cards
    return shares if all(number % shares == 0 for number in numbers) else None


def _number(slots: int | None, shares: int | None) -> int | None:
    """How many cards; shares that do not divide are those of a plugin that has changed its mind: not known."""
    if slots == 0:
        return 0
    if slots is None or not shares or slots % shares or slots // shares > MAX_CARDS:
        return None
    return slots // shares


def _disagree(labelled: int, slots: list[int | None], shares: int) -> Finding:
    offered = sum(number for number in slots if number is not None)
    text = sentence(
        "The labels {domain}device… count {labelled} cards, but the node offers {offered} devices with {shares} per "
        "card. gpudash uses the devices of the plugin. Check which cards have a driver, or set the annotation "
        "gpudash.io/card-count.",
        domain=_DOMAIN,
        labelled=labelled,
        offered=offered,
        shares=shares,
    )
    return Finding(code="labels-disagree", severity=WARNING, text=text)


def _labelled(node: Node) -> int | None:
    """Intel's cards by the labels of Node Feature Discovery; None when they do not say."""
    labels = labels_of(node)
    by_id = [count(value) for name, value in labels.items() if _BY_ID.fullmatch(name)]
    numbers = [number for number in by_id if number is not None]
    if by_id:
        return sum(numbers) or None if len(numbers) == len(by_id) and sum(numbers) <= MAX_CARDS else None
    number = count(labels.get(_COUNT))
    return number if number and number <= MAX_CARDS else None


def _shares(containers: Iterable[Container]) -> int | None:
    """What the command line states; 1 where it states nothing, as the plugin does; None for what it would refuse."""
    found = _FLAG.findall(command_line(containers))
    if not found:
        return 1
    number = count(found[-1]) if found[-1].isascii() and found[-1].isdigit() else None
    return number or None


def _device(name: str) -> Device | None:
    match = _DEVICE.fullmatch(name)
    return Device(str(int(match[1])), number=int(match[1])) if match else None


def _cards(groups: list[Group], held_: list[Held]) -> tuple[Card, ...]:
    """The cards that statuses name, by the kernel's numbers, and for the rest numbers that are free."""
    named: dict[str, dict[str, Device]] = {group.resource: {} for group in groups}
    for entry in held_:
        mine = named.get(entry.need.resource)
        for item in entry.devices if mine is not None else ():
            if mine is not None:
                mine[item.key] = worse(mine.get(item.key), item)
    kept = {group.resource: list(named[group.resource].values())[: group.number or 0] for group in groups}
    taken = {item.number for items in kept.values() for item in items}
    free = (number for number in range(MAX_CARDS * 4) if number not in taken)
    cards: list[Card] = []
    for group in groups:
        mine_ = kept[group.resource]
        rest = [Device(str(number), number=number) for number in _first(free, (group.number or 0) - len(mine_))]
        cards += [group.card(item, item.number) for item in (*mine_, *rest)]
    # By name: a number of two drivers' statuses would be one key twice.
    return tuple({card.key: card for card in cards}.values())


def _first(numbers: Iterator[int], many: int) -> list[int]:
    return [next(numbers) for _ in range(many)]


def _allocation(entry: Held, group: Group | None, card: str | None, quantity: int) -> Allocation:
    mode = group.mode if group is not None else SHARES
    return allocation(
        entry.pod,
        entry.need,
        NAME,
        mode,
        quantity=quantity,
        card=card,
        evidence=DEVICE_STATUS,
        memory_bytes=group.about.memory_of(quantity) if group is not None and mode == WHOLE else None,
    )


NODE_LABELS = NodeLabels(
    prefixes=(_DOMAIN, PRESENT),
    present=(PRESENT,),
    vendor_words=("intel",),
    model=first((f"{_DOMAIN}product",), model_name),
)


def concerns(node: Node, software: Software) -> bool:
    """Where Intel's plugin is installed, or the node has such a card."""
    return bool(software.daemonsets.get(PLUGIN)) or bool(software.gpudeviceplugins) or _evidence(node)


def _evidence(node: Node) -> bool:
    stated = (node.status.capacity if node.status else None) or {}
    return labels_of(node).get(PRESENT) == "true" or any(name.startswith(_DOMAIN) for name in stated)


def expected(node: Node, software: Software) -> Expected:
    """On nodes with a card. Where the plugin's DaemonSet selects all nodes it runs on others too, which proves nothing."""
    return WANTED if _evidence(node) else LEFT_OUT


def in_cluster(software: Software) -> dict[str, Statement]:
    """The operator's GpuDevicePlugins, by how many of their pods are ready."""
    found: dict[str, Statement] = {}
    for one in software.gpudeviceplugins:
        ready = (one.status.numberReady if one.status else None) or 0
        wanted = (one.status.desiredNumberScheduled if one.status else None) or 0
        short = ready < wanted
        found[f"gpudeviceplugin/{one.metadata.name}"] = Statement(
            state=NOT_READY if short else READY,
            version=image_version(one.spec.image if one.spec else None),
            why=sentence("{ready} of {wanted} pods are ready.", ready=ready, wanted=wanted) if short else "",
            source=f"GpuDevicePlugin {one.metadata.name}",
        )
    return found


SOFTWARE = SoftwareOf(
    node=(Component(name=PLUGIN, expected=expected, main=(PLUGIN,), offers=lambda name: name.startswith(_DOMAIN)),),
    concerns=concerns,
    cluster=in_cluster,
)

STACK = Stack(
    name=NAME,
    label="Intel GPU device plugin",
    resources=CARDS,
    owns=owns,
    read=read,
    resource_prefixes=(_DOMAIN,),
    node_labels=NODE_LABELS,
    components=Components(
        by_label={"app": {PLUGIN: PLUGIN}}, device_plugins=(PLUGIN,), daemonsets=(PLUGIN,), commands=(PLUGIN,)
    ),
    software=SOFTWARE,
    daemonsets_for=gettext_noop("the number of shares per card of the Intel plugin"),
    ways=(
        whole_cards(gettext_noop("Intel GPU device plugin, whole cards"), NAME, CARDS),
        shares_of_cards(gettext_noop("Intel GPU device plugin, shares of a card"), f"{NAME}-shared", CARDS),
    ),
)
