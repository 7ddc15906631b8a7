"""What does not go together on one node: its promises beside its measurements. Pure; times are seconds since 1970.

A rule speaks only where both sides are known; what is not known makes no statement, neither for nor against one that was made.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from inventory.compared import entries
from inventory.stacks.engine.base import MEMORY, PARTS, SHARES
from wording.said import sentence, series

GIB, MIB = 2**30, 2**20
#: What lies on a card without any program: driver, firmware, page tables. Idle cards show up to 500 MiB, large ones 1 %; where an
#: exporter tells what is reserved, it may have counted that as used.
BASE_BYTES, BASE_RATIO = 500 * MIB, 0.01
#: A context of each program, which no request counts: a few hundred MiB.
CONTEXT_BYTES = 500 * MIB
#: What was said is said until the figure is lower by so much: it moves by 16 MiB between rounds without being written.
SLACK_BYTES = 256 * MIB
#: ECC takes a sixteenth of a card's memory, the driver some more; tables in GB instead of GiB are off by 7 %.
OFF_RATIO, OFF_BYTES = 0.1, GIB
#: A condition has lasted for so long before it is told, and at least three rounds.
LASTED_S = 300.0
#: A node that has just come gets its exporter after its plugin.
MISSING_S = 900.0
#: Names in one text.
MOST_NAMED = 6


class Key(NamedTuple):
    """Which finding it is. card, pod: "" for none."""

    code: str
    card: str = ""
    pod: str = ""


class Claim(msgspec.Struct, frozen=True):
    """A condition that holds now. what: it in a sentence, with its numbers; action: what to do.

    numbers: the bytes in it, which move all the time; exact: what else is in it, so that any change of it is one. wait_s: how long it
    has to last. since: from when on, where that is known without having watched.
    """

    key: Key
    what: str
    action: str
    numbers: tuple[int, ...] = ()
    exact: str = ""
    wait_s: float = LASTED_S
    since: float | None = None


class Holder(msgspec.Struct, frozen=True):
    """A hold on a card. used: counted for this holder alone; None: not known."""

    pod: str
    memory_bytes: int | None
    used: int | None = None


class Card(msgspec.Struct, frozen=True, kw_only=True):
    """A card of the mirror beside what is measured of it now.

    fresh: it is measured now. free: known to have no holder. hidden: the exporter says that several pods are on it, not which. used,
    total, reserved: by the exporter; reserved 0 where it does not tell. legitimate: the exporter names a plugin's or operator's pod
    on it, or it is cut into slices. named: pods that it names. lost_at: since when it is measured no more.
    """

    key: str
    label: str
    mode: str
    physical_bytes: int | None = None
    allocated_bytes: int | None = None
    free: bool = False
    holders: tuple[Holder, ...] = ()
    hidden: bool = False
    fresh: bool = False
    used: int | None = None
    total: int | None = None
    reserved: int = 0
    named: tuple[str, ...] = ()
    legitimate: bool = False
    lost_at: float | None = None


class Idle(msgspec.Struct, frozen=True):
    """A hold without work, as the idle rule has it."""

    pod: str
    card: str
    memory_bytes: int | None
    cards: float | None
    since: float
    sure: bool


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A node. unplaced: holders whose card is not known. boards: whole cards by the mirror; None: not known. named_boards: by its
    exporter, None where it names none. elsewhere: cards that are measured on other nodes.
    """

    name: str
    ready: bool = True
    windows: bool = False
    cards: tuple[Card, ...] = ()
    unplaced: int = 0
    boards: int | None = None
    named_boards: int | None = None
    idle: tuple[Idle, ...] = ()
    elsewhere: int = 0


def claims(node: Node, known: frozenset[Key] = frozenset()) -> dict[Key, Claim]:
    """What holds now. known: what was said or begun before, which ends later than it begins."""
    found: list[Claim] = []
    for card in node.cards:
        if card.fresh:
            found += _overused(card, node.unplaced, known)
            found += _unheld(card, node, known)
            found += _other_memory(card)
    if node.ready:
        found += _silent(node)
        found += _missing(node)
        found += _other_count(node)
    found += _idle(node)
    return {claim.key: claim for claim in found}


def unknown(node: Node, key: Key) -> bool:
    """Whether it cannot be said now if this is still so."""
    if not key.card:
        return key.code in (entries.IDLE, entries.COUNT) and any(not card.fresh for card in node.cards)
    card = next((card for card in node.cards if card.key == key.card), None)
    if card is None or not card.fresh:
        return card is not None
    if key.code == entries.MEMORY:
        return card.total is None
    if key.pod:
        return any(one.pod == key.pod and one.used is None for one in card.holders)
    held_otherwise = bool(card.holders) if key.code == entries.UNHELD else not card.holders
    return not held_otherwise and (card.used is None or node.unplaced > 0 or card.hidden)


def base_bytes(card: Card) -> int:
    """What may lie on a card without any program."""
    size = card.total or card.physical_bytes or 0
    return BASE_BYTES + max(int(size * BASE_RATIO), card.reserved)


def _bound(key: Key, bound: int, known: frozenset[Key]) -> int:
    return bound - SLACK_BYTES if key in known else bound


_ISOLATION = sentence(
    "Nothing isolates the card's memory: when it is full, the next allocation of a neighbour fails. Set "
    "the limit that the sharing system has for containers, or ask for as much as is used."
)


def _overused(card: Card, unplaced: int, known: frozenset[Key]) -> list[Claim]:
    """Of a card that is given out by memory. One holder is named where it is counted by itself, else all together."""
    metered = card.mode in (MEMORY, PARTS) or (card.mode == SHARES and bool(card.allocated_bytes))
    if not metered or not card.holders:
        return []
    found = []
    for one in card.holders:
        key = Key(entries.OVERUSED, card.key, one.pod)
        given = one.memory_bytes
        if one.used is not None and given and one.used > _bound(key, given + CONTEXT_BYTES, known):
            what = sentence(
                "{pod} was given {given} of {label} and uses {used}.",
                pod=one.pod,
                given=size(given),
                label=_label(card),
                used=size(one.used),
            )
            found.append(Claim(key, what, _ISOLATION, (one.used, given)))
    whole = all(one.memory_bytes is not None for one in card.holders) and not unplaced and not card.hidden
    if found or not whole or card.used is None or not card.allocated_bytes:
        return found
    key = Key(entries.OVERUSED, card.key)
    pods = list(dict.fromkeys(one.pod for one in card.holders))
    margin = base_bytes(card) + CONTEXT_BYTES * len(pods)
    if card.used <= _bound(key, card.allocated_bytes + margin, known):
        return []
    what = sentence(
        "{used} of {label} are in use, and {allocated_bytes} of it are allocated, to {pods}; driver and "
        "contexts explain {margin} more.",
        used=size(card.used),
        label=_label(card),
        allocated_bytes=size(card.allocated_bytes),
        pods=names(pods),
        margin=size(margin),
    )
    return [Claim(key, what, _ISOLATION, (card.used, card.allocated_bytes))]


def _unheld(card: Card, node: Node, known: frozenset[Key]) -> list[Claim]:
    """On Windows the desktop draws on the card; a hold whose card is not known may be on this one."""
    sure = card.free and not card.holders and not node.unplaced and not card.legitimate and not node.windows
    key = Key(entries.UNHELD, card.key)
    if not sure or card.used is None or card.used <= _bound(key, base_bytes(card), known):
        return []
    named = (
        sentence(" The exporter names {named} on it.", named=names(card.named))
        if card.named
        else sentence(" The exporter names no pod on it.")
    )
    what = sentence(
        "{used} of {label} are in use and 0 GiB are allocated: by what the cluster records nobody holds it. "
        "Driver and firmware need less than {base}.{named}",
        used=size(card.used),
        label=_label(card),
        base=size(base_bytes(card)),
        named=named,
    )
    action = sentence(
        "Look on the node whose processes these are: one that outlived its pod, or one started past the scheduler."
    )
    return [Claim(key, what, action, (card.used,))]


def _other_memory(card: Card) -> list[Claim]:
    said, measured = card.physical_bytes, card.total
    if not said or not measured or abs(said - measured) <= max(OFF_RATIO * said, OFF_BYTES):
        return []
    what = sentence(
        "{label} has {said} by what the cluster records, and {measured} by its exporter.",
        label=sentence("Card {card}", card=card.label.removeprefix("card ")),
        said=size(said),
        measured=size(measured),
    )
    action = sentence("Look whether the label or setting is of this card; the card's own figure is what can be used.")
    return [Claim(Key(entries.MEMORY, card.key), what, action, (said, measured))]


def _silent(node: Node) -> list[Claim]:
    """One for the node, however many of its cards it is. Where no card of the cluster is measured it is said of the cluster."""
    lost = [card for card in node.cards if card.lost_at is not None and not card.fresh]
    heard = node.elsewhere + sum(card.fresh for card in node.cards)
    if not lost or not heard:
        return []
    last = max(card.lost_at or 0.0 for card in lost)
    first = min(card.lost_at or 0.0 for card in lost)
    what = sentence(
        "{lost} of {cards} cards of this node are measured no more ({names}); their last values are of before {last}.",
        lost=len(lost),
        cards=len(node.cards),
        names=names(_label(card) for card in lost),
        last=moment(last),
    )
    action = sentence(
        "Look at the exporter's pod on the node, whether it is scraped, and whether the driver still answers."
    )
    return [Claim(Key(entries.SILENT), what, action, exact=f"{len(lost)} {len(node.cards)} {last:.0f}", since=first)]


def _missing(node: Node) -> list[Claim]:
    never = all(not card.fresh and card.lost_at is None for card in node.cards)
    if not node.cards or not never or node.named_boards is not None or not node.elsewhere:
        return []
    what = sentence(
        "None of the {number} cards of this node was ever measured; {elsewhere} others of the cluster are.",
        number=len(node.cards),
        elsewhere=node.elsewhere,
    )
    action = sentence("Look whether the exporter runs on the node (node selector, tolerations, labels) and is scraped.")
    return [Claim(Key(entries.MISSING), what, action, exact=str(len(node.cards)), wait_s=MISSING_S)]


def _other_count(node: Node) -> list[Claim]:
    """Where a card of the mirror was measured and is no more, that is what is said."""
    boards, named = node.boards, node.named_boards
    if not boards or not named or boards == named or any(card.lost_at is not None for card in node.cards):
        return []
    what = sentence(
        "The exporter names {named} cards of this node, and the mirror has {boards}.", named=named, boards=boards
    )
    action = sentence("Compare what the vendor's tool shows with what the device plugin offers.")
    return [Claim(Key(entries.COUNT), what, action, exact=f"{named} {boards}", wait_s=MISSING_S)]


def _idle(node: Node) -> list[Claim]:
    if not node.idle:
        return []
    held = sorted(node.idle, key=lambda one: (-(one.memory_bytes or 0), -(one.cards or 0.0), one.pod, one.card))
    told = series((_hold(one) for one in held[:MOST_NAMED]), "; ")
    more = sentence("; and {number} more", number=len(held) - MOST_NAMED) if len(held) > MOST_NAMED else ""
    memory = [one.memory_bytes for one in held if one.memory_bytes is not None]
    worth = sentence(" They hold {memory} in all.", memory=size(sum(memory))) if memory else ""
    unsure = sum(not one.sure for one in held)
    doubt = (
        sentence(" Of {unsure} it is likely only: short work may have been missed.", unsure=unsure) if unsure else ""
    )
    what = sentence(
        "{number} holds on this node do no work: {told}{more}.{worth}{doubt}",
        number=len(held),
        told=told,
        more=more,
        worth=worth,
        doubt=doubt,
    )
    action = sentence("Ask their owners; Allocations, idle, lists what could be taken back in the whole cluster.")
    # Each look finds the same while nothing changes.
    return [Claim(Key(entries.IDLE), what, action, exact=what, wait_s=0.0, since=min(one.since for one in held))]


def _hold(one: Idle) -> str:
    parts = [one.card or sentence("card not known")]
    if one.memory_bytes is not None:
        parts.append(size(one.memory_bytes))
    return sentence(
        "{pod} ({names}, no work since {since})", pod=one.pod, names=series(parts, ", "), since=moment(one.since)
    )


def _label(card: Card) -> str:
    return sentence("card {card}", card=card.label.removeprefix("card "))


def names(found: Iterable[str]) -> str:
    """The first few, and how many more."""
    listed = list(found)
    more = sentence(" and {number} more", number=len(listed) - MOST_NAMED) if len(listed) > MOST_NAMED else ""
    return series(listed[:MOST_NAMED], ", ") + more


def size(memory: int) -> str:
    """Bytes as GiB for a sentence."""
    return f"{memory / GIB:.4g} GiB"


def moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
