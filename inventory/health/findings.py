"""Findings of health: one for each fact of a card or node, with its sources, since when and what to do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

from inventory.health.facts import fact_of, of_cards
from inventory.health.words import action_words, source_words
from stacks.dra.health_reports import TAINTED
from stacks.engine.base import ERROR, INFO, WARNING, Finding, HealthReport
from stacks.engine.stack import Entry
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
        gettext_noop("The power brake or the hardware lowers the clocks of the card. Workloads on it run slower."),
        gettext_noop("Check cooling and power supply of the machine."),
    ),
    "card-hot": Entry(
        gettext_noop("Card overheating"),
        WARNING,
        gettext_noop("The card is at or close to its slowdown temperature, or heat lowers its clocks."),
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
_SEVERITIES = (ERROR, WARNING, INFO)
#: Findings of stacks about a card → the code of the finding of health that states the same fact.
_SAME_FACT = {
    "chip-fault": "card-unhealthy",
    "capacity-not-allocatable": "card-unhealthy",
    TAINTED: "xid-hardware",
}
#: Reports in the text of one finding; the page of the card has all.
_MOST = 8


def with_findings(
    of_stacks: Iterable[Finding], cards: Mapping[str, Sequence[HealthReport]], node: Iterable[HealthReport]
) -> tuple[Finding, ...]:
    """The findings of the stacks, and those of the reports, by code and card: one finding per fact.

    What a stack states of a card that reports state too becomes part of their finding: its text follows theirs.
    """
    cards, node = of_cards(cards, node)
    found: dict[tuple[str, str | None], list[tuple[str, HealthReport]]] = {}
    for card, told in [*((key, one) for key, said in cards.items() for one in said), *((None, one) for one in node)]:
        if (fact := fact_of(told)) is not None:
            found.setdefault((fact[0], card), []).append((fact[1], told))
    kept, same = [], dict[tuple[str, str | None], list[str]]()
    for one in dict.fromkeys(of_stacks):
        key = (_SAME_FACT.get(one.code, ""), one.card)
        if one.card is None or key not in found or (one.code == TAINTED and not _only_xids(cards[one.card])):
            kept.append(one)
        else:
            same.setdefault(key, []).append(one.text)
    return (*kept, *(_finding(*key, said, same.get(key, ())) for key, said in found.items()))


def _only_xids(told: Iterable[HealthReport]) -> bool:
    """Whether all taints of a device are for Xid errors."""
    return all(one.codes for one in told if one.code == TAINTED)


def _finding(code: str, card: str | None, said: list[tuple[str, HealthReport]], of_stack: Iterable[str]) -> Finding:
    """said: (severity, report). of_stack: texts of what the stack states of it."""
    said = sorted(said, key=lambda one: _SEVERITIES.index(one[0]))
    text = series((*(_sentence(told) for _, told in said[:_MOST]), *of_stack))
    return Finding(code=code, severity=said[0][0], text=text, card=card)


def _sentence(told: HealthReport) -> str:
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
