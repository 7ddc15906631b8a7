"""What does not go together on one node: its promises beside its measurements. Pure; times are seconds since 1970.

A rule speaks only where both sides are known; what is not known makes no statement, neither for nor against one that was made.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from inventory.compared import entries
from stacks.engine.base import MEMORY, PARTS, SHARES
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
    held_otherwise = bool(card.holders) if key.code == entries.NOT_ALLOCATED else not card.holders
    return not held_otherwise and (card.used is None or node.unplaced > 0 or card.hidden)


def base_bytes(card: Card) -> int:
    """What may lie on a card without any program."""
    size = card.total or card.physical_bytes or 0
    return BASE_BYTES + max(int(size * BASE_RATIO), card.reserved)


def _bound(key: Key, bound: int, known: frozenset[Key]) -> int:
    return bound - SLACK_BYTES if key in known else bound


_ISOLATION = sentence(
    "The memory of the card is not isolated: when it is full, other pods run out of memory. Set the memory limit of "
    "the stack for the container, or request as much memory as it uses."
)


def _overused(card: Card, unplaced: int, known: frozenset[Key]) -> list[Claim]:
    """Of a card that is allocated by memory. One holder is named where it is counted by itself, else all together."""
    metered = card.mode in (MEMORY, PARTS) or (card.mode == SHARES and bool(card.allocated_bytes))
    if not metered or not card.holders:
        return []
    found = []
    for one in card.holders:
        key = Key(entries.OVERUSED, card.key, one.pod)
        given = one.memory_bytes
        if one.used is not None and given and one.used > _bound(key, given + CONTEXT_BYTES, known):
            what = sentence(
                "{pod} uses {used} on {label}, {given} allocated.",
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
        "{used} in use on {label}, {allocated_bytes} allocated to {pods}. Driver and contexts explain only {margin} more.",
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
    key = Key(entries.NOT_ALLOCATED, card.key)
    if not sure or card.used is None or card.used <= _bound(key, base_bytes(card), known):
        return []
    named = (
        sentence(" The exporter reports {named} on it.", named=names(card.named))
        if card.named
        else sentence(" The exporter reports no pod on it.")
    )
    what = sentence(
        "{used} in use on {label}, 0 GiB allocated: no pod has this card. Driver and firmware need less than {base}.{named}",
        used=size(card.used),
        label=_label(card),
        base=size(base_bytes(card)),
        named=named,
    )
    action = sentence(
        "List the processes on the node: one may have outlived its pod, or was started outside Kubernetes."
    )
    return [Claim(key, what, action, (card.used,))]


def _other_memory(card: Card) -> list[Claim]:
    said, measured = card.physical_bytes, card.total
    if not said or not measured or abs(said - measured) <= max(OFF_RATIO * said, OFF_BYTES):
        return []
    what = sentence(
        "{label} has {recorded} in the records of the cluster, but {measured} in its exporter.",
        label=sentence("Card {card}", card=card.label.removeprefix("card ")),
        recorded=size(said),
        measured=size(measured),
    )
    action = sentence(
        "Check that the label or setting belongs to this card. The value that the card reports is usable memory."
    )
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
        "The exporter no longer reports {lost} of {cards} cards of this node ({names}). Their last values are from "
        "before {last}.",
        lost=len(lost),
        cards=len(node.cards),
        names=names(_label(card) for card in lost),
        last=moment(last),
    )
    action = sentence("Check the exporter pod on the node, the scrape in Prometheus, and the driver.")
    return [Claim(Key(entries.SILENT), what, action, exact=f"{len(lost)} {len(node.cards)} {last:.0f}", since=first)]


def _missing(node: Node) -> list[Claim]:
    never = all(not card.fresh and card.lost_at is None for card in node.cards)
    if not node.cards or not never or node.named_boards is not None or not node.elsewhere:
        return []
    what = sentence(
        "No exporter has ever reported a card of this node ({number} in total). Other cards of the cluster with "
        "metrics: {elsewhere}.",
        number=len(node.cards),
        elsewhere=node.elsewhere,
    )
    action = sentence(
        "Check that the exporter runs on the node (node selector, tolerations, labels) and that Prometheus scrapes it."
    )
    return [Claim(Key(entries.MISSING), what, action, exact=str(len(node.cards)), wait_s=MISSING_S)]


def _other_count(node: Node) -> list[Claim]:
    """Where a card of the mirror was measured and is no more, that is what is said."""
    boards, named = node.boards, node.named_boards
    if not boards or not named or boards == named or any(card.lost_at is not None for card in node.cards):
        return []
    what = sentence("Cards of this node: {named} in the exporter, {boards} in gpudash.", named=named, boards=boards)
    action = sentence("Compare the output of the tool of the vendor with the resources of the device plugin.")
    return [Claim(Key(entries.COUNT), what, action, exact=f"{named} {boards}", wait_s=MISSING_S)]


def _idle(node: Node) -> list[Claim]:
    if not node.idle:
        return []
    held = sorted(node.idle, key=lambda one: (-(one.memory_bytes or 0), -(one.cards or 0.0), one.pod, one.card))
    told = series((_hold(one) for one in held[:MOST_NAMED]), "; ")
    more = sentence("; and {number} more", number=len(held) - MOST_NAMED) if len(held) > MOST_NAMED else ""
    memory = [one.memory_bytes for one in held if one.memory_bytes is not None]
    worth = sentence(" Total: {memory}.", memory=size(sum(memory))) if memory else ""
    unsure = sum(not one.sure for one in held)
    doubt = (
        sentence(" {unsure} of them are likely only, based on samples; short activity may be missed.", unsure=unsure)
        if unsure
        else ""
    )
    what = sentence(
        "Idle allocations on this node: {number}. {list}{more}.{worth}{doubt}",
        number=len(held),
        list=told,
        more=more,
        worth=worth,
        doubt=doubt,
    )
    action = sentence(
        "Ask the owners whether they still need the cards. The tab Idle of Allocations lists all reclaimable allocations."
    )
    # Each look finds the same while nothing changes.
    return [Claim(Key(entries.IDLE), what, action, exact=what, wait_s=0.0, since=min(one.since for one in held))]


def _hold(one: Idle) -> str:
    parts = [one.card or sentence("card unidentified")]
    if one.memory_bytes is not None:
        parts.append(size(one.memory_bytes))
    return sentence(
        "{pod} ({names}, idle since {since})", pod=one.pod, names=series(parts, ", "), since=moment(one.since)
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
