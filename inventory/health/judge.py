"""The health of one node and its cards: all sources asked, their statements brought together, findings added to its report."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

import msgspec

from exporters import xid
from exporters.engine.identity import normal_uuid
from inventory.health import of_conditions, of_labels, of_signs
from inventory.health.findings import with_findings
from inventory.health.levels import BAD, level_of, ordered, worst
from inventory.health.of_plugins import withheld
from inventory.health.signs import Signs
from kube.objects import Node
from stacks.dra.health_reports import TAINT_NOTE, TAINTED
from stacks.engine.base import HEALTH_UNKNOWN, HEALTHY, UNHEALTHY, Card, Context, HealthReport, NodeReport
from stacks.engine.health_reports import CHECK
from wording.said import gettext_noop, sentence

K = TypeVar("K")

#: Statements that are kept of one card or node, the worst first.
MOST_TOLD = 24
STACK_HEALTHY, STACK_UNHEALTHY = "system-healthy", "system-unhealthy"
SAYS = {
    STACK_HEALTHY: gettext_noop("The stack reports the card as healthy"),
    STACK_UNHEALTHY: gettext_noop("The stack reports the card as unhealthy"),
}


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """What an exporter says of a card's health. instance: of a slice, its number. card: the key of the mirror's card, where the
    collector knows it. index, pci: the exporter's, None and "" where it does not say. lost_at: since when it is silent.
    """

    uuid: str
    format: str
    signs: Signs
    index: int | None = None
    pci: str = ""
    instance: str = ""
    card: str | None = None
    lost_at: float | None = None


class Health(msgspec.Struct, frozen=True):
    """A level, and the statements that it comes from, the worst first."""

    level: str = HEALTH_UNKNOWN
    told: tuple[HealthReport, ...] = ()


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """report: with the findings of health. cards: by key. node: its own statements; its level is the worst of it and its cards."""

    report: NodeReport
    cards: dict[str, Health] = {}
    node: Health = Health()


NOTHING = Health()


def judged(report: NodeReport, node: Node, context: Context, measured: Iterable[Measured] = ()) -> Judged:
    """Never raises for what objects hold."""
    cards = {one.card.key: one.card for one in report.cards}
    rows = list(measured)
    uuids = _by_uuid(cards.values())
    only = next(iter(cards)) if len(cards) == 1 and report.physical_cards in (1, None) else None
    by_conditions = of_conditions.said(node, _names(uuids, rows), only)
    told: dict[str, list[HealthReport]] = {key: _own(card) for key, card in cards.items()}
    for row in rows:
        for key in _keys(row, cards, uuids) if row.signs else ():
            told[key] += of_signs.statements(row.format, row.signs, row.lost_at)
    for key, said in by_conditions.cards.items():
        told[key] += said
    made = {key: _health(said) for key, said in told.items()}
    own = ordered((*withheld(node, context), *by_conditions.node, *of_labels.said(node)))
    findings = with_findings(report.findings, {key: health.told for key, health in made.items()}, own)
    report = msgspec.structs.replace(report, findings=findings)
    level = worst(health.level for health in made.values())
    return Judged(report=report, cards=made, node=Health(_of_node(level, own), own[:MOST_TOLD]))


def _of_node(cards: str, own: Iterable[HealthReport]) -> str:
    """The worst of the node's own statements and of its cards. That one check of several finds nothing makes no node healthy."""
    bad = [level for level in (cards, *(one.level for one in own)) if level in BAD]
    if bad:
        return worst(bad)
    return HEALTHY if cards == HEALTHY or any(of_conditions.vouches(one) for one in own) else HEALTH_UNKNOWN


def _own(card: Card) -> list[HealthReport]:
    """What the stack says of it; where it does not say by what, that it says so."""
    told = [enriched(one) for one in card.told]
    if card.health == HEALTH_UNKNOWN or any(one.level == card.health for one in told):
        return told
    code = STACK_UNHEALTHY if card.health == UNHEALTHY else STACK_HEALTHY
    action = CHECK if card.health == UNHEALTHY else ""
    return [*told, HealthReport(source=card.stack, level=card.health, code=code, says=SAYS[code], action=action)]


def enriched(told: HealthReport) -> HealthReport:
    """A taint of NVIDIA's driver for an Xid error, with what it means and what is to be done for it."""
    match = _XID_TAINT.fullmatch(told.text) if told.code in (TAINTED, TAINT_NOTE) else None
    if match is None:
        return told
    known = xid.xid(int(match[1]))
    told = msgspec.structs.replace(told, codes=(f"xid-{known.code}",))
    if told.code == TAINT_NOTE:
        return msgspec.structs.replace(told, text=f"{told.text} ({known.title})", action="")
    text = sentence("{taint}, new claims do not get the device", taint=told.text)
    return msgspec.structs.replace(told, says=known.title, text=text, action=known.action)


_XID_TAINT = re.compile(r"gpu\.nvidia\.com/xid=([0-9]{1,4}):[A-Za-z]*")


def _health(said: Iterable[HealthReport]) -> Health:
    told = ordered(said)
    return Health(level_of(told), told[:MOST_TOLD])


def _by_uuid(cards: Iterable[Card]) -> dict[str, tuple[str, ...]]:
    """Bare UUID → the card, or the slices that are said to be parts of it."""
    found: dict[str, tuple[str, ...]] = {}
    for card in cards:
        for name in dict.fromkeys((normal_uuid(card.uuid), normal_uuid(card.parent))):
            if name is not None:
                found[name] = (*found.get(name, ()), card.key)
    return found


def _keys(row: Measured, cards: dict[str, Card], uuids: dict[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The cards that a reading is of. That of a slice is of the card that the collector found, if it did."""
    if row.card is not None and row.card in cards:
        return (row.card,)
    return () if row.instance else uuids.get(normal_uuid(row.uuid) or "", ())


def _names(uuids: dict[str, tuple[str, ...]], rows: list[Measured]) -> of_conditions.Names:
    whole = [(row, name) for row in rows if not row.instance and (name := normal_uuid(row.uuid)) is not None]
    indexes = _sure((row.index, name) for row, name in whole if row.index is not None)
    return of_conditions.Names(uuids, indexes, _sure((row.pci, name) for row, name in whole if row.pci))


def _sure(pairs: Iterable[tuple[K, str]]) -> dict[K, str]:
    """Without names that are of two cards."""
    found: dict[K, set[str]] = {}
    for name, card in pairs:
        found.setdefault(name, set()).add(card)
    return {name: cards.pop() for name, cards in found.items() if len(cards) == 1}
