"""NVIDIA's own diagnostic, `dcgmi diag` levels 1 to 3, inside a container with its own host engine.

DCGM is known to say Pass beside the text of an error: a pass with warnings is a warning here.
"""

from __future__ import annotations

import re

from validations.suites.dcgm_diag import report as reports
from validations.suites.dcgm_diag.report import Report, Test
from validations.suites.engine.base import (
    Demo,
    Grade,
    Image,
    Lines,
    Option,
    Past,
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
from validations.suites.engine.phrases import Phrase, first, tell
from wording.said import sentence

VERSION = 2
_SOURCE = "NVIDIA/DCGM `dcgmi/Diag.cpp`"
_NOT_RUN = sentence("DCGM could not run the diagnostic")
_NO_ENGINE = sentence("The host engine of DCGM is not running")
_ENGINE = (
    Phrase("Unable to connect to host engine", "host-engine", _NO_ENGINE, "errored", _SOURCE),
    Phrase("unable to establish a connection to the specified host", "host-engine", _NO_ENGINE, "errored", _SOURCE),
    Phrase("Unable to start an embedded host engine", "host-engine", _NO_ENGINE, "errored", _SOURCE),
    Phrase("Err: Failed to start DCGM Server", "host-engine", _NO_ENGINE, "errored", "NVIDIA/DCGM `hostengine`"),
    Phrase("Error: Unable to run diagnostics", "host-engine", _NOT_RUN, "errored", _SOURCE),
    Phrase("Error: Unable to complete diagnostic", "diagnostic", _NOT_RUN, "errored", _SOURCE),
    Phrase("Error: Diagnostic could not be run", "diagnostic", _NOT_RUN, "errored", _SOURCE),
    Phrase("Error: Diagnostic can only be performed on", "diagnostic", _NOT_RUN, "errored", _SOURCE),
)
#: Words of DCGM's own errors by which the card is what stopped the diagnostic.
_CARD_GONE = re.compile(
    r"\bdetached\b|GPU is lost|fell off the bus|fallen off the bus|requires reset|is inaccessible", re.IGNORECASE
)
#: Categories of tests that work on the card; those of Deployment look at the software.
_AT_WORK = frozenset(("hardware", "integration", "stress"))
#: Tests of level 2 and above that do work on the card and look at its result, as the table and the JSON name them.
_ON_THE_CARD = frozenset(
    (
        "context create",
        "diagnostic",
        "eud test",
        "eud",
        "gpu memory",
        "memory",
        "memory bandwidth",
        "memory_bandwidth",
        "memtest",
        "nccl_tests",
        "nvbandwidth",
        "pcie",
        "pulse test",
        "pulse_test",
        "sm stress",
        "targeted power",
        "targeted stress",
        "targeted_power",
        "targeted_stress",
    )
)
_TABLE = """Successfully ran diagnostic for group.
+---------------------------+------------------------------------------------+
|-----  Deployment  --------+------------------------------------------------|
| software                  | Pass                                           |
+-----  Hardware  ----------+------------------------------------------------+
{}
+---------------------------+------------------------------------------------+"""
_STATUSES = (
    Phrase("| memory | Fail |", "diagnostic", "A test says no", "failed", _SOURCE, _TABLE.format("| memory | Fail |")),
    Phrase(
        "| Memory | Pass - GPU: 0 | and below | | Fail - GPU: 1 |",
        "diagnostic",
        "A test says no to one of the cards",
        "failed",
        "NVIDIA/DCGM 2 and 3 `dcgmi/Diag.cpp`",
        _TABLE.format("| Memory | Pass - GPU: 0 |\n| | Fail - GPU: 1 |"),
    ),
    Phrase("| memory | Warn |", "diagnostic", "A test warns", "warning", _SOURCE, _TABLE.format("| memory | Warn |")),
    Phrase(
        "| memory | Pass | with | Warning |",
        "diagnostic",
        "A test passed beside the text of an error",
        "warning",
        _SOURCE,
        _TABLE.format("| memory | Pass |\n| Warning: GPU0 | Error using CUDA API |"),
    ),
    Phrase(
        "| memory | Skip |, and so every test of the card",
        "diagnostic",
        "Nothing was run on the card",
        "warning",
        _SOURCE,
        _TABLE.format("| memory | Skip |"),
    ),
    Phrase(
        '"runtime_error": "All 1 requested GPUs are detached. …"',
        "device-removed",
        "The card is gone",
        "failed",
        "NVIDIA/DCGM `DcgmDiagManager.cpp`",
        '{"DCGM Diagnostic": {"runtime_error": "Error: All 1 requested GPUs are detached."}}',
    ),
    Phrase(
        '"runtime_error": "…"',
        "diagnostic",
        "DCGM could not run the diagnostic",
        "errored",
        _SOURCE,
        '{"DCGM Diagnostic": {"runtime_error": "Error: Diagnostic could not be run while DCGM is paused."}}',
    ),
)
_NO_DEVICE = ("No supported GPUs", "No GPUs found", "group is empty", "The Group is empty", "no GPUs in the group")


def read(lines: Lines) -> Reading:
    """Facts `tests` (name → status); the proof is a whole report in which a test passed and none failed."""
    reading = Reading(missing=sentence("The log has no whole report of the diagnostic."))
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
    # Each text that is looked for has one of these.
    if not ("rr" in text or "host" in text or "GPUs" in text or "roup" in text):
        return
    phrase = first(_ENGINE, text)
    if (phrase is not None or text.startswith("Error: ")) and _CARD_GONE.search(text):
        reading.failed("device-removed", sentence("The card is gone: {text}", text=name(text)), line)
    elif phrase is not None:
        tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)), line)
    elif any(words in text for words in _NO_DEVICE):
        reading.failed("no-device", sentence("DCGM has no device: {text}", text=name(text)), line)


def _conclude(reading: Reading, report: Report, lines: Lines) -> None:
    if report.error is not None and _CARD_GONE.search(report.error[0]):
        reading.failed("device-removed", sentence("The card is gone: {error}", error=report.error[0]), report.error[1])
    elif report.error is not None:
        reading.errored(
            "diagnostic", sentence("DCGM stopped with an error: {error}", error=report.error[0]), report.error[1]
        )
    for test in report.tests:
        _test(reading, test)
    passed = [test for test in report.tests if test.status == "pass"]
    at_work = [test for test in report.tests if _at_work(test)]
    if not any(test.status != "skip" for test in at_work):
        reading.lower("seen", sentence("No test of the diagnostic has worked on the card."))
    if report.twice is not None:
        reading.errored("mixed-log", sentence("The log holds more than one report."), report.twice)
    elif lines.cut or not report.whole:
        reading.missing = sentence("The report of the diagnostic is not whole.")
    elif passed:
        reading.proof = passed[-1].line
        if at_work and all(test.status == "skip" for test in at_work):
            text = sentence("Every test that would have worked on the card was skipped")
            reading.warning(
                "diagnostic",
                sentence("{text}: {names}.", text=text, names=", ".join(test.name for test in at_work[:16])),
                at_work[0].line,
            )
    elif report.tests and all(test.status == "skip" for test in report.tests):
        reading.skipped("diagnostic", sentence("Every test of the diagnostic was skipped."), report.tests[0].line)


def _at_work(test: Test) -> bool:
    """Whether the test does work on the card."""
    return test.category.lower() in _AT_WORK or test.name.lower() in _ON_THE_CARD


def _test(reading: Reading, test: Test) -> None:
    notes = f": {'; '.join(test.notes)}" if test.notes else "."
    if test.status == "fail":
        reading.failed("diagnostic", sentence("{name} failed{notes}", name=test.name, notes=notes), test.line)
    elif test.status == "unknown":
        reading.errored("diagnostic", sentence("{name} has a status that is not known.", name=test.name), test.line)
    elif test.status == "warn" or (test.status == "pass" and test.notes):
        reading.warning(
            "diagnostic",
            sentence("{name}: {status}, with a warning{notes}", name=test.name, status=test.status, notes=notes),
            test.line,
        )


def _grade(values: Values) -> Grade:
    if int(values["level"]) < 2:
        return Grade(
            "seen", sentence("Level 1 of the diagnostic looks at the software only; no work is done on the card.")
        )
    return Grade("right")


def _workload(target: Target, values: Values) -> Workload:
    """The diagnostic needs its host engine, started in the same container; exec keeps its exit code."""
    script = f"nv-hostengine && exec dcgmi diag -r {values['level']} -j"
    return Workload(
        image=str(values["image"]),
        command=("/bin/sh", "-c", script),
        host_memory=str(values["host_memory"]),
        cpus=2 + 2 * int(values["cards"]),
        disk="2Gi",
    )


SUITE = Suite(
    id="dcgm-diag",
    title=gettext_noop("DCGM diagnostic"),
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
        *linux(user=0),
        *common(deadline_s=7200, host_memory="4Gi"),
    ),
    read=read,
    # nv-hostengine is a service: it wants to be root, and writes its log and its pid to /var.
    pod_security="baseline",
    writes=True,
    workload=_workload,
    demo=Demo(
        images=(Image(mark="dcgm", seconds=10, size=1_900_000_000),),
        nodes={"dgx-a100-02": "pcie"},
        exits={"pcie": 226},
        past=Past(nights=1),
    ),
    grade_by=_grade,
    proof="| memory | Pass |",
    source="NVIDIA/DCGM `dcgmi/Diag.cpp`",
    phrases=(
        *_STATUSES,
        *(Phrase(words, "no-device", "DCGM has no device", "failed", _SOURCE) for words in _NO_DEVICE),
        *_ENGINE,
    ),
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
