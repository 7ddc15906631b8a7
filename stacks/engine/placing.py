"""Which card a holder has where the node's own numbers leave no choice.

Plain device plugins do not say which card a container got. Where there is one card only, it is that one; a container that holds
as many cards as there are holds each of them. Must not know any stack by name.
"""

from __future__ import annotations

import msgspec

from stacks.engine.base import ALL_CARDS, MEMORY, ONLY_CARD, WHOLE, Allocation, Card, StackReport

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


def standing(
    cards: dict[str, Card], allocations: tuple[Allocation, ...], reports: list[StackReport]
) -> tuple[Allocation, ...]:
    """The same without the holds in whose place others stand, and those others on the cards of the holds, where these are known.

    What a system beside others gives out is on the only card of a node, where there is one only.
    """
    instead = {uid: report.stack for report in reports for uid in report.instead}
    kept = [item for item in allocations if instead.get(item.pod_uid, item.stack) == item.stack]
    spots: dict[str, list[Allocation]] = {}
    for item in allocations:
        if item.card is not None and instead.get(item.pod_uid, item.stack) != item.stack:
            spots.setdefault(item.pod_uid, []).append(item)
    beside = {report.stack for report in reports if report.beside and not report.vendor}
    alone = next(iter(cards.values())) if len(cards) == 1 and all(report.cards_known for report in reports) else None
    return tuple(_stood(item, spots.get(item.with_pod, []), alone if item.stack in beside else None) for item in kept)


def _stood(item: Allocation, spots: list[Allocation], alone: Card | None) -> Allocation:
    card, evidence = item.card, item.evidence
    if card is None and len(spots) == 1:
        card, evidence = spots[0].card, spots[0].evidence
    elif card is None and alone is not None and item.mode != WHOLE:
        card, evidence = alone.key, ONLY_CARD
    return msgspec.structs.replace(item, card=card, evidence=evidence, with_pod="")
