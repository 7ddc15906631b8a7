"""Accelerators that are counted by their resource's name alone: some vendors' whole cards, and what an administrator names.

The setting RESOURCES has entries "name=vendor:kind" or "name=vendor:kind:memory". kind: "whole", a device is a card, memory is that
of a card; "shares", several devices are one card, and how many is not known; "memory", a device is that much memory. Which card a pod
holds is not in the API, and no card has more memory than is stated.
"""

from __future__ import annotations

import re

import msgspec

from inventory.stacks.engine.base import (
    HEALTH_UNKNOWN,
    HEALTHY,
    MEMORY,
    SHARES,
    WHOLE,
    Card,
    Context,
    StackReport,
)
from inventory.stacks.engine.names import MAX_CARDS
from inventory.stacks.engine.offers import Offer, offer, shortfall
from inventory.stacks.engine.overrides import MEMORY as STATED
from inventory.stacks.engine.overrides import Overrides, overrides
from inventory.stacks.engine.registry import registry
from inventory.stacks.engine.requests import allocation, holds, requests
from inventory.stacks.engine.stack import Stack
from inventory.stacks.engine.sums import total
from kube.objects import Node, Pod
from kube.quantity import size

NAME = "resource-map"
SETTING = "RESOURCES"
_KINDS = {"whole": WHOLE, "shares": SHARES, "memory": MEMORY}
_RESOURCE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_VENDOR = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")
_MOST = 64
_MOST_MEMORY = 2**42


class Entry(msgspec.Struct, frozen=True):
    """One resource. memory: bytes of a card, or of a device where memory is what is counted; None when not known."""

    resource: str
    vendor: str
    mode: str
    memory: int | None = None


class BadEntry(Exception):
    """An entry of the setting cannot be read; the text names it and says what is wanted."""


#: Devices of these plugins are whole cards. Of their memory the node says nothing.
KNOWN = {
    name: Entry(name, vendor, WHOLE)
    for name, vendor in (
        ("habana.ai/gaudi", "habana"),
        ("cambricon.com/mlu", "cambricon"),
        ("metax-tech.com/gpu", "metax"),
        ("kunlunxin.com/xpu", "kunlun"),
        ("enflame.com/gcu", "enflame"),
    )
}


def entries(text: str) -> dict[str, Entry]:
    """The resources that the setting names. Raises BadEntry."""
    found: dict[str, Entry] = {}
    for part in (item.strip() for item in text.split(",")):
        if part:
            entry = _entry(part)
            if entry.resource in found:
                raise BadEntry(f"the entry {part[:80]!r} names {entry.resource} again; leave one of them out")
            found[entry.resource] = entry
    if len(found) > _MOST:
        raise BadEntry(f"{len(found)} entries; at most {_MOST} are wanted")
    return found


def _entry(part: str) -> Entry:
    name, _, rest = part.partition("=")
    fields = rest.split(":")
    shown = f"the entry {part[:80]!r}"
    if len(fields) not in (2, 3):
        raise BadEntry(
            f"{shown} must be name=vendor:kind or name=vendor:kind:memory, like acme.example/npu=acme:whole:32Gi"
        )
    vendor, kind = fields[0].strip(), fields[1].strip()
    if not _RESOURCE.fullmatch(name.strip()):
        raise BadEntry(f"{shown} must begin with the name of an extended resource, like acme.example/npu")
    if not _VENDOR.fullmatch(vendor):
        raise BadEntry(f"{shown} must have a vendor of lower case letters, digits and -, like acme")
    if kind not in _KINDS:
        raise BadEntry(f"{shown} has the kind {kind[:20]!r}; write whole, shares or memory")
    memory = size(fields[2].strip()) if len(fields) == 3 else None
    if len(fields) == 3 and not (memory and 2**20 <= memory <= _MOST_MEMORY):
        raise BadEntry(f"{shown} has the memory {fields[2][:20]!r}; write a quantity from 1Mi to 4Ti, like 32Gi")
    if kind == "memory" and memory is None:
        raise BadEntry(f"{shown} must say how much memory a device is, like acme.example/npu-mem=acme:memory:1Gi")
    return Entry(name.strip(), vendor, _KINDS[kind], memory)


def problem(text: str) -> str:
    """What is wrong with the setting, and what to do; "" when nothing is."""
    try:
        named = entries(text)
    except BadEntry as error:
        return str(error)
    default = Context(now=0.0)
    for name in named:
        for stack in registry.stacks:
            if stack.name != NAME and stack.understands(name, default):
                return f"the entry for {name} is not wanted: {stack.label} is read already; leave it out"
    return ""


def _map(context: Context) -> dict[str, Entry]:
    text = dict(context.settings).get(SETTING, "")
    if not text:
        return KNOWN
    try:
        return {**KNOWN, **entries(text)}
    except BadEntry:
        return KNOWN


def owns(resource: str, context: Context) -> bool:
    """What is known, and what the setting names."""
    return resource in _map(context)


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """Cards by count, their holders without a card. None when the node has none and no pod holds one."""
    known, status = _map(context), node.status
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
            found for name in stated for found in shortfall(name, offers[name], "The device plugin withholds devices.")
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
    owns=owns,
    read=read,
    settings={SETTING: ""},
)
