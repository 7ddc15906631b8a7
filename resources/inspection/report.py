"""The mirror of one cluster as one value: `inspect -o json` encodes it, the table prints it. null means unknown.

Cards, allocations, nodes and findings have fields of REST's. Their names are an interface: add, never rename.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from operator import attrgetter
from typing import Any

import msgspec

from inventory import models
from inventory.condition import in_step, sync_of
from inventory.health.shown import shown
from inventory.models.choices import UnavailableReason
from inventory.queries import rows as querysets
from inventory.queries.availability import free_now
from inventory.queries.holds import Holder
from inventory.queries.measured import Usage, measured_now, plain_usages
from inventory.queries.pod_usage import on_card
from resources.allocation import Allocation
from resources.card import Card
from resources.declared import filled, part_of
from resources.finding import Finding
from resources.health import HealthReport
from resources.node_detail import NodeDetail

#: Columns of the tables, in the order of the fields.
_ALLOCATION = ("namespace", "pod", "container", "resource", "quantity", "memory_bytes", "core_percent", "evidence")
_CARD = ("index", "uuid", "model", "stack", "health")
_CARD_BYTES = ("memory_total_bytes", "memory_physical_bytes", "memory_allocated_bytes")
_NODE = ("stacks", "unit", "unit_source", "cards_total", "cards_allocated")
_NODE_BYTES = ("memory_total_bytes", "memory_allocated_bytes")
_COUNTS = ("cards_free", "cards_unavailable")
_FREE = ("memory_free_bytes", "memory_unavailable_bytes", "unavailable_reason")
_FINDING = ("code", "severity", "node_name", "card_key", "pod", "text", "first_seen_at")
#: Of what was measured.
_USAGE = (
    "memory_used_bytes",
    "utilization_ratio",
    "temperature_celsius",
    "power_watts",
    "measured_at",
    "usage_source",
)
_BATCH = 5000

_allocation = part_of(Allocation, (*_ALLOCATION, "memory_used_bytes"))
_card = part_of(Card, (*_CARD, *_CARD_BYTES, "allocations", "health_reports", *_USAGE, *_FREE))
_node = part_of(
    NodeDetail,
    ("name", "ready", *_NODE, *_NODE_BYTES, "cards", "unplaced", "health", "health_reports", *_COUNTS, *_FREE),
)
_finding = part_of(Finding, ("code", "severity", "node", "card", "pod", "text", "first_seen_at"))
_measured = attrgetter(*_USAGE)
_NOT_MEASURED = (None,) * len(_USAGE)


class Inspection(msgspec.Struct, frozen=True):
    """synced_at: first complete list; null while the figures are not complete."""

    cluster: str
    synced_at: datetime | None
    nodes: list[NodeDetail]
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
        findings=[
            _finding(code, severity, node or None, card or None, pod or None, text, seen_at)
            for code, severity, node, card, pod, text, seen_at in findings.values_list(*_FINDING)
        ],
    )


class _Reports(dict[str, list[HealthReport]]):
    """What a column `health_reports` says: most cards say the same."""

    def __missing__(self, column: str) -> list[HealthReport]:
        self[column] = found = [filled(HealthReport, one) for one in shown(column)]
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
        own.append(_allocation(*columns, None))
    for card_id, (node_name, holders) in measured.items():
        used = on_card(holders, usage[card_id], len(unplaced.get(node_name, ())))
        for place, one in enumerate(placed[card_id]):
            one.memory_used_bytes = used[place].memory_used_bytes
    return placed, unplaced


def _cards(
    only: Mapping[str, Any], placed: Mapping[int, list[Allocation]], usage: Mapping[int, Usage], believed: bool
) -> dict[str, list[Card]]:
    """Node → its cards."""
    cards: dict[str, list[Card]] = {}
    reports = _Reports()
    rows = querysets.cards_present().filter(**only).order_by("node_name", "index", "id")
    columns = ("id", "node_name", *_CARD, *_CARD_BYTES, "health_reports", *_FREE)
    for row in rows.values_list(*columns).iterator(_BATCH):
        card_id, node_name, index, uuid, model, stack, health, total, physical, allocated, told, *free = row
        found = usage.get(card_id)
        made = _card(
            *(index, uuid or None, model or None, stack, health, total, physical, allocated),
            *(placed.get(card_id, []), reports[told]),
            *(_measured(found) if found is not None else _NOT_MEASURED),
            *_given(free, believed),
        )
        cards.setdefault(node_name, []).append(made)
    return cards


def _nodes(
    cluster: models.Cluster,
    only: Mapping[str, Any],
    cards: Mapping[str, list[Card]],
    unplaced: Mapping[str, list[Allocation]],
    believed: bool,
) -> list[NodeDetail]:
    ready = dict(models.Node.objects.filter(cluster=cluster).values_list("name", "ready"))
    rows = querysets.node_totals().filter(**only).order_by("node_name")
    columns = ("node_name", *_NODE, *_NODE_BYTES, "health", "health_reports", *_COUNTS, *_FREE)
    made, reports = [], _Reports()
    for row in rows.values_list(*columns):
        name, stacks, unit, source, total, allocated, memory, held, health, told, free, unavailable, *bytes_ = row
        one = _node(
            *(name, ready.get(name), list(stacks), unit or None, source or None, total, allocated, memory, held),
            *(cards.get(name, []), unplaced.get(name, []), health, reports[told]),
            *free_now(free, unavailable, believed),
            *_given(bytes_, believed),
        )
        made.append(one)
    return made


def _given(stored: Sequence[Any], believed: bool) -> tuple[int | None, int | None, str | None]:
    """The three of `_FREE` as they are now."""
    reason = (stored[2] or None) if believed else UnavailableReason.STALE.value
    return *free_now(stored[0], stored[1], believed), reason


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
