"""Which card of the mirror a reading is of: by UUID, else by what is unique within its node.

A card's index is the exporter's own count and may differ from the scheduler's, so it joins only where a node has one card.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import msgspec

from exporters.engine.identity import normal_uuid
from exporters.engine.readings import CardReading


class Known(msgspec.Struct, frozen=True):
    """A card of the mirror that is not gone."""

    id: int
    node_name: str
    key: str
    index: int | None
    uuid: str
    profile: str
    parent: str
    memory_physical_bytes: int | None


class Cards:
    """All cards of a cluster, to look readings up in."""

    def __init__(self, cards: Iterable[Known]) -> None:
        self._by_uuid: dict[str, list[Known]] = defaultdict(list)
        self._by_node: dict[str, list[Known]] = defaultdict(list)
        for card in cards:
            self._by_node[card.node_name].append(card)
            if uuid := normal_uuid(card.uuid):
                self._by_uuid[uuid].append(card)

    def sizes(self) -> dict[str, int]:
        """Normal UUID → bytes, of whole cards whose memory is known."""
        return {
            uuid: cards[0].memory_physical_bytes
            for uuid, cards in self._by_uuid.items()
            if cards[0].memory_physical_bytes and not cards[0].profile
        }

    def find(self, reading: CardReading) -> Known | None:
        """The card or slice of the mirror; None when there is none, or several could be meant."""
        if reading.gpu_instance or reading.mig_uuid:
            return self._slice(reading)
        found = [card for card in self._of_uuid(reading.uuid) if not card.profile]
        here = [card for card in found if reading.node in (None, card.node_name)]
        if len(here) == 1:
            return here[0]
        return self._only(reading) if not found else None

    def _of_uuid(self, uuid: str | None) -> list[Known]:
        normal = normal_uuid(uuid)
        return self._by_uuid.get(normal, []) if normal else []

    def _slice(self, reading: CardReading) -> Known | None:
        """By its own UUID; else the only one of its profile on its card."""
        own = self._of_uuid(reading.mig_uuid)
        if len(own) == 1:
            return own[0]
        parent = normal_uuid(reading.uuid)
        alike = [
            card
            for card in self._by_node.get(reading.node or "", ())
            if card.profile and card.profile == reading.profile and parent and normal_uuid(card.parent) == parent
        ]
        return alike[0] if len(alike) == 1 else None

    def _only(self, reading: CardReading) -> Known | None:
        """The only card of its node, where the mirror does not know its UUID."""
        cards = self._by_node.get(reading.node or "", [])
        return cards[0] if len(cards) == 1 and not cards[0].uuid and not cards[0].profile else None
