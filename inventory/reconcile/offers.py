"""What the scheduler of Kubernetes counts of a node: what is allocatable, less what pods that are bound to it request. Pure.

It counts a pod from its binding until it has ended, whatever its cards are known to be. Source: kubernetes/kubernetes v1.36.3
(NodeResourcesFit).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from inventory.mirror.values import Columns, plain
from inventory.reconcile.columns import fitting
from kube.objects import Node
from stacks import relevant_resource
from stacks.engine.base import Context
from stacks.engine.offers import offer

#: Resources of cards that one node offers and that are kept: real nodes have a dozen profiles of MIG.
MOST = 64


class Requested(NamedTuple):
    """What one bound pod requests. resources: of cards, by name; cpu_millis, host_memory_bytes: of the node's own."""

    resources: dict[str, int]
    cpu_millis: int = 0
    host_memory_bytes: int = 0


class Host(NamedTuple):
    """What a node can give out of its own. None: the node does not say."""

    cpu_millis: int | None = None
    memory_bytes: int | None = None


def offer_columns(node: Node | None, host: Host, bound: Iterable[Requested], context: Context) -> Columns:
    """Of the totals of the node. Nothing is known of one that is gone."""
    held: Counter[str] = Counter()
    cpu = memory = 0
    for one in bound:
        held.update(one.resources)
        cpu += one.cpu_millis
        memory += one.host_memory_bytes
    return {
        "offers": _packed(_offered(node, context), held) if node is not None else "",
        "cpu_free_millis": fitting(host.cpu_millis - cpu) if host.cpu_millis is not None else None,
        "host_memory_free_bytes": fitting(host.memory_bytes - memory) if host.memory_bytes is not None else None,
    }


def _offered(node: Node, context: Context) -> dict[str, int]:
    """Resource of cards → allocatable; 0 for one that the node states and does not give out."""
    status = node.status
    stated = sorted({**(status.capacity or {}), **(status.allocatable or {})}) if status else ()
    mine = [name for name in stated if "/" in name and relevant_resource(name, context)]
    return {name: offer(node, name).allocatable or 0 for name in mine[:MOST]}


def _packed(offered: dict[str, int], held: Counter[str]) -> str:
    found = {plain(name, 253): (number, number - held[name]) for name, number in offered.items()}
    return msgspec.json.encode(found).decode() if found else ""
