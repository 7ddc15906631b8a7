"""Dynamic resource allocation (DRA): drivers offer devices in ResourceSlices, the scheduler gives them to ResourceClaims.

A claim names its devices, so who holds which card is exact. Some drivers are known by name (`drivers`), any other one that gives out
accelerators is read by what all have in common. Source: KEP-4381, 4815, 5075, 5055 and the API of Kubernetes 1.36.
"""

from __future__ import annotations

from kube.objects import Node, Pod
from stacks.dra import health_reports
from stacks.dra.cards import NO_CARDS, Cards, cards_of
from stacks.dra.cards import STACK as NAME
from stacks.dra.drivers import vendor
from stacks.dra.findings import FINDINGS, MOST_DEVICES, findings
from stacks.dra.holders import Held, allocations, held_by
from stacks.dra.pools import Offered, pools
from stacks.dra.rooms import rooms
from stacks.dra.ways import WAYS
from stacks.engine.base import UNHEALTHY, Context, StackReport
from stacks.engine.stack import Stack


def read(node: Node, pods: list[Pod], context: Context) -> StackReport | None:
    """The cards that drivers offer here, and who holds them by claims. None when there are neither."""
    offered = pools(context.slices, context.taint_rules)
    mine = {(one.spec.driver, one.spec.pool.name) for one in context.slices if one.spec.nodeName == node.metadata.name}
    # What is missing of a pool that is of no node, or of others, makes nothing of this one unknown.
    offered = offered._replace(incomplete=tuple(one for one in offered.incomplete if one[:2] in mine))
    held = held_by(context.claims, node.metadata.name, offered)
    here = [device for device in offered.devices.values() if device.node_name == node.metadata.name]
    if not here and not held and not offered.incomplete:
        return None
    too_many = len(here) > MOST_DEVICES
    found = NO_CARDS if too_many else cards_of(here, offered, {item.key for item in held})
    found = health_reports.with_conditions(found, held)
    # Of a pool without any slice, or where slices are not read, it is not known what else there is.
    published = {(one.spec.driver, one.spec.pool.name) for one in context.slices} if context.claims_read else set()
    unread = any(item.device is None and item.key[:2] not in published for item in held)
    known = not (offered.incomplete or unread or too_many)
    wrong, recheck_at = findings(node.metadata.name, held, offered, here, found, context)
    return StackReport(
        stack=NAME,
        cards=tuple(found.cards.values()),
        cards_known=known,
        allocations=tuple(allocations(held, found, unread=unread)),
        findings=tuple(wrong),
        recheck_at=recheck_at,
        memory_total_bytes=_memory(found, held) if known else None,
        vendor=_vendor(here),
        rooms=rooms(found, held, offered, here) if known else (),
    )


def _memory(found: Cards, held: list[Held]) -> int | None:
    """What can be given out: a card that new claims do not get counts as long as a claim has it."""
    mine = {found.on.get(item.key) for item in held}
    cards = (card for card in found.cards.values() if card.health != UNHEALTHY or card.key in mine)
    memory = [card.memory_total_bytes for card in cards]
    return sum(one or 0 for one in memory) if None not in memory else None


def _vendor(devices: list[Offered]) -> str:
    """ "" where the cards are of several."""
    vendors = {vendor(device.key[0]) for device in devices}
    return vendors.pop() if len(vendors) == 1 else ""


STACK = Stack(
    name=NAME,
    label="Dynamic resource allocation (DRA)",
    resources=(),
    read=read,
    concerns=lambda context: bool(context.slices or context.claims),
    findings=FINDINGS,
    ways=WAYS,
)
