"""The contract of a validation suite: what goes in, what comes out.

A suite is a workload that proves something about a card, and the reader of its log. Everything in this package is pure:
no Django, no I/O, no clock. A verdict that no line and no exit code proves is never *passed*.
Callers import from here; the modules beside this one are its parts, and none of them imports this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validations.suites.engine.declaration import Declaration
from validations.suites.engine.demo import Campaign, Demo, Group, Image, Past, Policy
from validations.suites.engine.fit import not_checked, why_not
from validations.suites.engine.judge import judge
from validations.suites.engine.log import Lines, read_log, stored_text
from validations.suites.engine.manifest import job, job_name, pod_security
from validations.suites.engine.needs import Facts, Needs
from validations.suites.engine.options import Option, OptionError, Values, settle
from validations.suites.engine.placement import card_exact
from validations.suites.engine.reason_words import ReasonWords
from validations.suites.engine.security import PodSecurity
from validations.suites.engine.target import Resource, Run, Target
from validations.suites.engine.verdict import (
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
from validations.suites.engine.words import gettext_noop
from validations.suites.engine.workload import Workload
from wording.said import sentence

__all__ = [
    "LEVELS",
    "TEXT_ALONE",
    "Campaign",
    "Declaration",
    "Demo",
    "Facts",
    "Grade",
    "Group",
    "Image",
    "Level",
    "Lines",
    "Measurement",
    "Needs",
    "Option",
    "OptionError",
    "Outcome",
    "Past",
    "PodSecurity",
    "Policy",
    "Reading",
    "Reason",
    "ReasonWords",
    "Resource",
    "Result",
    "Run",
    "Suite",
    "Target",
    "Values",
    "Verdict",
    "Workload",
    "gettext_noop",
    "job_name",
    "read_log",
    "stored_text",
    "to_json",
]


class Suite(Declaration, frozen=True, kw_only=True):
    """One kind of test: what it declares, and what can be done with it. Each module in `validations.suites` has one as `SUITE`."""

    def parse(self, lines: Lines, outcome: Outcome) -> Result:
        """Judge a log and an exit code together. Never raises."""
        return judge(self.id, self.parser_version, lines, self.read(lines), outcome, self.exits)

    def settle(self, given: Mapping[str, object]) -> Values:
        """All options with their values. Raises OptionError naming each option that is wrong."""
        return settle(self.options, given)

    def grade(self, options: Mapping[str, object]) -> Grade:
        """What a pass with these options can prove at most. An image that is not the suite's own proves nothing."""
        try:
            values = self.settle(options)
        except OptionError:
            return Grade("none", sentence("The options of this run no longer match the suite."))
        if not self.own_image(values):
            return Grade(
                "none",
                sentence(
                    "Image {image} is not the suite's own image, so its output proves nothing.", image=values["image"]
                ),
            )
        return self.grade_by(values) if self.grade_by else Grade(self.level)

    def own_image(self, values: Values) -> bool:
        """Whether the image is the one that the suite brings. values: settled."""
        return all(values["image"] == option.default for option in self.options if option.name == "image")

    def fit(self, target: Target, options: Mapping[str, object] | None = None) -> list[Reason]:
        """Why the suite cannot run on the target as it is now; empty when it can. Raises OptionError."""
        return why_not(self, target, self.settle(options or {}))

    def not_checked(self, target: Target, options: Mapping[str, object] | None = None) -> list[Reason]:
        """What the suite needs of the target and nobody knows of it: no reason against a run. Raises OptionError."""
        return not_checked(self, target, self.settle(options or {}))

    def manifest(self, target: Target, options: Mapping[str, object], run: Run) -> dict[str, Any]:
        """The batch/v1 Job, for a target that fits. Raises OptionError, or ValueError when no resource of it suits."""
        return job(self, target, self.settle(options), run)

    def pod_security_on(self, target: Target, options: Mapping[str, object] | None = None) -> PodSecurity:
        """The strictest Pod Security level that its pod there keeps. Raises OptionError, or ValueError when no resource suits."""
        return pod_security(self, target, self.settle(options or {}))

    def card_exact(self, target: Target, resource: str = "") -> bool:
        """Whether a run can be told which card to take. resource: the one that it asks for, "" for the best."""
        return card_exact(self.families, target, resource)
