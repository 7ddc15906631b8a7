"""How many cards (or slices) a number of slots is. Must not know resources, nodes or pods."""

from __future__ import annotations

from typing import NamedTuple

from stacks.nvidia.gfd import Labels


class Count(NamedTuple):
    """cards, replicas: None when not known. agreed: whether the labels fit the slots and each other.

    alike: whether what the labels say of a card holds for all.
    """

    cards: int | None
    replicas: int | None
    agreed: bool
    alike: bool = True


def stated(slots: int, cards: int) -> Count:
    """The administrator's count; never more cards than there are slots, and a count that does not divide them is flagged."""
    if slots % cards == 0:
        return Count(cards, slots // cards, True)
    return Count(min(cards, slots), None, False)


def whole(slots: int | None, labels: Labels, by_host: int | None, alone: bool) -> Count:
    """Where no label says that cards are shared. by_host: the number of cards by the cloud's labels or the instance type."""
    if not slots or not alone:
        return Count(slots, 1, not alone or slots is None or labels.counts(slots))
    known = [number for number in (labels.cards, by_host) if number]
    if not known or slots in known:
        return Count(slots, 1, labels.counts(slots), alike=(labels.cards or slots) >= slots)
    if slots < max(known):
        # Some of the cards are not given out.
        return Count(slots, 1, False, alike=(labels.cards or slots) >= slots)
    return _more(slots, labels, by_host)


def _more(slots: int, labels: Labels, by_host: int | None) -> Count:
    """More slots than the node has cards by all that is said."""
    cards = by_host or labels.cards or 1
    if not labels.unshared:
        return Count(cards, slots // cards, True) if slots % cards == 0 else Count(None, None, False)
    if by_host == labels.cards and slots % cards == 0:
        # Two that do not know of each other count the same cards: the labels just do not know that they are shared.
        return Count(cards, slots // cards, False)
    if by_host is None and slots % cards:
        # Labels describe cards of one kind only, and these are no shares of so many: there are cards of another kind.
        return Count(slots, 1, False, alike=False)
    # Either the labels are older than the plugin's setting, or half of the cards are of another kind.
    return Count(None, None, False)


def divided(slots: int | None, labels: Labels, by_host: int | None, alone: bool) -> Count:
    """Where labels say that cards are shared, or the resource's name does."""
    if slots is None:
        return Count(None, None, True)
    if slots == 0:
        return Count(0, labels.replicas, True)
    each, physical = labels.replicas, labels.count or by_host
    consistent = labels.strategy in ("", "none", "time-slicing", "mps")
    if each is not None and each > 1 and slots % each == 0:
        cards = slots // each
        if by_host is not None and cards > by_host and labels.cards != cards:
            return Count(None, None, False)
        fits = not alone or (labels.counts(cards) and by_host in (None, cards, labels.cards))
        return Count(cards, each, consistent and fits, alike=not alone or (labels.cards or cards) >= cards)
    if alone and physical and slots % physical == 0:
        return Count(physical, slots // physical, consistent and each is None)
    # Shares under their own name and not one label: nothing disagrees, the number of cards is just not known.
    return Count(None, None, each is None and physical is None)
