"""The JSON form of `dcgmi diag`, of DCGM 2 to 4, and of its iterations. Only reads; what it means is judged in the package."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from itertools import accumulate
from typing import Any, NamedTuple

from validations.suites.dcgm_diag.report import GPU, MOST_DEVICES, Error, Found, Report, Test, settle, status_of, worst
from validations.suites.engine.figures import name
from validations.suites.engine.log import Lines
from wording.said import sentence

_BODIES = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
_BODY = re.compile(r'"DCGM (?:GPU )?Diagnostic"\s{0,20}:')
#: Lines that may be the first of a report, and how many of them may turn out to be none: other programs print JSON too.
_MOST_STARTS = 256
_MOST_BROKEN = 8
_MOST_ERRORS = 64
_MOST_ITERATIONS = 1000
_QUOTED = re.compile(r'"([^"\\]{1,200})"')
_NUMBERS = re.compile(r"\d{1,4}")
#: Where DCGM and what wraps it put errors of no test.
_ERRORS = ("global_errors", "errors", "error", "Error", "Warning", "warning", "warnings", "mpi_error")
#: DCGM's severities of an error that says that the card cannot work: to be isolated, to be reset (`dcgm_errors.h`).
_FATAL = frozenset((2, 6))
_VERSIONS = (
    ("version", "dcgm_version"),
    ("DCGM Version", "dcgm_version"),
    ("Driver Version Detected", "driver_version"),
)


class _Source(NamedTuple):
    """The document that is read: its first line, and the line of each quoted word of it, the first one."""

    start: int
    places: dict[str, int]

    def line(self, word: str) -> int:
        return self.places.get(word, self.start)


def documents(lines: Lines) -> Found:
    """The reports of all documents, which may stand between log noise. More than one document is more than one run."""
    found = Found()
    text = "\n".join(lines.texts)
    starts = [0, *accumulate(len(one) + 1 for one in lines.texts)]
    read: list[tuple[int, int]] = []
    broken = 0
    for at in [at for at, one in enumerate(lines.texts) if one.startswith("{")][:_MOST_STARTS]:
        if broken == _MOST_BROKEN or (read and starts[at] < read[-1][1]):
            continue
        try:
            document, end = json.JSONDecoder().raw_decode(text, starts[at])
        except (ValueError, RecursionError):
            broken += 1
            continue
        last = bisect_right(starts, end - 1)
        source = _Source(lines.numbers[at], _places(lines, at, min(last, len(lines.texts))))
        if reports := _reports(document, source):
            if found.reports and found.mixed is None:
                found.mixed = source.start
            found.reports += reports
            read.append((starts[at], end))
    for report in found.reports:
        settle(report)
    if found.reports and found.mixed is None:
        # What could not be read, as it was cut, is another run as well.
        other = next((one.start() for one in _BODY.finditer(text) if not _inside(one.start(), read)), None)
        found.mixed = lines.numbers[bisect_right(starts, other) - 1] if other is not None else None
    return found


def _inside(place: int, read: list[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in read)


def _reports(document: object, source: _Source) -> list[Report]:
    """One, or one for each iteration; none where the document is another program's."""
    if not isinstance(document, dict):
        return []
    if isinstance(body := _first(document, *_BODIES), dict):
        return [_report(document, body, source)]
    if not isinstance(iterations := document.get("iterations"), list):
        return []
    bodies = [(one, _first(one, *_BODIES)) for one in iterations[:_MOST_ITERATIONS]]
    if iterations and not any(isinstance(body, dict) for _, body in bodies):
        return []
    reports = [
        _report(one, body, source)
        if isinstance(one, dict) and isinstance(body, dict)
        else Report(source.start, errors=[Error(sentence("an iteration without a report"), source.line("iterations"))])
        for one, body in bodies
    ]
    if len(iterations) > len(reports):
        reports[-1].whole = False
    _overall(reports, document, source)
    return reports


def _overall(reports: list[Report], document: dict[str, Any], source: _Source) -> None:
    """What DCGM says of all iterations: anything but a pass is an error, where no test says more."""
    said = name(str(document.get("Overall Result", "")))
    status = status_of(said)
    if reports and (status is None or status[0] != "pass"):
        reports[-1].errors.append(Error(f"Overall Result: {said}", source.line("Overall Result")))
        reports[-1].errors += _errors(document, source)


def _report(document: dict[str, Any], body: dict[str, Any], source: _Source) -> Report:
    report = Report(source.start, whole=True)
    _facts(report, document, body)
    error = body.get("runtime_error") or document.get("runtime_error")
    if error:
        report.errors.append(Error(name(str(error)), source.line("runtime_error")))
    report.errors += _errors(document, source)
    if body is not document:
        report.errors += _errors(body, source)
    for category in _list(body.get("test_categories")):
        for test in _list(category.get("tests")):
            _test(report, test, name(str(category.get("category", ""))), source)
            report.errors += _errors(test, source, ("mpi_error",))
        report.errors += _errors(category, source)
    _devices(report, document, body)
    return report


def _errors(place: dict[str, Any], source: _Source, keys: tuple[str, ...] = _ERRORS) -> list[Error]:
    """Errors of no test: texts, or objects with a text and DCGM's severity."""
    found = []
    for key in keys:
        value = place.get(key)
        for one in value[:_MOST_ERRORS] if isinstance(value, list) else [value]:
            text = one.get("warning") or one.get("error") or one.get("message") or one if isinstance(one, dict) else one
            if one and (text := name(str(text))):
                severity = one.get("error_severity") if isinstance(one, dict) else None
                fatal = isinstance(severity, int) and severity in _FATAL
                found.append(Error(text, source.line(text) if text in source.places else source.line(key), fatal))
    return found


def _first(found: object, *keys: str) -> object:
    if not isinstance(found, dict):
        return None
    return next((found[key] for key in keys if key in found), None)


def _list(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _facts(report: Report, document: dict[str, Any], body: dict[str, Any]) -> None:
    places = [place for place in (document.get("metadata"), body, document) if isinstance(place, dict)]
    for place in places:
        for key, fact in _VERSIONS:
            if isinstance(place.get(key), str):
                report.facts.setdefault(fact, name(place[key]))


def _devices(report: Report, document: dict[str, Any], body: dict[str, Any]) -> None:
    """The devices of the run: DCGM 4 lists them by kind and number, DCGM 3 the models of its cards."""
    for group in _list(document.get("entity_groups")):
        for one in _list(group.get("entities")):
            if (device := _device(one | {"entity_group": group.get("entity_group")})) is not None:
                report.devices.append(device)
    for place in (body, document):
        if isinstance(ids := place.get("GPU Device IDs"), list):
            report.gpus = max(report.gpus, len(ids))
        if isinstance(serials := place.get("GPU Device Serials"), dict):
            report.gpus = max(report.gpus, len(serials))
    report.devices = list(dict.fromkeys(report.devices))[:MOST_DEVICES]


def _device(result: dict[str, Any]) -> str | None:
    number = result.get("entity_id")
    kind = result.get("entity_group")
    if isinstance(number, int) and isinstance(kind, str) and kind.isascii() and 0 < len(kind) <= 20:
        return name(f"{kind}{number}")
    return None


def _of(result: dict[str, Any]) -> list[str]:
    """The devices that a result is of: one of DCGM 4, or the numbers that DCGM 2 and 3 write as text."""
    if (device := _device(result)) is not None:
        return [device]
    given = result.get("gpu_ids", result.get("gpu_id"))
    numbers = _NUMBERS.findall(str(given)[:2000]) if isinstance(given, str | int) else []
    return [f"{GPU}{int(number)}" for number in numbers]


def _test(report: Report, test: dict[str, Any], category: str, source: _Source) -> None:
    """The worst status of a test: of its summary and of each of its results. One without any status is no pass."""
    label = name(str(test.get("name", "")))
    made = Test(label, "unknown", source.line(label), category)
    results = _list(test.get("results"))
    summary = test.get("test_summary")
    places = [*results, *([summary] if isinstance(summary, dict) else [])]
    statuses = []
    for place in places if places and "status" not in test else [*places, test]:
        written = str(place.get("status", ""))[:200]
        found = status_of(written)
        statuses.append(found[0] if found else "unknown")
        if found is None:
            made.strange = made.strange or name(written)
        for device in _of(place):
            made.give(device, statuses[-1])
        for note in _notes(place.get("warnings")):
            made.note(note)
    made.status = worst(statuses)
    report.tests.append(made)


def _notes(warnings: object) -> list[str]:
    if isinstance(warnings, str):
        return [name(warnings)] if warnings.strip() else []
    if not isinstance(warnings, list):
        return []
    return [name(str(one.get("warning", "")) if isinstance(one, dict) else str(one)) for one in warnings]


def _places(lines: Lines, start: int, end: int) -> dict[str, int]:
    """The line of each quoted word of the document; found in one walk, however many tests ask."""
    found: dict[str, int] = {}
    for at in range(start, end):
        for word in _QUOTED.findall(lines.texts[at]):
            found.setdefault(word, lines.numbers[at])
    return found
