"""Huawei's Ascend NPUs by MindCluster: the Ascend device plugin, beside a batch scheduler.

Whole chips are `huawei.com/Ascend910` (or 310, 310P; `npu` of the generation 950). Static parts of a chip carry their AI cores in
the name (`huawei.com/Ascend910-2c`); dynamic ones are given out as AI cores, `huawei.com/npu-core`. The plugin writes the chips that
a pod really has on the pod (`records`), and what it knows of the chips into a ConfigMap for each node (`device_info`).
Source: Ascend/mind-cluster 22bb3d98, component/ascend-device-plugin.
"""

from __future__ import annotations

import re

import msgspec

from kube.objects import Node, Pod
from stacks.ascend.device_info import CONFIG_MAPS, FINDINGS, NAME, PLUGIN, Chips, chips_of
from stacks.ascend.device_info import findings as of_chips
from stacks.ascend.records import KUBELET, REAL, names
from stacks.engine.base import (
    ANNOTATION,
    ERROR,
    HEALTHY,
    INFO,
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
from stacks.engine.describe import Described, describe
from stacks.engine.devices import Device
from stacks.engine.groups import Group, all_known, believed, given_out
from stacks.engine.labels import GIB, first, text
from stacks.engine.names import annotations_of, labels_of
from stacks.engine.offers import Offer, offer, shortfall
from stacks.engine.overrides import overrides
from stacks.engine.requests import Need, allocation, holds, name_of, requests
from stacks.engine.stack import Components, Kept, NodeLabels, Stack
from stacks.shared.ways import whole_cards
from wording.said import gettext_noop, sentence

_DOMAIN = "huawei.com/"
WHOLE_CHIPS = tuple(f"{_DOMAIN}{word}" for word in ("Ascend910", "Ascend310", "Ascend310P", "npu"))
CORES = f"{_DOMAIN}npu-core"
#: AI cores, then CPUs and memory where the template states them: Ascend910-2c, Ascend910-5c.1cpu.8g, Ascend310P-4c.3cpu.ndvpp.
_PART = re.compile(r"huawei\.com/Ascend(?:910|310P)-(([1-9][0-9]?)c(?:\.[1-9]cpu)?(?:\.([0-9]{1,3})g)?(?:\.n?dvpp)?)")
_SERVER = re.compile(r"Ascend[0-9A-Z]{2,8}-([1-9][0-9]?)")
SERVER, CHIP_MEMORY, CHIP = "servertype", "mind-cluster/npu-chip-memory", "node.kubernetes.io/npu.chip.name"
_GIGABYTES = re.compile(r"([1-9][0-9]{0,3})G")


class _Held(msgspec.Struct):
    """What a container needs of a resource, and what its pod's record gives it; None where it has no readable record."""

    pod: Pod
    need: Need
    named: list[Device] | None


def owns(resource: str, context: Context) -> bool:
    """Whole chips, parts of them, and AI cores."""
    return resource in WHOLE_CHIPS or resource == CORES or _PART.fullmatch(resource) is not None


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Chips and parts, and who holds them. None when the node has none and no pod holds one, or they are another system's."""

    def mine(resource: str) -> bool:
        return owns(resource, context) and resource not in context.taken

    status = node.status
    stated = sorted(filter(mine, {**(status.capacity or {}), **(status.allocatable or {})})) if status else []
    findings: list[Finding] = []
    held = [item for pod in pods if holds(pod) for item in _held(pod, requests(pod, mine), findings)]
    if not stated and not held:
        return None
    about = describe(node, overrides(node), NODE_LABELS)
    groups = [_group(node, name, about) for name in stated]
    chips = chips_of(context, node.metadata.name)
    only = sum(1 for group in groups if not group.profile and group.number) == 1
    cards = [card for group in groups for card in _cards(group, held, chips, only)]
    kept = {card.key: card for card in cards}
    by_resource = {group.resource: group for group in groups}
    allocations = [one for item in held for one in _placed(item, by_resource.get(item.need.resource), kept, findings)]
    findings += _without_cores(groups)
    for group in groups:
        findings += shortfall(
            group.resource, group.offer, sentence("The plugin marked chips as unhealthy, or lost them.")
        )
    findings += of_chips(context, node.metadata.name, kept)
    parts = [group for group in groups if group.profile and group.number]
    return StackReport(
        stack=NAME,
        vendor=NAME,
        cards=tuple(kept.values()),
        cards_known=all_known(groups, (item.need.resource for item in held)),
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=given_out(groups),
        physical_cards=None if parts else len(kept),
    )


def _group(node: Node, resource: str, about: Described) -> Group:
    found, part = offer(node, resource), _PART.fullmatch(resource)
    if resource == CORES:
        return _by_cores(node, found, about)
    if part is not None:
        memory = int(part[3]) * GIB or None if part[3] else None
        source = f"resource {resource}" if memory else ""
        about = msgspec.structs.replace(about, memory_bytes=memory, memory_source=source)
    return Group(
        stack=NAME,
        resource=resource,
        offer=found,
        number=believed(found.slots),
        about=about,
        profile=part[1] if part is not None else "",
    )


def _by_cores(node: Node, found: Offer, about: Described) -> Group:
    """Chips that are given out as AI cores: how many each has is on a label only."""
    match = _SERVER.fullmatch(labels_of(node).get(SERVER, ""))
    cores, slots = int(match[1]) if match else None, found.slots
    number = slots // cores if slots is not None and cores is not None and slots % cores == 0 else None
    return Group(
        stack=NAME,
        resource=CORES,
        offer=found,
        number=0 if slots == 0 else believed(number),
        mode=SHARES,
        each=cores,
        shares=None,
        about=about,
    )


def _held(pod: Pod, needs: list[Need], findings: list[Finding]) -> list[_Held]:
    """The pod's needs, with the chips of its record in the order of its containers: the record is one for all of them."""
    found: list[_Held] = []
    for resource in dict.fromkeys(need.resource for need in needs):
        mine = [need for need in needs if need.resource == resource]
        named = _recorded(pod, resource, findings)
        wanted = sum(need.quantity for need in mine)
        if named is not None and resource != CORES and len(named) != wanted:
            said = sentence(
                "{pod} requests {wanted} of {resource}, but its record has {number}. Its chips are shown as unidentified.",
                pod=name_of(pod),
                wanted=wanted,
                resource=resource,
                number=len(named),
            )
            findings.append(_finding("request-annotation-mismatch", WARNING, said, pod))
            named = None
        for need in mine:
            if named is None or (resource == CORES and len(mine) > 1):
                found.append(_Held(pod, need, None))
            elif resource == CORES:
                found.append(_Held(pod, need, named))
            else:
                found.append(_Held(pod, need, named[: need.quantity]))
                named = named[need.quantity :]
    return found


def _recorded(pod: Pod, resource: str, findings: list[Finding]) -> list[Device] | None:
    """What the pod's annotations say, the best first; None when none says it."""
    annotations = annotations_of(pod)
    for key in (REAL, resource, KUBELET):
        value = annotations.get(key, "")
        # Another scheduler writes JSON under the name of the resource.
        if not value or value.lstrip().startswith("["):
            continue
        named = names(value)
        if named is None:
            said = sentence("The annotation {key} of {pod} is invalid.", key=key, pod=name_of(pod))
            findings.append(_finding("annotation-unreadable", WARNING, said, pod))
            continue
        return named
    return None


def _cards(group: Group, held: list[_Held], chips: Chips | None, only: bool) -> list[Card]:
    """Those that records name first, by their ids, then those that the plugin names, and for the rest ids that are free.

    only: no other resource gives out whole chips, so what the plugin names are these.
    """
    total = group.number or 0
    mine = [item for entry in held if entry.need.resource == group.resource for item in entry.named or ()]
    if chips is not None and only and not group.profile:
        mine += [Device(number) for number in chips.named]
    named = list({item.key: _with_health(item, chips) for item in mine}.values())[:total]
    taken = {item.key for item in named}
    ordinals = (f"{group.profile}-{number}" if group.profile else str(number) for number in range(total + len(named)))
    rest = [Device(key) for key in ordinals if key not in taken][: total - len(named)]
    return [group.card(item, int(item.key) if item.key.isdigit() else None) for item in (*named, *rest)]


def _with_health(item: Device, chips: Chips | None) -> Device:
    """What the plugin says of the chip: those that something is wrong with are all named."""
    if chips is None:
        return item
    wrong = (item.parent or item.key) in (*chips.unhealthy, *chips.apart)
    return item._replace(health=UNHEALTHY if wrong else HEALTHY, record="ConfigMap of the device plugin")


def _placed(item: _Held, group: Group | None, cards: dict[str, Card], findings: list[Finding]) -> list[Allocation]:
    known = group is not None and group.number is not None
    names = item.named if known else None
    if not names:
        return [_allocation(item, group, None, item.need.quantity)]
    strange = [one.key for one in names if one.key not in cards]
    if strange:
        said = sentence(
            "{pod} is recorded on {names}, but the node has no capacity for one more chip.",
            pod=name_of(item.pod),
            names=", ".join(strange[:5]),
        )
        findings.append(_finding("index-out-of-range", ERROR, said, item.pod))
    if item.need.resource == CORES:
        each, rest = divmod(item.need.quantity, len(names))
        if strange or rest:
            return [_allocation(item, group, None, item.need.quantity)]
        return [_allocation(item, group, one.key, each) for one in names]
    return [_allocation(item, group, one.key if one.key in cards else None, 1) for one in names]


def _allocation(item: _Held, group: Group | None, card: str | None, quantity: int) -> Allocation:
    cores = item.need.resource == CORES
    of_chip = group.each if group is not None and cores else None
    return allocation(
        item.pod,
        item.need,
        NAME,
        SHARES if cores else WHOLE,
        quantity=quantity,
        card=card,
        evidence=ANNOTATION,
        memory_bytes=group.about.memory_of(quantity) if group is not None and not cores else None,
        core_percent=quantity * 100 // of_chip if of_chip and card is not None else None,
    )


def _without_cores(groups: list[Group]) -> list[Finding]:
    """AI cores are no chips: how many a chip has is on a label only."""
    unknown = [group for group in groups if group.resource == CORES and group.number is None]
    return [
        Finding(
            code="resource-not-understood",
            severity=INFO,
            text=sentence(
                "{cores} counts AI cores, but no label {server} (such as Ascend910-20) gives a matching number of "
                "cores per chip. The number of chips is unknown.",
                cores=CORES,
                server=SERVER,
            ),
        )
        for group in unknown
    ]


def _finding(code: str, severity: str, said: str, pod: Pod) -> Finding:
    return Finding(code=code, severity=severity, text=said, pod=name_of(pod))


def _gigabytes(value: str) -> int | None:
    match = _GIGABYTES.fullmatch(value)
    return int(match[1]) * GIB if match else None


NODE_LABELS = NodeLabels(
    names=("accelerator", "accelerator-type", SERVER, CHIP_MEMORY, CHIP),
    vendor_words=("huawei-ascend910", "huawei-ascend310", "huawei-ascend310p", "huawei-npu"),
    model=first((CHIP,), text),
    memory=first((CHIP_MEMORY,), _gigabytes),
)

STACK = Stack(
    name=NAME,
    label="Ascend NPU (MindCluster)",
    resources=(*WHOLE_CHIPS, CORES, f"{_DOMAIN}Ascend910-2c", f"{_DOMAIN}Ascend310P-4c"),
    owns=owns,
    read=read,
    resource_prefixes=("huawei.com/ascend", "huawei.com/npu"),
    node_labels=NODE_LABELS,
    components=Components(
        by_label={"name": {"ascend-device-plugin-ds": PLUGIN}}, device_plugins=(PLUGIN,), daemonsets=(PLUGIN,)
    ),
    findings=FINDINGS,
    config_maps=CONFIG_MAPS,
    kept=Kept(pod_annotations=(_DOMAIN,)),
    ways=(whole_cards(gettext_noop("Ascend device plugin, whole chips"), NAME, WHOLE_CHIPS, npus=WHOLE_CHIPS),),
)
