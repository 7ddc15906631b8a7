"""A card as a bar: one piece per allocation, what is free, overcommitted and unknown.

Pure: takes rows, makes what the templates print. A bar never claims more than its rows say: a card whose holders or memory are not
known is hatched and says why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from inventory.models import Allocation, Card
from inventory.models.choices import CardState
from inventory.queries.measured import NOT_COLLECTED, Usage
from pages.frame import amounts
from pages.frame.holders import Hue, hue
from stacks.engine import base

#: Pods that are named in one line.
_NAMED = 3


@dataclass(frozen=True)
class Piece:
    """Part of an allocation. width: 0 to 1 as text. label: what is written on it; title: all of it. pod: "" where it is hidden."""

    width: str
    hue: Hue
    label: str
    title: str
    namespace: str
    pod: str


@dataclass(frozen=True)
class Bar:
    """One card's bar. rest: words for the unallocated part. full_at: where full is, when over.

    used: what is measured as in use, 0 to 1 of the bar's length, "" where it is not; used_title: in words.

    kind: "", "over", "unknown", or "unmetered" (how much more fits is not counted).
    """

    pieces: list[Piece]
    kind: str
    rest: str
    full_at: str = ""
    used: str = ""
    used_title: str = ""


def bar_of(card: Card, holders: Sequence[Allocation], usage: Usage = NOT_COLLECTED) -> Bar:
    """The bar of a card with its allocations now, and its measured memory."""
    return _with_used(_allocated_bar(card, holders), card, usage)


def of_then(card: Card, holders: Sequence[Allocation]) -> Bar:
    """Of another time than now: who held it, side by side, and nothing of how full it was."""
    return Bar(_equal(holders), "" if holders else "unknown", "" if holders else _("no recorded allocation"))


def _with_used(bar: Bar, card: Card, usage: Usage) -> Bar:
    """Along the same length: a bar that is longer than full shows what is used in proportion."""
    used, size = usage.memory_used_bytes, card.memory_total_bytes or card.memory_physical_bytes
    if used is None or not (size := size or usage.memory_measured_bytes):
        return bar
    length = max(size, card.memory_allocated_bytes or 0) if bar.kind == "over" and card.mode != base.SHARES else size
    title = _("%(used)s used, measured by %(source)s") % {"used": amounts.gib(used), "source": usage.usage_source}
    return replace(bar, used=amounts.width(used, length), used_title=title)


def _allocated_bar(card: Card, holders: Sequence[Allocation]) -> Bar:
    if card.mode == base.SHARES:
        return _shares_bar(card, holders)
    if card.state == CardState.UNKNOWN:
        return Bar([_piece(held, 0, 1) for held in holders], "unknown", why_unknown(card))
    if card.mode == base.WHOLE and (card.memory_total_bytes is None or not card.memory_total_bytes):
        return Bar(_equal(holders), "", "" if holders else _("free, memory unknown"))
    return _memory_bar(card, holders)


def _memory_bar(card: Card, holders: Sequence[Allocation]) -> Bar:
    total, held = card.memory_total_bytes, card.memory_allocated_bytes
    if total is None or held is None:
        return Bar(_equal(holders), "unknown", why_unknown(card))
    scale = max(total, held)
    pieces = [_piece(one, one.memory_bytes or 0, scale) for one in holders if not _beside(one)]
    if held > total:
        return Bar(pieces, "over", "", amounts.width(total, scale))
    if held == total:
        return Bar(pieces, "", "")
    # What is unallocated on a card that its stack marks unhealthy is not free.
    text = _("%(amount)s not allocatable") if _withheld(card) else _("%(amount)s free")
    return Bar(pieces, "", text % {"amount": amounts.gib(total - held)})


def _withheld(card: Card) -> bool:
    return card.memory_free_bytes is not None and card.memory_free_bytes <= 0


def _shares_bar(card: Card, holders: Sequence[Allocation]) -> Bar:
    """Time-slicing and DirectX: n pods have it, the memory of each is not metered."""
    if card.state == CardState.UNKNOWN:
        return Bar([], "unknown", why_unknown(card))
    taken = sum(max(1, held.quantity) for held in holders)
    # Where shares are not counted, one more always fits: such a bar is never drawn full.
    places = taken + 1 if card.shares is None else max(card.shares, taken)
    pieces = [_piece(held, max(1, held.quantity), places) for held in holders]
    if card.shares is None:
        return Bar(pieces, "unmetered" if holders else "", _("memory not metered"))
    if taken > card.shares:
        return Bar(pieces, "over", "", amounts.width(card.shares, places))
    left = card.shares - taken
    rest = _free_shares(left, card.shares) if left else ""
    return Bar(pieces, "", rest)


def _free_shares(left: int, shares: int) -> str:
    text = ngettext("%(left)d of %(shares)d share free", "%(left)d of %(shares)d shares free", shares)
    return text % {"left": left, "shares": shares}


def _equal(holders: Sequence[Allocation]) -> list[Piece]:
    return [_piece(held, 1, max(1, len(holders))) for held in holders]


def _piece(held: Allocation, part: int, whole: int) -> Piece:
    name, amount = held.who, amount_of(held)
    title = " · ".join(filter(None, (name, held.container, amount)))
    label = f"{name if held.foreign else held.pod} {amount}"
    return Piece(amounts.width(part, whole), hue(held.namespace), label, title, held.namespace, held.pod)


def amount_of(held: Allocation) -> str:
    """What an allocation takes, in words: memory where it is metered, else shares or cards."""
    if _beside(held):
        return _("same claim")
    if held.memory_bytes is not None:
        text = amounts.gib(held.memory_bytes)
        return f"{text} · {held.core_percent}%" if held.core_percent is not None else text
    if held.mode == base.SHARES:
        return ngettext("%(n)d share", "%(n)d shares", held.quantity) % {"n": held.quantity}
    if held.mode == base.WHOLE:
        return ngettext("%(n)d card", "%(n)d cards", held.quantity) % {"n": held.quantity}
    return ngettext("%(n)d unit", "%(n)d units", held.quantity) % {"n": held.quantity}


def why_unknown(card: Card) -> str:
    """Why it is unknown how full a card is."""
    if card.mode == base.MEMORY:
        if card.memory_total_bytes is None:
            return _("unknown: no source reports the card's memory")
        return _("unknown: the memory of an allocation is unreadable")
    return _("unknown: the kubelet reports only a count for this node")


def why_no_memory(card: Card) -> str:
    """Why a card has no memory figure."""
    if card.mode == base.SHARES:
        return _("The card is time-shared. Its memory is not metered.")
    return _("No label, annotation or table has the card's allocatable memory.")


def _beside(held: Allocation) -> bool:
    """Whether it has nothing of its own: what it uses is held by another pod of the same claim."""
    return not held.quantity and held.evidence in (base.CLAIM, base.COUNT_ONLY)


def beside_words(holders: Sequence[Allocation]) -> str:
    """Pods that use the card by another pod's claim: they have no piece in the bar."""
    names = sorted({held.who for held in holders if _beside(held)})
    if not names:
        return ""
    more = f" + {len(names) - _NAMED}" if len(names) > _NAMED else ""
    return _("same claim: %(pods)s") % {"pods": ", ".join(names[:_NAMED]) + more}


def holds_words(card: Card) -> str:
    """ "held by 3, memory not metered" for shared cards."""
    text = ngettext("allocated to %(n)d pod", "allocated to %(n)d pods", card.allocations_count) % {
        "n": card.allocations_count
    }
    return _("%(pods)s, memory not metered") % {"pods": text}
