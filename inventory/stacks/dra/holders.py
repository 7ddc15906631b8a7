"""Who holds which device: the results of claims, and the pods that claims are reserved for.

A claim that several pods use is held once: the first of them has it, the others have none of it besides. Results with
admin access hold nothing: the device stays free for others.
"""

from __future__ import annotations

from typing import NamedTuple

from inventory.stacks.dra.cards import STACK, Cards
from inventory.stacks.dra.pools import Key, Offered, Pools
from inventory.stacks.engine.base import CLAIM, COUNT_ONLY, MEMORY, PARTS, SHARES, WHOLE, Allocation
from kube.claims import Consumer, ResourceClaim, Result
from kube.quantity import size


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


def allocations(held: list[Held], cards: Cards) -> list[Allocation]:
    return [one for item in held for one in _of_result(item, cards)]


def _of_result(item: Held, cards: Cards) -> list[Allocation]:
    consumers = list((item.claim.status.reservedFor if item.claim.status else None) or ())
    meta = item.claim.metadata
    # Held, and nobody uses it: then the claim itself is who holds it.
    users = consumers or [Consumer("resourceclaims", meta.name, meta.uid)]
    return [_allocation(item, cards, user, first=place == 0) for place, user in enumerate(users)]


def _allocation(item: Held, cards: Cards, user: Consumer, first: bool) -> Allocation:
    card = cards.on.get(item.key)
    mode, memory = _taken(item, cards)
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
    consumed = item.result.consumedCapacity or {}
    if item.device is not None and item.device.several:
        name = next((name for name in consumed if name.rpartition("/")[2] == "memory"), "")
        return (MEMORY, size(consumed[name])) if name else (SHARES, None)
    memory = item.device.memory if item.device is not None else None
    return (PARTS if item.key in cards.parts else WHOLE), memory
