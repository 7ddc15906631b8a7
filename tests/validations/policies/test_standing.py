"""What a card is under a policy: every state and reason, from facts alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from validations.policies.standing import (
    CONFIRM_AFTER,
    REFUSED_FOR,
    RETRY_MOST,
    Facts,
    Failure,
    Identity,
    Pass,
    Rule,
    retry_at,
    standing,
)

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
HERE = Identity("580.82", "boot-1", "machine-1/board-1")
RULE = Rule(max_age=7 * DAY, image="cuda:12", parser_version=3)


def passed(ago: timedelta = DAY, **more: Any) -> Pass:
    return Pass(**{"run": "good", "at": NOW - ago, "identity": HERE, "image": "cuda:12", "parser_version": 3, **more})


def failed(ago: timedelta = HOUR, times: int = 1, identity: Identity = HERE) -> Failure:
    return Failure(run="bad", at=NOW - ago, identity=identity, times=times)


def said(facts: Facts, rule: Rule = RULE) -> str:
    found = standing(rule, facts, NOW)
    return f"{found.state} {found.reason}".strip()


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (Facts(now=HERE), "due never-validated"),
        (Facts(now=HERE, passed=passed()), "valid"),
        (Facts(now=HERE, passed=passed(), hindrance="in-use"), "valid"),
        (Facts(now=HERE, passed=passed(), active="run"), "valid"),
        (Facts(now=HERE, passed=passed(7 * DAY)), "due expired"),
        (Facts(now=HERE, ever=NOW - 60 * DAY), "due expired"),
        (Facts(now=HERE, hindrance="in-use"), "excluded in-use"),
        (Facts(now=HERE, active="run"), "running"),
        (Facts(now=Identity("590.1", "boot-1", "machine-1/board-1"), passed=passed()), "due driver-changed"),
        (Facts(now=Identity("580.82", "boot-2", "machine-1/board-1"), passed=passed()), "valid"),
        (Facts(now=Identity("580.82", "boot-1", "machine-2/board-2"), passed=passed()), "due machine-replaced"),
        (Facts(now=Identity("", "", ""), passed=passed()), "valid"),
        (Facts(now=HERE, passed=passed(image="cuda:13")), "due image-changed"),
        (Facts(now=HERE, passed=passed(parser_version=2)), "due parser-changed"),
        (Facts(now=HERE, passed=passed(run=None, image="", parser_version=None)), "valid"),
        (Facts(now=HERE, passed=passed(), reported_failure=NOW - HOUR), "due reported-failed"),
        (Facts(now=HERE, passed=passed(), reported_failure=NOW - 2 * DAY), "valid"),
        (Facts(now=HERE, reported_failure=NOW - HOUR, hindrance="in-use"), "excluded in-use"),
        (Facts(now=HERE, passed=passed(), failure=failed()), "failed failed-once"),
        (Facts(now=HERE, failure=failed(times=2)), "failed failed-confirmed"),
        (Facts(now=HERE, failure=failed(times=2, identity=Identity("570.1", "", ""))), "failed failed-before-change"),
        (Facts(now=HERE, failure=failed(), active="run"), "running"),
        (Facts(now=HERE, failure=failed(), hindrance="in-use"), "failed failed-once"),
        (Facts(now=HERE, refused="no-resource", refused_at=NOW - HOUR / 2), "excluded no-resource"),
        (Facts(now=HERE, refused="no-resource", refused_at=NOW - REFUSED_FOR), "due never-validated"),
    ],
)
def test_each_state_has_its_reason(facts: Facts, expected: str) -> None:
    assert said(facts) == expected


def test_what_does_not_void_a_pass_is_said_by_the_policy() -> None:
    changed = Facts(now=Identity("590.1", "boot-2", "machine-2/board-2"), passed=passed(image="cuda:13"))
    every = Rule(
        max_age=7 * DAY,
        image="cuda:12",
        parser_version=3,
        void_on_driver=False,
        void_on_machine=False,
        void_on_image=False,
    )
    assert said(changed, every) == "valid"
    assert said(Facts(now=Identity("580.82", "boot-2", ""), passed=passed()), Rule(
        max_age=7 * DAY, image="", parser_version=3, void_on_reboot=True,
    )) == "due rebooted"  # fmt: skip


def test_a_valid_card_says_until_when() -> None:
    assert standing(RULE, Facts(now=HERE, passed=passed(2 * DAY)), NOW).valid_until == NOW + 5 * DAY


def test_a_failure_is_confirmed_after_a_pause_and_a_hindered_one_says_so() -> None:
    found = standing(RULE, Facts(now=HERE, failure=failed(timedelta()), hindrance="in-use"), NOW)
    assert (found.not_before, found.hindrance) == (NOW + CONFIRM_AFTER, "in-use")
    assert standing(RULE, Facts(now=HERE, failure=failed(times=2)), NOW).not_before is None


def test_runs_without_a_result_are_repeated_ever_later_at_most_a_day() -> None:
    waits = [retry_at(NOW, tries) for tries in range(12)]
    assert waits[:4] == [None, NOW + timedelta(minutes=10), NOW + timedelta(minutes=20), NOW + timedelta(minutes=40)]
    assert waits[11] == NOW + RETRY_MOST
    assert retry_at(NOW, 10_000) == NOW + RETRY_MOST
