"""The mirror of one cluster as one value: `inspect -o json` encodes it, the table prints it. null means unknown.

The field names are an interface: add, never rename.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from inventory import models
from inventory.condition import in_step, sync_of
from inventory.health.shown import Shown, shown
from inventory.models.choices import UnavailableReason
from inventory.queries import rows as querysets
from inventory.queries.availability import free_now
from inventory.queries.holds import Holder
from inventory.queries.measured import Usage, measured_now, plain_usages
from inventory.queries.pod_usage import on_card
from stacks.engine.base import HEALTH_UNKNOWN


class Allocation(msgspec.Struct, frozen=True):
    """memory_used_bytes: measured, where it is certain for this allocation."""

    namespace: str
    pod: str
    container: str
    resource: str
    quantity: int
    memory_bytes: int | None
    core_percent: int | None
    evidence: str
    memory_used_bytes: int | None = None


class Card(msgspec.Struct, frozen=True):
    """health_reports: who says so, the worst first.

    memory_total_bytes: what the stack allocates; memory_physical_bytes: what the card has. memory_free_bytes: what a pod can be
    allocated now; memory_unavailable_bytes: unallocated, but unavailable for `unavailable_reason` (`inventory.queries.availability`).
    memory_used_bytes and what follows: the exporter's last measurement; null when it is not current.
    """

    index: int | None
    uuid: str | None
    model: str | None
    stack: str
    health: str
    memory_total_bytes: int | None
    memory_physical_bytes: int | None
    memory_allocated_bytes: int | None
    allocations: list[Allocation]
    health_reports: list[Shown] = []
    memory_used_bytes: int | None = None
    utilization_ratio: float | None = None
    temperature_celsius: float | None = None
    power_watts: float | None = None
    measured_at: datetime | None = None
    usage_source: str | None = None
    memory_free_bytes: int | None = None
    memory_unavailable_bytes: int | None = None
    unavailable_reason: str | None = None


class Node(msgspec.Struct, frozen=True):
    """unplaced: unidentified allocations. health: the worst of what is said of it and its cards; health_reports: of itself.

    cards_free, memory_free_bytes: what pods can be allocated now. cards_unavailable, memory_unavailable_bytes: not allocated and
    cannot be, because of the node's `unavailable_reason`, or where that is null those of its cards.
    """

    name: str
    ready: bool | None
    stacks: list[str]
    unit: str | None
    unit_source: str | None
    cards_total: int | None
    cards_allocated: int | None
    memory_total_bytes: int | None
    memory_allocated_bytes: int | None
    cards: list[Card]
    unplaced: list[Allocation]
    health: str = HEALTH_UNKNOWN
    health_reports: list[Shown] = []
    cards_free: int | None = None
    cards_unavailable: int | None = None
    memory_free_bytes: int | None = None
    memory_unavailable_bytes: int | None = None
    unavailable_reason: str | None = None


class Finding(msgspec.Struct, frozen=True):
    code: str
    severity: str
    node: str | None
    card: str | None
    pod: str | None
    text: str


class Inspection(msgspec.Struct, frozen=True):
    """synced_at: first complete list; null while the figures are not complete."""

    cluster: str
    synced_at: datetime | None
    nodes: list[Node]
    findings: list[Finding]


def inspect(cluster: models.Cluster, node_name: str | None = None, details: bool = True) -> Inspection:
    """The whole cluster, or one node of it: seven queries. details: with the cards and their allocations; else `cards` are empty.

    Rows are read as plain values: 40,000 cards with 100,000 allocations as model instances took ten seconds and 400 MiB.
    """
    only = {"cluster": cluster} | ({} if node_name is None else {"node_name": node_name})
    usage = plain_usages(measured_now().filter(**only)) if details else {}
    placed, unplaced = _held(only, details, usage)
    sync = sync_of(cluster.watches.all())
    # As `unavailable_reason.unbelieved` has it, without its query.
    believed = not sync.watches or in_step(sync)
    cards = _cards(only, placed, usage, believed) if details else {}
    findings = querysets.findings_now().filter(**only).order_by("severity_rank", "first_seen_at", "id")
    return Inspection(
        cluster=cluster.name,
        synced_at=sync.synced_at,
        nodes=_nodes(cluster, only, cards, unplaced, believed),
        findings=[_finding(*row) for row in findings.values_list(*_FINDING)],
    )


#: Columns in the order of the structs.
_ALLOCATION = ("namespace", "pod", "container", "resource", "quantity", "memory_bytes", "core_percent", "evidence")
_CARD = ("index", "uuid", "model", "stack", "health", "health_reports")
_CARD_BYTES = ("memory_total_bytes", "memory_physical_bytes", "memory_allocated_bytes")
_FINDING = ("code", "severity", "node_name", "card_key", "pod", "text")
_ACCOUNT = ("node_name", "stacks", "unit", "unit_source", "cards_total", "cards_allocated")
_ACCOUNT_BYTES = ("memory_total_bytes", "memory_allocated_bytes")
_USAGE = (
    "memory_used_bytes",
    "utilization_ratio",
    "temperature_celsius",
    "power_watts",
    "measured_at",
    "usage_source",
)
_COUNTS = ("cards_free", "cards_unavailable")
_FREE = ("memory_free_bytes", "memory_unavailable_bytes", "unavailable_reason")
_HEALTH = ("health", "health_reports")
_BATCH = 5000


class _Shown(dict[str, list[Shown]]):
    """What a column `health_reports` says: most cards say the same."""

    def __missing__(self, column: str) -> list[Shown]:
        self[column] = found = shown(column)
        return found


def _held(
    only: Mapping[str, Any], placed_too: bool, usage: Mapping[int, Usage]
) -> tuple[dict[int, list[Allocation]], dict[str, list[Allocation]]]:
    """(card id → its allocations, node → its unidentified allocations), in the order of their start."""
    held = querysets.allocations_now().filter(**only).order_by("started_at", "id")
    rows = held if placed_too else held.filter(card=None)
    placed: dict[int, list[Allocation]] = {}
    unplaced: dict[str, list[Allocation]] = {}
    measured: dict[int, tuple[str, list[Holder]]] = {}
    for card_id, node_name, uid, *columns in rows.values_list("card_id", "node_name", "pod_uid", *_ALLOCATION).iterator(
        _BATCH
    ):
        own = unplaced.setdefault(node_name, []) if card_id is None else placed.setdefault(card_id, [])
        if card_id in usage:
            namespace, pod, container = columns[:3]
            holders = measured.setdefault(card_id, (node_name, []))[1]
            holders.append(Holder(len(own), uid, namespace, pod, container))
        own.append(Allocation(*columns))
    for card_id, (node_name, holders) in measured.items():
        used = on_card(holders, usage[card_id], len(unplaced.get(node_name, ())))
        placed[card_id] = [
            msgspec.structs.replace(one, memory_used_bytes=used[place].memory_used_bytes)
            for place, one in enumerate(placed[card_id])
        ]
    return placed, unplaced


def _cards(
    only: Mapping[str, Any], placed: Mapping[int, list[Allocation]], usage: Mapping[int, Usage], believed: bool
) -> dict[str, list[Card]]:
    """Node → its cards."""
    cards: dict[str, list[Card]] = {}
    shown = _Shown()
    rows = querysets.cards_present().filter(**only).order_by("node_name", "index", "id")
    for row in rows.values_list("id", "node_name", *_CARD, *_CARD_BYTES, *_FREE).iterator(_BATCH):
        card_id, node_name, index, uuid, model, stack, health, told, total, physical, allocated, *free = row
        sizes = (total, physical, allocated)
        made = Card(
            index,
            uuid or None,
            model or None,
            stack,
            health,
            *sizes,
            placed.get(card_id, []),
            shown[told],
            **_given(free, believed),
        )
        if (found := usage.get(card_id)) is not None:
            made = msgspec.structs.replace(made, **{name: getattr(found, name) for name in _USAGE})
        cards.setdefault(node_name, []).append(made)
    return cards


def _nodes(
    cluster: models.Cluster,
    only: Mapping[str, Any],
    cards: Mapping[str, list[Card]],
    unplaced: Mapping[str, list[Allocation]],
    believed: bool,
) -> list[Node]:
    ready = dict(models.Node.objects.filter(cluster=cluster).values_list("name", "ready"))
    rows = (
        querysets.node_totals()
        .filter(**only)
        .order_by("node_name")
        .values_list(*_ACCOUNT, *_ACCOUNT_BYTES, *_HEALTH, *_COUNTS, *_FREE)
    )
    made, shown = [], _Shown()
    for (
        name,
        stacks,
        unit,
        source,
        total,
        allocated,
        memory,
        held,
        health,
        told,
        cards_free,
        cards_unavailable,
        *free,
    ) in rows:
        known = (list(stacks), unit or None, source or None, total, allocated, memory, held)
        can_be_given = _given(free, believed)
        can_be_given["cards_free"], can_be_given["cards_unavailable"] = free_now(
            cards_free, cards_unavailable, believed
        )
        here = (cards.get(name, []), unplaced.get(name, []), health, shown[told])
        made.append(Node(name, ready.get(name), *known, *here, **can_be_given))
    return made


def _given(stored: Sequence[Any], believed: bool) -> dict[str, Any]:
    """The three of `_FREE` as they are now."""
    free, unavailable = free_now(stored[0], stored[1], believed)
    return {
        "memory_free_bytes": free,
        "memory_unavailable_bytes": unavailable,
        "unavailable_reason": (stored[2] or None) if believed else UnavailableReason.STALE.value,
    }


def _finding(code: str, severity: str, node: str, card: str, pod: str, text: str) -> Finding:
    return Finding(code, severity, node or None, card or None, pod or None, text)


def as_json(inspection: Inspection) -> Iterator[str]:
    """The whole as indented JSON, in pieces: a large cluster has 70 MB of it."""
    before, empty, behind = _json(msgspec.structs.replace(inspection, nodes=[])).partition('"nodes": []')
    if not inspection.nodes:
        yield f"{before}{empty}{behind}"
        return
    yield f'{before}"nodes": ['
    for number, node in enumerate(inspection.nodes):
        # In a list that is in an object, as it is in the whole: so it is indented as there.
        yield f"{',' if number else ''}{_json({'': [node]})[_OPENING:-_CLOSING]}"
    yield f"\n  ]{behind}"


_OPENING, _CLOSING = len('{\n  "": ['), len("\n  ]\n}")


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=str)).decode()
