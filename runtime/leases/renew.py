"""Many leases of one process, renewed by one statement."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from django.db import transaction

from runtime.leases.incarnation import file_was_replaced
from runtime.leases.lease import Lease, until
from runtime.leases.row import LeaseRow


class _Row(msgspec.Struct, frozen=True):
    """A lease's row, as it is now."""

    pk: int
    holder: str
    token: int
    epoch: int


def renew(model: type[LeaseRow], leases: Mapping[int, Lease], seconds: float) -> set[int]:
    """Move the ends of these leases (by primary key) where they are still held as they are known. Returns whose rows were written.

    A row that is locked is left out: its holder is writing it at this moment.
    """
    rows = model._default_manager
    with transaction.atomic():
        locked = rows.select_for_update(skip_locked=True).filter(pk__in=leases)
        found = [_Row(*values) for values in locked.values_list("pk", "holder", "token", "epoch")]
        mine = {row.pk for row in found if _is_of(row, leases[row.pk]) and row.epoch >= leases[row.pk].committed}
        rows.filter(pk__in=mine).update(expires_at=until(seconds))
    return mine


def find_lost(model: type[LeaseRow], leases: Mapping[int, Lease], certain: Mapping[int, int]) -> None:
    """Mark those as lost whose row is another's, was put back, or is gone. For leases that were not renewed.

    certain: of each, the epoch that was committed for certain before the rows are read; the holders go on writing meanwhile.
    """
    gone = set(leases)
    for values in model._default_manager.filter(pk__in=leases).values_list("pk", "holder", "token", "epoch"):
        row = _Row(*values)
        gone.discard(row.pk)
        leases[row.pk].lost = not _is_of(row, leases[row.pk]) or row.epoch < certain[row.pk]
    for pk in gone:
        leases[pk].lost = True


def _is_of(row: _Row, lease: Lease) -> bool:
    same = row.holder == lease.holder and row.token == lease.token
    return same and not file_was_replaced(lease.model, lease.incarnation)
