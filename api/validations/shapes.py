"""What REST answers and takes, as structs: the OpenAPI document is made from them. null means unknown or none, never 0."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all answers."""


class SuiteOption(Shape, frozen=True, kw_only=True):
    """One option of a suite; a value outside of pattern, choices or bounds is refused."""

    name: str
    help: str
    default: str | int
    kind: Annotated[str, Meta(description="text or number")]
    pattern: str
    choices: list[str]
    minimum: int
    maximum: int
    required: bool


class SuiteShape(Shape, frozen=True, kw_only=True):
    """One kind of test."""

    id: str
    title: str
    proves: Annotated[str, Meta(description="What a pass means.")]
    level: Annotated[
        str, Meta(description="How much a pass proves at most: right (result checked), ran (not checked) or seen.")
    ]
    os: list[str]
    families: Annotated[list[str], Meta(description="Resource families that it can run on, best first.")]
    cards: int
    parser_version: int
    options: list[SuiteOption]


class SuiteList(Shape, frozen=True, kw_only=True):
    """All suites on one page."""

    results: list[SuiteShape]
    next: None = None
    previous: None = None


class RunReason(Shape, frozen=True, kw_only=True):
    """Why. The first reason of a run is the one that decided."""

    code: str
    text: str
    line: Annotated[int | None, Meta(description="Line of the log that proves it, from 1; null: not from the log.")]


class RunStepShape(Shape, frozen=True, kw_only=True):
    """When the run entered a state."""

    state: str
    entered_at: datetime


class RunMeasurement(Shape, frozen=True, kw_only=True):
    """A number of the run beside that of the last good run which is like it."""

    name: str
    value: float
    unit: str
    baseline_run: str | None
    baseline_value: float | None
    slower_percent: Annotated[
        float | None, Meta(description="By how much longer the same work took; below 0: faster; null: not compared.")
    ]


class RunLog(Shape, frozen=True, kw_only=True):
    """State of the stored log. left_out: bytes that the cap took from the middle."""

    stored_bytes: int
    read_bytes: int
    left_out_bytes: int | None
    complete: Annotated[bool | None, Meta(description="null: the run has not ended; false: a part is missing.")]
    deleted_at: datetime | None


class RunShape(Shape, frozen=True, kw_only=True):
    """One run as lists show it."""

    id: str
    suite: str
    cluster: str
    node: str
    card: Annotated[str | None, Meta(description="Key of the card; null: some card of the node.")]
    card_id: int | None
    card_uuid: str | None
    card_model: str | None
    card_asked: Annotated[str | None, Meta(description="Key of the card that was asked for.")]
    card_evidence: Annotated[
        str | None,
        Meta(
            description="target until the run has ended, then how it is known which card the pod took; count-only: it is not."
        ),
    ]
    card_note: Annotated[str | None, Meta(description="Why it is another card than the one asked for, or not known.")]
    driver_version: str | None
    state: str
    state_since: datetime
    waiting_reason: str | None
    waiting_message: str | None
    last_error: str | None
    cancel_requested_at: datetime | None
    verdict: str | None
    level: Annotated[
        str | None, Meta(description="What the pass proves: right, ran, seen or none; only right proves the card good.")
    ]
    level_note: Annotated[str | None, Meta(description="Why that is less than the suite can prove.")]
    reasons: list[RunReason]
    exit_code: int | None
    requested_by: str | None
    campaign: str | None
    repeats: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


class RunDetail(RunShape, frozen=True, kw_only=True):
    """One run with everything that is kept of it."""

    options: dict[str, Any]
    manifest: dict[str, Any]
    facts: dict[str, Any]
    measurements: list[RunMeasurement]
    steps: list[RunStepShape]
    parser_version: int | None
    image: str | None
    image_digest: str | None
    node_snapshot: dict[str, Any]
    namespace: str
    job: str | None
    pod: str | None
    log: RunLog
    job_removed: Annotated[
        bool, Meta(description="Whether the Job is known to be away; last_error says why it is not.")
    ]
    reparse_requested_at: Annotated[datetime | None, Meta(description="The log is being read again; null: it is not.")]


class RunDraft(Shape, frozen=True, kw_only=True):
    """What to launch. card: key, UUID or index. wait_for_room: launch although the node is full or not ready now."""

    suite: str
    node: str
    cluster: str = ""
    card: str = ""
    options: dict[str, Any] = {}
    wait_for_room: bool = False


class Preview(Shape, frozen=True, kw_only=True):
    """What would run. launchable: nothing hinders it now. manifest null: none can be made, the reasons say why."""

    launchable: bool
    reasons: list[RunReason]
    card: Annotated[str | None, Meta(description="The card that it is sure to take; null: some card of the node.")]
    options: dict[str, Any]
    manifest: dict[str, Any] | None
    held_by: Annotated[str | None, Meta(description="Id of the active run that holds the place.")]


class ReparseShape(Shape, frozen=True, kw_only=True):
    """A log that is being read again. The run has the new result once its `reparse_requested_at` is null again."""

    run: str
    changed: Annotated[None, Meta(description="Not known yet.")] = None
    old_verdict: str | None
    new_verdict: Annotated[None, Meta(description="Not known yet.")] = None
    old_parser_version: int | None
    new_parser_version: Annotated[None, Meta(description="Not known yet.")] = None


class CampaignProgress(Shape, frozen=True, kw_only=True):
    """Targets by how far they are; what was learnt of how many cards is in the coverage."""

    left: int
    active: int
    skipped: int
    not_reached: Annotated[int, Meta(description="Cards that were asked for and that no run is known to have taken.")]
    passed: int
    warning: int
    failed: int
    errored: int


class CampaignCoverage(Shape, frozen=True, kw_only=True):
    """Cards of the campaign, each counted once. Every reached card is proven, lower or failed."""

    asked: Annotated[int, Meta(description="Cards that the targets name.")]
    reached: Annotated[int, Meta(description="Cards that a run with a result is known to have taken.")]
    proven: Annotated[int, Meta(description="Passed with the result checked, and no run failed on it.")]
    lower: Annotated[int, Meta(description="Passed on a lower level, or with a warning.")]
    failed: int
    not_reached: Annotated[int, Meta(description="Asked for, and taken by no run so far; the matrix says why.")]
    waiting: Annotated[int, Meta(description="Of these, the ones that have not had their turns yet.")]
    runs: int
    unplaced: Annotated[int, Meta(description="Runs with a result of which it is not known which card they took.")]


class CampaignShape(Shape, frozen=True, kw_only=True):
    """One campaign."""

    id: str
    name: str | None
    suite: str
    options: dict[str, Any]
    selector: dict[str, Any]
    max_parallel: int
    stop_after_failures: int | None
    state: str
    state_reason: str | None
    requested_by: str | None
    created_at: datetime
    ended_at: datetime | None


class CampaignDetail(CampaignShape, frozen=True, kw_only=True):
    """One campaign with its counts."""

    progress: CampaignProgress
    coverage: CampaignCoverage


class CampaignPlace(Shape, frozen=True, kw_only=True):
    """A place of a campaign. card: key of it, "" for some card."""

    node: str
    cluster: str = ""
    card: str = ""


class CampaignDraft(Shape, frozen=True, kw_only=True):
    """What to start: targets by name, or a selector of filters of /api/v1/nodes; one of the two."""

    suite: str
    name: str = ""
    options: dict[str, Any] = {}
    targets: list[CampaignPlace] = []
    selector: dict[str, str | list[str]] = {}
    max_parallel: int = 4
    stop_after_failures: int | None = None


class CampaignRow(Shape, frozen=True, kw_only=True):
    """One row of the campaign's matrix."""

    position: int
    cluster: str
    node: str
    card: str | None
    run: str | None
    state: str | None
    verdict: str | None
    level: str | None
    card_taken: Annotated[str | None, Meta(description="Key of the card that the run took; null: not known.")]
    skipped: Annotated[str | None, Meta(description="Why the suite cannot run there.")]
    not_reached: Annotated[str | None, Meta(description="Why no run took this card.")]
    tried: Annotated[str | None, Meta(description="The last run that was to take it and did not.")]
    measurements: dict[str, float]
