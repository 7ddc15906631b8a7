"""Columns of runs and campaigns as CSV, for pages and REST alike. The writer is `inventory.csv_export`, which knows no app above."""

from __future__ import annotations

from inventory.csv_export import COLUMNS

RUNS = (
    "id",
    "suite",
    "cluster",
    "node_name",
    "card_key",
    "card_uuid",
    "card_model",
    "card_asked",
    "card_evidence",
    "card_note",
    "driver_version",
    "state",
    "verdict",
    "level",
    "level_note",
    "exit_code",
    "image",
    "image_digest",
    "parser_version",
    "campaign_id",
    "requested_by_name",
    "created_at",
    "started_at",
    "ended_at",
)
CAMPAIGNS = (
    "id",
    "name",
    "suite",
    "state",
    "state_reason",
    "max_parallel",
    "stop_after_failures",
    "requested_by_name",
    "created_at",
    "ended_at",
)
#: Rows of `validations.querysets.with_results`.
MATRIX = (
    "position",
    "cluster",
    "node_name",
    "card_key",
    "run_id",
    "card_taken",
    "state",
    "verdict",
    "level",
    "reason",
    "exit_code",
    "started_at",
    "ended_at",
    "skipped",
    "not_reached",
    "tried_id",
)


def register() -> None:
    """Called once, when the app is loaded."""
    COLUMNS.update({"runs": RUNS, "campaigns": CAMPAIGNS, "campaign-matrix": MATRIX})
