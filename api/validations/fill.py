"""Rows into the shapes of REST. "" in the tables (not known) becomes null."""

from __future__ import annotations

from typing import Any

import msgspec

from api.validations import shapes
from validations import models
from validations.coverage import Coverage
from validations.planning import Plan
from validations.suites.engine.base import Reason, Suite


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
    )


def _option(option: Any) -> dict[str, Any]:
    return msgspec.structs.asdict(option) | {"choices": list(option.choices)}


def _run_fields(row: models.Run, cluster: str) -> dict[str, Any]:
    same = ("id", "suite", "state", "state_since", "cancel_requested_at", "verdict", "exit_code", "card_id")
    times = ("created_at", "started_at", "ended_at")
    words = ("card_uuid", "card_model", "card_asked", "card_evidence", "card_note", "driver_version")
    more = ("waiting_reason", "waiting_message", "last_error", "level", "level_note")
    fields: dict[str, Any] = {name: getattr(row, name) for name in (*same, *times)}
    fields |= {name: getattr(row, name) or None for name in (*words, *more)}
    return fields | {
        "cluster": cluster,
        "node": row.node_name,
        "card": row.card_key or None,
        "reasons": _reasons(row.reasons),
        "requested_by": row.requested_by_name or None,
        "campaign": row.campaign_id,
        "repeats": row.repeats_id,
    }


def _reasons(rows: list[Any]) -> list[shapes.RunReason]:
    return [shapes.RunReason(code=row["code"], text=row["text"], line=row.get("line")) for row in rows]


def reason(one: Reason) -> shapes.RunReason:
    return shapes.RunReason(code=one.code, text=one.text, line=one.line)


def run(row: models.Run, cluster: str) -> shapes.RunShape:
    return shapes.RunShape(**_run_fields(row, cluster))


def run_detail(row: models.Run) -> shapes.RunDetail:
    """`row`: of `querysets.run_whole`."""
    return shapes.RunDetail(
        **_run_fields(row, row.cluster.name),
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


def preview(plan: Plan, wait_for_room: bool, holder: models.Run | None) -> shapes.Preview:
    return shapes.Preview(
        launchable=not plan.hindrances(wait_for_room) and holder is None,
        reasons=[reason(one) for one in plan.reasons],
        card=plan.card.key if plan.card else None,
        options=plan.options,
        manifest=plan.manifest or None,
        held_by=holder.pk if holder else None,
    )


def _campaign_fields(row: models.Campaign) -> dict[str, Any]:
    same = (
        "id",
        "suite",
        "options",
        "selector",
        "max_parallel",
        "stop_after_failures",
        "state",
        "created_at",
        "ended_at",
    )
    fields: dict[str, Any] = {name: getattr(row, name) for name in same}
    words = {"name": row.name, "state_reason": row.state_reason, "requested_by": row.requested_by_name}
    return fields | {name: text or None for name, text in words.items()}


def campaign(row: models.Campaign) -> shapes.CampaignShape:
    return shapes.CampaignShape(**_campaign_fields(row))


def campaign_detail(row: models.Campaign, counts: dict[str, int], cards: Coverage) -> shapes.CampaignDetail:
    return shapes.CampaignDetail(
        **_campaign_fields(row),
        progress=shapes.CampaignProgress(**counts),
        coverage=shapes.CampaignCoverage(**msgspec.structs.asdict(cards)),
    )


def campaign_row(row: models.CampaignTarget, clusters: dict[int, str]) -> shapes.CampaignRow:
    run = row.run
    return shapes.CampaignRow(
        position=row.position,
        cluster=clusters.get(row.cluster_id, ""),
        node=row.node_name,
        card=row.card_key or None,
        run=run.pk if run else None,
        state=run.state if run else None,
        verdict=run.verdict if run else None,
        level=(run.level or None) if run else None,
        card_taken=(run.card_key or None) if run else None,
        skipped=row.skipped or None,
        not_reached=row.not_reached or None,
        tried=row.tried_id,
        measurements={one.name: one.value for one in run.measurements.all()} if run else {},
    )
