"""The table form of `dcgmi diag`, of DCGM 2 to 4. Only reads; what the statuses mean together is judged in the package."""

from __future__ import annotations

import re

import msgspec

from validations.suites.dcgm_diag.report import GPU, Found, Report, Test, settle, status_of
from validations.suites.engine.figures import name
from validations.suites.engine.log import Lines

_CATEGORY = re.compile(r"[|+]-----\s{1,10}([A-Za-z][A-Za-z ]{0,40}?)\s{1,10}-{1,60}\+-{1,100}[|+]\s*\Z")
_BORDER = re.compile(r"\+-{10,80}\+-{10,120}\+\s*\Z")
#: DCGM 2 and 3 write a row for each status that some of the GPUs have.
_GPUS = re.compile(r"GPUs?: ([\d, ]{1,200})\Z")
_ENTITY = re.compile(r"([A-Za-z_]{2,10}\d{1,4}):(?: |\Z)")
_METADATA = {"DCGM Version": "dcgm_version", "Driver Version Detected": "driver_version"}
_NOTES = ("Warning", "Error")
#: Remarks of the verbose form: no warnings.
_REMARKS = ("Info",)


class _Walk(msgspec.Struct):
    """State of one pass. texted: the row before was a note or a remark, whose text may go on."""

    found: Found
    report: Report | None = None
    category: str = ""
    texted: bool = False
    remark: bool = False
    iteration: bool = False


def tables(lines: Lines) -> Found:
    """The reports in their order. The tables of `--iterations` are those of one run."""
    walk = _Walk(Found())
    iterations, passed = False, False
    for line, text in lines:
        if text.startswith("Successfully ran diagnostic"):
            if walk.report is not None and not walk.iteration and walk.found.mixed is None:
                walk.found.mixed = line
            walk.report, walk.category, walk.iteration, walk.texted = Report(line), "", False, False
            walk.found.reports.append(walk.report)
        elif text.startswith("Running iteration "):
            iterations = walk.iteration = True
        elif text.startswith("Passed all "):
            passed = True
        elif walk.report is not None and text[:1] in ("|", "+"):
            _table_line(walk, walk.report, text, line)
    if walk.found.reports and iterations and (walk.iteration or not passed):
        # The last iteration has no table, or DCGM did not come to the end of all.
        walk.found.reports[-1].whole = False
    for report in walk.found.reports:
        settle(report)
    return walk.found


def _table_line(walk: _Walk, report: Report, text: str, line: int) -> None:
    if match := _CATEGORY.match(text):
        walk.category, walk.texted = match[1].strip(), False
        report.whole = False
    elif _BORDER.match(text):
        report.whole = bool(report.tests)
    elif (cells := _cells(text)) is not None:
        _row(walk, report, cells, line)


def _cells(text: str) -> tuple[str, str] | None:
    parts = text.rstrip().split("|")
    return (parts[1].strip(), parts[2].strip()) if len(parts) == 4 else None


def _row(walk: _Walk, report: Report, cells: tuple[str, str], line: int) -> None:
    label, value = cells
    if walk.category == "Metadata":
        _metadata(report, label, value)
    elif not label:
        _continuation(walk, report, value, line)
    elif label == "Diagnostic":
        return
    elif label.startswith((*_NOTES, *_REMARKS)):
        walk.texted, walk.remark = True, label.startswith(_REMARKS)
        if report.tests and not walk.remark:
            report.tests[-1].note(f"{label}: {value}")
    else:
        walk.texted = False
        _test(report, walk.category, name(label), value, line)


def _metadata(report: Report, label: str, value: str) -> None:
    if label in _METADATA:
        report.facts[_METADATA[label]] = name(value)
    elif label == "GPU Device IDs Detected":
        report.gpus = len([word for word in value.split(",") if word.strip()])


def _test(report: Report, category: str, label: str, value: str, line: int) -> None:
    found = status_of(value)
    if found is None:
        report.tests.append(Test(label, "unknown", line, category, strange=name(value)))
        return
    status, detail = found
    test = Test(label, status, line, category)
    report.tests.append(test)
    _of_gpus(test, status, detail)
    if detail and status not in ("pass", "skip"):
        test.note(detail)


def _of_gpus(test: Test, status: str, detail: str) -> bool:
    """Keep the status of the GPUs that a row of DCGM 2 or 3 lists. Whether it is such a row."""
    match = _GPUS.match(detail)
    for number in match[1].split(",") if match else ():
        if number.strip().isdecimal():
            test.give(f"{GPU}{int(number)}", status)
    return match is not None or detail == "All"


def _continuation(walk: _Walk, report: Report, value: str, line: int) -> None:
    """A row of one GPU, or the rest of a wrapped note. A GPU that says more than its test weighs more."""
    if not report.tests:
        return
    test = report.tests[-1]
    entity = _ENTITY.match(value)
    if entity and (found := status_of(value[entity.end() :])):
        # Of a test that warns, DCGM 4 writes Fail for its GPUs.
        status = "warn" if test.status == "warn" and found[0] == "fail" else found[0]
        test.give(entity[1], status)
        _worse(test, status, value, line)
        walk.texted = False
    elif entity and not walk.texted:
        test.give(entity[1], "unknown")
        test.strange = test.strange or name(value)
        test.status, test.line = ("unknown", line) if test.status != "fail" else (test.status, test.line)
    elif (found := status_of(value)) and found[1] and _of_gpus(test, *found):
        _worse(test, found[0], value, line)
    elif walk.texted and not walk.remark and test.notes:
        test.notes[-1] = name(f"{test.notes[-1]} {value}")


def _worse(test: Test, status: str, value: str, line: int) -> None:
    """What some of the GPUs say, which may be worse than what the test said."""
    if status in ("fail", "warn"):
        if test.status != status and test.status != "fail":
            test.status, test.line = status, line
        test.note(value)
    elif status == "pass" and test.status == "skip":
        test.status = "pass"
