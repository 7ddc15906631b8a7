"""What a card and a node have promised, added up. None as soon as one part is not known or not metered; never clipped.

Must not know any stack by name, nor where the numbers come from.
"""

from __future__ import annotations

from collections.abc import Iterable

from kube.quantity import INT64_MAX
from stacks.engine.base import MEMORY, SHARES, WHOLE, Allocation, Card, CardReport, StackReport
from stacks.engine.joining import JoinedCards


def total(parts: Iterable[int | None]) -> int | None:
    """The sum; None when one part is None, or when it is more than the tables hold; 0 of no parts."""
    added = 0
    for part in parts:
        if part is None:
            return None
        added += part
    return added if added <= INT64_MAX else None


def card_reports(joined: JoinedCards, unplaced: tuple[Allocation, ...]) -> tuple[CardReport, ...]:
    """Every card with its holders, by index, then by key."""
    by_card: dict[str, list[Allocation]] = {key: [] for key in joined.cards}
    for allocation in joined.allocations:
        if allocation.card in by_card:
            by_card[allocation.card].append(allocation)
    open_modes = {allocation.mode for allocation in unplaced}
    ordered = sorted(joined.cards.values(), key=lambda card: (card.index is None, card.index or 0, card.key))
    return tuple(
        CardReport(
            card=card,
            allocations=tuple(by_card[card.key]),
            memory_allocated_bytes=card_memory(card, by_card[card.key], open_modes),
        )
        for card in ordered
    )


def card_memory(card: Card, held: list[Allocation], open_modes: set[str]) -> int | None:
    """The memory promised on one card. open_modes: modes of which some holder's card is not known.

    A card held as a whole is allocated in full. Where cards are only counted, a card without a known holder may be held
    all the same, so it says None; only when nothing of its kind is open it is 0. Shares are not metered: None.
    """
    if any(allocation.mode == WHOLE for allocation in held):
        return total(
            _times(card.memory_total_bytes, allocation.quantity)
            if allocation.mode == WHOLE
            else allocation.memory_bytes
            for allocation in held
        )
    # What is held in parts of a card that is else given out whole is held by nobody as a whole.
    apart = card.mode == WHOLE and held
    if card.mode == SHARES or (card.mode != MEMORY and card.mode in open_modes and not apart):
        return None
    return total(allocation.memory_bytes for allocation in held)


def _times(memory: int | None, quantity: int) -> int | None:
    return memory * quantity if memory is not None else None


def cards_total(joined: JoinedCards, reports: list[StackReport]) -> int | None:
    """How many cards the node has; None when a stack gives out cards that nobody can count."""
    covered = any(report.cards and report.cards_known for report in reports)
    return len(joined.cards) if covered or all(report.cards_known for report in reports) else None


def physical_cards(joined: JoinedCards, reports: list[StackReport], given_out: int | None) -> int | None:
    """How many cards there are, whole or cut into slices; None when nothing says of how many cards the slices are parts."""
    cut = {card.stack for card in joined.cards.values() if card.profile}
    # While a node is being changed it may offer nothing, and have its cards all the same.
    cut |= {report.stack for report in reports if report.explained}
    if not cut:
        return given_out
    uncut = sum(1 for card in joined.cards.values() if card.stack not in cut)
    return total([uncut, *(report.physical_cards for report in reports if report.stack in cut)])


def cards_allocated(reports: tuple[CardReport, ...], unplaced: tuple[Allocation, ...]) -> int | None:
    """How many cards have a holder; None where holders without a known card make it a matter of guessing.

    Whole cards that are only counted are distinct cards, so they add up. On a node that gives out cards in two ways they may
    fall on cards counted already: then the number is known only where all cards have a holder.
    """
    held = sum(1 for report in reports if report.allocations)
    if not unplaced:
        return held
    whole_only = all(WHOLE in (item.mode, report.card.mode) for report in reports for item in report.allocations)
    if whole_only and all(item.mode == WHOLE for item in unplaced):
        return held + sum(item.quantity for item in unplaced)
    return held if reports and held == len(reports) else None


def memory_allocated(joined: JoinedCards, known: bool) -> int | None:
    """All that is promised on the node, placed or not. known: whether the number of cards is known."""
    unmetered = any(card.mode == SHARES for card in joined.cards.values())
    if joined.primary is None or unmetered or (not joined.allocations and not joined.cards and not known):
        return None
    return total(allocation.memory_bytes for allocation in joined.allocations)
