"""What REST answers and takes, as structs: the OpenAPI document is made from them. null means unknown or none, never 0."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from msgspec import Meta

from resources.campaign import CampaignShape
from resources.declared import WORDING, Shape
from resources.run import RunReason, RunShape


class SuiteOption(Shape):
    """One option of a suite. Values outside of pattern, choices or bounds are rejected."""

    name: str
    help: str
    default: str | int
    kind: Annotated[str, Meta(description="text or number")]
    pattern: str
    choices: list[str]
    minimum: int
    maximum: int
    required: bool


class SuiteNeeds(Shape):
    """Requirements of a suite with its own image, for one operating system. null and []: no requirement, or unknown."""

    os: str
    cuda: Annotated[str | None, Meta(description="CUDA version of the image.")]
    driver: Annotated[str | None, Meta(description="Minimum NVIDIA driver version.")]
    compute_capability: Annotated[str | None, Meta(description="Minimum compute capability of a card.")]
    windows_builds: Annotated[list[str], Meta(description="Windows builds that the image supports.")]


class SuiteShape(Shape):
    """One kind of test."""

    id: str
    title: str
    proves: Annotated[str, Meta(description="What a pass proves.")]
    level: Annotated[
        str,
        Meta(
            description="Highest test level of a pass: checked (result checked), ran (result not checked) or detected."
        ),
    ]
    os: list[str]
    families: Annotated[list[str], Meta(description="Supported resource families, best first.")]
    cards: int
    parser_version: int
    options: list[SuiteOption]
    needs: list[SuiteNeeds]


class SuiteList(Shape):
    """All suites on one page."""

    results: list[SuiteShape]
    next: None = None
    previous: None = None


class RunStepShape(Shape):
    """Time when the run entered a state."""

    state: str
    entered_at: datetime


class RunMeasurement(Shape):
    """A measurement of the run beside that of the last comparable pass."""

    name: str
    value: float
    unit: str
    baseline_run: str | None
    baseline_value: float | None
    slower_percent: Annotated[
        float | None,
        Meta(description="How much longer the same work took, in percent; negative: faster; null: not compared."),
    ]


class RunLog(Shape):
    """State of the stored log. left_out: bytes cut from the middle."""

    stored_bytes: int
    read_bytes: int
    left_out_bytes: int | None
    complete: Annotated[bool | None, Meta(description="null: the run has not ended. false: log incomplete.")]
    deleted_at: datetime | None


class RunWarning(Shape):
    """A warning that does not prevent the launch."""

    code: Annotated[
        str,
        Meta(description="cordoned: the node is cordoned. software-not-ready: the run may not start."),
    ]
    text: str
    component: Annotated[str | None, Meta(description="GPU software component that is not ready; null: none.")]
    wording: Annotated[dict[str, Any] | None, Meta(description=WORDING)] = None


class RunDetail(RunShape):
    """One run in full."""

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
    job_removed: Annotated[bool, Meta(description="true: the Job is deleted. false: see last_error.")]
    reparse_requested_at: Annotated[
        datetime | None, Meta(description="Time of the request to parse the log again; null: none is pending.")
    ]
    warnings: Annotated[
        list[RunWarning],
        Meta(description="Warnings at launch: cordoned, software-not-ready."),
    ]


class RunChange(Shape):
    """A difference between two runs."""

    name: Annotated[
        str, Meta(description="Field of the run or its node, or a named option, label, plugin or log value.")
    ]
    then: Annotated[str | None, Meta(description="Value of the run that passed; null: unknown or absent.")]
    now: str | None


class RunPair(Shape):
    """A measurement of two runs."""

    name: str
    unit: str
    then: float | None
    now: float | None
    slower_percent: Annotated[
        float | None, Meta(description="How much longer the same work took, in percent; null: not compared.")
    ]


class RunInStrip(Shape):
    """A run of the same suite on the same card."""

    id: str
    verdict: str | None
    level: str | None
    ended_at: datetime | None


class RunCompared(Shape):
    """A run compared with the last pass of its suite on the same card, else node, else card model."""

    run: str
    passed: Annotated[str | None, Meta(description="The last pass; null: none.")]
    passed_at: datetime | None
    same: Annotated[str | None, Meta(description="What both runs share: card, node or model.")]
    first_failure: Annotated[
        str | None,
        Meta(description="First failed or errored run since the last pass; null: this run passed."),
    ]
    first_failure_at: datetime | None
    changes: Annotated[
        list[RunChange], Meta(description="Differences of values known for both runs; empty: no known differences.")
    ]
    unknown: Annotated[list[RunChange], Meta(description="Values known for only one of the runs.")]
    measurements: list[RunPair]
    strip: Annotated[list[RunInStrip], Meta(description="Last runs on this card up to this one, oldest first.")]


class RunDraft(Shape):
    """A run to launch. card: key, UUID or index. queue_if_full: queue the run if the node is full or not ready."""

    suite: str
    node: str
    cluster: str = ""
    card: str = ""
    options: dict[str, Any] = {}
    queue_if_full: bool = False


class Preview(Shape):
    """Preview of a run. launchable: no obstacle now. manifest null: not possible, see the reasons."""

    launchable: bool
    reasons: list[RunReason]
    card: Annotated[
        str | None, Meta(description="The requested card, if it can be selected; null: any card of the node.")
    ]
    options: dict[str, Any]
    manifest: dict[str, Any] | None
    active_run: Annotated[str | None, Meta(description="ID of the active run on this card or node.")]
    warnings: list[RunWarning]
    unchecked: Annotated[
        list[RunReason],
        Meta(description="Requirements that gpudash cannot check on the node. They do not prevent the launch."),
    ]


class ReparseShape(Shape, kw_only=True):
    """A log that is being parsed again. The result is ready when `reparse_requested_at` is null."""

    run: str
    changed: Annotated[None, Meta(description="null: unknown yet.")] = None
    old_verdict: str | None
    new_verdict: Annotated[None, Meta(description="null: unknown yet.")] = None
    old_parser_version: int | None
    new_parser_version: Annotated[None, Meta(description="null: unknown yet.")] = None


class CampaignProgress(Shape):
    """Targets by progress. For results by card see the coverage."""

    left: int
    active: int
    skipped: int
    not_tested: Annotated[int, Meta(description="Requested cards without a result.")]
    passed: int
    warning: int
    failed: int
    errored: int


class CampaignCoverage(Shape):
    """Cards of the campaign, each counted once. A tested card is validated, inconclusive or failed."""

    targets: Annotated[int, Meta(description="Cards named by the targets.")]
    tested: Annotated[int, Meta(description="Cards with a result.")]
    validated: Annotated[int, Meta(description="Passed with the result checked, without a failure.")]
    inconclusive: Annotated[int, Meta(description="Passed on a lower test level, or with a warning.")]
    failed: int
    not_tested: Annotated[int, Meta(description="Requested cards without a result; see the matrix for reasons.")]
    queued: Annotated[int, Meta(description="Of these, cards without a run yet.")]
    runs: int
    unidentified: Annotated[int, Meta(description="Runs with a result on an unidentified card.")]
    other_image: Annotated[
        int,
        Meta(description="Of `inconclusive`, cards with runs of another image only."),
    ]
    errored: Annotated[int, Meta(description="Of the cards not tested, cards with an errored run.")]
    why: Annotated[
        dict[str, int],
        Meta(
            description="Cards not tested, by cause: errored, cancelled, skipped, another-card, card-unknown, "
            "not-applicable, not-started, active, queued, or a reason code (not-ready, taint …)."
        ),
    ]


class CampaignDetail(CampaignShape):
    """One campaign with its counts."""

    progress: CampaignProgress
    coverage: CampaignCoverage
    warnings: Annotated[
        list[RunWarning],
        Meta(
            description="Target nodes without a run yet and with GPU software that is not ready, each with its "
            "component."
        ),
    ]


class CampaignPlace(Shape):
    """A target of a campaign. card: key of the card; "": any card."""

    node: str
    cluster: str = ""
    card: str = ""


class CampaignDraft(Shape):
    """A campaign to start: either targets, or a selector with filters of /api/v1/nodes."""

    suite: str
    name: str = ""
    options: dict[str, Any] = {}
    targets: list[CampaignPlace] = []
    selector: dict[str, str | list[str]] = {}
    max_parallel: int = 4
    stop_after_failures: int | None = None
