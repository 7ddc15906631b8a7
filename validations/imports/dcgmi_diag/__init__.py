"""`dcgmi diag -j` of DCGM 2 to 4: one report, or one for each iteration.

The verdict of a card comes from its own results; tests of Deployment without a card are of the node. What DCGM calls WARN it writes
as Fail in JSON: a failure all of whose errors say "watch it" or "set something up" is a warning here.
Source: NVIDIA/DCGM 3.3.9 and 4.6.0, dcgmi/Diag.cpp, nvvs/include/NvvsJsonStrings.h, dcgmlib/dcgm_errors.h.
"""

from __future__ import annotations

from typing import Any

from validations.imports.dcgmi_diag.report import (
    BODIES,
    CARD,
    CONFIG,
    ISOLATE,
    MONITOR,
    RESET,
    Error,
    Report,
    Result,
    report_of,
)
from validations.imports.engine.document import check_count, name, object_after_noise, objects
from validations.imports.engine.statement import (
    CardStatement,
    Format,
    Imported,
    Level,
    NodeStatement,
    NotReadable,
    Source,
    Verdict,
    whole,
    worst,
)
from wording.said import gettext_noop, known, sentence

_MOST_ITERATIONS = 1000
#: Which of several errors of a failure is shown: one that may lead to an action first, unknown ones last.
_TELLING: dict[int | None, int] = {one: at for at, one in enumerate((ISOLATE, RESET, 4, 3, MONITOR, CONFIG, 0))}
#: The test ran; one of these says why a card is not good.
_RAN: frozenset[Verdict] = frozenset(("passed", "warning", "failed", "errored"))
_BAD: frozenset[Verdict] = frozenset(("warning", "failed", "errored"))


def read(source: Source) -> Imported:
    """The results of all cards of the report, by their index and serial; of the node, what is of no card."""
    document = object_after_noise(source.content, *BODIES, "iterations")
    iterations = document.get("iterations")
    parts = objects(iterations) if isinstance(iterations, list) else [document]
    if not parts or len(parts) > _MOST_ITERATIONS:
        raise NotReadable(
            sentence("`iterations` must have 1 to {most} reports. Send the whole output.", most=_MOST_ITERATIONS)
        )
    reports = [report_of(one, f"iterations[{at}]" if iterations else "") for at, one in enumerate(parts)]
    overall = name(document.get("Overall Result")) if iterations is not None else None
    return _judged(reports, source.node or None, overall)


class _Judge:
    """All results of a report, found by what they are of. Of iterations the worst counts, of each card."""

    def __init__(self, reports: list[Report], node: str | None) -> None:
        self.node = node
        self.results = [one for report in reports for one in report.results]
        self.serials = {entity: serial for report in reports for entity, serial in report.serials.items()}
        self.of: dict[tuple[str, int], list[Result]] = {entity: [] for entity in self.serials}
        self.ran: dict[str, set[int]] = {}
        for one in self.results:
            if one.entity is not None:
                self.of.setdefault(one.entity, []).append(one)
                if one.entity[0] == CARD and one.verdict in _RAN:
                    self.ran.setdefault(one.test, set()).add(one.entity[1])
        check_count(len(self.of) * max(len(self.ran), 1) // 16)
        self.of_node = [one for one in self.results if one.entity is None or one.entity[0] != CARD]
        self.stopped = next((report.aborted for report in reports if report.aborted), "")
        # DCGM 3 names no card in the tests of Deployment: without any other, and none that went wrong, they count for all.
        good = not self.ran and not any(one.verdict in _BAD for one in self.of_node)
        self.for_all = [one for one in self.of_node if good and one.test and one.verdict == "passed"]
        self.cards = [self._card(number) for kind, number in self.of if kind == CARD]

    def _card(self, number: int) -> CardStatement:
        mine, missed = self.of[CARD, number], [test for test, cards in self.ran.items() if number not in cards]
        ran = [one for one in mine if one.verdict in _RAN] if mine else self.for_all
        verdict = whole(worst(one.verdict for one in ran), not missed and not self.stopped)
        if not ran:
            verdict = "incomplete" if any(one.verdict == "incomplete" for one in mine) else "skipped"
        deciding = next((one for one in ran if one.verdict == verdict and verdict in _BAD), None)
        error = _telling(deciding.errors) if deciding else None
        failed = [error for one in ran if one.verdict == "failed" for error in one.errors]
        worked = any(one.verdict == "passed" and not one.software for one in ran)
        return CardStatement(
            node=self.node,
            index=number,
            serial=self.serials.get((CARD, number)) or None,
            verdict=verdict,
            test=deciding.test or None if deciding else None,
            error_id=error.id if error else None,
            error_severity=error.severity if error else None,
            error_category=error.category if error else None,
            may_isolate=verdict == "failed" and any(one.severity in (ISOLATE, RESET) for one in failed),
            because=_of_card(verdict, deciding, error, missed, self.stopped if ran else ""),
            level="checked" if worked else "detected" if ran else "",
        )

    @property
    def complete(self) -> bool:
        """All cards have a result of each test that ran on one of them, and no test was left out that was to run."""
        wanted = all(one.verdict not in ("skipped", "incomplete") for one in self.cards)
        ran = {test: len(cards) for test, cards in self.ran.items()}
        return wanted and not any(count < len(self.cards) for count in ran.values()) and self._all_ran

    @property
    def _all_ran(self) -> bool:
        return bool(self.results) and all(one.verdict != "incomplete" for one in self.results)

    def because(self, verdict: Verdict) -> str:
        """Why the node has this verdict: an error of no card, else its cards, else a test."""
        if not any(one.verdict in _RAN for one in self.results):
            return sentence("No test ran.")
        told = [one for one in self.of_node if one.verdict == verdict and verdict in _BAD]
        for one in told:
            if (error := _telling(one.errors)) is not None:
                return _told(one, error.text)
        same = [str(one.index) for one in self.cards if one.verdict == verdict and verdict != "passed"]
        if same:
            return sentence("Cards {verdict}: {indexes}.", verdict=known(verdict), indexes=", ".join(same[:32]))
        if told:
            return _told(told[0], "")
        return sentence("Not all cards were tested.") if verdict == "incomplete" else ""

    def facts(self) -> dict[str, Any]:
        """skipped_tests: on all cards; not_targets: entities that are no cards."""
        left = {one.test: True for one in self.results if one.test}
        left |= {one.test: False for one in self.results if one.verdict != "skipped"}
        others = [{"entity": kind, "id": number} for kind, number in self.of if kind != CARD]
        return {"skipped_tests": [test for test, yes in left.items() if yes][:64], "not_targets": others[:64]}


def _judged(reports: list[Report], node: str | None, overall: str | None) -> Imported:
    """overall: what DCGM says of all iterations."""
    judge = _Judge(reports, node)
    verdicts = [*(one.verdict for one in judge.of_node), *(one.verdict for one in judge.cards)]
    bad = worst(verdicts) in ("failed", "errored")
    if (
        judge.stopped
        or not judge.results
        or (overall is not None and not overall.lower().startswith("pass") and not bad)
    ):
        verdicts.append("errored")
    complete = judge.complete and not judge.stopped and not any(one.unnamed or not one.results for one in reports)
    verdict = whole(worst(verdicts), complete)
    because = _stopped(judge.stopped) if judge.stopped else judge.because(verdict)
    worked = any(one.verdict in _RAN and not one.software for one in judge.results)
    level: Level = "checked" if worked else "detected"
    levels = dict.fromkeys(level for report in reports for level in report.levels)
    return Imported(
        format=FORMAT.name,
        tool_version=next((one.version for one in reports if one.version), None),
        verdict=verdict,
        complete=complete,
        nodes=(NodeStatement(node=node, verdict=verdict, because=because, level=level),),
        cards=tuple(judge.cards),
        facts={
            "driver_version": next((one.driver for one in reports if one.driver), None),
            "levels_seen": list(levels),
            "iterations": len(reports),
            **judge.facts(),
        },
    )


def _telling(errors: tuple[Error, ...]) -> Error | None:
    return min(errors, key=lambda one: _TELLING.get(one.severity, len(_TELLING)), default=None)


def _told(result: Result, text: str) -> str:
    """What a test found, in one sentence."""
    more = f": {text}" if text else ""
    return sentence("{test}: {verdict}{text}", test=result.test or "DCGM", verdict=known(result.verdict), text=more)


def _stopped(text: str) -> str:
    return sentence("The diagnostic stopped: {text}", text=text)


def _of_card(verdict: Verdict, deciding: Result | None, error: Error | None, missed: list[str], stopped: str) -> str:
    if deciding is not None:
        return _told(deciding, error.text if error else "")
    if verdict == "incomplete" and missed:
        return sentence("Not tested: {tests}.", tests=", ".join(missed[:16]))
    if verdict == "incomplete" and stopped:
        return _stopped(stopped)
    return sentence("No test ran on this card.") if verdict in ("skipped", "incomplete") else ""


FORMAT = Format(
    name="dcgmi-diag",
    title=gettext_noop("DCGM diagnostic: output of dcgmi diag -j"),
    read=read,
    suite="dcgm-diag",
)
