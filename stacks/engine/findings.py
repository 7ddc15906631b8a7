"""What is wrong with the promises on the cards of a node, whichever stack made them.

Must not know any stack by name. Over-commit is judged in the stack's own unit where it counts in one, so it shows also where
the unit is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from stacks.engine.base import ERROR, MEMORY, SHARES, WARNING, WHOLE, Allocation, Card, CardReport, Finding, StackReport
from stacks.engine.joining import JoinedCards
from wording.said import sentence, series

GIB = 2**30


def over_committed(
    reports: list[StackReport], joined: JoinedCards, cards: tuple[CardReport, ...], unplaced: tuple[Allocation, ...]
) -> list[Finding]:
    """`card-over-committed`: per card, and once for the node where the sum alone shows that some card must be."""
    unit = joined.primary.unit if joined.primary else None
    found = [finding for one in cards if one.allocations for finding in _card_over(one, unit)]
    if not found and unplaced and all(report.cards_known for report in reports):
        found = _node_over(joined, unplaced)
    return found


def _card_over(one: CardReport, unit: str | None) -> list[Finding]:
    card, held = one.card, one.allocations
    whole = units = slots = memory = 0
    for item in held:
        if item.mode == WHOLE:
            whole += item.quantity
            continue
        memory += item.memory_bytes or 0
        if item.mode == MEMORY:
            units += item.quantity
        else:
            slots += item.quantity
    said = ""
    if whole > 1:
        said = sentence("allocated {whole} times as a whole card", whole=whole)
    elif card.units is not None and units > card.units:
        said = sentence(
            "{allocated} of {units} {unit} allocated",
            allocated=units,
            units=card.units,
            unit=unit or sentence("units"),
        )
    elif card.units is None and card.memory_total_bytes is not None and memory > card.memory_total_bytes:
        said = sentence(
            "{allocated} of {memory} allocated",
            allocated=_size(memory),
            memory=_size(card.memory_total_bytes),
        )
    elif card.mode != MEMORY and card.shares is not None and slots > card.shares:
        said = sentence("{slots} of {shares} shares allocated", slots=slots, shares=card.shares)
    holders = held if whole > 1 else [item for item in held if item.mode != WHOLE] if said else ()
    return (
        [_over(sentence("Card {key}: {amount} ({pods}).", key=card.key, amount=said, pods=_pods(holders)), card)]
        if said
        else []
    )


def _node_over(joined: JoinedCards, unplaced: tuple[Allocation, ...]) -> list[Finding]:
    whole = [item for item in joined.allocations if item.mode == WHOLE]
    held = sum(item.quantity for item in whole)
    if held > len(joined.cards):
        text = sentence(
            "{allocated} whole cards of this node are allocated, but it has {number} ({whole}).",
            allocated=held,
            number=len(joined.cards),
            whole=_pods(whole),
        )
        return [_over(text, None)]
    parts = [item for item in joined.allocations if item.mode == MEMORY]
    units, promised = [card.units for card in joined.cards.values()], sum(item.quantity for item in parts)
    if parts and units and all(unit is not None for unit in units) and promised > sum(unit or 0 for unit in units):
        name = (joined.primary.unit if joined.primary else None) or sentence("units")
        text = sentence(
            "{allocated} of {units} {unit} of the memory of this node are allocated.",
            allocated=promised,
            units=sum(unit or 0 for unit in units),
            unit=name,
        )
        return [_over(text, None)]
    return []


def _over(what: str, card: Card | None) -> Finding:
    text = sentence("{what} Workloads may run out of memory. Delete or move a pod.", what=what)
    return Finding(code="card-over-committed", severity=ERROR, text=text, card=card.key if card else None)


def promised_twice(cards: tuple[CardReport, ...], unplaced: tuple[Allocation, ...]) -> list[Finding]:
    """`card-promised-twice`: by memory (or share) and as a whole; by card where it is known, else by counting."""
    certain = [one for one in cards if len({item.mode == WHOLE for item in one.allocations}) == 2]
    if certain:
        return [_twice(one) for one in certain]
    whole = [item for item in unplaced if item.mode == WHOLE]
    shared_cards = sum(1 for one in cards if one.allocations and one.allocations[0].mode != WHOLE)
    whole_cards = sum(1 for one in cards if one.allocations and one.allocations[0].mode == WHOLE)
    shared = max(shared_cards, 1 if any(item.mode != WHOLE for item in unplaced) else 0)
    wanted, free = sum(item.quantity for item in whole), len(cards) - shared - whole_cards
    if not shared or not wanted or not cards or wanted <= free:
        return []
    text = sentence(
        "{wanted} cards of this node are allocated as whole cards ({whole}) and {shared} in parts, but the node has "
        "{number}. At least one card is allocated twice. Use only one stack per node.",
        wanted=wanted + whole_cards,
        whole=_pods(whole),
        shared=shared,
        number=len(cards),
    )
    return [Finding(code="card-promised-twice", severity=ERROR, text=text)]


def _twice(one: CardReport) -> Finding:
    whole = [item for item in one.allocations if item.mode == WHOLE]
    parts = [item for item in one.allocations if item.mode != WHOLE]
    text = sentence(
        "Card {key} is allocated as a whole card to {whole} and in parts to {parts}. Use only one stack per node.",
        key=one.card.key,
        whole=_pods(whole),
        parts=_pods(parts),
    )
    return Finding(code="card-promised-twice", severity=ERROR, text=text, card=one.card.key)


def two_stacks(reports: list[StackReport], joined: JoinedCards) -> list[Finding]:
    """`two-stacks-one-card`: two stacks offer the same cards, and at least one of them promises more than a share."""
    offering = [report for report in reports if not report.beside and any(card.units != 0 for card in report.cards)]
    seen = sum(len(report.cards) for report in offering)
    # Cards of different vendors are different ones.
    vendors = Counter(report.vendor for report in offering)
    rivals = [report for report in offering if vendors[report.vendor] > 1]
    exclusive = any(card.mode != SHARES for report in rivals for card in report.cards)
    if not rivals or not exclusive or seen <= len(joined.cards):
        return []
    names = series(dict.fromkeys(report.stack for report in rivals), " and ")
    text = sentence(
        "{names} independently offer the cards of this node. A card may be allocated twice. Run only one of the "
        "device plugins on this node (by its node label), or use separate nodes for each.",
        names=names,
    )
    return [Finding(code="two-stacks-one-card", severity=WARNING, text=text)]


def units_mixed(accounts: Iterable[tuple[str, str | None]]) -> Finding | None:
    """`units-mixed`: nodes of one cluster count memory in different units. accounts: (node, unit or None)."""
    by_unit: dict[str, list[str]] = {}
    for node, unit in accounts:
        if unit:
            by_unit.setdefault(unit, []).append(node)
    if len(by_unit) < 2:
        return None
    said = series(
        (
            sentence("{unit} on {nodes}", unit=unit, nodes=_some(sorted(nodes)))
            for unit, nodes in sorted(by_unit.items())
        ),
        "; ",
    )
    text = sentence(
        "Nodes of this cluster count GPU memory in different units: {units}. A pod that requests 8 gets 8 GiB on one "
        "node and 8 MiB on another. Start all device plugins with the same `--memory-unit`.",
        units=said,
    )
    return Finding(code="units-mixed", severity=WARNING, text=text)


def _some(names: list[str], most: int = 5) -> str:
    """The first few names, and how many more."""
    more = sentence(" and {number} more", number=len(names) - most) if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _pods(held: Iterable[Allocation]) -> str:
    return _some(list(dict.fromkeys(f"{item.namespace}/{item.pod}" for item in held)))


def _size(memory: int) -> str:
    """Bytes as GiB for a sentence."""
    return f"{memory / GIB:.4g} GiB"
