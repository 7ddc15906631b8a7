"""What REST answers and takes, as structs: the OpenAPI document is made from them. null means unknown or none, never 0."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta

from resources.campaign import CampaignShape
from resources.declared import Shape
from resources.run import RunReason, RunShape


class SuiteOption(Shape):
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


class SuiteShape(Shape):
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


class SuiteList(Shape):
    """All suites on one page."""

    results: list[SuiteShape]
    next: None = None
    previous: None = None


class RunStepShape(Shape):
    """When the run entered a state."""

    state: str
    entered_at: datetime


class RunMeasurement(Shape):
    """A number of the run beside that of the last good run which is like it."""

    name: str
    value: float
    unit: str
    baseline_run: str | None
    baseline_value: float | None
    slower_percent: Annotated[
        float | None, Meta(description="By how much longer the same work took; below 0: faster; null: not compared.")
    ]


class RunLog(Shape):
    """State of the stored log. left_out: bytes that the cap took from the middle."""

    stored_bytes: int
    read_bytes: int
    left_out_bytes: int | None
    complete: Annotated[bool | None, Meta(description="null: the run has not ended; false: a part is missing.")]
    deleted_at: datetime | None


class RunDetail(RunShape):
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
    warnings: Annotated[
        list[RunReason], Meta(description="What was wrong with the place when it was launched: cordoned.")
    ]


class RunChange(Shape):
    """Something that is not the same in two runs."""

    name: Annotated[
        str, Meta(description="A column of the run or its node, or option, label, plugin or log with a name.")
    ]
    then: Annotated[str | None, Meta(description="Of the run that passed; null: not known, or not there.")]
    now: str | None


class RunPair(Shape):
    """A measurement of two runs side by side."""

    name: str
    unit: str
    then: float | None
    now: float | None
    slower_percent: Annotated[
        float | None, Meta(description="By how much longer the same work took; null: not compared.")
    ]


class RunInStrip(Shape):
    """A run of the same suite on the same card."""

    id: str
    verdict: str | None
    level: str | None
    ended_at: datetime | None


class RunCompared(Shape):
    """A run beside the last one of its suite that passed before it: on the same card, else node, else card model."""

    run: str
    passed: Annotated[str | None, Meta(description="The run compared with; null: none passed before.")]
    passed_at: datetime | None
    same: Annotated[str | None, Meta(description="What both have in common: card, node or model.")]
    first_bad: Annotated[
        str | None,
        Meta(description="The first run that failed or errored here since; null: this run did not go wrong."),
    ]
    first_bad_at: datetime | None
    changes: Annotated[list[RunChange], Meta(description="Known of both; empty: nothing known changed.")]
    unknown: Annotated[list[RunChange], Meta(description="Known of one of the two only.")]
    measurements: list[RunPair]
    strip: Annotated[list[RunInStrip], Meta(description="The last runs here up to this one, oldest first.")]


class RunDraft(Shape):
    """What to launch. card: key, UUID or index. wait_for_room: launch although the node is full or not ready now."""

    suite: str
    node: str
    cluster: str = ""
    card: str = ""
    options: dict[str, Any] = {}
    wait_for_room: bool = False


class Preview(Shape):
    """What would run. launchable: nothing hinders it now. manifest null: none can be made, the reasons say why."""

    launchable: bool
    reasons: list[RunReason]
    card: Annotated[str | None, Meta(description="The card that it is sure to take; null: some card of the node.")]
    options: dict[str, Any]
    manifest: dict[str, Any] | None
    held_by: Annotated[str | None, Meta(description="Id of the active run that holds the place.")]
    warnings: Annotated[
        list[RunReason], Meta(description="What to know before a launch that is possible all the same.")
    ]


class ReparseShape(Shape, kw_only=True):
    """A log that is being read again. The run has the new result once its `reparse_requested_at` is null again."""

    run: str
    changed: Annotated[None, Meta(description="Not known yet.")] = None
    old_verdict: str | None
    new_verdict: Annotated[None, Meta(description="Not known yet.")] = None
    old_parser_version: int | None
    new_parser_version: Annotated[None, Meta(description="Not known yet.")] = None


class CampaignProgress(Shape):
    """Targets by how far they are; what was learnt of how many cards is in the coverage."""

    left: int
    active: int
    skipped: int
    not_reached: Annotated[int, Meta(description="Cards that were asked for and that no run is known to have taken.")]
    passed: int
    warning: int
    failed: int
    errored: int


class CampaignCoverage(Shape):
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
    other_image: Annotated[
        int,
        Meta(description="Of those under `lower`, cards on which only images that are not the suite's own have run."),
    ]
    errored: Annotated[int, Meta(description="Of those not reached, the ones whose run errored.")]
    why: Annotated[
        dict[str, int],
        Meta(
            description="Cards not reached by cause: errored, cancelled, skipped, another-card, card-unknown, does-not-fit, "
            "not-begun, under-way, waiting, or the reason code of a refusal (not-ready, taint …)."
        ),
    ]


class CampaignDetail(CampaignShape):
    """One campaign with its counts."""

    progress: CampaignProgress
    coverage: CampaignCoverage


class CampaignPlace(Shape):
    """A place of a campaign. card: key of it, "" for some card."""

    node: str
    cluster: str = ""
    card: str = ""


class CampaignDraft(Shape):
    """What to start: targets by name, or a selector of filters of /api/v1/nodes; one of the two."""

    suite: str
    name: str = ""
    options: dict[str, Any] = {}
    targets: list[CampaignPlace] = []
    selector: dict[str, str | list[str]] = {}
    max_parallel: int = 4
    stop_after_failures: int | None = None
