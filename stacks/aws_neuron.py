"""AWS' Neuron device plugin: Inferentia and Trainium chips, `aws.amazon.com/neuron`, and their cores, `aws.amazon.com/neuroncore`.

Both resources are of the same chips; `aws.amazon.com/neurondevice` is an older name of the chips. Where a scheduler has chosen chips
or cores (AWS' own extension for more than one of them, or another) it writes their numbers on the pod, where the plugin reads
them: of what the pod asks for. A pod that asks for cores shares the chip; memory is not metered then.
Sources: aws-neuron/aws-neuron-sdk 81ce03ae (src/k8, deploy/infrastructure); Project-HAMi/HAMi/pkg/device/awsneuron (v2.7.0 to
v2.10.0).
"""

from __future__ import annotations

from collections import Counter

import msgspec

from kube.objects import Node, Pod
from stacks.engine.base import ANNOTATION, SHARES, Allocation, Card, Context, Finding, StackReport
from stacks.engine.describe import describe
from stacks.engine.groups import Group, given_out, numbered, whole
from stacks.engine.names import annotations_of
from stacks.engine.offers import offer, shortfall, states
from stacks.engine.overrides import overrides
from stacks.engine.requests import Need, allocation, holds, name_of, requests
from stacks.engine.stack import Components, Kept, NodeLabels, Stack
from stacks.shared import chosen
from stacks.shared.holding import warning
from stacks.shared.named import free
from stacks.shared.ways import whole_cards
from wording.said import gettext_noop, sentence

NAME = "aws-neuron"
_DOMAIN = "aws.amazon.com/"
#: Names of the chips, the present one first.
CHIPS = (f"{_DOMAIN}neuron", f"{_DOMAIN}neurondevice")
CORES = f"{_DOMAIN}neuroncore"
RESOURCES = (*CHIPS, CORES)
#: What the plugin reads, and what AWS' documentation calls it.
_CHOSEN = ("AWS_NEURON_IDS", "NEURON_CORES")
#: Of a pod that asks for both: of which the numbers are.
_CHOSEN_OF = "NEURON_RESOURCE_TYPE"
_PLUGIN = "neuron-device-plugin"


def owns(resource: str, context: Context) -> bool:
    """Chips and cores, unless an administrator has named them."""
    return resource in RESOURCES and free(context, *RESOURCES)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Chips by count, holders by the numbers on their pods. None when the node has none and no pod holds one."""
    asking = [(pod, needs) for pod in pods if holds(pod) and (needs := requests(pod, lambda name: owns(name, context)))]
    stated = [name for name in RESOURCES if owns(name, context) and states(node, name)]
    if not asking and not stated:
        return None
    given, findings = overrides(node), list[Finding]()
    resource = next((name for name in stated if name in CHIPS), CHIPS[0])
    chips = whole(node, NAME, resource, describe(node, given, NodeLabels()), given, alone=True)
    each = _cores(node, chips)
    cards = tuple(msgspec.structs.replace(card, resource="", shares=each) for card in numbered([chips]))
    allocations = [item for pod, needs in asking for item in _holding(pod, needs, chips, cards, each, findings)]
    findings += shortfall(resource, chips.offer, sentence("The plugin does not offer all chips."))
    return StackReport(
        stack=NAME,
        vendor=NAME,
        cards=cards,
        cards_known=chips.number is not None,
        allocations=tuple(allocations),
        findings=tuple(findings),
        memory_total_bytes=given_out([chips]),
    )


def _cores(node: Node, chips: Group) -> int | None:
    """Cores of a chip, which as many may hold; None when not known."""
    cores = offer(node, CORES).slots
    return cores // chips.number if cores and chips.number and cores % chips.number == 0 else None


def _holding(
    pod: Pod, needs: list[Need], chips: Group, cards: tuple[Card, ...], each: int | None, findings: list[Finding]
) -> list[Allocation]:
    of_cores = [need for need in needs if need.resource == CORES]
    of_chips = [need for need in needs if need.resource != CORES]
    numbers = chosen.numbers(pod, _CHOSEN, findings)
    mine = of_cores if _numbers_cores(pod, of_cores, of_chips) else of_chips
    held = chosen.whole(pod, of_chips, chips, numbers if mine is of_chips else None, findings, NAME) if of_chips else []
    places = _chips_of(pod, of_cores, numbers if mine is of_cores else None, cards, each, findings)
    for need in of_cores:
        of_need, places = places[: need.quantity], places[need.quantity :]
        held += _parts(pod, need, of_need, each)
    return held


def _numbers_cores(pod: Pod, of_cores: list[Need], of_chips: list[Need]) -> bool:
    """Whether the numbers on the pod are those of cores."""
    if of_cores and of_chips:
        return annotations_of(pod).get(_CHOSEN_OF) == CORES
    return bool(of_cores)


def _chips_of(
    pod: Pod,
    needs: list[Need],
    numbers: list[int] | None,
    cards: tuple[Card, ...],
    each: int | None,
    findings: list[Finding],
) -> list[str | None]:
    """The chip of each core that the pod holds; none where it is not known."""
    wanted = sum(need.quantity for need in needs)
    if numbers is None or not needs:
        return []
    if len(numbers) != wanted:
        said = sentence(
            "{pod} requests {wanted} of {cores}, but its record has {number}.",
            pod=name_of(pod),
            wanted=wanted,
            cores=CORES,
            number=len(numbers),
        )
        findings.append(warning("request-annotation-mismatch", pod, said))
        return []
    if each is None:
        return []
    chips = [number // each for number in numbers]
    keys = {card.key for card in cards}
    known = chosen.inside(pod, list(dict.fromkeys(chips)), keys, bool(cards), findings)
    by_chip = dict(zip(dict.fromkeys(chips), known, strict=True))
    return [by_chip[chip] for chip in chips]


def _parts(pod: Pod, need: Need, places: list[str | None], each: int | None) -> list[Allocation]:
    """One hold for each chip; cores whose chip is not known are one."""
    by_chip = Counter(places) if places else {None: need.quantity}
    return [
        allocation(
            pod,
            need,
            NAME,
            SHARES,
            quantity=cores,
            card=chip,
            evidence=ANNOTATION,
            core_percent=cores * 100 // each if each is not None and chip is not None else None,
        )
        for chip, cores in by_chip.items()
    ]


STACK = Stack(
    name=NAME,
    label="AWS Neuron device plugin",
    resources=RESOURCES,
    owns=owns,
    read=read,
    resource_prefixes=(f"{_DOMAIN}neuron",),
    components=Components(by_label={"name": {"neuron-device-plugin-ds": _PLUGIN}}, device_plugins=(_PLUGIN,)),
    kept=Kept(pod_annotations=(*_CHOSEN, _CHOSEN_OF)),
    ways=(whole_cards(gettext_noop("AWS Neuron device plugin, chips"), NAME, CHIPS, npus=CHIPS),),
)
