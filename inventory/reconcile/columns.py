"""What the tables are to hold of one node's report: pure functions from the structs of the stacks to columns."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import msgspec

from inventory import stated
from inventory.health import judge
from inventory.mirror.values import Columns, digest, moment, plain
from inventory.models.cards import MOST_ROOMS
from inventory.models.choices import NOT_ALLOCATED, CardState, UnavailableReason
from kube.objects import Pod
from stacks.engine import base
from wording.said import stored

SEVERITIES = (base.ERROR, base.WARNING, base.INFO)


def worst(severities: list[str]) -> str:
    """The worst of some severities; "" for none."""
    return next((severity for severity in SEVERITIES if severity in severities), "")


def card_state(report: base.CardReport, unplaced: bool) -> CardState:
    """How full a card is. unplaced: some hold on the node, of this card's stack, has no card."""
    card, allocated, total = report.card, report.memory_allocated_bytes, report.card.memory_total_bytes
    if card.mode == base.SHARES or (card.mode == base.WHOLE and total is None):
        if report.allocations:
            return CardState.SHARED if card.mode == base.SHARES else CardState.FULL
        return CardState.UNKNOWN if unplaced else CardState.FREE
    if allocated is None:
        return CardState.UNKNOWN
    if allocated == 0:
        return CardState.FREE
    if total is None:
        return CardState.PARTLY
    if allocated > total:
        return CardState.OVER
    return CardState.FULL if allocated == total else CardState.PARTLY


def fitting(number: int | None, bits: int = 63) -> int | None:
    """A number that its column can hold; a larger one is nonsense of a hostile object, so unknown."""
    return number if number is not None and abs(number) < 2**bits else None


def card_columns(
    report: base.CardReport, node: base.NodeReport, health: judge.Health = judge.NOTHING, unavailable_reason: str = ""
) -> Columns:
    """unavailable_reason: what keeps pods off the node."""
    card = report.card
    unplaced = any(held.stack == card.stack for held in node.unplaced)
    # What only others call unhealthy, its stack still allocates.
    off = unavailable_reason or (UnavailableReason.UNHEALTHY.value if card.health == base.UNHEALTHY else "")
    state = card_state(report, unplaced).value
    free, unavailable = None, None
    if card.memory_total_bytes is not None and report.memory_allocated_bytes is not None:
        free = card.memory_total_bytes - report.memory_allocated_bytes
        if card.health == base.UNHEALTHY:
            free = min(free, 0)  # what its stack calls unhealthy is given to nobody, and is in no sum
        elif off and free > 0:
            free, unavailable = 0, free
    columns: Columns = {
        "key": plain(card.key, 128),
        "index": fitting(card.index, 31),
        "uuid": plain(card.uuid, 128),
        "model": plain(card.model, 128),
        "model_source": plain(card.model_source, 255),
        "stack": card.stack,
        "mode": card.mode,
        "health": health.level,
        "health_reports": told_column(health),
        "state": CardState.UNAVAILABLE.value if off and state == CardState.FREE else state,
        "memory_total_bytes": fitting(card.memory_total_bytes),
        "memory_physical_bytes": fitting(card.memory_physical_bytes),
        "memory_source": plain(card.memory_source, 255),
        "memory_allocated_bytes": fitting(report.memory_allocated_bytes),
        "memory_free_bytes": fitting(free),
        "unavailable_reason": off,
        "memory_unavailable_bytes": fitting(unavailable),
        "shares": fitting(card.shares, 31),
        "profile": plain(card.profile, 64),
        "parent": plain(card.parent, 128),
        "room": _room_of(card, node.rooms),
        "allocations_count": len({held.pod_uid for held in report.allocations}),
        "worst_severity": worst([finding.severity for finding in node.findings if finding.card == card.key]),
    }
    columns["digest"] = digest(columns)
    return columns


def told_column(health: judge.Health) -> str:
    """ "" where nobody says anything."""
    if not health.told:
        return ""
    return _packed(
        [
            msgspec.structs.replace(
                one,
                source=plain(one.source, 128),
                code=plain(one.code, 128),
                says=plain(one.says, 300),
                text=plain(one.text, 300),
                wording=stored(one.text, 300),
                since=_seconds(one.since),
            )
            for one in health.told
        ]
    )


def _seconds(moment: float | None) -> float | None:
    """One that has a date."""
    found = _at(moment)
    return found.timestamp() if found is not None else None


def _room_of(card: base.Card, rooms: tuple[base.Room, ...]) -> str:
    """What would fit on this card, or on the card that it is a slice of; "" for a card that is not cut."""
    of = {card.key, card.parent or card.key} | ({""} if card.profile else set())
    found = next((room for room in rooms if room.card in of), None)
    return _packed(_bounded(found)) if found is not None else ""


def _bounded(room: base.Room) -> base.Room:
    """With names and numbers that every reader can hold."""
    return msgspec.structs.replace(
        room,
        card=plain(room.card, 128),
        cards=fitting(room.cards, 31),
        slices=tuple(base.Slices(plain(name, 64), min(number, 2**63 - 1)) for name, number in room.slices),
        fits=tuple(
            base.Fit(plain(fit.profile, 64), fit.sure, fit.most, fitting(fit.memory_bytes)) for fit in room.fits
        ),
        source=plain(room.source, 255),
    )


def _packed(found: object) -> str:
    return msgspec.json.encode(found).decode()


def allocation_columns(held: base.Allocation, pod: Pod | None) -> Columns:
    metadata = pod.metadata if pod else None
    owner = next((owner for owner in (metadata.ownerReferences or () if metadata else ()) if owner.controller), None)
    columns: Columns = {
        "pod_uid": plain(held.pod_uid, 128),
        "namespace": plain(held.namespace, 253),
        "pod": plain(held.pod, 253),
        "container": plain(held.container, 253),
        "owner_kind": plain(owner.kind if owner else "", 63),
        "owner_name": plain(owner.name if owner else "", 253),
        "resource": plain(held.resource, 253),
        "stack": held.stack,
        "mode": held.mode,
        "quantity": min(held.quantity, 2**63 - 1),
        "memory_bytes": fitting(held.memory_bytes),
        "core_percent": fitting(held.core_percent, 31),
        "evidence": held.evidence,
        "card_key": plain(held.card, 128),
        "terminating": bool(metadata and metadata.deletionTimestamp),
    }
    columns["digest"] = digest(columns)
    return columns


def started_at(pod: Pod | None, now: datetime) -> datetime:
    """Since when a pod holds: its start on the node, else its creation, else now."""
    if pod is None:
        return now
    start = moment(pod.status.startTime) if pod.status else None
    return start or moment(pod.metadata.creationTimestamp) or now


def ended_at(pod: Pod | None, now: datetime) -> datetime:
    """When a pod let go: the end of its last container where the pod still tells, else now."""
    ends: list[datetime] = []
    for status in pod.status.containerStatuses or () if pod and pod.status else ():
        end = moment(status.state.terminated.finishedAt) if status.state and status.state.terminated else None
        if end is not None:
            ends.append(end)
    return min(max(ends), now) if ends else now


def tile(card_id: int, columns: Columns) -> list[Any]:
    """[card id, label, percent allocated or None, state, worst severity] for the map."""
    total, allocated = columns["memory_total_bytes"], columns["memory_allocated_bytes"]
    percent = None
    if columns["state"] in NOT_ALLOCATED:
        percent = 0
    elif allocated is not None and total:
        percent = min(allocated * 100 // total, 999)
    elif columns["state"] == CardState.FULL:
        percent = 100
    label = str(columns["index"]) if columns["index"] is not None else columns["uuid"][-4:]
    return [card_id, label, percent, columns["state"], columns["worst_severity"]]


def totals_columns(
    report: base.NodeReport, cards: list[Columns], health: judge.Health = judge.NOTHING, unavailable_reason: str = ""
) -> Columns:
    """unavailable_reason: what keeps pods off the node."""
    models = Counter(card["model"] for card in cards if card["model"])
    model = models.most_common(1)[0][0] if models else ""
    gaps = [card["memory_free_bytes"] for card in cards if card["memory_free_bytes"] is not None]
    sizes = [card["memory_total_bytes"] for card in cards]
    unavailable_gaps = [
        card["memory_unavailable_bytes"] for card in cards if card["memory_unavailable_bytes"] is not None
    ]
    total, allocated = report.memory_total_bytes, report.memory_allocated_bytes
    free = total - allocated if total is not None and allocated is not None else None
    unavailable = sum(unavailable_gaps) if not unavailable_reason else free
    free, unavailable = _split(free, unavailable)
    cards_free, cards_unavailable = _free_cards(report, cards, unavailable_reason)
    holders = {held.pod_uid for card in report.cards for held in card.allocations} | {
        held.pod_uid for held in report.unplaced
    }
    stacks = list(report.stacks)
    columns: Columns = {
        "stacks": stacks,
        "pool": plain(" · ".join([" + ".join(stacks) or "not understood", model or "model not known"]), 255),
        "model": model,
        "unit": report.unit or "",
        "unit_source": plain(report.unit_source, 255),
        "cards_physical": fitting(report.physical_cards, 31),
        "cards_total": fitting(report.cards_total, 31),
        "cards_allocated": fitting(report.cards_allocated, 31),
        "cards_free": fitting(cards_free, 31),
        "unavailable_reason": unavailable_reason,
        "cards_unavailable": fitting(cards_unavailable, 31),
        "memory_unavailable_bytes": fitting(unavailable),
        "gap_unavailable_bytes": _largest_gap(unavailable_gaps, report.unplaced) if unavailable_gaps else None,
        "memory_total_bytes": fitting(total),
        "memory_allocated_bytes": fitting(allocated),
        "memory_free_bytes": fitting(free),
        "largest_gap_bytes": _largest_gap(gaps, report.unplaced),
        "largest_card_bytes": None if None in sizes else max(sizes, default=None),
        "memory_unplaced_bytes": fitting(report.memory_unplaced_bytes),
        "unplaced_count": len(report.unplaced),
        "allocations_count": len(holders),
        "findings_count": len(report.findings),
        "worst_severity": worst([finding.severity for finding in report.findings]),
        "health": health.level,
        "health_reports": told_column(health),
        "rooms": _packed([_bounded(one) for one in report.rooms[:MOST_ROOMS]]) if report.rooms else "",
        "recheck_at": _at(report.recheck_at),
    }
    return columns


def _at(seconds: float | None) -> datetime | None:
    """A time that has a date; one of a hostile annotation may lie beyond the calendar."""
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds else None
    except (ValueError, OverflowError, OSError):
        return None


def _largest_gap(gaps: list[int], unplaced: tuple[base.Allocation, ...]) -> int | None:
    """The largest piece that is free for certain, 0 where none is: memory whose card is not known may lie on that very card."""
    if not gaps or any(held.memory_bytes is None and held.mode == base.MEMORY for held in unplaced):
        return None
    metered = sum(held.memory_bytes or 0 for held in unplaced if held.mode in (base.MEMORY, base.PARTS))
    return max(max(gaps) - metered, 0)


def _split(free: int | None, unavailable: int | None) -> tuple[int | None, int | None]:
    """(free, apart): of what nobody holds, that part is not given out. What is over-committed stays so."""
    if free is None or free <= 0 or not unavailable or unavailable <= 0:
        return free, None
    return free - min(free, unavailable), min(free, unavailable)


def _free_cards(
    report: base.NodeReport, cards: list[Columns], unavailable_reason: str
) -> tuple[int | None, int | None]:
    """Cards without a holder: (those that a pod can be given, the others).

    By count where the cards themselves cannot say; None when a holder may be on any of them. Where only the count is known, and some
    cards are unhealthy, those count as not held: so many are free for certain.
    """
    states = [card["state"] for card in cards]
    if CardState.UNKNOWN.value not in states and not report.unplaced:
        return states.count(CardState.FREE.value), states.count(CardState.UNAVAILABLE.value) or None
    if report.cards_total is None or report.cards_allocated is None:
        return None, None
    unheld = max(report.cards_total - report.cards_allocated, 0)
    doubtful = (CardState.UNKNOWN.value, CardState.UNAVAILABLE.value)
    sick = sum(1 for card in cards if card["unavailable_reason"] and card["state"] in doubtful)
    return _split(unheld, unheld if unavailable_reason else sick)


def finding_columns(finding: base.Finding) -> Columns:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "card_key": plain(finding.card, 128),
        "pod": plain(finding.pod, 512),
        **stated.columns(finding.text),
    }
