"""What is free on the cards of one node, and who holds the rest: the demo's own truth, from which it schedules.

A pod that is terminating holds its part until it is gone (the kubelet's view). Knows nothing of pods' form.
"""

from __future__ import annotations

from dataclasses import dataclass, field

#: Card index → (memory units or slots, core percent).
Parts = dict[int, tuple[int, int]]


@dataclass
class CardRoom:
    """Free on one card: units (memory units, or slots), core percent, and pods that it still admits."""

    units: int
    core: int = 100
    pods: int = 1000


@dataclass
class Ledger:
    """`node_free`: units of the node that no pod has requested; kube-scheduler looks only at these."""

    cards: list[CardRoom]
    node_free: int
    node_total: int
    holders: dict[str, Parts] = field(default_factory=dict)
    loose: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, cards: int, units: int, pods: int = 1000) -> Ledger:
        """`cards` equal cards of `units` each, admitting `pods` holders each."""
        return cls([CardRoom(units, 100, pods) for _ in range(cards)], cards * units, cards * units)

    @property
    def held_share(self) -> float:
        """Requested part of the node, 0 to 1 (above 1 when a mistake was planted)."""
        return 1 - self.node_free / self.node_total if self.node_total else 1.0

    def choose(self, units: int, cards: int = 1, core: int = 0) -> Parts | None:
        """The gpushare rule: of the cards with room the one with the least free, the lowest index among equals.

        cards > 1: that many different cards, by the same order. None when they do not fit.
        """
        if units * cards > self.node_free:
            return None
        fitting = [
            (room.units, index)
            for index, room in enumerate(self.cards)
            if room.units >= units and room.core >= core and room.pods > 0
        ]
        if len(fitting) < cards:
            return None
        return {index: (units, core) for _, index in sorted(fitting)[:cards]}

    def choose_slots(self, slots: int) -> Parts | None:
        """That many slots, one by one from the card with the most free ones: how replicas are spread."""
        if slots > self.node_free:
            return None
        free = [room.units for room in self.cards]
        parts: Parts = {}
        for _ in range(slots):
            card = max(range(len(free)), key=lambda index: (free[index], -index))
            if free[card] <= 0:
                return None
            free[card] -= 1
            parts[card] = (parts.get(card, (0, 0))[0] + 1, 0)
        return parts

    def hold(self, uid: str, parts: Parts, loose: int = 0) -> None:
        """Record a holder. loose: units that count on the node and on no card. A planted mistake may exceed a card."""
        self.holders[uid] = parts
        self.loose[uid] = loose
        self._book(parts, loose, -1)

    def release(self, uid: str) -> None:
        """Give back what this pod held; nothing when it held nothing."""
        self._book(self.holders.pop(uid, {}), self.loose.pop(uid, 0), +1)

    def _book(self, parts: Parts, loose: int, sign: int) -> None:
        for index, (units, core) in parts.items():
            room = self.cards[index]
            room.units += sign * units
            room.core += sign * core
            room.pods += sign
        self.node_free += sign * (sum(units for units, _ in parts.values()) + loose)

    def disable(self, card: int) -> None:
        """An unhealthy card: nothing is placed on it, and the node has that much less."""
        room = self.cards[card]
        self.node_free -= room.units
        self.node_total -= room.units
        room.units = 0
