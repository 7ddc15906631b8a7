"""The chain is read through by the schedule, some entries at a time: nobody waits for it, and nobody has to think of it.

It does not replace `gpudash audit verify --hash` with a hash that was noted elsewhere: whoever writes into the database can make
the whole chain anew, and this row too.
"""

from __future__ import annotations

import logging
from itertools import islice

from django.utils import timezone

from audit.chain import Broken, verify
from audit.models import Entry, Reading

logger = logging.getLogger("gpudash.audit")
#: Entries at once: a second or two.
AT_ONCE = 20_000


def last_reading() -> Reading | None:
    """None: it was never read."""
    return Reading.objects.order_by("pk").first()


def read_on(at_once: int = AT_ONCE) -> Reading:
    """Read the next entries. At the end, or where the chain breaks, the next reading begins anew. Called by one process at a time."""
    row = Reading.objects.get_or_create(pk=1)[0]
    row.read_at = timezone.now()
    if row.number and not Entry.objects.filter(number=row.number, hash=row.hash).exists():
        return _broken(row, Broken(row.number, "the entry was changed"))
    count = 0
    for one in islice(verify(row.number), at_once):
        if isinstance(one, Broken):
            return _broken(row, one)
        row.number, row.hash = one
        count += 1
    if count < at_once:
        row.whole_at, row.whole_number = row.read_at, row.number
        row.number, row.hash, row.broken, row.why = 0, "", None, ""
    row.save()
    return row


def _broken(row: Reading, found: Broken) -> Reading:
    if row.broken != found.number:
        logger.error("the audit log was changed: entry %d: %s", found.number, found.why)
    row.broken, row.why = found.number, found.why[:200]
    row.number, row.hash = 0, ""
    row.save()
    return row
