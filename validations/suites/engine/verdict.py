"""What goes into a verdict and what comes out: outcome, observations, result, in plain structs.

Verdicts: *failed* means that hardware, driver or adapter said no; *errored* means that the test could not be carried out.
Knows nothing of single suites, of exit code tables and of manifests.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from wording.said import sentence

Verdict: TypeAlias = Literal["passed", "failed", "warning", "errored", "skipped"]
#: What a pass says of the card, least first. none: nothing. seen: the driver answers. ran: work was done, its result was not
#: checked. right: work was done and its result was checked. Only *right* proves a card good.
Level: TypeAlias = Literal["none", "detected", "ran", "checked"]
LEVELS: tuple[Level, ...] = ("none", "detected", "ran", "checked")
#: Facts are JSON: text, whole numbers, booleans, lists and objects of these.
Facts: TypeAlias = dict[str, Any]


class Grade(NamedTuple):
    """How much a pass proves. text: why it is less than the suite's own level, "" when it is not."""

    level: Level
    text: str = ""

    def lowered(self, other: Grade) -> Grade:
        """The lower of the two."""
        return other if LEVELS.index(other.level) < LEVELS.index(self.level) else self


class Reason(msgspec.Struct, frozen=True):
    """Why. line: 1-based line of the stored text that proves it; None when it is not from the log."""

    code: str
    text: str
    line: int | None = None


class Measurement(msgspec.Struct, frozen=True):
    """A finite number with its unit: ms, s, GB/s, GFLOP/s, 1/s (per second), x (a ratio), MB."""

    value: float
    unit: str


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How the container ended.

    exit_code: signed, as Kubernetes gives it (Docker gives Windows codes unsigned: both are read); None when not known.
    reason: of the termination or of the pod: OOMKilled, Error, DeadlineExceeded, Evicted, StartError …
    signal: number, when Kubernetes says it. text_alone: the caller has a stored log and no exit code to give.
    """

    exit_code: int | None = None
    reason: str = ""
    signal: int | None = None
    text_alone: bool = False


#: For a log without its container: the verdict rests on the text alone and says so.
TEXT_ALONE = Outcome(text_alone=True)


class Observation(msgspec.Struct, frozen=True):
    """One thing that the log or the exit code says. severity "passed" is a remark that changes no verdict."""

    severity: Verdict
    code: str
    text: str
    line: int | None = None


class Reading(msgspec.Struct, kw_only=True):
    """What the text of one log says, before the exit code is heard.

    proof: line number of the verdict line, None when there is none. missing: what a log without proof lacks, in words.
    grade: what this log proves at most, where that is less than the suite says of itself; None otherwise.
    stands_alone: False for a proof that holds only beside a known exit code 0, since the log may have been cut short.
    """

    proof: int | None = None
    stands_alone: bool = True
    missing: str = sentence("No verdict line in the log.")
    observations: list[Observation] = []
    facts: Facts = {}
    measurements: dict[str, Measurement] = {}
    grade: Grade | None = None

    def lower(self, level: Level, text: str) -> None:
        """This log proves no more than `level`; the text says why."""
        self.grade = Grade(level, text) if self.grade is None else self.grade.lowered(Grade(level, text))

    def failed(self, code: str, text: str, line: int | None = None) -> None:
        """Hardware, driver or adapter rejected it."""
        self.observations.append(Observation("failed", code, text, line))

    def errored(self, code: str, text: str, line: int | None = None) -> None:
        """The test could not be carried out."""
        self.observations.append(Observation("errored", code, text, line))

    def warning(self, code: str, text: str, line: int | None = None) -> None:
        """It ran, and something about it deserves a look."""
        self.observations.append(Observation("warning", code, text, line))

    def skipped(self, code: str, text: str, line: int | None = None) -> None:
        """The test itself says that it did nothing here."""
        self.observations.append(Observation("skipped", code, text, line))

    def remark(self, code: str, text: str, line: int | None = None) -> None:
        """Worth knowing; changes no verdict."""
        self.observations.append(Observation("passed", code, text, line))

    def has(self, *severities: Verdict) -> bool:
        """Whether something of one of these severities was observed."""
        return any(seen.severity in severities for seen in self.observations)

    def measure(self, name: str, value: float | None, unit: str) -> None:
        """Keep a measurement; None (not a number, not printed) is left out."""
        if value is not None:
            self.measurements[name] = Measurement(value, unit)


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The judged outcome of one run. The first reason is the one that decided.

    proof: number of the line that a pass rests on; None without one. It is for pages and no part of the stored form.
    grade: what the log proves at most; None when that is all that the suite can prove. It is no part of `to_json`: without
    its options a log does not say what a run proves.
    """

    suite: str
    parser_version: int
    verdict: Verdict
    reasons: list[Reason]
    facts: Facts
    measurements: dict[str, Measurement]
    proof: int | None = None
    grade: Grade | None = None


def to_json(result: Result) -> dict[str, Any]:
    """The form of `parse_log -o json`: suite, parser_version, verdict, reasons, facts, measurements."""
    built: dict[str, Any] = msgspec.to_builtins(result, enc_hook=str)
    del built["proof"]
    del built["grade"]
    return built
