"""The contract of a validation suite: what goes in, what comes out.

A suite is a workload that proves something about a card, and the reader of its log. Everything in this package is pure:
no Django, no I/O, no clock. A verdict that no line and no exit code proves is never *passed*.
Callers import from here; the modules beside this one are its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from validations.suites.fit import why_not
from validations.suites.judge import judge
from validations.suites.log import Lines, read_log, stored_text
from validations.suites.manifest import job, job_name
from validations.suites.options import Option, OptionError, Values, settle
from validations.suites.placement import card_exact
from validations.suites.target import Resource, Run, Target
from validations.suites.verdict import (
    LEVELS,
    TEXT_ALONE,
    Grade,
    Level,
    Measurement,
    Outcome,
    Reading,
    Reason,
    Result,
    Verdict,
    to_json,
)
from validations.suites.workload import Workload

__all__ = [
    "LEVELS",
    "TEXT_ALONE",
    "Grade",
    "Level",
    "Lines",
    "Measurement",
    "Option",
    "OptionError",
    "Outcome",
    "Reading",
    "Reason",
    "Resource",
    "Result",
    "Run",
    "Suite",
    "Target",
    "Values",
    "Verdict",
    "Workload",
    "job_name",
    "read_log",
    "stored_text",
    "to_json",
]


class Suite(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of test. A module of this package that has a `SUITE` is found by the registry.

    proves: what a pass means, in one sentence. level: how much that is; only "right" proves a card good.
    os: where it can run. families: resource families that it can run on, best first (see `placement`).
    parser_version: raised with each change that can alter a result. cards: how many it needs.
    grade_by: for a suite whose options decide how much it proves.
    """

    id: str
    title: str
    proves: str
    level: Level
    os: tuple[str, ...]
    families: tuple[str, ...]
    parser_version: int
    options: tuple[Option, ...]
    read: Callable[[Lines], Reading]
    workload: Callable[[Target, Values], Workload]
    cards: int = 1
    grade_by: Callable[[Values], Grade] | None = None

    def parse(self, lines: Lines, outcome: Outcome) -> Result:
        """Judge a log and an exit code together. Never raises."""
        return judge(self.id, self.parser_version, lines, self.read(lines), outcome)

    def settle(self, given: Mapping[str, object]) -> Values:
        """All options with their values. Raises OptionError naming each option that is wrong."""
        return settle(self.options, given)

    def grade(self, options: Mapping[str, object]) -> Grade:
        """What a pass with these options can prove at most. An image that is not the suite's own proves nothing."""
        try:
            values = self.settle(options)
        except OptionError:
            return Grade("none", "The options of this run are not those of the suite any more.")
        if not self.own_image(values):
            return Grade(
                "none", f"The image {values['image']} is not the suite's own, so what it prints proves nothing."
            )
        return self.grade_by(values) if self.grade_by else Grade(self.level)

    def own_image(self, values: Values) -> bool:
        """Whether the image is the one that the suite brings. values: settled."""
        return all(values["image"] == option.default for option in self.options if option.name == "image")

    def fit(self, target: Target, options: Mapping[str, object] | None = None) -> list[Reason]:
        """Why the suite cannot run on the target as it is now; empty when it can. Raises OptionError."""
        return why_not(self, target, self.settle(options or {}))

    def manifest(self, target: Target, options: Mapping[str, object], run: Run) -> dict[str, Any]:
        """The batch/v1 Job, for a target that fits. Raises OptionError, or ValueError when no resource of it suits."""
        return job(self, target, self.settle(options), run)

    def card_exact(self, target: Target, resource: str = "") -> bool:
        """Whether a run can be told which card to take. resource: the one that it asks for, "" for the best."""
        return card_exact(self.families, target, resource)
