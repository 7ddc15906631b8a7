"""Which card a container has, as an exporter on the node says: for those that nothing better places.

An exporter's label is as old as its last scrape and names the pod that the kubelet's list had then, so it is below every other
evidence but the count. Where it disagrees with a better one, both are said. Must not know any stack by name.
"""

from __future__ import annotations

import msgspec

from stacks.engine.base import (
    COUNT_ONLY,
    EXPORTER,
    MEMORY,
    SHARES,
    WARNING,
    WHOLE,
    Allocation,
    Card,
    Context,
    Finding,
    MeasuredCard,
)
from stacks.engine.joining import JoinedCards
from wording.said import sentence, series

DISAGREES = "exporter-disagrees"
_MOST_NAMED = 8


def uuids(context: Context) -> tuple[str, ...]:
    """UUIDs of the node's whole cards by its exporter, in the exporter's order."""
    named = [card for card in context.measured if card.uuid and not card.instance]
    ordered = sorted(named, key=lambda card: (card.index is None, card.index or 0, card.uuid))
    return tuple(dict.fromkeys(card.uuid for card in ordered))


def told(joined: JoinedCards, context: Context) -> tuple[JoinedCards, list[Finding]]:
    """The same with allocations on the cards that the exporter names for them, and what it says otherwise."""
    if not context.measured:
        return joined, []
    named = _named(joined.cards, context.measured)
    if not named:
        return joined, []
    taken = {item.card for item in joined.allocations if item.card is not None and item.mode == WHOLE}
    wanted = [item for item in joined.allocations if _is_open(item)]
    # A card that is given out as a whole to two containers is the old one's no more: which is the old one nobody says.
    claimed: dict[str, int] = {}
    for item in wanted:
        for key in named.get(_who(item), ()) if item.mode == WHOLE else ():
            claimed[key] = claimed.get(key, 0) + 1
    doubtful = taken | {key for key, count in claimed.items() if count > 1}
    placed: list[Allocation] = []
    for item in joined.allocations:
        keys = named.get(_who(item), ())
        if _is_open(item):
            placed += _on(item, [key for key in keys if item.mode != WHOLE or key not in doubtful], joined.cards)
        else:
            placed.append(item)
    findings = _disagreements(joined, named)
    return msgspec.structs.replace(joined, allocations=tuple(placed)), findings


def _is_open(item: Allocation) -> bool:
    """Whether only its number is known. Where memory is given out a scheduler records the card, or its silence is a finding."""
    return item.card is None and item.evidence == COUNT_ONLY and item.mode in (WHOLE, SHARES)


def _who(item: Allocation) -> tuple[str, str, str]:
    return item.namespace, item.pod, item.container


def _named(cards: dict[str, Card], measured: tuple[MeasuredCard, ...]) -> dict[tuple[str, str, str], tuple[str, ...]]:
    """(namespace, pod, container) → keys of the cards at which the exporter names it."""
    by_uuid = {_bare(card.uuid): key for key, card in cards.items() if card.uuid}
    found: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for card in measured:
        key = by_uuid.get(_bare(card.uuid)) if card.uuid and not card.instance else None
        if key is not None:
            for who in card.holders:
                found[who] = (*found.get(who, ()), key)
    return found


def _bare(uuid: str | None) -> str:
    return (uuid or "").lower().removeprefix("gpu-")


def _on(item: Allocation, keys: list[str], cards: dict[str, Card]) -> list[Allocation]:
    """On its cards, where the exporter names as many as it has; else it stays where it is."""
    if item.mode == SHARES and len(keys) == 1:
        return [msgspec.structs.replace(item, card=keys[0], evidence=EXPORTER)]
    if not keys or len(keys) != item.quantity:
        return [item]
    return [
        msgspec.structs.replace(
            item,
            card=key,
            quantity=1,
            evidence=EXPORTER,
            # A card held as a whole is allocated in full.
            memory_bytes=cards[key].memory_total_bytes if item.mode == WHOLE else item.memory_bytes,
        )
        for key in keys
    ]


def _disagreements(joined: JoinedCards, named: dict[tuple[str, str, str], tuple[str, ...]]) -> list[Finding]:
    """Containers whose cards are known, and which the exporter names at others only."""
    known: dict[tuple[str, str, str], set[str]] = {}
    for item in joined.allocations:
        if item.card is not None and item.mode in (WHOLE, MEMORY):
            known.setdefault(_who(item), set()).add(item.card)
    findings = []
    for who, keys in sorted(named.items()):
        mine = known.get(who)
        if mine and not mine & set(keys):
            namespace, pod, container = who
            text = sentence(
                "{pod} (container {container}) has {mine} in the record of the cluster, but {keys} in the labels of "
                "the exporter. gpudash uses the record. Run `nvidia-smi` in the container. The labels may belong to "
                "an ended pod, or the exporter may number cards differently.",
                pod=f"{namespace}/{pod}",
                container=container,
                mine=_list(mine),
                keys=_list(set(keys)),
            )
            findings.append(Finding(code=DISAGREES, severity=WARNING, text=text, pod=f"{namespace}/{pod}"))
    return findings


def _list(keys: set[str]) -> str:
    shown = series((sentence("card {key}", key=key) for key in sorted(keys)[:_MOST_NAMED]), ", ")
    return shown if len(keys) <= _MOST_NAMED else shown + ", …"
