"""Rows of dynamic resource allocation: slices of drivers that give out accelerators, rules that taint devices, and claims.

Slices and claims of network cards and other devices are not kept.
"""

from __future__ import annotations

import msgspec

from inventory.mirror.values import Columns, common_columns, plain
from kube.claims import AllocationResult, DeviceTaintRule, ResourceClaim, ResourceSlice, pinned_node
from kube.objects import Pod
from stacks.dra.asks import MOST, asks_of
from stacks.dra.cards import STACK as NAME
from stacks.dra.drivers import asks_for_cards, gives_cards
from stacks.dra.trim import trim_claim, trim_rule, trim_slice
from stacks.engine.base import Context


def slice_row(found: ResourceSlice, context: Context) -> Columns | None:
    if not gives_cards(found):
        return None
    columns = common_columns(found.metadata, trim_slice(found))
    return columns | {
        "node_name": plain(found.spec.nodeName, 253),
        "driver": plain(found.spec.driver, 253),
        "pool": plain(found.spec.pool.name, 253),
    }


def claim_row(claim: ResourceClaim, context: Context) -> Columns | None:
    if not asks_for_cards(claim):
        return None
    allocation = claim.status.allocation if claim.status else None
    columns = common_columns(claim.metadata, trim_claim(claim))
    return columns | {
        "namespace": plain(claim.metadata.namespace, 253),
        "node_name": plain(_node_of(allocation), 253) if allocation else "",
        "allocated": allocation is not None,
        "deleting": claim.metadata.deletionTimestamp is not None,
        "asks": msgspec.json.encode(asks_of(claim)).decode(),
    }


def taint_rule_row(rule: DeviceTaintRule, context: Context) -> Columns | None:
    return common_columns(rule.metadata, trim_rule(rule))


def _node_of(allocation: AllocationResult) -> str:
    """The node that the allocation is bound to; else the pool, which by custom has the name of its node."""
    results = (allocation.devices.results if allocation.devices else None) or []
    return pinned_node(allocation.nodeSelector) or (results[0].pool if results else "")


def of_pod(pod: Pod) -> str:
    """The claims that a pod names, as JSON: [what it calls the claim, the claim's name, the template]; "" for none."""
    named = (pod.spec.resourceClaims if pod.spec else None) or ()
    if not named:
        return ""
    made = {one.name: one.resourceClaimName for one in (pod.status.resourceClaimStatuses if pod.status else None) or ()}
    rows = [
        [
            plain(one.name, 253),
            plain(one.resourceClaimName or made.get(one.name), 253),
            plain(one.resourceClaimTemplateName, 253),
        ]
        for one in list(named)[:MOST]
    ]
    return msgspec.json.encode(rows).decode()


def dirty_by_slice(node: str) -> set[tuple[str, str]]:
    """The node, or all nodes of the system where the devices are not of one."""
    return {(node, "")} if node else {("", NAME)}


def dirty_by_taint_rule(name: str) -> set[tuple[str, str]]:
    """All nodes of the system: a rule may mean any device."""
    return {("", NAME)}


def dirty_by_claim(node: str) -> set[tuple[str, str]]:
    """The node whose devices it holds; none while it waits. Where they are of no node, its pods make theirs dirty."""
    return {(node, "")} if node else set()
