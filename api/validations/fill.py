"""Rows into the shapes of REST. "" in the tables (not known) becomes null."""

from __future__ import annotations

from typing import Any

import msgspec

from api.validations import shapes
from resources.campaign import CAMPAIGNS
from resources.run import RUNS, RunReason
from validations import models
from validations.compared import Compared
from validations.coverage import Coverage
from validations.planning import Caution, Plan, cautions
from validations.suites.engine.base import Needs, Reason, Suite
from validations.suites.engine.needs import driver_for
from wording.said import stored


def suite(one: Suite) -> shapes.SuiteShape:
    return shapes.SuiteShape(
        id=one.id,
        title=one.title,
        proves=one.proves,
        level=one.level,
        os=list(one.os),
        families=list(one.families),
        cards=one.cards,
        parser_version=one.parser_version,
        options=[shapes.SuiteOption(**_option(option)) for option in one.options],
        needs=[_needs(os, needs) for os, needs in one.needs.items()],
    )


def _needs(os: str, one: Needs) -> shapes.SuiteNeeds:
    return shapes.SuiteNeeds(
        os=os,
        cuda=one.cuda or None,
        driver=one.driver or driver_for(one.cuda) or None,
        compute_capability=one.capability or None,
        windows_builds=list(one.builds),
    )


def _option(option: Any) -> dict[str, Any]:
    return msgspec.structs.asdict(option) | {"choices": list(option.choices)}


def reason(one: Reason) -> RunReason:
    return RunReason(code=one.code, text=one.text, line=one.line, wording=stored(one.text))


def warning(one: Caution) -> shapes.RunWarning:
    return shapes.RunWarning(code=one.code, text=one.text, component=one.component or None, wording=stored(one.text))


def run_detail(row: models.Run) -> shapes.RunDetail:
    """`row`: of `querysets.run_whole`."""
    return shapes.RunDetail(
        **msgspec.structs.asdict(RUNS.read(row, {row.cluster_id: row.cluster.name})),
        options=row.options,
        manifest=row.manifest,
        facts=row.facts,
        measurements=[measurement(one) for one in row.measurements.all()],
        steps=[shapes.RunStepShape(state=step.state, entered_at=step.entered_at) for step in row.steps.all()],
        parser_version=row.parser_version,
        image=row.image or None,
        image_digest=row.image_digest or None,
        node_snapshot=row.node_snapshot,
        namespace=row.namespace,
        job=row.job_name or None,
        pod=row.pod_name or None,
        log=log(row),
        job_removed=row.job_removed,
        reparse_requested_at=row.reparse_requested_at,
        warnings=[warning(one) for one in cautions(row)],
    )


def run_compared(one: Compared) -> shapes.RunCompared:
    passed, bad = one.passed, one.first_failure
    return shapes.RunCompared(
        run=one.run.pk,
        passed=passed.pk if passed else None,
        passed_at=passed.ended_at if passed else None,
        same=one.same or None,
        first_failure=bad.pk if bad else None,
        first_failure_at=bad.ended_at if bad else None,
        changes=[shapes.RunChange(name=row.name, then=row.then, now=row.now) for row in one.changes],
        unknown=[shapes.RunChange(name=row.name, then=row.then, now=row.now) for row in one.unknown],
        measurements=[shapes.RunPair(**msgspec.structs.asdict(row)) for row in one.measurements],
        strip=[
            shapes.RunInStrip(id=row.pk, verdict=row.verdict, level=row.level or None, ended_at=row.ended_at)
            for row in one.strip
        ],
    )


def measurement(row: models.Measurement) -> shapes.RunMeasurement:
    return shapes.RunMeasurement(
        name=row.name,
        value=row.value,
        unit=row.unit,
        baseline_run=row.baseline_id,
        baseline_value=row.baseline_value,
        slower_percent=row.slower_percent,
    )


def log(row: models.Run) -> shapes.RunLog:
    return shapes.RunLog(
        stored_bytes=row.log_stored,
        read_bytes=row.log_read,
        left_out_bytes=row.log_left_out,
        complete=row.log_complete,
        deleted_at=row.log_pruned_at,
    )


def preview(plan: Plan, queue_if_full: bool, holder: models.Run | None) -> shapes.Preview:
    return shapes.Preview(
        launchable=not plan.hindrances(queue_if_full) and holder is None,
        reasons=[reason(one) for one in plan.reasons],
        card=plan.card.key if plan.card else None,
        options=plan.options,
        manifest=plan.manifest or None,
        active_run=holder.pk if holder else None,
        warnings=[warning(one) for one in plan.warnings],
        unchecked=[reason(one) for one in plan.unchecked],
    )


def campaign_detail(
    row: models.Campaign, counts: dict[str, int], cards: Coverage, cautions: list[Caution]
) -> shapes.CampaignDetail:
    return shapes.CampaignDetail(
        **msgspec.structs.asdict(CAMPAIGNS.read(row, {})),
        progress=shapes.CampaignProgress(**counts),
        coverage=shapes.CampaignCoverage(**msgspec.structs.asdict(cards)),
        warnings=[warning(one) for one in cautions],
    )
