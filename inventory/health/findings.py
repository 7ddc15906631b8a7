"""Findings of health: one code for each class of what statements say, with who says it, since when and what to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from inventory.health import of_plugins, signs
from inventory.health.of_conditions import UNKNOWN_TELLER
from inventory.health.words import action_words, source_words
from inventory.stacks.engine.base import DEGRADED, ERROR, INFO, UNHEALTHY, WARNING, Finding, Told
from inventory.stacks.engine.stack import Entry
from inventory.stacks.engine.told import REGISTER_UNHEALTHY
from inventory.usage import conditions, xid
from wording.said import known, sentence, series

FINDINGS = {
    "xid-hardware": Entry(
        "Xid error of the card",
        ERROR,
        "The driver reported an Xid error that puts the card itself in doubt: its memory, its links, its firmware.",
        "Free the card and do what the error asks for: reset, restart of the machine, or another card when it comes again.",
    ),
    "xid-application": Entry(
        "Xid error of an application",
        INFO,
        "The driver reported an Xid error that a program mostly causes itself; the card stays usable.",
        "Look at the application that ran: its memory accesses and its log. The same on many programs is the card's fault.",
    ),
    "xid-unknown": Entry(
        "Unknown Xid code",
        INFO,
        "The driver reported an Xid error with a code that gpudash does not know.",
        "Look the code up in NVIDIA's Xid catalogue.",
    ),
    "ecc-uncorrected": Entry(
        "Memory errors not corrected",
        ERROR,
        "The card has had memory errors (double bit) that could not be corrected since its driver was loaded.",
        "Free and reset the card; then look whether rows wait to be remapped or could not be.",
    ),
    "row-remap-pending": Entry(
        "Memory waits for a reset",
        WARNING,
        "Rows or pages of the card's memory are to be taken out of use, which the next reset does.",
        "Reset the card as soon as nothing runs on it.",
    ),
    "row-remap-failed": Entry(
        "Memory cannot be mended",
        ERROR,
        "Rows could not be remapped, too many pages are retired, or the SRAM has too many errors.",
        "Take the card out of use and have it replaced.",
    ),
    "recovery-asked": Entry(
        "Driver asks for a recovery",
        ERROR,
        "The driver says that the card needs a reset, a restart or another recovery.",
        "Free the card and do what the driver asks for.",
    ),
    "card-throttled": Entry(
        "Card throttled",
        WARNING,
        "The card's clocks are lowered by heat, by the power brake or by its hardware, so what runs on it is slower.",
        "Look at cooling and power of the machine.",
    ),
    "card-hot": Entry(
        "Card too hot",
        WARNING,
        "The card is at, or close to, the temperature at which it slows down.",
        "Look at the cooling of the machine.",
    ),
    "exporter-check": Entry(
        "Health check of an exporter",
        WARNING,
        "An exporter's own health check of the card warns or fails.",
        "Look at what the check names, and at the driver's messages on the node.",
    ),
    "card-called-unhealthy": Entry(
        "Card called unhealthy by its sharing system",
        ERROR,
        "The record that a sharing system keeps on the node calls the card unhealthy; it is given to nobody.",
        "Look at the device plugin's log and the driver's messages (XID) on the node.",
    ),
    "node-condition": Entry(
        "Condition of the node speaks of its cards",
        WARNING,
        "A health check that runs in the cluster has set a condition of the node: its cards, links or drivers are not well.",
        "Do what the condition asks for; it says which check it is.",
    ),
}
_CLASSES = {
    signs.ECC: "ecc-uncorrected",
    signs.RETIRED: "row-remap-failed",
    signs.REMAP_FAILED: "row-remap-failed",
    signs.SRAM: "row-remap-failed",
    signs.RETIRED_PENDING: "row-remap-pending",
    signs.REMAP_PENDING: "row-remap-pending",
    signs.RECOVERY: "recovery-asked",
    signs.HOT: "card-hot",
    "throttled-heat": "card-throttled",
    "throttled-power": "card-throttled",
    "throttled-hardware": "card-throttled",
    "watch-fail": "exporter-check",
    "watch-warn": "exporter-check",
    REGISTER_UNHEALTHY: "card-called-unhealthy",
}
_TELLERS = frozenset((*conditions.TELLERS, UNKNOWN_TELLER)) - {""}
_SEVERITIES = (ERROR, WARNING, INFO)
#: Statements that one finding tells; the card's page has all.
_MOST = 8


def findings(cards: Mapping[str, Iterable[Told]], node: Iterable[Told]) -> list[Finding]:
    """By code and card. What the stacks have findings of already (taints, devices, capacity) is left out."""
    found: dict[tuple[str, str | None], list[tuple[str, Told]]] = {}
    for card, told in [*((key, one) for key, said in cards.items() for one in said), *((None, one) for one in node)]:
        if (kind := _kind(told)) is not None:
            found.setdefault((kind[0], card), []).append((kind[1], told))
    return [_finding(code, card, said) for (code, card), said in found.items()]


def _kind(told: Told) -> tuple[str, str] | None:
    """(code, severity); None for what is no finding."""
    bad = {UNHEALTHY: ERROR, DEGRADED: WARNING}.get(told.level)
    if told.source in _TELLERS:
        return ("node-condition", bad) if bad is not None else None
    if told.code.startswith("xid-"):
        known = xid.xid(int(told.code.removeprefix("xid-")))
        if bad is not None:
            return "xid-hardware", bad
        if not known.known:
            return "xid-unknown", INFO
        return ("xid-application", INFO) if known.severity == xid.PROCESS or known.cause == xid.APPLICATION else None
    if bad is None or told.code in (of_plugins.WITHHELD, of_plugins.NOTHING_GIVEN):
        return None
    code = _CLASSES.get(told.code)
    return (code, bad) if code is not None else None


def _finding(code: str, card: str | None, said: list[tuple[str, Told]]) -> Finding:
    severity = min((one for one, _ in said), key=_SEVERITIES.index)
    text = series(_sentence(told) for _, told in said[:_MOST])
    return Finding(code=code, severity=severity, text=text, card=card)


def _sentence(told: Told) -> str:
    """Who says what, since when, and what to do."""
    who, says = known(source_words(told.source)), known(told.says)
    what = sentence("{says} ({text})", says=says, text=told.text) if told.text else says
    since = (
        sentence("since {since}", since=_at(told.since))
        if told.since is not None
        else sentence("since when is not reported")
    )
    lost = (
        sentence(
            " Said last; {source} has been silent since {lost_at}.",
            source=who,
            lost_at=_at(told.lost_at),
        )
        if told.lost_at
        else ""
    )
    said = what if what.startswith(who) else sentence("{who}: {what}", who=who, what=what)
    if not (action := action_words(told.action)):
        return sentence("{said}, {since}.{lost}", said=said, since=since, lost=lost)
    return sentence("{said}, {since}.{lost} {action}", said=said, since=since, lost=lost, action=known(action))


def _at(seconds: float | None) -> str:
    """A time that has a date; one of a hostile object may lie beyond the calendar."""
    try:
        return datetime.fromtimestamp(seconds or 0.0, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return sentence("a time that cannot be read")
