"""Runs as rows of tables and lists: one shape for every page that lists runs. Asks no table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from pages.frame.links import card_url, node_url
from pages.frame.worded import told
from pages.words import runs as words
from validations.models import Run
from validations.models.run import said_of
from wording.said import quote


@dataclass(frozen=True)
class RunLine:
    """What a template prints of a run. reason: the deciding one, or why it waits. took: from request to verdict, in words."""

    row: Run
    url: str
    shown: words.Shown
    suite: str
    node_url: str
    place: str
    card: str
    card_url: str
    reason: str
    took: str


def run_line(run: Run) -> RunLine:
    return RunLine(
        row=run,
        url=reverse("run", args=[run.pk]),
        shown=words.shown_run(run),
        suite=words.suite_title(run.suite),
        node_url=node_url(run.cluster.name, run.node_name) if run.node_name else "",
        place=run.node_name or _("%(n)s nodes") % {"n": run.nodes_count},
        card=card_words(run),
        card_url=card_url(run.card_id) if run.card_id else "",
        reason=_reason(run),
        took=words.duration((run.ended_at - run.created_at).total_seconds()) if run.ended_at else "",
    )


def card_words(run: Run) -> str:
    """ "card 3", or "any card of this node": then the result is the node's, not a card's. "all cards together" of a group."""
    if not run.node_name:
        return _("as a group")
    return card_short(run.card_key) if run.card_key else _("any card")


def card_short(key: str) -> str:
    """ "card 3", or "card …1a2b3c4d" for a card that is known by its UUID."""
    return _("card %(key)s") % {"key": key if len(key) <= 12 else f"…{key[-8:]}"}


def _reason(run: Run) -> str:
    if run.verdict is None:
        error, message = (told(getattr(run, name), said_of(run, name)) for name in ("last_error", "pending_message"))
        return error or message or quote(run.pending_reason)
    found = reasons_of(run.reasons)
    return found[0]["text"] if found else ""


def reasons_of(stored: Any) -> list[dict[str, Any]]:
    """Stored reasons with the keys code, text (to be worded) and line (None where it is no line)."""
    rows = stored if isinstance(stored, list) else []
    made = []
    for row in rows:
        if not isinstance(row, dict):
            continue
        line = row.get("line")
        number = line if type(line) is int and line > 0 else None
        text = told(str(row.get("text") or ""), row.get("wording"))
        made.append({"code": str(row.get("code") or ""), "text": text, "line": number})
    return made
