"""The stored books of some nodes: what is there, and the difference that an account makes.

`Books` loads the rows of a chunk of nodes in a constant number of queries, takes one account per node, and writes only what changed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from inventory.models import Allocation, Card, Finding, NodeAccount
from inventory.reconcile.entry import Entry
from inventory.reconcile.writer import Writer
from inventory.stacks.engine import base
from kube.objects import Pod


class Books:
    """Rows of a chunk of nodes of one cluster. `enter` an account per node, then `write`."""

    def __init__(self, cluster_id: int, nodes: list[str], now: datetime) -> None:
        self.cluster_id, self.now = cluster_id, now
        chunk = {"cluster_id": cluster_id, "node_name__in": nodes}
        self.accounts = {row.node_name: row for row in NodeAccount.objects.filter(**chunk).defer("tiles")}
        self.cards = _by_node(Card.objects.filter(**chunk), "node_name")
        self.holds = _by_node(Allocation.objects.filter(**chunk, ended_at=None), "node_name")
        self.findings = _by_node(Finding.objects.filter(**chunk, ended_at=None), "node_name")
        self._entries: list[Entry] = []
        self.units_changed = False

    def known_uuids(self, node: str) -> tuple[str, ...]:
        """UUIDs of the node's cards that are not gone, in the order in which they were first seen."""
        present = [card for card in self.cards[node] if card.uuid and card.gone_at is None]
        return tuple(card.uuid for card in sorted(present, key=lambda card: (card.first_seen_at, card.id)))

    def enter(self, node: str, account: base.NodeAccount | None, pods: dict[str, Pod]) -> None:
        """account: None when the node is gone or has nothing to do with GPUs. pods: by uid, ended ones too."""
        entry = Entry(
            node=node,
            account=account,
            pods=pods,
            stored=self.accounts.get(node),
            cards={card.key: card for card in self.cards[node]},
            holds=self.holds[node],
            findings=self.findings[node],
        )
        self._entries.append(entry)

    def write(self) -> int:
        """Write the differences; inside the caller's transaction. Returns the number of rows written."""
        written = Writer(self.cluster_id, self.now).write(self._entries)
        self.units_changed = any(entry.unit_changed for entry in self._entries)
        return written


def _by_node(queryset: Iterable[Any], attribute: str) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = defaultdict(list)
    for row in queryset:
        grouped[getattr(row, attribute)].append(row)
    return grouped
