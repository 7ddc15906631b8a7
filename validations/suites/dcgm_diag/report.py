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
_STATUS = re.compile(r"(?P<status>Pass|Fail|Warn|Skip|Not Run)\b(?: - (?P<detail>.{1,200}))?", re.IGNORECASE)
_ENTITY = re.compile(r"[A-Za-z]{2,10}\d{1,4}: ")
_METADATA = {"DCGM Version": "dcgm_version", "Driver Version Detected": "driver_version"}
_NOTES = ("Warning", "Error", "Info")
_WORDS = {"pass": "pass", "fail": "fail", "warn": "warn", "skip": "skip", "not run": "skip", "not_run": "skip"}
_MOST_NOTES = 40
_QUOTED = re.compile(r'"([^"\\]{1,200})"')


class Test(msgspec.Struct):
    """One test of the diagnostic. notes: texts of its warnings."""

    name: str
    status: str
    line: int
    notes: list[str] = []


class Report(msgspec.Struct):
    """All tests of one diagnostic. whole: the report's end is in the log. error: DCGM's own error that stopped it."""

    tests: list[Test] = []
    facts: dict[str, str] = {}
    whole: bool = False
    error: tuple[str, int] | None = None


def table(lines: Lines) -> Report | None:
    """The table form; None when the log has none."""
    report = Report()
    started = False
    category = ""
    for line, text in lines:
        if text.startswith("Successfully ran diagnostic"):
            if started:
                return None
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
    if label.startswith(_NOTES):
        if report.tests and len(report.tests[-1].notes) < _MOST_NOTES:
            report.tests[-1].notes.append(name(f"{label}: {value}"))
    elif not label:
        _continuation(report, value, line)
    elif match := _STATUS.match(value):
        report.tests.append(Test(name(label), _WORDS[match["status"].lower()], line))
        if match["detail"] and match["status"].lower() not in ("pass", "skip"):
            report.tests[-1].notes.append(name(match["detail"]))


def _continuation(report: Report, value: str, line: int) -> None:
    """A row of one GPU, or the rest of a wrapped note. A GPU that says more than its test weighs more."""
    if not report.tests:
        return
    test = report.tests[-1]
    entity = _ENTITY.match(value)
    if entity and (match := _STATUS.match(value[entity.end() :])):
        status = _WORDS[match["status"].lower()]
        if status == "fail" and test.status != "fail":
            test.status, test.line = "fail", line
        if status in ("fail", "warn") and len(test.notes) < _MOST_NOTES:
            test.notes.append(name(value))
    elif test.notes and len(test.notes) < _MOST_NOTES:
        test.notes[-1] = name(f"{test.notes[-1]} {value}")


def from_json(lines: Lines) -> Report | None:
    """The JSON form, which may follow log noise; None when the log has none that is whole."""
    start = next((at for at, text in enumerate(lines.texts) if text.startswith("{")), None)
    if start is None:
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode("\n".join(lines.texts[start:]))
    except (ValueError, RecursionError):
        return None
    body = _first(found, "DCGM Diagnostic", "DCGM GPU Diagnostic")
    if not isinstance(body, dict):
        return None
    report = Report(whole=True)
    _json_facts(report, found, body)
    places = _places(lines, start)
    error = body.get("runtime_error") or found.get("runtime_error")
    if error:
        report.error = (name(str(error)), places.get("runtime_error", lines.numbers[start]))
    for category in _list(body.get("test_categories")):
        for test in _list(category.get("tests")):
            _json_test(report, test, places, lines.numbers[start])
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


def _json_test(report: Report, test: dict[str, Any], places_of: dict[str, int], start: int) -> None:
    """The worst status of a test: of its summary and of each of its results. One without any status is no pass."""
    label = name(str(test.get("name", "")))
    results = _list(test.get("results"))
    summary = test.get("test_summary")
    places = [*results, *([summary] if isinstance(summary, dict) else [])]
    statuses = [_WORDS.get(str(place.get("status", "")).lower(), "unknown") for place in places] or ["unknown"]
    worst = next(word for word in ("fail", "unknown", "warn", "pass", "skip") if word in statuses)
    notes = [note for result in places for note in _notes(result.get("warnings"))]
    report.tests.append(Test(label, worst, places_of.get(label, start), notes[:_MOST_NOTES]))


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
