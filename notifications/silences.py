"""Findings that a user acknowledged or silenced: they are counted and shown, and not sent, until an end."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

import msgspec
from django.db.models import Exists, OuterRef

from audit.actions import Action
from audit.acts import act
from inventory.models import Cluster, Finding
from notifications.matching import in_force
from notifications.models import Silence
from runtime.clock import database_now
from runtime.scope import current
from validations.planning import Refused
from wording.said import sentence

LONGEST = timedelta(days=366)
#: In force at once. They become one condition of a query, and SQLite takes no more than 1,000 parts of one.
MOST = 500
_LONGEST = {"code": 64, "cause": 200, "node": 253, "card": 128, "pod": 512, "reason": 500}


class SilenceDraft(msgspec.Struct, frozen=True, kw_only=True):
    """Findings that match all that is given; at least one of code, node, card and pod is. cluster: name; "" all. until: aware."""

    cluster: str = ""
    code: str = ""
    cause: str = ""
    node: str = ""
    card: str = ""
    pod: str = ""
    reason: str
    until: Annotated[datetime, msgspec.Meta(tz=True)]


def may_silence(cluster_id: int | None) -> bool:
    """Whether who asks may silence findings of this cluster: who sees it whole. None: of all clusters, who sees everything."""
    return current().everything if cluster_id is None else current().sees_whole(cluster_id)


def may_silence_in(cluster: str) -> bool:
    """The same of a cluster by its name, "" for all; one that is not there is for `silence` to refuse."""
    if not cluster:
        return may_silence(None)
    pk = Cluster.objects.filter(name=cluster).values_list("pk", flat=True).first()
    return pk is None or may_silence(pk)


def acknowledge(finding: Finding, reason: str, until: datetime, user: Any = None) -> Silence:
    """Silence one finding until it ends, at most until a moment. Raises Refused."""
    row = Silence(finding=finding.pk, cluster_id=finding.cluster_id, code=finding.code, node_name=finding.node_name)
    row.card_key, row.pod = finding.card_key, finding.pod
    return _create(row, reason, until, user)


def silence(draft: SilenceDraft, user: Any = None) -> Silence:
    """Raises Refused, with all problems at once."""
    problems = _too_long(draft)
    cluster = Cluster.objects.filter(name=draft.cluster).first() if draft.cluster else None
    if draft.cluster and cluster is None:
        problems["cluster"] = [sentence("There is no cluster {name}.", name=f"{draft.cluster[:64]!r}")]
    if not (draft.code or draft.node or draft.card or draft.pod):
        problems["code"] = [sentence("Enter at least one of type, node, card and pod.")]
    if problems:
        raise Refused(problems)
    row = Silence(cluster=cluster, code=draft.code, cause=draft.cause, node_name=draft.node)
    row.card_key, row.pod = draft.card, draft.pod
    return _create(row, draft.reason, draft.until, user)


def _too_long(draft: SilenceDraft) -> dict[str, list[Any]]:
    return {
        name: [sentence("Enter at most {most} characters.", most=most)]
        for name, most in _LONGEST.items()
        if len(getattr(draft, name)) > most
    }


def _create(row: Silence, reason: str, until: datetime, user: Any) -> Silence:
    now = database_now()
    problems: dict[str, list[Any]] = {}
    if not reason.strip():
        problems["reason"] = [sentence("Enter a reason.")]
    if not now < until <= now + LONGEST:
        problems["until"] = [sentence("Enter a time in the future, at most a year ahead.")]
    if in_force(now).count() >= MOST:
        problems["code"] = [sentence("{most} silences are active, the maximum. End some first.", most=MOST)]
    if problems:
        raise Refused(problems)
    row.reason, row.until, row.created_at = reason.strip()[:500], until, now
    row.created_by_name = user.get_username() if user else ""
    with act(Action.SILENCE_CREATE, _of(row), until=until.isoformat(timespec="minutes"), reason=row.reason) as made:
        row.save(force_insert=True)
        made.on(_of(row), id=row.pk)
    return row


def end(row: Silence, user: Any = None) -> None:
    """End it now; what it covered and still holds is sent if it was not. An ended one stays as it is."""
    with act(Action.SILENCE_END, _of(row), id=row.pk) as made:
        name = user.get_username() if user else ""
        if not Silence.objects.filter(pk=row.pk, ended_at=None).update(ended_at=database_now(), ended_by_name=name):
            made.nothing()
    row.refresh_from_db()


def end_with_findings(at: datetime) -> int:
    """An acknowledgement ends with its finding. One statement."""
    there = Finding.objects.filter(pk=OuterRef("finding"), ended_at=None)
    over = in_force(at).filter(finding__isnull=False).exclude(Exists(there))
    return int(over.update(ended_at=at))


def _of(row: Silence) -> str:
    """What it is of, for the audit log."""
    named = (row.cluster.name if row.cluster else "", row.code, row.node_name, row.card_key, row.pod)
    return " ".join(part for part in named if part)
