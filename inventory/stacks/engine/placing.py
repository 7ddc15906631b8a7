"""Which card a holder has where the node's own numbers leave no choice.

Plain device plugins do not say which card a container got. Where there is one card only, it is that one; a container that holds
as many cards as there are holds each of them. Must not know any stack by name.
"""

from __future__ import annotations

import msgspec

from inventory.stacks.engine.base import ALL_CARDS, MEMORY, ONLY_CARD, WHOLE, Allocation, Card

#: What is said of a pod whose status or record names other cards than those of the node.
DOUBTS = frozenset(("index-out-of-range", "request-annotation-mismatch"))


def placed(
    cards: dict[str, Card], allocations: list[Allocation], apart: bool, doubtful: set[str | None]
) -> list[Allocation]:
    """The same allocations, on their cards where there is no choice. cards: all of one vendor on the node, their number known.

    apart: one stack speaks of them, so a resource means the cards that name it; else any of them may be meant. doubtful: pods for
    which it is not believed that the node has no other card.
    """
    found: list[Allocation] = []
    for item in allocations:
        # Where memory is given out a scheduler records the card: that it has not is worth a finding, not a guess.
        if item.card is not None or item.mode == MEMORY or f"{item.namespace}/{item.pod}" in doubtful:
            found.append(item)
            continue
        meant = [card for card in cards.values() if not apart or card.resource in ("", item.resource)]
        found += _placed(item, meant)
    return found


def _placed(item: Allocation, meant: list[Card]) -> list[Allocation]:
    if len(meant) == 1 and (item.mode != WHOLE or item.quantity == 1):
        return [_on(item, meant[0], item.quantity, ONLY_CARD)]
    if len(meant) > 1 and item.mode == WHOLE and item.quantity == len(meant):
        return [_on(item, card, 1, ALL_CARDS) for card in meant]
    return [item]


def _on(item: Allocation, card: Card, quantity: int, evidence: str) -> Allocation:
    # A card held as a whole is allocated in full.
    memory = card.memory_total_bytes if item.mode == WHOLE else item.memory_bytes
    return msgspec.structs.replace(item, card=card.key, quantity=quantity, evidence=evidence, memory_bytes=memory)
