"""The mirror of one cluster as one value: `inspect -o json` encodes it, the table prints it. null means unknown.

The field names are an interface: add, never rename.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from inventory import models, querysets
from inventory.condition import sync_of
from inventory.querysets import NodeRow


class Allocation(msgspec.Struct, frozen=True):
    namespace: str
    pod: str
    container: str
    resource: str
    quantity: int
    memory_bytes: int | None
    core_percent: int | None
    evidence: str


class Card(msgspec.Struct, frozen=True):
    """memory_total_bytes: what the sharing system gives out; memory_physical_bytes: what the card has."""

    index: int | None
    uuid: str | None
    model: str | None
    stack: str
    health: str
    memory_total_bytes: int | None
    memory_physical_bytes: int | None
    memory_allocated_bytes: int | None
    allocations: list[Allocation]


class Node(msgspec.Struct, frozen=True):
    """unplaced: held on this node, card unknown."""

    name: str
    ready: bool | None
    stacks: list[str]
    unit: str | None
    unit_source: str | None
    cards_total: int | None
    cards_allocated: int | None
    memory_total_bytes: int | None
    memory_allocated_bytes: int | None
    cards: list[Card]
    unplaced: list[Allocation]


class Finding(msgspec.Struct, frozen=True):
    code: str
    severity: str
    node: str | None
    card: str | None
    pod: str | None
    text: str


class Inspection(msgspec.Struct, frozen=True):
    """synced_at: first complete list; null while the figures are not complete."""

    cluster: str
    synced_at: datetime | None
    nodes: list[Node]
    findings: list[Finding]


def inspect(cluster: models.Cluster, node_name: str | None = None) -> Inspection:
    """The whole cluster, or one node of it: six queries."""
    only = {} if node_name is None else {"node_name": node_name}
    accounts = querysets.accounts().filter(cluster=cluster, **only).order_by("node_name")
    cards: dict[str, list[Card]] = {}
    rows = querysets.with_holders(querysets.cards_present().filter(cluster=cluster, **only))
    for card in rows.order_by("node_name", "index", "id"):
        cards.setdefault(card.node_name, []).append(_card(card))
    unplaced: dict[str, list[Allocation]] = {}
    held = querysets.allocations_now().filter(cluster=cluster, card=None, **only)
    for allocation in held.order_by("started_at", "id"):
        unplaced.setdefault(allocation.node_name, []).append(_allocation(allocation))
    findings = querysets.findings_now().filter(cluster=cluster, **only).order_by("severity_rank", "first_seen_at", "id")
    return Inspection(
        cluster=cluster.name,
        synced_at=sync_of(cluster.watches.all()).synced_at,
        nodes=[
            _node(row, cards.get(row.account.node_name, []), unplaced.get(row.account.node_name, []))
            for row in querysets.with_nodes(accounts)
        ],
        findings=[_finding(finding) for finding in findings],
    )


def _node(row: NodeRow, cards: list[Card], unplaced: list[Allocation]) -> Node:
    account = row.account
    return Node(
        name=account.node_name,
        ready=row.node.ready if row.node else None,
        stacks=list(account.stacks),
        unit=account.unit or None,
        unit_source=account.unit_source or None,
        cards_total=account.cards_total,
        cards_allocated=account.cards_allocated,
        memory_total_bytes=account.memory_total_bytes,
        memory_allocated_bytes=account.memory_allocated_bytes,
        cards=cards,
        unplaced=unplaced,
    )


def _card(row: models.Card) -> Card:
    holders: list[models.Allocation] = getattr(row, "holders")  # noqa: B009 - set by the prefetch
    return Card(
        index=row.index,
        uuid=row.uuid or None,
        model=row.model or None,
        stack=row.stack,
        health=row.health,
        memory_total_bytes=row.memory_total_bytes,
        memory_physical_bytes=row.memory_physical_bytes,
        memory_allocated_bytes=row.memory_allocated_bytes,
        allocations=[_allocation(one) for one in holders],
    )


def _allocation(row: models.Allocation) -> Allocation:
    return Allocation(
        namespace=row.namespace,
        pod=row.pod,
        container=row.container,
        resource=row.resource,
        quantity=row.quantity,
        memory_bytes=row.memory_bytes,
        core_percent=row.core_percent,
        evidence=row.evidence,
    )


def _finding(row: models.Finding) -> Finding:
    return Finding(
        code=row.code,
        severity=row.severity,
        node=row.node_name or None,
        card=row.card_key or None,
        pod=row.pod or None,
        text=row.text,
    )
