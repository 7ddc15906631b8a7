"""Whether a cluster is known to refuse the launcher: then nothing is launched that would only be refused.

Two things are known: what the last check of the permissions said (`Cluster.permissions`), and the last refusal that a pass met
(`Launcher.refused`). The newer one counts, and neither for long: a rule is granted in a moment. Makes no call to a cluster.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Q

from inventory.models import Cluster
from runtime.clock import database_now
from validations.enqueue import outbox
from validations.models import Launcher
from validations.suites.engine.base import Reason
from validations.suites.engine.reasons import OF_CREDENTIALS
from validations.wanted import NEEDED, missing_rule, wanted
from wording.said import quote, restored, series

#: A check is made every ten minutes (gpudash/celery.py).
CHECK_HOLDS = timedelta(minutes=15)
REFUSAL_HOLDS = timedelta(minutes=5)
#: A launch that is refused has the permissions looked up anew, but not more often than this.
CHECK_AGAIN = timedelta(seconds=20)


def credentials_refused() -> Q:
    """Condition on launchers: the cluster does not accept their credentials, as far as is known."""
    return Q(refused__code__in=sorted(OF_CREDENTIALS))


def forbidden(cluster: Cluster, now: datetime | None = None) -> Reason | None:
    """Why the cluster would refuse a launch, as far as is known; None when it would take it, or nobody knows."""
    now = now or database_now()
    seen = _last_refusal(cluster, now)
    checked = cluster.launcher_checked_at
    if seen is not None and (checked is None or seen[0] > checked):
        return seen[1]
    if checked is None or now - checked > CHECK_HOLDS or not (missing := _missing(cluster)):
        return None
    return Reason("forbidden", missing_rule(series(map(quote, missing), " and "), settings.VALIDATION_NAMESPACE))


def _last_refusal(cluster: Cluster, now: datetime) -> tuple[datetime, Reason] | None:
    stored: Any = Launcher.objects.filter(cluster=cluster).values_list("refused", flat=True).first()
    try:
        at, code, text = datetime.fromisoformat(stored["at"]), str(stored["code"]), str(stored["text"])
        return (at, Reason(code, restored(text, stored.get("wording")))) if now - at < REFUSAL_HOLDS else None
    except (TypeError, KeyError, ValueError):
        return None


def _missing(cluster: Cluster) -> list[str]:
    """Rules that a run needs and the check did not find, in the namespace of the settings: ["create jobs"]."""
    stored = cluster.permissions if isinstance(cluster.permissions, list) else []
    refused = {
        (row.get("verb"), row.get("resource"), row.get("needed_for"))
        for row in stored
        if isinstance(row, dict) and row.get("allowed") is False
    }
    names = [(f"{one.verb} {one.resource}", (one.verb, one.full_resource, one.needed_for)) for one in wanted()]
    return [name for name, row in names if name in NEEDED and row in refused]


def remember(cluster_id: int, code: str, text: str) -> None:
    """The making of a Job was refused for good: no more launches for a while."""
    told = {"at": database_now().isoformat(), "code": code, "text": text[:2000], "call": "create jobs"}
    Launcher.objects.filter(cluster_id=cluster_id).update(refused=told)


def check_soon(cluster: Cluster) -> None:
    """Have it looked up anew by a launch worker, so that a rule that was just granted, or a new token, counts in a moment."""
    Launcher.objects.filter(credentials_refused(), cluster=cluster).update(next_try_at=None)
    checked = cluster.launcher_checked_at
    if checked is not None and database_now() - checked < CHECK_AGAIN:
        return
    outbox.put("inventory.tasks.check_launcher", cluster.pk)
