"""Exporters of a cluster: whether they are read, which ones exist, and problems of the last read."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from exporters.engine.problems import CODES
from inventory.models import Cluster, UsageSource
from inventory.models.usage import SourceState, Way
from inventory.queries.measured import overdue_since
from runtime.clock import database_now
from wording.said import restored

#: Kinds of problems that are shown.
MOST_PROBLEMS = 12
_LEVELS = {
    SourceState.WAITING: "none",
    SourceState.READING: "good",
    SourceState.BACKING_OFF: "warning",
    SourceState.REFUSED: "error",
}


@dataclass(frozen=True)
class Exporter:
    """One format that was found. versions: as it names itself; "" where it does not."""

    format: str
    versions: str
    cards: int
    samples: int


@dataclass(frozen=True)
class Doubt:
    """A problem of the last read. means: in words. example: an excerpt of the response."""

    code: str
    format: str
    means: str
    count: int
    example: str


@dataclass(frozen=True)
class Exporters:
    """level: sign. words: state; reason: why it is so, or why a round may not be whole. place: where they are read.

    round_at: the last complete round; None: there was none. overdue: since when they are not read; None: they are read.
    """

    level: str
    words: str
    reason: str
    place: str
    since: datetime | None
    overdue: datetime | None
    due_at: datetime | None
    round_at: datetime | None
    seconds: float
    samples: int
    measured: int
    unmatched: int
    found: list[Exporter]
    doubts: list[Doubt]
    more_doubts: int


def exporters_of(clusters: list[Cluster]) -> dict[int, Exporters]:
    """By cluster; one that names no exporters is missing. Two queries, however many there are."""
    sources = UsageSource.objects.filter(cluster__in=clusters)
    rows = list(sources)
    now = database_now() if rows else None
    return {row.cluster_id: _shown(row, now) for row in rows if now is not None}


def _shown(source: UsageSource, now: datetime) -> Exporters:
    state, overdue = SourceState(source.state), overdue_since(source, now)
    doubts = [_doubt(one) for one in _rows(source.problems)]
    troubled = state in (SourceState.BACKING_OFF, SourceState.REFUSED)
    return Exporters(
        level="error" if overdue else "warning" if source.reason and not troubled else _LEVELS[state],
        words=_("not being read") if overdue else str(state.label),
        reason=restored(source.reason, source.wording),
        place=str(Way.DIRECT.label) if source.way == Way.DIRECT else source.address,
        since=overdue or (source.trouble_since if troubled else None),
        overdue=overdue,
        due_at=source.due_at if troubled else None,
        round_at=source.round_at,
        seconds=source.round_seconds or 0.0,
        samples=source.samples,
        measured=source.cards_measured,
        unmatched=source.cards_unmatched,
        found=[_exporter(one) for one in _rows(source.formats)],
        doubts=doubts[:MOST_PROBLEMS],
        more_doubts=max(len(doubts) - MOST_PROBLEMS, 0),
    )


def _rows(stored: Any) -> list[dict[str, Any]]:
    """What is stored is ours; somebody may have written into the table all the same."""
    return [one for one in stored if isinstance(one, dict)] if isinstance(stored, list) else []


def _exporter(one: dict[str, Any]) -> Exporter:
    return Exporter(
        format=str(one.get("format", "")),
        versions=", ".join(str(version) for version in one.get("versions") or ()),
        cards=int(one.get("cards") or 0),
        samples=int(one.get("samples") or 0),
    )


def _doubt(one: dict[str, Any]) -> Doubt:
    code = str(one.get("code", ""))
    return Doubt(
        code=code,
        format=str(one.get("format", "")),
        means=_(CODES[code]) if code in CODES else code,
        count=int(one.get("count") or 0),
        example=str(one.get("example", "")),
    )
