"""What the conditions of a node say: of the node, and of those of its cards that they name without a guess.

A condition that names no card is the node's: it makes no card ill, unless the node has that one card only. UUIDs are compared; an
address and an index lead to a UUID by an exporter that says both of a card, else the node has the statement with the names in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from exporters import conditions, xid
from exporters.conditions import Entry, NamedCard, Statement
from exporters.engine.identity import normal_uuid
from kube.objects import Node
from stacks.engine.base import DEGRADED, HEALTH_UNKNOWN, HEALTHY, UNHEALTHY, HealthReport

_LEVELS = {
    conditions.HEALTHY: HEALTHY,
    conditions.DEGRADED: DEGRADED,
    conditions.UNHEALTHY: UNHEALTHY,
    conditions.NOT_TOLD: HEALTH_UNKNOWN,
}
#: What is said of the node and never of a card, also where there is one card only.
_OF_THE_NODE = frozenset(
    (
        "GPUMissing",
        "IBLinkFlapping",
        "UnhealthyNvidiaDevicePlugin",
        "GpuDcgmConnectivityFailure",
        "GpuDcgmUnresponsive",
        "SysLogsSXIDError",
        "GpuNvswitchFatalWatch",
        "GpuNvswitchNonfatalWatch",
        "CSPMaintenance",
    )
)
#: Those whose good status speaks of the accelerators as a whole; that of the others is one check among several.
_WHOLE = frozenset(("AcceleratedHardwareReady", "AMDGPUProblem", "GpuAllWatch"))
_TEXT = 300
#: Statements of one node's conditions, and of one condition of cards, that are kept.
MOST, MOST_CODES = 64, 16
_DCGM = re.compile(r"DCGM_FR_[A-Z_]{1,60}")
UNKNOWN_TELLER = "node-condition"


class Names(NamedTuple):
    """By which names cards of the node are found: bare UUID → keys; index and address, as an exporter says them → bare UUID."""

    uuids: Mapping[str, tuple[str, ...]]
    indexes: Mapping[int, str]
    addresses: Mapping[str, str]

    def find(self, named: NamedCard) -> tuple[str, ...]:
        """Keys of the card, or of all its slices; none where nothing says which card it is, or its names are of different cards.

        indexes, addresses: → bare UUID. An index counts only where there is no better name: not all count alike.
        """
        bare = {normal_uuid(named.uuid) if named.uuid else None, self.addresses.get(named.pci) if named.pci else None}
        if not named.uuid and not named.pci and named.index is not None:
            bare = {self.indexes.get(named.index)}
        found = {self.uuids.get(one, ()) for one in bare if one} - {()}
        return found.pop() if len(found) == 1 else ()


class Said(NamedTuple):
    """What conditions say of the node, and of its cards by key."""

    node: tuple[HealthReport, ...]
    cards: dict[str, tuple[HealthReport, ...]]


def said(node: Node, names: Names, only: str | None) -> Said:
    """only: key of the node's card, where it has that one only."""
    status = node.status
    boot = (status.nodeInfo.bootID if status and status.nodeInfo else None) or ""
    of_node: list[HealthReport] = []
    of_cards: dict[str, list[HealthReport]] = {}
    for one in conditions.statements((status.conditions if status else None) or (), boot)[:MOST]:
        bad = one.state in (conditions.DEGRADED, conditions.UNHEALTHY)
        placed, left = _placed(one, names) if bad else ({}, True)
        if bad and only is not None and not placed and one.type not in _OF_THE_NODE and not one.cards:
            placed, left = {only: list(one.entries)}, False
        for key, entries in placed.items():
            of_cards.setdefault(key, []).append(_told(one, entries))
        if left or not placed:
            of_node.append(_told(one, list(one.entries), named=True))
    return Said(tuple(of_node), {key: tuple(told) for key, told in of_cards.items()})


def _placed(one: Statement, names: Names) -> tuple[dict[str, list[Entry]], bool]:
    """(card → the entries that name it, whether something is left that is of no card that is known)."""
    placed: dict[str, list[Entry]] = {}
    left = one.cut or not one.entries
    for entry in one.entries:
        keys = [names.find(card) for card in entry.cards]
        left = left or not keys or () in keys
        for key in sorted({key for several in keys for key in several}):
            placed.setdefault(key, []).append(entry)
    return placed, left


def _told(one: Statement, entries: Iterable[Entry], named: bool = False) -> HealthReport:
    """named: with the names of the cards, where these lead to none."""
    entries, level = list(entries), _LEVELS[one.state]
    actions = [entry.action for entry in entries if entry.action]
    xids = list(dict.fromkeys(code for entry in entries for code in entry.xids))
    bad = level in (DEGRADED, UNHEALTHY)
    return HealthReport(
        source=one.said_by or UNKNOWN_TELLER,
        level=level,
        code=one.type[:128],
        codes=_codes(entries, xids),
        # What one Xid error means says more than that there was one.
        says=xid.xid(xids[0]).title if bad and len(xids) == 1 and xid.xid(xids[0]).known else one.headline,
        text=_text(one, entries, named)[:_TEXT],
        since=one.since,
        action=(actions[0] if len(set(actions)) == 1 else one.action) if bad else "",
    )


def _codes(entries: Iterable[Entry], xids: Iterable[int]) -> tuple[str, ...]:
    named = (code for entry in entries for code in entry.codes if _DCGM.fullmatch(code))
    return tuple(dict.fromkeys((*(f"xid-{code}" for code in xids), *named)))[:MOST_CODES]


def _text(one: Statement, entries: list[Entry], named: bool) -> str:
    """Type and status as they are written, then what is known of the cause."""
    texts = [" ".join(part for part in _parts(entry, named) if part and part not in entry.codes) for entry in entries]
    if not any(texts):
        texts = [" ".join(part for part in (one.reason, one.message) if part)]
    return f"{one.type}={one.status}: {'; '.join(text for text in dict.fromkeys(texts) if text)}".rstrip(": ")


def _parts(entry: Entry, named: bool) -> tuple[str, ...]:
    cards = ", ".join(card.uuid or card.pci or f"GPU {card.index}" for card in entry.cards) if named else ""
    xids = f"Xid {', '.join(str(code) for code in entry.xids)}" if entry.xids else ""
    # Many texts begin with their code themselves.
    return (f"{cards}:" if cards else "", xids if xids not in entry.text else "", entry.text)


def vouches(told: HealthReport) -> bool:
    """Whether it says that the accelerators as a whole are well."""
    return told.level == HEALTHY and told.code in _WHOLE and told.lost_at is None
