"""What lies behind one resource of a node: so many cards, or slices of cards, that are alike.

Must not know where the number comes from, nor what a resource means; the stacks do.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from kube.objects import Node
from stacks.engine import health_reports
from stacks.engine.base import HEALTH_UNKNOWN, HEALTHY, WHOLE, Card
from stacks.engine.describe import Described
from stacks.engine.devices import Device
from stacks.engine.names import MAX_CARDS
from stacks.engine.offers import Offer, offer
from stacks.engine.overrides import Overrides
from stacks.engine.sums import total


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The cards of one resource. number: None when it is not known.

    each: as how many devices a card is offered (1: as itself), None when not known. shares: holders that a card admits, None when
    they are not counted. about: model and memory of each. profile: of slices, "" for whole cards.
    """

    stack: str
    resource: str
    offer: Offer
    number: int | None
    mode: str = WHOLE
    each: int | None = 1
    shares: int | None = 1
    about: Described = Described()
    profile: str = ""

    @property
    def given_out(self) -> int | None:
        """The memory that the node gives out here, in bytes. No devices are no bytes, whatever a card has."""
        devices = self.offer.allocatable
        if devices is None or self.number is None or (devices and not self.each):
            return None
        cards = -(-devices // self.each) if self.each else 0
        return self.about.memory_of(cards) if cards else 0

    def card(self, device: Device, index: int | None) -> Card:
        """A card of the group. A plugin that gives out all that it has calls none of its devices unhealthy."""
        all_given_out = self.offer.capacity is not None and self.offer.capacity == self.offer.allocatable
        return Card(
            key=device.key,
            stack=self.stack,
            mode=self.mode,
            index=index,
            uuid=device.uuid,
            model=self.about.model,
            model_source=self.about.model_source,
            health=HEALTHY if device.health == HEALTH_UNKNOWN and all_given_out else device.health,
            told=health_reports.of_register(self.stack, device.health, device.record)
            if device.record
            else health_reports.of_device(device.health, self.resource, all_given_out),
            memory_total_bytes=self.about.memory_bytes,
            memory_physical_bytes=self.about.memory_bytes,
            memory_source=self.about.memory_source,
            shares=self.shares,
            profile=self.profile,
            parent=device.parent,
            resource=self.resource,
        )


def whole(node: Node, stack: str, resource: str, about: Described, given: Overrides, alone: bool) -> Group:
    """Whole cards, one for each device. alone: whether these are all cards of the node that the administrator may have counted."""
    found = offer(node, resource)
    number = given.cards if given.cards is not None and alone and found.slots != 0 else found.slots
    return Group(stack=stack, resource=resource, offer=found, number=believed(number), about=about)


def believed(number: int | None) -> int | None:
    """The number, where a node can have so many cards."""
    return number if number is not None and number <= MAX_CARDS else None


def numbered(groups: Iterable[Group], first: int = 0) -> tuple[Card, ...]:
    """All cards of the groups by their ordinals, since nothing names them; slices have no index. first: the ordinal of the first."""
    found: list[Card] = []
    for group in groups:
        start = first + len(found)
        for index in range(start, start + (group.number or 0)):
            key = f"{group.profile}-{index - start}" if group.profile else str(index)
            found.append(group.card(Device(key), index if not group.profile else None))
    return tuple(found)


def all_known(groups: list[Group], held: Iterable[str]) -> bool:
    """Whether the number of cards is known of every group, and no pod holds a resource that is behind none. held: resources."""
    stated = {group.resource for group in groups}
    return bool(groups) and all(group.number is not None for group in groups) and stated.issuperset(held)


def given_out(groups: list[Group]) -> int | None:
    """The memory that the node gives out; None as soon as one part is not known, and of no groups."""
    return total(group.given_out for group in groups) if groups else None
