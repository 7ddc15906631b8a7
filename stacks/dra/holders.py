"""Who holds which device: the results of claims, and the pods that claims are reserved for.

A claim that several pods use is held once: the first of them has it, the others have none of it besides. Results with
admin access hold nothing: the device stays free for others.
"""

from __future__ import annotations

from typing import NamedTuple

from kube.claims import Consumer, ResourceClaim, Result
from kube.quantity import size
from stacks.dra.cards import STACK, Cards
from stacks.dra.pools import Key, Offered, Pools
from stacks.engine.base import CLAIM, COUNT_ONLY, MEMORY, PARTS, SHARES, WHOLE, Allocation


class Held(NamedTuple):
    """One result of a claim on this node. device: None when no complete pool has it."""

    claim: ResourceClaim
    result: Result
    key: Key
    device: Offered | None


def held_by(claims: tuple[ResourceClaim, ...], node: str, offered: Pools) -> list[Held]:
    """What the claims hold of the devices of a node, and of devices that nobody offers any more."""
    found = []
    for claim in claims:
        allocation = claim.status.allocation if claim.status else None
        for result in (allocation.devices.results if allocation and allocation.devices else None) or ():
            key = (result.driver, result.pool, result.device)
            device = offered.devices.get(key)
            if not result.adminAccess and (device is None or device.node_name in ("", node)):
                found.append(Held(claim, result, key, device))
    return found


def allocations(held: list[Held], cards: Cards, unread: bool = False) -> list[Allocation]:
    """unread: slices are missing, so a device may be a part of a card as well as a whole one."""
    return [one for item in held for one in _of_result(item, cards, unread)]


def _of_result(item: Held, cards: Cards, unread: bool) -> list[Allocation]:
    consumers = list((item.claim.status.reservedFor if item.claim.status else None) or ())
    meta = item.claim.metadata
    # Held, and nobody uses it: then the claim itself is who holds it.
    users = consumers or [Consumer("resourceclaims", meta.name, meta.uid)]
    mode, memory = _taken(item, cards)
    if unread and item.device is None:
        mode = PARTS
    return [_allocation(item, cards, user, mode, memory, first=place == 0) for place, user in enumerate(users)]


def _allocation(item: Held, cards: Cards, user: Consumer, mode: str, memory: int | None, first: bool) -> Allocation:
    card = cards.on.get(item.key)
    return Allocation(
        pod_uid=user.uid,
        namespace=item.claim.metadata.namespace,
        pod=user.name,
        container=f"claim {item.claim.metadata.name}",
        resource=item.result.driver,
        quantity=1 if first else 0,
        evidence=CLAIM if card is not None else COUNT_ONLY,
        stack=STACK,
        card=card,
        memory_bytes=memory if first else 0,
        mode=mode,
    )


def _taken(item: Held, cards: Cards) -> tuple[str, int | None]:
    """(how it is held, bytes)."""
    device = item.device
    if device is not None and device.several:
        consumed = item.result.consumedCapacity or {}
        name = next((name for name in consumed if name.rpartition("/")[2] == "memory"), "")
        # Who consumes no memory may use all of it: then it is not metered.
        memory = size(consumed[name]) if name else None
        return (MEMORY, memory) if memory else (SHARES, None)
    if item.key in cards.parts:
        return PARTS, device.memory if device is not None else None
    # Of a card under another name, for a virtual machine, only what its bus can address is said.
    card = cards.cards.get(cards.on.get(item.key, ""))
    return WHOLE, card.memory_total_bytes if card is not None else device.memory if device is not None else None
