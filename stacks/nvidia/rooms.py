"""What would still fit on the cards of a node that are in MIG mode, as far as it is certain.

How many slices of each profile a node has is known, but not which card a slice is a part of, nor where on the card it lies. So the
numbers are exact for cards that are cut alike, or for one card alone; else there is an upper bound for all of them together.
"""

from __future__ import annotations

from collections.abc import Iterable

from stacks.engine.base import (
    CARDS_UNKNOWN,
    CONTRADICTION,
    NO_TABLE,
    PARENTS,
    STARTS,
    STRANGE_PROFILE,
    Fit,
    Room,
    Slices,
)
from stacks.engine.describe import Described
from stacks.nvidia.gfd import MIG_CONFIG, MIG_STATE, Labels
from stacks.nvidia.group import Group
from stacks.nvidia.placement import Table, named, room, table_of, together

_BALANCED = "all-balanced"


def rooms(found: list[Group], labels: Labels, about: Described) -> tuple[Room, ...]:
    """One room for the cards of the node that are cut; none where no card is."""
    cut = [group for group in found if group.profile and group.cards]
    if not cut:
        return ()
    there = tuple(sorted(Slices(group.profile, group.cards or 0) for group in cut))
    cards = _cards(found, labels, about)
    table = table_of(about.model)
    if table is None:
        return (Room(cards=cards, each=False, slices=there, unknown=NO_TABLE),)
    names = {profile: named(table, profile) for profile, _ in there}
    source = f"NVIDIA's placement table of the {table.name}"
    if None in names.values():
        return (Room(cards=cards, each=False, slices=there, source=source, unknown=STRANGE_PROFILE),)
    counts = tuple(sorted(Slices(names[profile] or "", number) for profile, number in there))
    if not cards:
        return (Room(cards=None, each=False, slices=there, source=source, unknown=CARDS_UNKNOWN),)
    return (_room(table, counts, cards, _alike(labels, cut, cards, table), source),)


def _room(table: Table, counts: tuple[Slices, ...], cards: int, alike: bool, source: str) -> Room:
    if not alike:
        fits = tuple(Fit(name, 0, most) for name, most in together(table, counts, cards))
        over = sum(table.profiles[name].compute * number for name, number in counts) > table.compute * cards
        unknown = CONTRADICTION if over else PARENTS
        return Room(cards=cards, each=False, slices=counts, fits=() if over else fits, source=source, unknown=unknown)
    mine = tuple(Slices(name, number // cards) for name, number in counts)
    numbers = room(table.name, mine)
    if numbers is None:
        return Room(cards=cards, slices=mine, source=source, unknown=CONTRADICTION)
    exact = all(sure == most for _, sure, most in numbers)
    fits = tuple(Fit(*one) for one in numbers)
    return Room(cards=cards, slices=mine, fits=fits, source=source, unknown="" if exact else STARTS)


def _cards(found: list[Group], labels: Labels, about: Described) -> int | None:
    """How many cards are cut; None when it is not known."""
    whole = [group.cards for group in found if not group.profile]
    if None in whole:
        return None
    boards = [group.boards for group in found if group.profile and group.cards and group.boards]
    if labels.slice_profile or boards:
        return boards[0] if len(boards) == 1 else None
    total = labels.count if labels.mig == "mixed" else about.cards
    number = total - sum(each or 0 for each in whole) if total is not None else 0
    return number if number > 0 else None


def _alike(labels: Labels, cut: list[Group], cards: int, table: Table) -> bool:
    """Whether each of the cards has the same slices: there is one, the manager has cut them so, or there is no other way."""
    numbers = [group.cards or 0 for group in cut]
    if any(number % cards for number in numbers):
        return False
    return cards == 1 or _cut_alike(labels, cut) or _no_other_way(table, cut, cards)


def _cut_alike(labels: Labels, cut: list[Group]) -> bool:
    config = labels.all.get(MIG_CONFIG, "")
    one = len(cut) == 1 and config == f"all-{cut[0].profile}"
    return labels.all.get(MIG_STATE) == "success" and (one or config == _BALANCED)


def _no_other_way(table: Table, cut: Iterable[Group], cards: int) -> bool:
    """Whether all cards have as many of one profile as a card can have."""
    groups = list(cut)
    name = named(table, groups[0].profile) or ""
    alone = {one: most for one, _, most in room(table.name, ()) or ()}
    return len(groups) == 1 and (groups[0].cards or 0) == alone.get(name, 0) * cards
