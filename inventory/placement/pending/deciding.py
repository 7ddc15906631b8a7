"""The one reason that decides why a pod waits, in one line, for lists and pages alike.

What the synced data show comes first: a claim without devices, a mistake of the request, too little memory or too few cards, what
keeps pods off the node that fits. Where nothing does, the scheduler knows something that is not synced, and its own reason is told.
Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from inventory.placement.pending import closest
from inventory.placement.pending.asked import Ask
from inventory.placement.pending.board import Board, Offer
from inventory.placement.pending.closest import Near
from inventory.placement.pending.devices import Alike, Wanted
from inventory.placement.pending.mistakes import mistakes
from inventory.placement.pending.reasons import decisive, lines
from inventory.placement.pending.words import claim_text, mistake_text
from inventory.queries.claimed import Claimed
from kube.unschedulable import Unschedulable
from stacks.dra.asks import in_short
from stacks.dra.selectors import matches
from wording.amounts import count, gib
from wording.said import cut, quote, sentence

CLAIM, NO_DEVICE, DEVICES_TAKEN, MEMORY, CARDS, SCHEDULER, NO_REPORT = (
    *("claim", "no-such-card", "cards-allocated", "memory", "cards", "scheduler", "no-report"),
)
#: Of a scheduler's own words in one line.
_LONGEST = 300


@dataclass(frozen=True)
class Deciding:
    """code: of this module, of a mistake or of a lack. text: a sentence of ours, or what the scheduler wrote."""

    code: str
    text: str


#: Of a pod that does not wait.
NOTHING = Deciding("", "")


@dataclass(frozen=True)
class Waiting:
    """A pending pod. told: the scheduler's message, taken apart."""

    asks: list[Ask]
    claims: Sequence[Claimed]
    wanted: list[Wanted]
    told: Unschedulable


def deciding(pod: Waiting, board: Board, near: Sequence[Near], cards: Sequence[Alike]) -> Deciding:
    """board: of its cluster. near: the nodes that come closest, with their taints. cards: those that claims can have."""
    return next(_reasons(pod, board, near, cards))


def _reasons(pod: Waiting, board: Board, near: Sequence[Near], cards: Sequence[Alike]) -> Iterator[Deciding]:
    yield from (Deciding(CLAIM, text) for one in pod.claims if (text := claim_text(one)))
    yield from (Deciding(one.code, mistake_text(one)) for one in mistakes(pod.asks, board))
    yield from (found for one in pod.wanted if (found := _of_devices(one, cards)))
    if near and near[0].lacks:
        yield from (found for ask in pod.asks if (found := _of_amount(ask, board, near[0])))
        yield from _of_node(near[0])
    yield _of_scheduler(pod.told)


def _of_devices(wanted: Wanted, cards: Sequence[Alike]) -> Deciding | None:
    """What no card can give, and what all that can have given."""
    mine = [one for one in cards if wanted.takes(one.device) is not False]
    number, free = sum(one.cards for one in mine), sum(one.free for one in mine)
    told = {"wanted": count(wanted.number), "free": count(free), "number": count(number)}
    if cards and not mine:
        return Deciding(NO_DEVICE, _of_none(wanted, cards))
    if free >= wanted.number or not cards:
        return None
    if wanted.selectors:
        text = sentence(
            "{wanted} requested with {conditions}: {free} of {number} cards free", conditions=wanted.conditions, **told
        )
    else:
        text = sentence("{wanted} requested: {free} of {number} cards free", **told)
    return Deciding(DEVICES_TAKEN, text)


def _of_none(wanted: Wanted, cards: Sequence[Alike]) -> str:
    """Of a condition that no card fulfils, where it is one of memory what the largest card has."""
    failed = [one for one in wanted.selectors if all(matches(one, card.device) is False for card in cards)]
    size = next((one for one in map(in_short, failed) if one.startswith("memory ")), "")
    if not size:
        return sentence("No card has {conditions}", conditions=", ".join(map(in_short, failed)) or wanted.conditions)
    most = max(one.device.capacity.get("memory", 0) for one in cards)
    return sentence("No card has {conditions}. Largest: {most}.", conditions=size, most=gib(most))


def _of_amount(ask: Ask, board: Board, near: Near) -> Deciding | None:
    """What even the closest node has too little of, though it is not kept off."""
    short = {lack.code for lack in near.lacks if lack.what == ask.resource}
    nodes = [one for one in board.of({ask.stack} if ask.stack else ()) if not one.reason]
    if closest.BLOCK in short or closest.TOO_SMALL in short:
        size = next(lack.wanted for lack in near.lacks if lack.what == ask.resource)
        # Nodes may count in another unit, where the same number is another size.
        nodes = [one for one in nodes if ask.bytes_by(one.unit) == size]
        return _of_most(MEMORY, nodes, lambda one: one.gap, size)
    if closest.SHORT in short:
        return _of_most(CARDS, nodes, lambda one: _free(one, ask.resource), ask.quantity, ask.resource)
    return None


def _free(one: Offer, resource: str) -> int | None:
    found = one.resources.get(resource)
    return found.free if found is not None else None


def _of_most(
    code: str, nodes: Sequence[Offer], amount: Callable[[Offer], int | None], wanted: int, resource: str = ""
) -> Deciding | None:
    """Where the most is free, in the unit that is asked for. resource: "" for memory of a card."""
    known = [(found, one.node) for one in nodes if (found := amount(one)) is not None]
    most, node = max(known, key=lambda one: one[0], default=(0, ""))
    if code == CARDS:
        told = {"wanted": count(wanted), "resource": resource}
        if most <= 0:
            return Deciding(code, sentence("No node has {wanted} × {resource} free. Free: 0.", **told))
        text = sentence(
            "No node has {wanted} × {resource} free. Most: {most} on {node}.", most=count(most), node=node, **told
        )
        return Deciding(code, text)
    if most <= 0:
        return Deciding(code, sentence("No card has {wanted} free. Largest free block: 0.", wanted=gib(wanted)))
    text = sentence(
        "No card has {wanted} free. Largest: {most} on {node}.", wanted=gib(wanted), most=gib(most), node=node
    )
    return Deciding(code, text)


def _of_node(near: Near) -> Iterator[Deciding]:
    """What keeps the pod off the node that fits."""
    codes = {lack.code for lack in near.lacks}
    if codes & {closest.SHORT, closest.BLOCK, closest.TOO_FEW, closest.TOO_SMALL, closest.NOT_OFFERED, closest.UNKNOWN}:
        return
    for lack in near.lacks:
        if lack.code == closest.TAINT:
            yield Deciding(
                lack.code,
                sentence("{node} fits, but its taint {taint} is not tolerated", node=near.node, taint=lack.what),
            )
        elif lack.code == closest.CORDONED:
            yield Deciding(lack.code, sentence("{node} fits, but is cordoned", node=near.node))
        elif lack.code == closest.NOT_READY:
            yield Deciding(lack.code, sentence("{node} fits, but is not ready", node=near.node))


def _of_scheduler(told: Unschedulable) -> Deciding:
    found = decisive(lines(told.reasons))
    if found is not None:
        says = found.meaning.says or quote(cut(found.texts[0], _LONGEST))
        if found.nodes is None or told.nodes is None:
            return Deciding(SCHEDULER, says)
        # The sentences speak of "these nodes".
        return Deciding(
            SCHEDULER,
            sentence("{n} of {all} nodes: {reason}", n=count(found.nodes), all=count(told.nodes), reason=says),
        )
    if told.rest:
        return Deciding(SCHEDULER, quote(cut(told.rest, _LONGEST)))
    return Deciding(NO_REPORT, sentence("No scheduler has reported on this pod yet."))
