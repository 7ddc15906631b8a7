"""Accelerators that are counted by their resource's name alone: what an administrator names, and the cards of some vendors.

What the setting names is counted as it says, also where a system here reads the resource by itself but leaves it to the administrator
(`shared.named`). Which card a pod holds is not in the API, and no card has more memory than is stated.
Sources: Project-HAMi/biren-device-plugin 331ee2b and Project-HAMi/HAMi/docs (Vastai); Deep-Spark/ix-device-plugin 1b517f33.
"""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.engine import health_reports
from stacks.engine.base import HEALTH_UNKNOWN, HEALTHY, MEMORY, SHARES, WHOLE, Card, Context, StackReport
from stacks.engine.names import MAX_CARDS
from stacks.engine.offers import Offer, offer, shortfall
from stacks.engine.overrides import MEMORY as STATED
from stacks.engine.overrides import Overrides, overrides
from stacks.engine.registry import registry
from stacks.engine.requests import allocation, holds, requests
from stacks.engine.stack import Stack
from stacks.engine.sums import total
from stacks.shared.named import SETTING, BadEntry, Entry, entries, named
from stacks.shared.ways import shares_of_cards, whole_cards
from wording.said import gettext_noop, sentence

NAME = "resource-map"
GAUDI = "habana.ai/gaudi"
#: Devices of these plugins are whole cards, or where the plugin may be set to offer each card more often, shares. Of their memory
#: the node says nothing.
KNOWN = {
    entry.resource: entry
    for entry in (
        Entry(GAUDI, "habana", WHOLE),
        Entry("birentech.com/gpu", "biren", WHOLE),
        Entry("vastaitech.com/va", "vastai", WHOLE),
        Entry("iluvatar.com/gpu", "iluvatar", SHARES),
        Entry("iluvatar.ai/gpu", "iluvatar", SHARES),
    )
}


def problem(text: str) -> str:
    """What is wrong with the setting, and what to do; "" when nothing is."""
    try:
        wanted = entries(text)
    except BadEntry as error:
        return str(error)
    context = Context(now=0.0, settings=((SETTING, text),))
    for name in wanted:
        for stack in registry.stacks:
            if stack.name != NAME and stack.understands(name, context):
                return f"the entry for {name} is not wanted: {stack.label} is read already; leave it out"
    return ""


def _map(context: Context) -> dict[str, Entry]:
    return {**KNOWN, **named(context)}


def owns(resource: str, context: Context) -> bool:
    """What is known, and what the setting names."""
    return resource in _map(context)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards by count, their holders without a card. None when the node has none and no pod holds one."""
    known = {name: entry for name, entry in _map(context).items() if name not in context.taken}
    status = node.status
    offered = {**(status.capacity or {}), **(status.allocatable or {})} if status else {}
    stated = sorted(name for name in offered if name in known)
    held = [(pod, need) for pod in pods if holds(pod) for need in requests(pod, known.__contains__)]
    if not stated and not held:
        return None
    given, offers = overrides(node), {name: offer(node, name) for name in stated}
    numbers = {name: _number(known[name], offers[name], given, offered, len(stated) == 1) for name in stated}
    each = {name: _each(known[name], given) for name in {*stated, *(need.resource for _, need in held)}}
    cards: list[Card] = []
    for name in stated:
        first, number = len(cards), numbers[name] or 0
        cards += [
            _card(index, known[name], offers[name], number, each[name], given) for index in range(first, first + number)
        ]
    vendors = {known[name].vendor for name in each}
    return StackReport(
        stack=NAME,
        vendor=vendors.pop() if len(vendors) == 1 else NAME,
        cards=tuple(cards),
        cards_known=all(numbers[name] is not None for name in stated)
        and all(need.resource in offers for _, need in held),
        allocations=tuple(
            allocation(
                pod,
                need,
                NAME,
                known[need.resource].mode,
                memory_bytes=_held(known[need.resource], need.quantity, each),
            )
            for pod, need in held
        ),
        findings=tuple(
            found
            for name in stated
            for found in shortfall(name, offers[name], sentence("The device plugin does not offer all devices."))
        ),
        memory_total_bytes=total(_given(known[name], offers[name], numbers[name], each[name]) for name in stated)
        if stated
        else None,
    )


def _number(entry: Entry, found: Offer, given: Overrides, offered: dict[str, str | int], alone: bool) -> int | None:
    """How many cards; devices that are beside parts of themselves may be shares."""
    if found.slots == 0:
        return 0
    if given.cards is not None and alone:
        return given.cards
    divided = any(name.startswith(f"{entry.resource}.") for name in offered)
    if entry.mode != WHOLE or divided or found.slots is None or found.slots > MAX_CARDS:
        return None
    return found.slots


def _each(entry: Entry, given: Overrides) -> int | None:
    """Bytes of a card, or of a device that is memory."""
    return given.memory_bytes if given.memory_bytes is not None and entry.mode != MEMORY else entry.memory


def _card(index: int, entry: Entry, found: Offer, number: int, each: int | None, given: Overrides) -> Card:
    of_memory = entry.mode == MEMORY
    memory = found.slots * each // number if of_memory and found.slots is not None and each is not None else each
    all_given_out = found.capacity is not None and found.capacity == found.allocatable
    by_hand = given.memory_bytes is not None and not of_memory
    return Card(
        key=str(index),
        stack=NAME,
        mode=entry.mode,
        index=index,
        model=given.model,
        model_source="annotation gpudash.io/card-model" if given.model is not None else "",
        health=HEALTHY if all_given_out else HEALTH_UNKNOWN,
        told=health_reports.of_device(HEALTH_UNKNOWN, entry.resource, all_given_out),
        memory_total_bytes=memory,
        memory_physical_bytes=None if of_memory else memory,
        memory_source=f"annotation {STATED}" if by_hand else f"setting GPUDASH_{SETTING}" if memory is not None else "",
        shares=1 if entry.mode == WHOLE else None,
        resource=entry.resource,
    )


def _held(entry: Entry, quantity: int, each: dict[str, int | None]) -> int | None:
    memory = each.get(entry.resource)
    return memory * quantity if memory is not None and entry.mode != SHARES else None


def _given(entry: Entry, found: Offer, number: int | None, each: int | None) -> int | None:
    if found.allocatable == 0:
        return 0
    if each is None or found.allocatable is None:
        return None
    if entry.mode == SHARES:
        return number * each if number is not None and not found.short else None
    return found.allocatable * each if number is not None or entry.mode == MEMORY else None


STACK = Stack(
    name=NAME,
    label="Other accelerators, by name",
    resources=tuple(KNOWN),
    resource_prefixes=("habana.ai/", "iluvatar.com/"),
    owns=owns,
    read=read,
    settings={SETTING: ""},
    ways=(
        whole_cards(gettext_noop("Other accelerators, whole cards"), NAME, owns, npus=(GAUDI,)),
        shares_of_cards(gettext_noop("Other accelerators, shares of a card"), f"{NAME}-shared", owns),
    ),
)
