"""One run in full, compared with the last pass, and before the launch."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from inventory.models import Card
from resources.declared import WORDING, Shape, fact, filled
from resources.run import RunReason, RunShape
from validations.models import Run
from validations.planning import cautions
from validations.suspected import suspected
from wording.said import stored


class RunStepShape(Shape):
    """Time when the run entered a state."""

    state: str
    entered_at: datetime


class RunMeasurement(Shape):
    """A measurement of the run beside that of the last comparable pass, its floor and the baseline of its pool."""

    name: str
    value: float
    unit: str
    baseline_run: Annotated[str | None, fact(of="baseline_id")]
    baseline_value: float | None
    slower_percent: Annotated[
        float | None,
        fact("How much longer the same work took, in percent; negative: faster; null: not compared."),
    ]
    floor: Annotated[float | None, fact("Least value that it was judged against; null: no floor.")]
    floor_source: Annotated[str | None, fact("Machine type, source and date of the floor.")]
    pool_median: Annotated[
        float | None,
        fact("Median of the last passes of other targets of the pool; null: fewer than ten, no baseline."),
    ]
    pool_spread: Annotated[float | None, fact("Median absolute deviation from it.")]
    pool_targets: Annotated[int | None, fact("Number of these targets.")]


class RunLog(Shape):
    """State of the stored log. left_out: bytes cut from the middle."""

    stored_bytes: Annotated[int, fact(of="log_stored")]
    read_bytes: Annotated[int, fact(of="log_read")]
    left_out_bytes: Annotated[int | None, fact(of="log_left_out")]
    complete: Annotated[bool | None, fact("null: the run has not ended. false: log incomplete.", of="log_complete")]
    deleted_at: Annotated[datetime | None, fact(of="log_pruned_at")]


class RunWarning(Shape):
    """A warning that does not prevent the launch."""

    code: Annotated[
        str,
        fact("cordoned: the node is cordoned. no-pass-alone: nodes of the group. software-not-ready: may not start."),
    ]
    text: str
    component: Annotated[str | None, fact("GPU software component that is not ready; null: none.")]
    wording: Annotated[dict[str, Any] | None, fact(WORDING, of="text", by=stored)] = None


class RunTest(Shape):
    """A test that decides or confirms the suspect: the body of a launch."""

    suite: str
    cluster: Annotated[str, fact(by=str)]
    node: str
    nodes: list[str]
    card: str | None
    options: dict[str, Any]


class RunSuspect(Shape, rename={"try_": "try"}):
    """The likely cause of a failed or errored run, by the results around it."""

    what: Annotated[
        str,
        fact("card, driver or runtime, image, configuration, scheduling or unknown.", of="found.what"),
    ]
    because: Annotated[list[str], fact("Evidence, the strongest first.", of="found.because")]
    try_: Annotated[str, fact("What to do.", of="found.try_")]
    tests: Annotated[list[RunTest], fact("Tests that decide or confirm it, best first.", of="next")]


class RunNodeShape(Shape):
    """A node of a group, in the order of the request."""

    node: Annotated[str, fact(of="node_name")]
    index: Annotated[int | None, fact("Index of its pod in the Job. 0 starts the others; null: no pod.")]
    pod: Annotated[str | None, fact(of="pod_name")]
    first_rank: Annotated[int | None, fact("Ranks on its host in the log; null: none.")]
    last_rank: int | None
    said: Annotated[str | None, fact("State of its pod as the cluster reports it.")]
    passed_alone: Annotated[str | None, fact("Run that had passed on this node alone; null: none.", of="alone_id")]


class RunDetail(RunShape):
    """One run in full."""

    nodes: Annotated[list[RunNodeShape], fact("Nodes of a group; []: one node.")]
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
    job: Annotated[str | None, fact(of="job_name")]
    pod: Annotated[str | None, fact(of="pod_name")]
    log: RunLog
    job_removed: Annotated[bool, fact("true: the Job is deleted. false: see last_error.")]
    reparse_requested_at: Annotated[
        datetime | None, fact("Time of the request to parse the log again; null: none is pending.")
    ]
    warnings: Annotated[
        list[RunWarning],
        fact("Warnings at launch: cordoned, software-not-ready."),
    ]
    suspect: Annotated[
        RunSuspect | None,
        fact("Likely cause, evidence and next test; null: the run is active, passed or was cancelled."),
    ]


class RunChange(Shape):
    """A difference between two runs."""

    name: Annotated[str, fact("Field of the run or its node, or a named option, label, plugin or log value.")]
    then: Annotated[str | None, fact("Value of the run that passed; null: unknown or absent.")]
    now: str | None


class RunPair(Shape):
    """A measurement of two runs."""

    name: str
    unit: str
    then: float | None
    now: float | None
    slower_percent: Annotated[float | None, fact("How much longer the same work took, in percent; null: not compared.")]


class RunInStrip(Shape):
    """A run of the same suite on the same card."""

    id: Annotated[str, fact(of="pk")]
    verdict: str | None
    level: str | None
    ended_at: datetime | None


def _id(run: Run | None) -> str | None:
    return run.pk if run else None


def _end(run: Run | None) -> datetime | None:
    return run.ended_at if run else None


class RunCompared(Shape):
    """A run compared with the last pass of its suite on the same card, else node, else card model."""

    run: Annotated[str, fact(of="run.pk")]
    passed: Annotated[str | None, fact("The last pass; null: none.", by=_id)]
    passed_at: Annotated[datetime | None, fact(of="passed", by=_end)]
    same: Annotated[str | None, fact("What both runs share: card, node or model.")]
    first_failure: Annotated[
        str | None,
        fact("First failed or errored run since the last pass; null: this run passed.", by=_id),
    ]
    first_failure_at: Annotated[datetime | None, fact(of="first_failure", by=_end)]
    changes: Annotated[list[RunChange], fact("Differences of values known for both runs; empty: no known differences.")]
    unknown: Annotated[list[RunChange], fact("Values known for only one of the runs.")]
    measurements: list[RunPair]
    strip: Annotated[list[RunInStrip], fact("Last runs on this card up to this one, oldest first.")]


def _key(card: Card | None) -> str | None:
    return card.key if card else None


class Preview(Shape):
    """Preview of a run. launchable: no obstacle now. manifest null: not possible, see the reasons."""

    launchable: bool
    reasons: list[RunReason]
    card: Annotated[str | None, fact("The requested card, if it can be selected; null: any card of the node.", by=_key)]
    options: dict[str, Any]
    manifest: Annotated[dict[str, Any] | None, fact(by=lambda made: made or None)]
    active_run: Annotated[str | None, fact("ID of the active run on this card or node.")]
    warnings: list[RunWarning]
    unchecked: Annotated[
        list[RunReason],
        fact("Requirements that gpudash cannot check on the node. They do not prevent the launch."),
    ]


class ReparseShape(Shape, kw_only=True):
    """A log that is being parsed again. The result is ready when `reparse_requested_at` is null."""

    run: str
    changed: Annotated[None, fact("null: unknown yet.")] = None
    old_verdict: str | None
    new_verdict: Annotated[None, fact("null: unknown yet.")] = None
    old_parser_version: int | None
    new_parser_version: Annotated[None, fact("null: unknown yet.")] = None


def run_detail(row: Run) -> RunDetail:
    """row: of `querysets.run_whole`."""
    return filled(
        RunDetail,
        row,
        {row.cluster_id: row.cluster.name},
        log=filled(RunLog, row),
        nodes=[filled(RunNodeShape, one) for one in row.nodes.all()],
        warnings=[filled(RunWarning, one) for one in cautions(row)],
        suspect=filled(RunSuspect, found) if (found := suspected(row)) is not None else None,
    )
