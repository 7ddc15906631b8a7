"""Findings of a cluster that is not in sync: unreachable, not reporting, not watched, or an audit found differences.

Made from the rows of its watches by the schedule, for all clusters, or by who reconciles a cluster where there is no schedule.
Several may look at once; a finding is there once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from django.utils import timezone

from inventory import stated
from inventory.capacity import capacity
from inventory.catalogue import CATALOGUE
from inventory.condition import TAKEOVER_S, Condition, State, condition_of, watches
from inventory.models import Finding, Watch
from inventory.models.cluster import OPTIONAL_KINDS, Kind
from wording.said import capitalised, known, restored, sentence, series, stored

#: A cluster that answers within this was only slow.
PATIENCE_S = 30
_CODES = {
    State.UNREACHED: "never-reached",
    State.SILENT: "cluster-not-reporting",
    State.UNWATCHED: "cluster-not-watched",
}
#: The last audit of a kind found the mirror wrong; it was mended, but somebody should know.
DIFFERED = "synced-data-differed"
CODES = (*_CODES.values(), DIFFERED)


def find_outages(clusters: Collection[int] | None = None) -> None:
    """Begin, change and end the findings of these clusters, or of all: two queries where nothing changed, however many there are."""
    rows = watches() if clusters is None else watches().filter(cluster_id__in=clusters)
    by_cluster: dict[int, list[Watch]] = {}
    for watch in rows.order_by("kind"):
        by_cluster.setdefault(watch.cluster_id, []).append(watch)
    stored = Finding.objects.filter(cluster_id__in=by_cluster, code__in=CODES, node_name="", ended_at=None)
    open_now = {(row.cluster_id, row.code): row for row in stored}
    for pk, own in by_cluster.items():
        wanted = wanted_findings(own)
        for code in CODES:
            _write(pk, code, wanted.get(code), open_now.get((pk, code)))


def wanted_findings(own: Iterable[Watch]) -> dict[str, str]:
    """Code → text, for one cluster."""
    told: dict[str, list[str]] = {}
    for watch in own:
        now: datetime = getattr(watch, "asked_at", timezone.now())
        condition = condition_of(watch, now)
        code = _code(watch, condition, now)
        if code:
            told.setdefault(code, []).append(_words(watch, condition))
        if watch.audit_differences:
            told.setdefault(DIFFERED, []).append(_audit_words(watch))
    texts: dict[str, str] = {code: sentence("{text}.", text=series(parts, "; ")) for code, parts in told.items()}
    if _CODES[State.UNWATCHED] in texts and (lack := capacity().lack):
        texts[_CODES[State.UNWATCHED]] += sentence(" {lack}.", lack=capitalised(lack))
    return texts


def _code(watch: Watch, condition: Condition, now: datetime) -> str | None:
    if watch.kind in OPTIONAL_KINDS and condition.state != State.UNWATCHED:
        return None  # optional: without them the numbers are still right
    if condition.state in (State.BACKING_OFF, State.REFUSED):
        state = State.UNREACHED if watch.synced_at is None else State.SILENT
    else:
        state = condition.state
    since = condition.since or now
    if state == State.SILENT and watch.kind == Kind.CARDS:
        return None
    patience_s = TAKEOVER_S if state == State.UNWATCHED else PATIENCE_S
    return _CODES.get(state) if now - since >= timedelta(seconds=patience_s) else None


def _words(watch: Watch, condition: Condition) -> str:
    """No ages: they change with each look, and the page shows since when."""
    since = sentence(" since {moment} UTC", moment=_at(condition.since)) if condition.since else ""
    last = sentence(", last update {moment} UTC", moment=_at(watch.last_event_at)) if watch.last_event_at else ""
    return sentence(
        "{kind}: {state}{since}{last}{reason}",
        kind=watch.kind,
        state=known(str(condition.state.label)),
        since=since,
        last=last if watch.kind != Kind.CARDS else "",
        reason=sentence(" ({reason})", reason=condition.reason) if condition.reason else "",
    )


def _audit_words(watch: Watch) -> str:
    when = sentence(" at {moment} UTC", moment=_at(watch.audited_at)) if watch.audited_at else ""
    return sentence(
        "{kind}: {number} differences corrected{when} ({note})",
        kind=watch.kind,
        number=watch.audit_differences,
        when=when,
        note=restored(watch.audit_note, watch.audit_wording),
    )


def _at(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _write(cluster_id: int, code: str, text: str | None, row: Finding | None) -> None:
    if text is None:
        if row is not None:
            Finding.objects.filter(pk=row.pk, ended_at=None).update(ended_at=timezone.now())
    elif row is None:
        Finding.objects.get_or_create(
            cluster_id=cluster_id,
            code=code,
            node_name="",
            card_key="",
            pod="",
            ended_at=None,
            defaults={
                "severity": CATALOGUE[code].severity,
                "first_seen_at": timezone.now(),
                **stated.columns(text),
            },
        )
    elif (row.text, row.wording) != (text, stored(text)):
        Finding.objects.filter(pk=row.pk).update(**stated.columns(text))
