"""Statements as readers get them: read from a column, with times and sentences. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from inventory.health.words import action_words, source_words
from kube.decoders import decoder
from stacks.engine.base import HealthReport
from wording.said import restored

_decoder = decoder(tuple[HealthReport, ...])


class ShownReport(msgspec.Struct, frozen=True):
    """One statement. level: healthy, degraded, unhealthy, or unknown where it says nothing of health. says, remedy: in English.

    text: as the source wrote it. since, lost_at: None where that is not known, and while the source speaks.
    """

    source: str
    level: str
    code: str
    says: str
    text: str | None
    since: datetime | None
    action: str | None
    remedy: str | None
    lost_at: datetime | None


def shown(column: str) -> list[ShownReport]:
    """A column `health_reports`, the worst first; none when somebody wrote into it."""
    try:
        return [_of(one) for one in _decoder.decode(column)] if column else []
    except msgspec.DecodeError:
        return []


def line(column: str) -> str:
    """The same in one line, for a cell of a table: who says what, since when."""
    return "; ".join(_line(one) for one in shown(column))


def _line(one: ShownReport) -> str:
    since = f" since {one.since:%Y-%m-%dT%H:%M:%SZ}" if one.since is not None else ""
    lost = f"; last reported {one.lost_at:%Y-%m-%dT%H:%M:%SZ}" if one.lost_at is not None else ""
    text = f" ({one.text})" if one.text else ""
    return f"{source_words(one.source)}: {one.level}, {one.says}{text}{since}{lost}"


def _of(told: HealthReport) -> ShownReport:
    return ShownReport(
        told.source,
        told.level,
        told.code,
        told.says,
        restored(told.text, told.wording) or None,
        _moment(told.since),
        told.action or None,
        action_words(told.action) or None,
        _moment(told.lost_at),
    )


def _moment(seconds: float | None) -> datetime | None:
    """One that has a date: what is stored may have been written by hand."""
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds is not None else None
    except (ValueError, OverflowError, OSError):
        return None
