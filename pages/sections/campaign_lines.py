"""The targets of a campaign as pages print them: a sign, words, and the run. Asks no table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from pages.frame.links import node_url
from pages.frame.worded import worded
from pages.rows.runs import RunLine, run_line
from pages.words import runs as words
from validations.models import CampaignTarget
from validations.models.run import said_of
from validations.reaching import took_another
from wording.said import restored


@dataclass(frozen=True)
class TargetLine:
    """A place of a campaign: a cell of the grid, and a row of the table. words: all of it but its place, for the title."""

    row: CampaignTarget
    name: str
    node_url: str
    shown: words.Shown
    run: RunLine | None
    reason: str
    words: str


def target_line(target: CampaignTarget) -> TargetLine:
    run = run_line(_with_cluster(target)) if target.run is not None else None
    if run is not None and took_another(target):
        shown, reason = (
            words.Shown("warning", "?", _("another card")),
            restored(run.row.card_note, said_of(run.row, "card_note")),
        )
    elif target.not_tested:
        shown, reason = words.Shown("warning", "?", _("not tested")), restored(target.not_tested, target.wording)
    elif run is not None:
        shown, reason = _of_run(run), run.reason
    elif target.skipped:
        shown, reason = words.Shown("none", "–", _("not applicable")), restored(target.skipped, target.wording)
    else:
        shown, reason = words.Shown("none", "·", _("not started")), ""
    return TargetLine(
        row=target,
        name=f"{target.node_name} {target.card_key}".strip(),
        node_url=node_url(target.cluster.name, target.node_name),
        shown=shown,
        run=run,
        reason=reason,
        words=shown.words + (f". {worded(reason)}" if reason else ""),
    )


def _of_run(run: RunLine) -> words.Shown:
    """In the grid only the sign is seen: a pass that is no proof is not green there."""
    validated = run.row.verdict != "passed" or run.row.level in ("", "checked")
    return run.shown if validated else replace(run.shown, level="none")


def _with_cluster(target: CampaignTarget) -> Any:
    """The run, its cluster taken from the target: they are the same, and it costs no query."""
    run = target.run
    assert run is not None
    run.cluster = target.cluster
    return run
