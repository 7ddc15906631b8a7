"""Allocations that ended: of those who had the cards, written as the product writes those of now on the same node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fleetsim.usage import Case, Tenant, noise
from gpudash.demo_past.clock import Times, utc
from gpudash.demo_past.seats import Seat
from inventory.mirror.values import digest
from inventory.models import Allocation, Cluster, NodeTotals
from stacks.engine.base import MEMORY, WHOLE

UNITS = {"GiB": 1 << 30, "MiB": 1 << 20}
#: Rows of one transaction.
BATCH = 200


def ended(cluster: Cluster, seats: Sequence[Seat], times: Times) -> list[Allocation]:
    """Rows not written yet, the newest first. What had begun to be remembered by the fleet is the product's own to write."""
    totals = NodeTotals.objects.filter(cluster=cluster, node_name__in={seat.node for seat in seats})
    units = {name: UNITS.get(unit, UNITS["MiB"]) for name, unit in totals.values_list("node_name", "unit")}
    found = [
        _row(cluster, seat, one, units.get(seat.node, UNITS["MiB"])) for seat in seats for one in former(seat, times)
    ]
    return sorted(
        (row for row in found if row is not None), key=lambda row: row.ended_at or row.started_at, reverse=True
    )


def former(seat: Seat, times: Times) -> Iterator[Tenant]:
    """Who had it and had gone when the fleet began; nobody had a card that is given out no more."""
    if seat.use.case == Case.LOST:
        return iter(())
    return (one for one in seat.use.tenants if one.until is not None and times.first < one.until <= times.until)


def _row(cluster: Cluster, seat: Seat, tenant: Tenant, unit: int) -> Allocation | None:
    likes = _likes(seat, tenant)
    if not likes:
        return None
    like = likes[noise.seed_of(tenant.who.uid, "like") % len(likes)]
    card = seat.card if like.card_id is not None else None
    if like.card_id is not None and card is None:
        return None
    who = tenant.who
    columns: dict[str, Any] = {
        "pod_uid": who.uid,
        "namespace": who.namespace,
        "pod": who.pod,
        "container": like.container.replace(like.pod, who.pod) if " " in like.container else who.container,
        "owner_kind": who.owner[0],
        "owner_name": who.owner[1],
        "resource": like.resource,
        "stack": like.stack,
        "mode": like.mode,
        "quantity": _quantity(like, seat, tenant, unit),
        "memory_bytes": _memory(like, seat, tenant, unit),
        "core_percent": like.core_percent,
        "evidence": like.evidence,
        "card_key": card.key if card is not None else "",
        "terminating": False,
    }
    if seat.machine.kind.dra:
        columns |= {"mode": WHOLE, "quantity": 1, "memory_bytes": seat.card.memory_total_bytes if seat.card else None}
    columns["digest"] = digest(columns)
    assert tenant.until is not None, "one that is gone"
    times = {"started_at": utc(tenant.since), "ended_at": utc(tenant.until)}
    return Allocation(cluster=cluster, node_name=seat.node, card=card, **columns, **times)


def _likes(seat: Seat, tenant: Tenant) -> list[Allocation]:
    """Holds of now of the same kind: on the card with others or alone; if there are, of the same resource, and on this card."""
    shared = tenant.core < 1
    found = [one for one in seat.likes if (one.mode == WHOLE) != shared]
    found = [one for one in found if one.resource == seat.resource] or found
    if seat.card is not None and seat.card.profile:
        found = [one for one in found if one.memory_bytes in (None, seat.card.memory_total_bytes)] or found
    return [one for one in found if seat.card is not None and one.card_id == seat.card.pk] or found


def _memory(like: Allocation, seat: Seat, tenant: Tenant, unit: int) -> int | None:
    """As the sharing system counts: in its units, a card in full, a part of it, or not at all."""
    if like.memory_bytes is None:
        return None
    if like.mode == MEMORY:
        if _by_parts(like, unit):
            return like.memory_bytes * _percent(like, tenant) // like.quantity
        return max(1, tenant.memory // unit) * unit
    if like.mode == WHOLE and seat.card is not None and like.card_id is not None:
        return seat.card.memory_total_bytes
    # Counted only: of those that asked for several, what one card is.
    return like.memory_bytes * min(like.quantity, seat.per_seat) // like.quantity


def _quantity(like: Allocation, seat: Seat, tenant: Tenant, unit: int) -> int:
    if like.mode != MEMORY:
        return min(like.quantity, seat.per_seat)
    if like.quantity == 1:
        return 1
    return _percent(like, tenant) if _by_parts(like, unit) else max(1, tenant.memory // unit)


def _by_parts(like: Allocation, unit: int) -> bool:
    """Whether it was asked for in parts of the card and not in memory."""
    return like.quantity > 1 and like.quantity * unit != like.memory_bytes


def _percent(like: Allocation, tenant: Tenant) -> int:
    """Of the card; all who are on it together have no more than all of it."""
    return min(like.quantity, int(tenant.core * 100))


def batches(rows: Sequence[Allocation]) -> Iterator[Sequence[Allocation]]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
