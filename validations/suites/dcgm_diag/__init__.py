"""NVIDIA's own diagnostic, `dcgmi diag` levels 1 to 3, inside a container with its own host engine.

DCGM is known to say Pass beside the text of an error: a pass with warnings is a warning here.
"""

from __future__ import annotations

from validations.suites.dcgm_diag.document import documents
from validations.suites.dcgm_diag.phrases import CARD_GONE, ENGINE, NO_DEVICE, SOURCE, STATUSES
from validations.suites.dcgm_diag.report import MOST_DEVICES, Report, Test, without_pass, worst
from validations.suites.dcgm_diag.table import tables
from validations.suites.engine.base import (
    Demo,
    Grade,
    Image,
    Lines,
    Needs,
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

VERSION = 3
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


def read(lines: Lines) -> Reading:
    """Facts `tests` and `devices` (name → status); the proof is a whole report in which a test passed and none failed."""
    reading = Reading(missing=sentence("The log has no complete diagnostic report."))
    for line, text in lines:
        _failure(reading, text, line)
    written, printed = documents(lines), tables(lines)
    mixed = written.mixed or printed.mixed
    if written.reports and printed.reports:
        mixed = mixed or printed.reports[0].line
    reports = [*written.reports, *printed.reports]
    if reports:
        _facts(reading, reports)
        _conclude(reading, reports, mixed, lines)
    return reading


def _failure(reading: Reading, text: str, line: int) -> None:
    if text[:1] in ("|", "+", "{", " "):
        return
    # Each text that is looked for has one of these.
    if not ("rr" in text or "host" in text or "GPUs" in text or "roup" in text or text.startswith("Abort")):
        return
    phrase = first(ENGINE, text)
    if (phrase is not None or text.startswith("Error: ")) and CARD_GONE.search(text):
        reading.failed("device-removed", sentence("Card lost: {text}", text=name(text)), line)
    elif phrase is not None:
        tell(reading, phrase, sentence("{meaning}: {text}", meaning=phrase.meaning, text=name(text)), line)
    elif any(words in text for words in NO_DEVICE):
        reading.failed("no-device", sentence("DCGM found no device: {text}", text=name(text)), line)


def _facts(reading: Reading, reports: list[Report]) -> None:
    """Of several reports of one thing the worst counts."""
    tests: dict[str, list[str]] = {}
    devices: dict[str, list[str]] = {}
    for report in reports:
        reading.facts |= report.facts
        for test in report.tests:
            if test.name in tests or len(tests) < 64:
                tests.setdefault(test.name, []).append(test.status)
            for device, status in test.devices.items() if _at_work(test) else ():
                devices.setdefault(device, []).append(status)
    reading.facts["tests"] = {test: worst(said) for test, said in tests.items()}
    if devices:
        reading.facts["devices"] = {device: worst(said) for device, said in list(devices.items())[:MOST_DEVICES]}


def _conclude(reading: Reading, reports: list[Report], mixed: int | None, lines: Lines) -> None:
    for error in (error for report in reports for error in report.errors):
        if CARD_GONE.search(error.text):
            reading.failed("device-removed", sentence("Card lost: {error}", error=error.text), error.line)
        elif error.fatal:
            reading.failed("diagnostic", sentence("DCGM error: {error}", error=error.text), error.line)
        else:
            reading.errored("diagnostic", sentence("DCGM stopped with an error: {error}", error=error.text), error.line)
    tests = [test for report in reports for test in report.tests]
    for test in tests:
        _test(reading, test)
    passed = [test for test in tests if test.status == "pass"]
    at_work = [test for test in tests if _at_work(test)]
    if not any(test.status != "skip" for test in at_work):
        reading.lower("detected", sentence("No diagnostic test ran on the card."))
    if mixed is not None:
        reading.errored("mixed-log", sentence("The log contains more than one report."), mixed)
    elif lines.cut or not all(report.whole for report in reports):
        reading.missing = sentence("The diagnostic report is incomplete.")
    elif passed:
        reading.proof = passed[-1].line
        if at_work and all(test.status == "skip" for test in at_work):
            text = sentence("All tests that run on the card were skipped")
            reading.warning(
                "diagnostic",
                sentence("{text}: {names}.", text=text, names=", ".join(test.name for test in at_work[:16])),
                at_work[0].line,
            )
    elif tests and all(test.status == "skip" for test in tests):
        reading.skipped("diagnostic", sentence("All diagnostic tests were skipped."), tests[0].line)
    for report in reports:
        _each_device(reading, report)


def _each_device(reading: Reading, report: Report) -> None:
    """A card counts as tested by its own pass alone: one that was skipped where another passed is not."""
    at_work = [test for test in report.tests if _at_work(test)]
    told: set[str] = set()
    for test in at_work:
        left = without_pass(report, test)
        told.update(left)
        if left:
            named = [device for device in left if device]
            others = "" if len(named) == len(left) else sentence("cards without a name in the report")
            names = ", ".join([*named[:16], *([others] if others else [])])
            reading.warning(
                "not-every-card",
                sentence("{test} did not run on {names}, other cards passed it.", names=names, test=test.name),
                test.line,
            )
    done = {device for test in at_work for device, status in test.devices.items() if status == "pass"}
    if told - done:
        reading.lower("detected", sentence("No diagnostic test ran on every card."))


def _at_work(test: Test) -> bool:
    """Whether the test does work on the card."""
    return test.category.lower() in _AT_WORK or test.name.lower() in _ON_THE_CARD


def _test(reading: Reading, test: Test) -> None:
    notes = f": {'; '.join(test.notes)}" if test.notes else "."
    if test.status == "fail":
        reading.failed("diagnostic", sentence("{name} failed{notes}", name=test.name, notes=notes), test.line)
    elif test.status == "unknown":
        reading.errored(
            "diagnostic",
            sentence("{name} has an unknown status: “{status}”.", name=test.name, status=test.strange),
            test.line,
        )
    elif test.status == "warn" or (test.status == "pass" and test.notes):
        reading.warning(
            "diagnostic",
            sentence("{name}: {status}, with a warning{notes}", name=test.name, status=test.status, notes=notes),
            test.line,
        )


def _grade(values: Values) -> Grade:
    if int(values["level"]) < 2:
        return Grade("detected", sentence("Diagnostic level 1 checks only the software. No test runs on the card."))
    return Grade("checked")


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
    proves=gettext_noop("NVIDIA's diagnostic of the chosen level finds no fault on the cards of the run."),
    level="checked",
    os=("linux",),
    families=("nvidia-gpu",),
    parser_version=VERSION,
    options=(
        image("nvcr.io/nvidia/cloud-native/dcgm:4.2.3-1-ubuntu22.04"),
        Option(
            name="level",
            help=gettext_noop(
                "1: software (seconds). 2: also memory and PCIe (minutes). 3: also stress tests (about 15 min)."
            ),
            default=1,
            kind="number",
            minimum=1,
            maximum=3,
            covers_less=True,
        ),
        Option(
            name="cards",
            help=gettext_noop("Number of cards to test."),
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
    needs={"linux": Needs(driver="450.80.02")},
    demo=Demo(
        images=(Image(mark="dcgm", seconds=10, size=1_900_000_000),),
        nodes={"dgx-a100-02": "pcie"},
        exits={"pcie": 226},
        past=Past(runs=1, starts=("dgx-a100-",)),
    ),
    grade_by=_grade,
    confirms={"level": 3},
    proof="| memory | Pass |",
    source="NVIDIA/DCGM `dcgmi/Diag.cpp`",
    phrases=(
        *STATUSES,
        *(Phrase(words, "no-device", "DCGM found no device", "failed", SOURCE) for words in NO_DEVICE),
        *ENGINE,
    ),
    reasons=(
        ReasonWords(
            "diagnostic",
            gettext_noop("a diagnostic test failed"),
            "Read the texts of the tests. NVIDIA's DCGM documentation explains them.",
            points_to="card",
        ),
        ReasonWords(
            "host-engine",
            gettext_noop("DCGM host engine failed"),
            "Check that the image has nv-hostengine and that the container can start it.",
            points_to="driver or runtime",
        ),
    ),
)
