"""A report of `dcgmi diag`, whichever form it was read from: tests, what each device got in them, errors of no test.

Status words: pass, fail, warn, skip, unknown. A test's own status is DCGM's summary of its devices: it says Pass where one of them
passed and the others were skipped, so the pass of a test with named devices is theirs alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import msgspec

from validations.suites.engine.figures import name

#: A status of any version, in table and JSON: "Pass", "PASS", "SKIPPED", "Skip - All", "Fail - GPUs: 0, 1", "Not Run".
_STATUS = re.compile(
    r"(?P<status>Pass|Fail|Warn|Skip|Not[ _]?Run)(?:ed|ped|ing)?\s{0,4}(?:- (?P<detail>.{1,200}))?\Z", re.IGNORECASE
)
_WORDS = {"pass": "pass", "fail": "fail", "warn": "warn", "skip": "skip"}
#: From bad to good: what the parts of a test say together. That of a card which was skipped hides no pass of another one here;
#: which cards have no pass of their own is `without_pass`.
_ORDER = ("fail", "unknown", "warn", "pass", "skip")
MOST_NOTES = 40
MOST_DEVICES = 256
GPU = "GPU"
_KIND = re.compile(r"[^0-9]{0,20}")


class Test(msgspec.Struct):
    """One test of the diagnostic. category: Deployment, Hardware, Integration, Stress. notes: texts of its warnings.

    devices: "GPU0" → its status in this test. strange: a status that is not known, as it is written.
    """

    name: str
    status: str
    line: int
    category: str = ""
    notes: list[str] = []
    devices: dict[str, str] = {}
    strange: str = ""

    def note(self, text: str) -> None:
        """Keep the text of a warning."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append(name(text))

    def give(self, device: str, status: str) -> None:
        """Keep what a device got, of several the worst."""
        if device in self.devices or len(self.devices) < MOST_DEVICES:
            self.devices[device] = worst((status, self.devices.get(device, status)))


class Error(msgspec.Struct, frozen=True):
    """An error of no test. fatal: DCGM's own severity says that the card cannot work."""

    text: str
    line: int
    fatal: bool = False


class Report(msgspec.Struct):
    """All tests of one diagnostic. line: where it begins. whole: its end is in the log. errors: DCGM's own, of no test.

    devices: those of the run, as far as they are named. gpus: how many cards the run has, 0 where that is not said.
    """

    line: int
    tests: list[Test] = []
    facts: dict[str, str] = {}
    whole: bool = False
    errors: list[Error] = []
    devices: list[str] = []
    gpus: int = 0


class Found(msgspec.Struct):
    """The reports of one log. Several are one run where they are its iterations; mixed: line of one that is another run."""

    reports: list[Report] = []
    mixed: int | None = None


def status_of(text: str) -> tuple[str, str] | None:
    """(status, what stands behind it) of a word of DCGM's; None for one that is not known."""
    match = _STATUS.match(text)
    return (_WORDS.get(match["status"].lower(), "skip"), match["detail"] or "") if match else None


def worst(statuses: Iterable[str]) -> str:
    """Of the parts of a test: skip only where nothing else is said."""
    found = set(statuses)
    return next(word for word in _ORDER if word in found)


def settle(report: Report) -> None:
    """Once all tests are read: the pass of a test whose devices are named is theirs, and the report knows all devices."""
    for test in report.tests:
        if test.status == "pass" and test.devices:
            test.status = worst(test.devices.values())
    named = dict.fromkeys([*report.devices, *(device for test in report.tests for device in test.devices)])
    report.devices = list(named)[:MOST_DEVICES]


def without_pass(report: Report, test: Test) -> list[str]:
    """Devices of the run that have no pass of their own in a test which others of their kind have passed.

    "" stands for cards that the report counts and does not name.
    """
    kinds = {_kind(device) for device, status in test.devices.items() if status == "pass"}
    alike = [device for device in report.devices if _kind(device) in kinds]
    # What a device failed or was warned of is told as that.
    found = [device for device in alike if test.devices.get(device, "skip") == "skip"]
    counted = GPU in kinds and report.gpus > sum(_kind(device) == GPU for device in alike)
    return [*found, ""] if counted else found


def _kind(device: str) -> str:
    return _KIND.match(device)[0].upper()  # type: ignore[index]
