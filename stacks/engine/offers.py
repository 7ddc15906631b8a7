"""What a node offers of a resource: capacity and allocatable, and the finding when they differ.

Must not know what a resource means; the stacks do.
"""

from __future__ import annotations

from typing import NamedTuple

from kube.objects import Node
from stacks.engine.base import WARNING, Finding
from stacks.engine.requests import devices
from wording.said import sentence


class Offer(NamedTuple):
    """How many of a resource a node has and can give out. None: not stated, or no quantity."""

    capacity: int | None
    allocatable: int | None

    @property
    def slots(self) -> int | None:
        """What the node has: capacity, or allocatable where the node states no capacity."""
        return self.capacity if self.capacity is not None else self.allocatable

    @property
    def short(self) -> bool:
        """Whether devices are withheld: both are known and differ."""
        return self.capacity is not None and self.allocatable is not None and self.capacity != self.allocatable


NOTHING = Offer(None, None)


def offer(node: Node, resource: str) -> Offer:
    """What the node's status says of one resource."""
    status = node.status
    if status is None:
        return NOTHING
    capacity, allocatable = status.capacity, status.allocatable
    return Offer(
        devices(capacity[resource]) if capacity and resource in capacity else None,
        devices(allocatable[resource]) if allocatable and resource in allocatable else None,
    )


def states(node: Node, resource: str) -> bool:
    """Whether the node's status names the resource at all."""
    status = node.status
    if status is None:
        return False
    return bool(
        (status.capacity and resource in status.capacity) or (status.allocatable and resource in status.allocatable)
    )


def shortfall(resource: str, found: Offer, consequence: str) -> list[Finding]:
    """`capacity-not-allocatable` when the device plugin withholds devices. consequence: a sentence for the reader."""
    if not found.short:
        return []
    text = sentence(
        "{resource}: capacity {capacity}, allocatable {allocatable}. {consequence} Check the device plugin log and "
        "the kernel log (Xid) on the node.",
        resource=resource,
        capacity=found.capacity,
        allocatable=found.allocatable,
        consequence=consequence,
    )
    return [Finding(code="capacity-not-allocatable", severity=WARNING, text=text)]
