"""Rows that are written together."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from django.utils import timezone

from inventory.models import Allocation, Card, Cluster, Finding, Node, NodeAccount, Pod


@dataclass
class Batch:
    """Rows that are written together, in the order that foreign keys need."""

    cluster: Cluster
    now: datetime = field(default_factory=timezone.now)
    nodes: list[Node] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    cards: list[Card] = field(default_factory=list)
    allocations: list[Allocation] = field(default_factory=list)
    accounts: list[NodeAccount] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def write(self) -> None:
        Node.objects.bulk_create(self.nodes, batch_size=2000)
        Pod.objects.bulk_create(self.pods, batch_size=2000)
        Card.objects.bulk_create(self.cards, batch_size=2000)
        Allocation.objects.bulk_create(self.allocations, batch_size=2000)
        Finding.objects.bulk_create(self.findings, batch_size=2000)
        tiles: dict[str, list[list[object]]] = {}
        for card in self.cards:
            tiles.setdefault(card.node_name, []).append(_tile(card))
        for account in self.accounts:
            account.tiles = tiles.get(account.node_name, [])
        NodeAccount.objects.bulk_create(self.accounts, batch_size=2000)


def _tile(card: Card) -> list[object]:
    percent = None
    if card.memory_total_bytes and card.memory_allocated_bytes is not None:
        percent = card.memory_allocated_bytes * 100 // card.memory_total_bytes
    return [card.pk, str(card.index), percent, card.state, card.worst_severity]
