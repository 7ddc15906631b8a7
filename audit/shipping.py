"""Each entry is a log line: after its commit, at least once, in the order of the chain.

A mark says up to where. It goes on after the lines are written, so a process that is killed in between leaves lines that come again,
and none that never comes: the schedule ships what is left. Lines carry the entry's number, by which a second one is known.
"""

from __future__ import annotations

import logging

from django.db import DatabaseError, transaction

from audit.models import Entry, Head, Shipped

logger = logging.getLogger("gpudash.audit")
AT_ONCE = 500


def ship_now() -> None:
    """After a commit. Never raises: what is not shipped now the schedule ships."""
    try:
        ship()
    except DatabaseError as error:
        logger.warning("log lines of the audit log are delayed: %s", type(error).__name__)


def ship() -> int:
    """Write the lines that are due. How many were written: none where there are none, or another process is writing them."""
    Shipped.objects.get_or_create(pk=1)
    if not Head.objects.filter(number__gt=Shipped.objects.values("number")[:1]).exists():
        return 0
    written = 0
    while some := _ship_some():
        written += some
    return written


@transaction.atomic
def _ship_some() -> int:
    mark = Shipped.objects.select_for_update(skip_locked=True).first()
    rows = list(Entry.objects.filter(number__gt=mark.number).order_by("number")[:AT_ONCE]) if mark else []
    for entry in rows:
        _log(entry)
    if mark and rows:
        Shipped.objects.filter(pk=mark.pk).update(number=rows[-1].number)
    return len(rows)


def _log(entry: Entry) -> None:
    words = {"audit_number": entry.number, "audit_hash": entry.hash, "audit_at": entry.at.isoformat()}
    words |= {f"audit_{name}": getattr(entry, name) for name in ("actor", "action", "target", "outcome", "address")}
    logger.info(
        "audit %d %s: %s %s %s", entry.number, entry.hash[:12], entry.actor or "nobody", entry.action, entry.target,
        extra=words,
    )  # fmt: skip
