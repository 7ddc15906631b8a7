"""Findings of health: one code for each class of what statements say, with who says it, since when and what to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from exporters import conditions, xid
from inventory.health import of_plugins, signs
from inventory.health.of_conditions import UNKNOWN_TELLER
from inventory.health.words import action_words, source_words
from stacks.engine.base import DEGRADED, ERROR, INFO, UNHEALTHY, WARNING, Finding, Told
from stacks.engine.stack import Entry
from stacks.engine.told import REGISTER_UNHEALTHY
from wording.said import gettext_noop, known, sentence, series

FINDINGS = {
    "xid-hardware": Entry(
        gettext_noop("Xid error (hardware)"),
        ERROR,
        gettext_noop("The driver reported an Xid error that points to a hardware fault: memory, links or firmware."),
        gettext_noop("Drain the card, then follow the Xid action: reset, reboot; replace it if the error recurs."),
    ),
    "xid-application": Entry(
        gettext_noop("Xid error (application)"),
        INFO,
        gettext_noop(
            "The driver reported an Xid error that is usually caused by the application. The card stays usable."
        ),
        gettext_noop(
            "Check the memory accesses and the log of the application. If many applications have the same error, the "
            "card is faulty."
        ),
    ),
    "xid-unknown": Entry(
        gettext_noop("Unknown Xid code"),
        INFO,
        gettext_noop("The driver reported an Xid error with a code that gpudash does not know."),
        gettext_noop("Look up the code in the Xid catalogue of NVIDIA."),
    ),
    "ecc-uncorrected": Entry(
        gettext_noop("Uncorrectable ECC errors"),
        ERROR,
        gettext_noop("The card had uncorrectable memory errors (double bit) since its driver was loaded."),
        gettext_noop("Drain and reset the card. Then check for rows with pending or failed remapping."),
    ),
    "row-remap-pending": Entry(
        gettext_noop("Memory repair pending: reset needed"),
        WARNING,
        gettext_noop("The next reset retires or remaps faulty memory rows or pages."),
        gettext_noop("Reset the card as soon as it has no workload."),
    ),
    "row-remap-failed": Entry(
        gettext_noop("Memory repair failed: replace the card"),
        ERROR,
        gettext_noop("Row remapping failed, too many memory pages are retired, or the SRAM has too many errors."),
        gettext_noop("Stop using the card and replace it."),
    ),
    "recovery-asked": Entry(
        gettext_noop("Driver requests recovery"),
        ERROR,
        gettext_noop("The driver reports that the card needs a reset, a reboot or another recovery."),
        gettext_noop("Drain the card, then carry out the recovery that the driver requests."),
    ),
    "card-throttled": Entry(
        gettext_noop("Card throttled"),
        WARNING,
        gettext_noop(
            "Heat, the power brake or the hardware lowers the clocks of the card. Workloads on it run slower."
        ),
        gettext_noop("Check cooling and power supply of the machine."),
    ),
    "card-hot": Entry(
        gettext_noop("Card overheating"),
        WARNING,
        gettext_noop("The card is at or close to its slowdown temperature."),
        gettext_noop("Check the cooling of the machine."),
    ),
    "exporter-check": Entry(
        gettext_noop("Exporter health check not passed"),
        WARNING,
        gettext_noop("A health check of the exporter warns or fails for this card."),
        gettext_noop("Read the result of the check. Check the kernel log of the node."),
    ),
    "exporter-value-unknown": Entry(
        gettext_noop("Unknown health check result"),
        INFO,
        gettext_noop("A health check of the exporter reports an unknown value for this card."),
        gettext_noop("Read the result of the check. Look up the value in the documentation of the exporter."),
    ),
    "card-unhealthy": Entry(
        gettext_noop("Card marked unhealthy by its stack"),
        ERROR,
        gettext_noop("The stack of the node marks the card as unhealthy and does not allocate it."),
        gettext_noop("Check the device plugin log and the kernel log (Xid) on the node."),
    ),
    "node-condition": Entry(
        gettext_noop("Node condition reports a GPU fault"),
        WARNING,
        gettext_noop(
            "A health check in the cluster set a node condition that reports a fault of cards, links or drivers."
        ),
        gettext_noop("Follow the message of the condition. It names the health check."),
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
    REGISTER_UNHEALTHY: "card-unhealthy",
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
    if told.code == "watch-unknown":
        return "exporter-value-unknown", INFO
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
    what = sentence("{statement} ({text})", statement=says, text=told.text) if told.text else says
    since = sentence("since {since}", since=_at(told.since)) if told.since is not None else sentence("start unknown")
    lost = (
        sentence(
            " Last known: {source} stopped reporting at {lost_at}.",
            source=who,
            lost_at=_at(told.lost_at),
        )
        if told.lost_at
        else ""
    )
    said = what if what.startswith(who) else sentence("{source}: {what}", source=who, what=what)
    if not (action := action_words(told.action)):
        return sentence("{statement}, {since}.{lost}", statement=said, since=since, lost=lost)
    return sentence(
        "{statement}, {since}.{lost} {action}", statement=said, since=since, lost=lost, action=known(action)
    )


def _at(seconds: float | None) -> str:
    """A time that has a date; one of a hostile object may lie beyond the calendar."""
    try:
        return datetime.fromtimestamp(seconds or 0.0, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return sentence("an invalid time")
