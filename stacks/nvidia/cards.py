"""The cards and slices of a node: those that a status has named, those seen before, and for the rest their ordinals."""

from __future__ import annotations

import msgspec

from stacks.engine import health_reports
from stacks.engine.base import HEALTH_UNKNOWN, HEALTHY, SHARES, WHOLE, Card
from stacks.engine.devices import Device, Held, with_ordinals, worse
from stacks.nvidia.group import Group, without_memory
from stacks.nvidia.ids import SLICE

NAME = "nvidia"


def cards_of(found: list[Group], held: list[Held], known: tuple[str, ...], told: tuple[str, ...] = ()) -> list[Card]:
    """All cards of the node. known: UUIDs of its cards seen before. told: those of the cards that its exporter names now.

    The exporter names all cards of the node, so it tells nothing where the plugin gives out fewer: which ones nobody says.
    """
    cards: list[Card] = []
    single = sum(1 for group in found if group.cards) == 1
    for group in found:
        if group.cards:
            # A slice is none of the cards that were there before the card was cut, and the other way round.
            mine = [uuid for uuid in known if uuid.startswith(SLICE) == bool(group.profile)] if single else []
            if single and not group.profile and len(told) == group.cards:
                mine = list(told)
            named = _named(group, held, mine)
            cards += _group_cards(group, named, offset=len(cards))
    return cards


def as_slices(group: Group, held: list[Held]) -> Group:
    """The same, where no label says that the devices are slices but the kubelet does: the card's memory is not theirs."""
    sliced = any(
        item.key.startswith(SLICE) or "/" in item.key
        for entry in held
        if entry.need.resource == group.resource
        for item in entry.devices
    )
    if group.profile or not sliced:
        return group
    return msgspec.structs.replace(group, profile="MIG", about=without_memory(group.about), boards=None)


def _named(group: Group, held: list[Held], known: list[str]) -> dict[str, Device]:
    """Card key → device: what statuses name first, then UUIDs seen before, never more than the capacity has."""
    named: dict[str, Device] = {}
    most = group.boards if group.profile else group.cards
    for entry in held:
        if entry.need.resource == group.resource:
            for item in entry.devices:
                if item.number is None or most is None or item.number < most:
                    named[item.key] = worse(named.get(item.key), item)
    for uuid in known:
        named.setdefault(uuid, Device(uuid, uuid))
    return dict(list(named.items())[: group.cards])


def _group_cards(group: Group, named: dict[str, Device], offset: int) -> list[Card]:
    return [_card(group, item, index) for item, index in with_ordinals(named, group.cards or 0, offset)]


def _card(group: Group, device: Device, index: int | None) -> Card:
    all_given_out = bool(group.offer.capacity) and group.offer.capacity == group.offer.allocatable
    about = group.about
    return Card(
        key=device.key,
        stack=NAME,
        mode=group.mode,
        index=index,
        uuid=device.uuid,
        model=about.model,
        model_source=about.model_source,
        health=HEALTHY if device.health == HEALTH_UNKNOWN and all_given_out else device.health,
        told=health_reports.of_device(device.health, group.resource, all_given_out),
        memory_total_bytes=about.memory_bytes,
        memory_physical_bytes=about.memory_bytes,
        memory_source=about.memory_source,
        shares=1 if group.mode == WHOLE else group.replicas,
        profile=group.profile,
        parent=device.parent,
        resource=group.resource,
    )


def memory_of(group: Group | None, slots: int | None) -> int | None:
    """What a number of slots is in bytes, held or given out: whole cards, or equal parts of one; shares are not metered."""
    if group is None or group.about.memory_bytes is None or slots is None:
        return None
    if group.mode == WHOLE:
        return group.about.memory_bytes * slots
    if group.mode == SHARES or not group.replicas:
        return None
    return group.about.memory_bytes * slots // group.replicas // group.grain * group.grain


def total_memory(found: list[Group]) -> int | None:
    """What can be given out. Cards that are shared in turns have their memory, though what is taken of it is not metered."""
    total = 0
    for group in found:
        slots = group.offer.allocatable
        if (group.offer.slots == 0 and group.cards is not None) or (group.offer.slots is None and len(found) > 1):
            continue
        if group.mode == SHARES:
            cards = -(-slots // group.replicas) if slots is not None and group.replicas and group.cards else None
            memory = group.about.memory_bytes
            part = cards * memory if cards is not None and memory is not None else None
        else:
            part = memory_of(group, slots) if group.cards is not None else None
        if part is None:
            return None
        total += part
    return total
