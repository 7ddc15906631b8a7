"""The reports of `dcgmi diag` as tests: the table and the JSON of DCGM 2 to 4.

Only reads; what the statuses mean together is judged in the package. Status words: pass, fail, warn, skip.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from validations.suites.engine.figures import name
from validations.suites.engine.log import Lines

_CATEGORY = re.compile(r"[|+]-----\s{1,10}([A-Za-z][A-Za-z ]{0,40}?)\s{1,10}-{1,60}\+-{1,100}[|+]\s*\Z")
_BORDER = re.compile(r"\+-{10,80}\+-{10,120}\+\s*\Z")
#: A status of any version, in table and JSON: "Pass", "PASS", "SKIPPED", "Skip - All", "Fail - GPUs: 0, 1", "Not Run".
_STATUS = re.compile(
    r"(?P<status>Pass|Fail|Warn|Skip|Not[ _]?Run)(?:ed|ped|ing)?(?![A-Za-z])(?: - (?P<detail>.{1,200}))?", re.IGNORECASE
)
#: DCGM 2 and 3 write a row for each status that some of the GPUs have.
_OF_GPUS = re.compile(r"(?:Pass|Fail|Warn|Skip) - (?:GPUs?: [\d, ]{1,200}|All)\s*\Z")
_ENTITY = re.compile(r"[A-Za-z]{2,10}\d{1,4}: ")
_METADATA = {"DCGM Version": "dcgm_version", "Driver Version Detected": "driver_version"}
_NOTES = ("Warning", "Error")
#: Remarks of the verbose form: no warnings.
_REMARKS = ("Info",)
_WORDS = {"pass": "pass", "fail": "fail", "warn": "warn", "skip": "skip"}
_MOST_NOTES = 40
_BODIES = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
#: Lines that may be the first of the report: other programs print JSON too.
_MOST_STARTS = 8
_QUOTED = re.compile(r'"([^"\\]{1,200})"')


class Test(msgspec.Struct):
    """One test of the diagnostic. category: Deployment, Hardware, Integration, Stress. notes: texts of its warnings."""

    name: str
    status: str
    line: int
    category: str = ""
    notes: list[str] = []


class Report(msgspec.Struct):
    """All tests of one diagnostic. whole: the report's end is in the log. error: DCGM's own error that stopped it.

    twice: line of a second report in the same log.
    """

    tests: list[Test] = []
    facts: dict[str, str] = {}
    whole: bool = False
    error: tuple[str, int] | None = None
    twice: int | None = None
    #: Whether the row before was a remark, whose text may go on.
    remark: bool = False


def table(lines: Lines) -> Report | None:
    """The table form; None when the log has none."""
    report = Report()
    started = False
    category = ""
    for line, text in lines:
        if text.startswith("Successfully ran diagnostic"):
            if started:
                report.twice = line
                break
            started = True
        elif not started or text[:1] not in ("|", "+"):
            continue
        elif match := _CATEGORY.match(text):
            category = match[1].strip()
            report.whole = False
        elif _BORDER.match(text):
            report.whole = bool(report.tests)
        elif (cells := _cells(text)) is not None:
            _row(report, category, cells, line)
    return report if started else None


def _cells(text: str) -> tuple[str, str] | None:
    parts = text.rstrip().split("|")
    return (parts[1].strip(), parts[2].strip()) if len(parts) == 4 else None


def _row(report: Report, category: str, cells: tuple[str, str], line: int) -> None:
    label, value = cells
    if category == "Metadata":
        if label in _METADATA:
            report.facts[_METADATA[label]] = name(value)
        return
    if label == "Diagnostic":
        return
    if label:
        report.remark = False
    if label.startswith(_NOTES):
        if report.tests and len(report.tests[-1].notes) < _MOST_NOTES:
            report.tests[-1].notes.append(name(f"{label}: {value}"))
    elif not label:
        _continuation(report, value, line)
    elif label.startswith(_REMARKS):
        report.remark = True
    elif match := _STATUS.match(value):
        report.tests.append(Test(name(label), _word(match), line, category))
        if match["detail"] and _word(match) not in ("pass", "skip"):
            report.tests[-1].notes.append(name(match["detail"]))


def _continuation(report: Report, value: str, line: int) -> None:
    """A row of one GPU, or the rest of a wrapped note. A GPU that says more than its test weighs more."""
    if not report.tests:
        return
    test = report.tests[-1]
    entity = _ENTITY.match(value)
    if entity and (match := _STATUS.match(value[entity.end() :])):
        # Of a test that warns, DCGM 4 writes Fail for its GPUs.
        _worse(test, "warn" if test.status == "warn" else _word(match), value, line)
    elif _OF_GPUS.match(value) and (match := _STATUS.match(value)):
        _worse(test, _word(match), value, line)
    elif report.remark:
        return
    elif test.notes and len(test.notes) < _MOST_NOTES:
        test.notes[-1] = name(f"{test.notes[-1]} {value}")


def _worse(test: Test, status: str, value: str, line: int) -> None:
    """What some of the GPUs say, which may be worse than what the test said."""
    if status in ("fail", "warn"):
        if test.status != status and test.status != "fail":
            test.status, test.line = status, line
        if len(test.notes) < _MOST_NOTES:
            test.notes.append(name(value))
    elif status == "pass" and test.status == "skip":
        test.status = "pass"


def _word(match: re.Match[str]) -> str:
    return _WORDS.get(match["status"].lower(), "skip")


def from_json(lines: Lines) -> Report | None:
    """The JSON form, which may follow log noise; None when the log has none that is whole."""
    starts = [at for at, text in enumerate(lines.texts) if text.startswith("{")]
    for start in starts[:_MOST_STARTS]:
        text = "\n".join(lines.texts[start:])
        try:
            found, end = json.JSONDecoder().raw_decode(text)
        except (ValueError, RecursionError):
            continue
        if isinstance(body := _first(found, *_BODIES), dict):
            report = _from_json(lines, start, found, body)
            if any(text.find(f'"{key}"', end) >= 0 for key in _BODIES):
                report.twice = lines.numbers[-1]
            return report
    return None


def _from_json(lines: Lines, start: int, found: dict[str, Any], body: dict[str, Any]) -> Report:
    report = Report(whole=True)
    _json_facts(report, found, body)
    places = _places(lines, start)
    error = body.get("runtime_error") or found.get("runtime_error")
    if error:
        report.error = (name(str(error)), places.get("runtime_error", lines.numbers[start]))
    for category in _list(body.get("test_categories")):
        for test in _list(category.get("tests")):
            _json_test(report, test, name(str(category.get("category", ""))), places, lines.numbers[start])
    return report


def _first(found: object, *keys: str) -> object:
    if not isinstance(found, dict):
        return None
    return next((found[key] for key in keys if key in found), None)


def _list(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _json_facts(report: Report, found: object, body: dict[str, Any]) -> None:
    metadata = _first(found, "metadata")
    places = [place for place in (metadata, body) if isinstance(place, dict)]
    for place in places:
        for key, fact in (
            ("version", "dcgm_version"),
            ("DCGM Version", "dcgm_version"),
            ("Driver Version Detected", "driver_version"),
        ):
            if isinstance(place.get(key), str):
                report.facts.setdefault(fact, name(place[key]))


def _json_test(report: Report, test: dict[str, Any], category: str, places_of: dict[str, int], start: int) -> None:
    """The worst status of a test: of its summary and of each of its results. One without any status is no pass."""
    label = name(str(test.get("name", "")))
    results = _list(test.get("results"))
    summary = test.get("test_summary")
    places = [*results, *([summary] if isinstance(summary, dict) else [])]
    found = [_STATUS.match(str(place.get("status", ""))[:200]) for place in places]
    statuses = [_word(match) if match else "unknown" for match in found] or ["unknown"]
    worst = next(word for word in ("fail", "unknown", "warn", "pass", "skip") if word in statuses)
    notes = [note for result in places for note in _notes(result.get("warnings"))]
    report.tests.append(Test(label, worst, places_of.get(label, start), category, notes[:_MOST_NOTES]))


def _notes(warnings: object) -> list[str]:
    if isinstance(warnings, str):
        return [name(warnings)] if warnings.strip() else []
    if not isinstance(warnings, list):
        return []
    return [name(str(one.get("warning", "")) if isinstance(one, dict) else str(one)) for one in warnings]


def _places(lines: Lines, start: int) -> dict[str, int]:
    """The line of each quoted word of the JSON, the first one; found in one walk, however many tests ask."""
    found: dict[str, int] = {}
    for at in range(start, len(lines.texts)):
        for word in _QUOTED.findall(lines.texts[at]):
            found.setdefault(word, lines.numbers[at])
    return found
