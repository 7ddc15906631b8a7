"""NVIDIA's own diagnostic, `dcgmi diag` levels 1 to 3, inside a container with its own host engine.

DCGM is known to say Pass beside the text of an error: a pass with warnings is a warning here.
"""

from __future__ import annotations

from validations.suites.dcgm_diag import report as reports
from validations.suites.dcgm_diag.report import Report, Test
from validations.suites.engine.base import (
    Demo,
    Grade,
    Image,
    Lines,
    Option,
    Reading,
    ReasonWords,
    Suite,
    Target,
    Values,
    Workload,
    gettext_noop,
)
from validations.suites.engine.figures import name
from validations.suites.engine.options import common, image, linux

VERSION = 1
_ENGINE = (
    ("Unable to connect to host engine", "The host engine of DCGM is not running."),
    ("unable to establish a connection to the specified host", "The host engine of DCGM is not running."),
    ("Error: Unable to run diagnostics", "DCGM could not run the diagnostic."),
)
#: Tests of level 2 and above that do work on the card and look at its result, as the table and the JSON name them.
_ON_THE_CARD = frozenset(
    (
        "diagnostic",
        "gpu memory",
        "memory",
        "memory bandwidth",
        "memory_bandwidth",
        "memtest",
        "pcie",
        "pulse test",
        "pulse_test",
        "targeted power",
        "targeted stress",
        "targeted_power",
        "targeted_stress",
    )
)
_NO_DEVICE = ("No supported GPUs", "No GPUs found", "group is empty", "The Group is empty", "no GPUs in the group")


def read(lines: Lines) -> Reading:
    """Facts `tests` (name → status); the proof is a whole report in which a test passed and none failed."""
    reading = Reading(missing="The log has no whole report of the diagnostic.")
    for line, text in lines:
        _failure(reading, text, line)
    report = reports.from_json(lines) or reports.table(lines)
    if report is not None:
        reading.facts |= report.facts
        reading.facts["tests"] = {test.name: test.status for test in report.tests[:64]}
        _conclude(reading, report, lines)
    return reading


def _failure(reading: Reading, text: str, line: int) -> None:
    if text[:1] in ("|", "+", "{", " "):
        return
    for words, meaning in _ENGINE:
        if words in text:
            reading.errored("host-engine", f"{meaning[:-1]}: {name(text)}", line)
            return
    if any(words in text for words in _NO_DEVICE):
        reading.failed("no-device", f"DCGM has no device: {name(text)}", line)


def _conclude(reading: Reading, report: Report, lines: Lines) -> None:
    if report.error is not None:
        reading.errored("diagnostic", f"DCGM stopped with an error: {report.error[0]}", report.error[1])
    for test in report.tests:
        _test(reading, test)
    passed = [test for test in report.tests if test.status == "pass"]
    if not any(test.name.lower() in _ON_THE_CARD and test.status != "skip" for test in report.tests):
        reading.lower("seen", "No test of the diagnostic has worked on the card.")
    if lines.cut or not report.whole:
        reading.missing = "The report of the diagnostic is not whole."
    elif passed:
        reading.proof = passed[-1].line
    elif report.tests and all(test.status == "skip" for test in report.tests):
        reading.skipped("diagnostic", "Every test of the diagnostic was skipped.", report.tests[0].line)


def _test(reading: Reading, test: Test) -> None:
    notes = f": {'; '.join(test.notes)}" if test.notes else "."
    if test.status == "fail":
        reading.failed("diagnostic", f"{test.name} failed{notes}", test.line)
    elif test.status == "unknown":
        reading.errored("diagnostic", f"{test.name} has a status that is not known.", test.line)
    elif test.status == "warn" or (test.status == "pass" and test.notes):
        reading.warning("diagnostic", f"{test.name}: {test.status}, with a warning{notes}", test.line)


def _grade(values: Values) -> Grade:
    if int(values["level"]) < 2:
        return Grade("seen", "Level 1 of the diagnostic looks at the software only; no work is done on the card.")
    return Grade("right")


def _workload(target: Target, values: Values) -> Workload:
    """The diagnostic needs its host engine, started in the same container; exec keeps its exit code."""
    script = f"nv-hostengine && exec dcgmi diag -r {values['level']} -j"
    return Workload(
        image=str(values["image"]),
        command=("/bin/sh", "-c", script),
        host_memory=str(values["host_memory"]),
    )


SUITE = Suite(
    id="dcgm-diag",
    title="DCGM diagnostic",
    proves=gettext_noop("NVIDIA's diagnostic of the chosen level finds nothing wrong with the cards of the run."),
    level="right",
    os=("linux",),
    families=("nvidia-gpu",),
    parser_version=VERSION,
    options=(
        image("nvcr.io/nvidia/cloud-native/dcgm:4.2.3-1-ubuntu22.04"),
        Option(
            name="level",
            help=gettext_noop(
                "1: software, seconds. 2: with memory and PCIe, minutes. 3: with stress, a quarter of an hour."
            ),
            default=1,
            kind="number",
            minimum=1,
            maximum=3,
        ),
        Option(
            name="cards",
            help=gettext_noop("How many cards are tested."),
            default=1,
            kind="number",
            minimum=1,
            maximum=16,
        ),
        *linux(),
        *common(deadline_s=7200, host_memory="4Gi"),
    ),
    read=read,
    workload=_workload,
    demo=Demo(
        images=(Image(mark="dcgm", seconds=10, size=1_900_000_000),),
        nodes={"dgx-a100-02": "pcie"},
        exits={"pcie": 226},
    ),
    grade_by=_grade,
    reasons=(
        ReasonWords(
            "diagnostic",
            gettext_noop("a test of the diagnostic says no"),
            "Read the texts of the tests; NVIDIA's documentation of DCGM says what each means.",
        ),
        ReasonWords(
            "host-engine",
            gettext_noop("the host engine of DCGM did not work"),
            "Look whether the image has nv-hostengine and the container may start it.",
        ),
    ),
)
