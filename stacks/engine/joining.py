"""One list of cards from what several stacks say of one node.

The same physical card seen by two stacks is one card. Stacks share nothing but the node, so cards of one vendor are matched by
key; what counts memory comes first. Must not know any stack by name.
"""

from __future__ import annotations

import msgspec

from stacks.engine.base import COUNT_ONLY, HEALTH_UNKNOWN, MEMORY, UNHEALTHY, WHOLE, Allocation, Card, StackReport
from stacks.engine.placing import DOUBTS, placed, standing


class JoinedCards(msgspec.Struct, frozen=True):
    """The node's cards by key, and all allocations, each on a card of the joined or on none.

    memory_total: bytes that the node gives out; None when one vendor's part is not known.
    """

    cards: dict[str, Card]
    allocations: tuple[Allocation, ...]
    #: The report whose view of memory units holds; None when no stack speaks.
    primary: StackReport | None
    memory_total: int | None = None


def join(reports: list[StackReport]) -> JoinedCards:
    """Join the cards of all reports of one node and move every allocation to its joined card.

    Allocations that stand in the place of others are put there.
    Cards of different vendors are never the same; where they have the same key, that of the later vendor (by name) begins with
    its name. What gives out parts of the cards of another, and does not say whose, has those of the only vendor there is.
    """
    ordered = sorted(reports, key=_rank)
    own = {one.vendor for one in ordered if one.vendor or not one.beside}
    sole = next(iter(own)) if len(own) == 1 else ""
    by_vendor: dict[str, list[StackReport]] = {}
    for one in ordered:
        by_vendor.setdefault(one.vendor or (sole if one.beside else ""), []).append(one)
    pools = [_join(by_vendor[vendor]) for vendor in sorted(by_vendor)]
    if len(pools) < 2:
        return _stood(pools[0], reports) if pools else JoinedCards({}, (), None)
    cards, allocations = dict(pools[0].cards), list(pools[0].allocations)
    for joined in pools[1:]:
        vendor = joined.primary.vendor if joined.primary else ""
        keys = {key: key if key not in cards else f"{vendor}-{key}" for key in joined.cards}
        cards |= {keys[key]: msgspec.structs.replace(card, key=keys[key]) for key, card in joined.cards.items()}
        allocations += [
            msgspec.structs.replace(item, card=keys.get(item.card)) if item.card is not None else item
            for item in joined.allocations
        ]
    parts = [joined.memory_total for joined in pools]
    known = [part for part in parts if part is not None]
    memory = sum(known) if len(known) == len(parts) else None
    return _stood(JoinedCards(cards, tuple(allocations), ordered[0], memory), reports)


def _stood(joined: JoinedCards, reports: list[StackReport]) -> JoinedCards:
    if not any(report.instead or report.beside for report in reports):
        return joined
    placed_ = standing(joined.cards, joined.allocations, reports)
    return msgspec.structs.replace(joined, allocations=placed_)


def _join(ordered: list[StackReport]) -> JoinedCards:
    """The same of reports of one vendor, in the order of their rank."""
    primary = ordered[0]
    cards = {card.key: card for card in primary.cards}
    allocations = list(primary.allocations)
    for report in ordered[1:]:
        alias = _merge(cards, report)
        allocations += [_moved(allocation, alias, cards) for allocation in report.allocations]
    if all(report.cards_known for report in ordered):
        doubtful = {finding.pod for report in ordered for finding in report.findings if finding.code in DOUBTS}
        allocations = placed(cards, allocations, len(ordered) == 1, doubtful)
    # Cards that the report does not count are in no total of its own.
    counted = not primary.cards or len(cards) <= len(primary.cards)
    return JoinedCards(cards, tuple(allocations), primary, primary.memory_total_bytes if counted else None)


def _rank(report: StackReport) -> tuple[int, bool, str]:
    """Who counts memory comes first, then who has cards, last who gives out parts of the cards of another."""
    if report.total_units or any(card.mode == MEMORY and card.units != 0 for card in report.cards):
        return 0, report.beside, report.stack
    if report.beside:
        return 3, True, report.stack
    return (1 if report.cards else 2), False, report.stack


def _merge(cards: dict[str, Card], report: StackReport) -> dict[str, str | None]:
    """Merge the report's cards into the joined; returns its card keys → joined keys (None: one of the joined, not known which)."""
    before = len(cards)
    by_uuid = {card.uuid: key for key, card in cards.items() if card.uuid is not None}
    same = {card.key: card.key if card.key in cards else by_uuid.get(card.uuid or "") for card in report.cards}
    alias: dict[str, str | None] = {key: found for key, found in same.items() if found is not None}
    for card in report.cards:
        if (key := alias.get(card.key)) is not None:
            cards[key] = _filled(cards[key], card)
    strange = [card for card in report.cards if card.key not in alias]
    if strange and before == 1 and len(report.cards) == 1:
        # One card on the node by both reports: it is the same one, whatever it is called.
        only = next(iter(cards))
        cards[only] = _filled(cards[only], strange[0])
        return {strange[0].key: only}
    surplus = max(0, len(report.cards) - before)
    for place, card in enumerate(strange):
        new = place >= len(strange) - surplus
        alias[card.key] = card.key if new else None
        if new:
            cards[card.key] = card
    return alias


def _filled(card: Card, other: Card) -> Card:
    """The card, with what only the other stack knows of it."""
    health = other.health if card.health == HEALTH_UNKNOWN or other.health == UNHEALTHY else card.health
    model = card if card.model is not None else other
    memory = card if card.memory_physical_bytes is not None else other
    return msgspec.structs.replace(
        card,
        uuid=card.uuid or other.uuid,
        index=card.index if card.index is not None else other.index,
        model=model.model,
        model_source=model.model_source,
        memory_physical_bytes=memory.memory_physical_bytes,
        memory_source=card.memory_source or (memory.memory_source if memory.memory_physical_bytes is not None else ""),
        health=health,
        told=tuple(dict.fromkeys((*card.told, *other.told))),
    )


def _moved(allocation: Allocation, alias: dict[str, str | None], cards: dict[str, Card]) -> Allocation:
    card = alias.get(allocation.card) if allocation.card is not None else None
    memory = allocation.memory_bytes
    if allocation.mode == WHOLE:
        # A card held as a whole is allocated in full, and "full" is what the joined card has to give.
        each = cards[card].memory_total_bytes if card is not None else uniform_memory(cards)
        memory = each * allocation.quantity if each is not None else None
    if card == allocation.card and memory == allocation.memory_bytes:
        return allocation
    evidence = allocation.evidence if card is not None else COUNT_ONLY
    return msgspec.structs.replace(allocation, card=card, evidence=evidence, memory_bytes=memory)


def merged(joined: JoinedCards) -> JoinedCards:
    """The same with one allocation per pod, container, resource and card: containers of one name are not told apart."""
    keys = [
        (item.pod_uid, item.namespace, item.pod, item.container, item.resource, item.card)
        for item in joined.allocations
    ]
    if len(set(keys)) == len(keys):
        return joined
    found: dict[tuple[str, str, str, str, str, str | None], Allocation] = {}
    for key, item in zip(keys, joined.allocations, strict=True):
        found[key] = _added(found[key], item) if key in found else item
    return msgspec.structs.replace(joined, allocations=tuple(found.values()))


def _added(one: Allocation, other: Allocation) -> Allocation:
    memory, more = one.memory_bytes, other.memory_bytes
    core, percent = one.core_percent, other.core_percent
    return msgspec.structs.replace(
        one,
        quantity=one.quantity + other.quantity,
        memory_bytes=memory + more if memory is not None and more is not None else None,
        core_percent=core + percent if core is not None and percent is not None else None,
    )


def uniform_memory(cards: dict[str, Card]) -> int | None:
    """The memory of any card of the joined, where all have the same; else None."""
    totals = {card.memory_total_bytes for card in cards.values()}
    return totals.pop() if len(totals) == 1 else None
