"""One simulated node: its type, its cards, what is free on it. The truth behind the Node object in the store."""

from __future__ import annotations

from dataclasses import dataclass

from fleetsim.ledger import Ledger
from fleetsim.nodetypes import NodeType, Taint


@dataclass
class Machine:
    """number: in the fleet, from 0. ledger: None where no workload can ask for a device."""

    name: str
    kind: NodeType
    number: int
    uuids: list[str]
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    ledger: Ledger | None
    cordoned: bool = False
    ready: bool = True

    @property
    def ip(self) -> str:
        return f"192.168.{self.number // 250}.{self.number % 250 + 4}"

    @property
    def resource(self) -> str:
        """What pods ask for here; "" for nothing."""
        return self.kind.system.resource if self.kind.system is not None else ""

    @property
    def open(self) -> bool:
        """Whether the scheduler may use it."""
        return self.ready and not self.cordoned


def ledger_of(kind: NodeType) -> Ledger | None:
    """An empty ledger for a node of this type."""
    if kind.system is None or not kind.units:
        return None
    return Ledger.of(kind.cards, kind.units, kind.pods_per_card)
