"""What is a card under a policy? From the last results of the policy's suite on the card, and the card and its node now. Pure.

Nothing here remembers: the same facts give the same state, at any time and after any restart.
"""

from __future__ import annotations

from datetime import datetime, timedelta

import msgspec

from validations.models import PolicyState

#: Failed runs, one after the other, that make a failure certain.
CONFIRMED = 2
#: A failure is confirmed no earlier: what disturbed the first run may be over.
CONFIRM_AFTER = timedelta(minutes=10)
#: After a run that gave no pass; doubled with each, at most a day.
RETRY_AFTER, RETRY_MOST = timedelta(minutes=10), timedelta(days=1)
#: A card that a launch was refused for is looked at again.
REFUSED_FOR = timedelta(hours=1)

NEVER, EXPIRED, DRIVER, REBOOTED, MACHINE, IMAGE, PARSER, REPORTED = (
    "never-validated",
    "expired",
    "driver-changed",
    "rebooted",
    "machine-replaced",
    "image-changed",
    "parser-changed",
    "reported-failed",
)
FAILED_ONCE, FAILED, FAILED_BEFORE = "failed-once", "failed-confirmed", "failed-before-change"
IN_USE, MAYBE_IN_USE, OFF, NOT_APPLICABLE = "in-use", "maybe-in-use", "policies-off", "not-applicable"
#: A run on the node had a result, and which card it took is not known: more runs would not tell either. A code of the suites.
CARD_UNKNOWN = "card-unknown"
#: Of the state "failed", those after which the policy tests once more.
RETESTED = (FAILED_ONCE, FAILED_BEFORE)


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy wants. image: as a run would be given now, "" where it depends on the node. parser_version: of the suite."""

    max_age: timedelta
    image: str
    parser_version: int
    void_on_driver: bool = True
    void_on_reboot: bool = False
    void_on_machine: bool = True
    void_on_image: bool = True


class Identity(msgspec.Struct, frozen=True):
    """What a node is, or was when a run was launched on it. "": not known, which is never a change."""

    driver: str = ""
    boot: str = ""
    machine: str = ""


class Pass(msgspec.Struct, frozen=True, kw_only=True):
    """The newest pass with the policy's options, or with options that cover them, on its level or above.

    run None: another tool reported it.
    """

    run: str | None
    at: datetime
    identity: Identity
    image: str
    parser_version: int | None


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """The failure that nothing has taken back. times: runs that failed since the last pass."""

    run: str
    at: datetime
    identity: Identity
    times: int = 1


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one card.

    hindrance: why it cannot be tested now, "" when it can. ever: when the suite passed on it at all, with whatever options.
    tries: runs without a result since the last one with; last_at: when the newest run ended. active: the run under way.
    reported_failure: when another tool last reported that the card failed, under a policy that counts it. It fails no card: the
    policy tests it.
    """

    now: Identity
    hindrance: str = ""
    passed: Pass | None = None
    failure: Failure | None = None
    reported_failure: datetime | None = None
    ever: datetime | None = None
    tries: int = 0
    last_at: datetime | None = None
    active: str | None = None
    refused: str = ""
    refused_at: datetime | None = None


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of `PolicyCard` of the same names. run: the result that it rests on."""

    state: str
    reason: str = ""
    hindrance: str = ""
    run: str | None = None
    valid_until: datetime | None = None
    not_before: datetime | None = None
    failures: int = 0
    tries: int = 0


def standing(rule: Rule, facts: Facts, at: datetime) -> Standing:
    """What the card is at this moment."""
    void = why_void(rule, facts, at)
    if facts.failure is None and not void and facts.passed is not None:
        return Standing(state=PolicyState.VALID.value, run=facts.passed.run, valid_until=facts.passed.at + rule.max_age)
    if facts.active is not None:
        failures = facts.failure.times if facts.failure else 0
        return Standing(state=PolicyState.RUNNING.value, run=facts.active, failures=failures, tries=facts.tries)
    if facts.failure is not None:
        return _failed(rule, facts.failure, facts, at)
    run = facts.passed.run if facts.passed else None
    if why := facts.hindrance or _refused(facts, at):
        return Standing(state=PolicyState.EXCLUDED.value, reason=why, hindrance=why, run=run, tries=facts.tries)
    return Standing(
        state=PolicyState.DUE.value,
        reason=void,
        run=run,
        tries=facts.tries,
        not_before=_later(retry_at(facts.last_at, facts.tries), at),
    )


def why_void(rule: Rule, facts: Facts, at: datetime) -> str:
    """Why the pass no longer counts, "" while it does."""
    passed = facts.passed
    if facts.reported_failure is not None and (passed is None or facts.reported_failure > passed.at):
        return REPORTED
    if passed is None:
        return EXPIRED if facts.ever is not None else NEVER
    if change := changed(rule, passed.identity, facts.now):
        return change
    if rule.void_on_image and rule.image and passed.image and rule.image != passed.image:
        return IMAGE
    if rule.void_on_image and passed.run is not None and passed.parser_version != rule.parser_version:
        return PARSER
    return EXPIRED if at >= passed.at + rule.max_age else ""


def changed(rule: Rule, before: Identity, now: Identity) -> str:
    """What of the node has changed that counts. The machine first: another machine has another driver and another boot."""
    for counts, code, old, new in (
        (rule.void_on_machine, MACHINE, before.machine, now.machine),
        (rule.void_on_driver, DRIVER, before.driver, now.driver),
        (rule.void_on_reboot, REBOOTED, before.boot, now.boot),
    ):
        if counts and old and new and old != new:
            return code
    return ""


def _failed(rule: Rule, failure: Failure, facts: Facts, at: datetime) -> Standing:
    """A failure stays one until a pass. Once it is confirmed, only a change of the node has it tested again by itself."""
    if changed(rule, failure.identity, facts.now):
        reason, after = FAILED_BEFORE, retry_at(facts.last_at, facts.tries)
    elif failure.times < CONFIRMED:
        reason, after = FAILED_ONCE, max(failure.at + CONFIRM_AFTER, retry_at(facts.last_at, facts.tries) or failure.at)
    else:
        reason, after = FAILED, None
    return Standing(
        state=PolicyState.FAILED.value,
        reason=reason,
        hindrance=facts.hindrance or _refused(facts, at),
        run=failure.run,
        not_before=_later(after, at),
        failures=failure.times,
        tries=facts.tries,
    )


def _later(moment: datetime | None, at: datetime) -> datetime | None:
    """A moment that is over holds nothing back."""
    return moment if moment is not None and moment > at else None


def retry_at(last: datetime | None, tries: int) -> datetime | None:
    """When a run may start after so many that gave no result; None: at once."""
    if last is None or not tries:
        return None
    return last + min(RETRY_AFTER * (1 << min(tries - 1, 16)), RETRY_MOST)


def _refused(facts: Facts, at: datetime) -> str:
    return facts.refused if facts.refused_at is not None and at < facts.refused_at + REFUSED_FOR else ""


#: Of a card that several policies cover, the first of these counts: a failure most, a pass least.
WORST_FIRST = tuple(
    state.value
    for state in (
        PolicyState.FAILED,
        PolicyState.RUNNING,
        PolicyState.DUE,
        PolicyState.EXCLUDED,
        PolicyState.VALID,
    )
)
