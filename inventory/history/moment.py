"""What is true of a cluster at one moment: of its cards, and summed by node, pool and namespace. Reads rows, writes nothing.

What is not known is not in a sum, and each sum says how much of it that is. Nothing is told of allocations while the mirror is not
in sync, and nothing of use that was not measured in the last minutes.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec
from django.db.models import Count, Q, Sum

from inventory.condition import NEEDED_KINDS, State, sync_of, watches
from inventory.history import packed
from inventory.history.packed import MIB, Minute
from inventory.idle.allocations import idle_now, looks_now
from inventory.models import Allocation, Card, NodeTotals
from inventory.models.history import Subject
from inventory.queries.measured import measured_now

#: Cards of one row: a chart of one card reads a row a minute.
CARDS_A_PART = 1024
#: Rows that the sums of a kind are spread over.
PARTS = {Subject.NODE: 8, Subject.POOL: 1, Subject.NAMESPACE: 4, Subject.CLUSTER: 1}
#: A mirror that has heard nothing for longer says nothing of now.
STEP_S = 300.0
#: Of these a kind's state passes by itself; its rows are those of a moment ago.
_IN_STEP = frozenset({State.WATCHING, State.WAITING, State.RELISTING})


class Sums(msgspec.Struct):
    """What a sum gathers, in MiB and thousandths. None until a part of it is known."""

    used: int = 0
    measured: int = 0
    cards: int = 0
    allocated: int | None = None
    total: int | None = None
    free: int | None = None
    cards_free: int | None = None
    unknown: int = 0
    utilization: float = 0.0
    utilized: int = 0
    activity: float = 0.0
    active: int = 0
    idle: int | None = None
    unused: int | None = None

    def add_card(self, used: int | None, utilization: int | None, activity: int | None) -> None:
        """One card, as it is measured."""
        self.cards += 1
        if used is not None:
            self.used += used
            self.measured += 1
        if utilization is not None:
            self.utilization += utilization
            self.utilized += 1
        if activity is not None:
            self.activity += activity
            self.active += 1

    def add_node(self, total: int | None, allocated: int | None, free: int | None, cards_free: int | None) -> None:
        """What a node has; its memory of those whose allocation is known."""
        if free is not None:
            self.free = (self.free or 0) + free
        if cards_free is not None:
            self.cards_free = (self.cards_free or 0) + cards_free
        if allocated is None:
            self.unknown += 1
            return
        self.allocated = (self.allocated or 0) + allocated
        self.total = (self.total or 0) + (total or 0)

    def column(self, name: str) -> int | None:
        """Its value under a name of `packed`."""
        match name:
            case packed.USED | packed.USED_MOST:
                return self.used if self.measured else None
            case packed.UTILIZATION:
                return round(self.utilization / self.utilized) if self.utilized else None
            case packed.ACTIVITY:
                return round(self.activity / self.active) if self.active else None
            case packed.ALLOCATED:
                return self.allocated
            case packed.TOTAL:
                return self.total
            case packed.MEASURED:
                return self.measured
            case packed.CARDS:
                return self.cards
            case packed.FREE:
                return self.free
            case packed.CARDS_FREE:
                return self.cards_free
            case packed.IDLE:
                return self.idle
            case packed.UNUSED:
                return self.unused
        return self.unknown


OF_CARD = (packed.USED, packed.ALLOCATED, packed.UTILIZATION, packed.ACTIVITY)
_OF_ALL = (*OF_CARD, packed.TOTAL, packed.CARDS, packed.MEASURED, packed.UNKNOWN)
OF_SUM = (*_OF_ALL, packed.FREE, packed.CARDS_FREE)
OF_NAMESPACE = (*_OF_ALL, packed.IDLE, packed.UNUSED)


class Held(NamedTuple):
    """Allocations by namespace.

    sums: namespace → (bytes of the holds that are metered, holds, those of them that are metered). placed: (card id, node,
    namespace) of holds whose card is known. loose: node → namespaces of holders whose card is not known.
    """

    sums: dict[str, tuple[int | None, int, int]]
    placed: set[tuple[int, str, str]]
    loose: dict[str, set[str]]


#: Card id → used memory (MiB), utilization and activity (thousandths), as they are measured.
Measures = dict[int, tuple[int | None, int | None, int | None]]
#: (card id, node, allocated bytes)
CardRow = tuple[int, str, int | None]
#: (node, pool, total bytes, allocated bytes, free bytes, free cards)
NodeRow = tuple[str, str, int | None, int | None, int | None, int | None]


class Moment(NamedTuple):
    """What was true of a cluster then. held: None where nothing is known of allocations.

    idle: namespace → bytes of its idle allocations, 0 of the others; None where activity is not collected. Where no memory of a
    namespace is metered its idle memory is not known either.
    """

    cards: list[CardRow]
    measures: Measures
    nodes: list[NodeRow]
    held: Held | None
    idle: dict[str, int] | None = None


def minutes_of(cluster_id: int, now: datetime) -> list[tuple[Subject, int, Minute]]:
    """(kind, part, what is true of its subjects now), without what nothing is known of. Nine queries."""
    return minutes(_read(cluster_id, now))


def minutes(then: Moment) -> list[tuple[Subject, int, Minute]]:
    """(kind, part, what was true of its subjects), without what nothing is known of. Pure."""
    return [*_card_parts(then), *_sum_parts(then), *_namespace_parts(then)]


def _read(cluster_id: int, now: datetime) -> Moment:
    known = _is_in_step(cluster_id, now)
    cards = Card.objects.filter(cluster_id=cluster_id, removed_at=None).order_by("id")
    nodes = NodeTotals.objects.filter(cluster_id=cluster_id).order_by("node_name")
    columns = ("node_name", "pool", "memory_total_bytes", "memory_allocated_bytes", "memory_free_bytes", "cards_free")
    return Moment(
        list(cards.values_list("id", "node_name", "memory_allocated_bytes")),
        _measures(cluster_id),
        list(nodes.values_list(*columns).iterator(5000)),
        _held(cluster_id) if known else None,
        _idle(cluster_id),
    )


def part_of(subject: str, key: str) -> int:
    """In which row of a minute a subject is."""
    if subject == Subject.CARD:
        return int(key) // CARDS_A_PART
    return zlib.crc32(key.encode()) % PARTS[Subject(subject)]


def mib(size: int | None) -> int | None:
    """Bytes as they are kept."""
    return None if size is None else round(size / MIB)


def _is_in_step(cluster_id: int, now: datetime) -> bool:
    sync = sync_of(watches().filter(cluster_id=cluster_id), now)
    if sync.synced_at is None or sync.age_seconds is None or sync.age_seconds > STEP_S:
        return False
    return all(kind in sync.conditions and sync.conditions[kind].state in _IN_STEP for kind in NEEDED_KINDS)


def _measures(cluster_id: int) -> Measures:
    rows = measured_now().filter(cluster_id=cluster_id)
    columns = ("card_id", "memory_used_bytes", "utilization_ratio", "activity_ratio")
    return {
        card_id: (mib(used), thousandths(utilization), thousandths(activity))
        for card_id, used, utilization, activity in rows.values_list(*columns).iterator(5000)
    }


def _held(cluster_id: int) -> Held:
    held = Allocation.objects.filter(cluster_id=cluster_id, ended_at=None).order_by()
    told = held.values("namespace").annotate(
        memory=Sum("memory_bytes"), allocations=Count("id"), metered=Count("id", filter=Q(memory_bytes__isnull=False))
    )
    placed = held.filter(card__isnull=False).values_list("card_id", "node_name", "namespace").distinct()
    return Held(
        {row["namespace"]: (row["memory"], row["allocations"], row["metered"]) for row in told},
        set(placed.iterator(5000)),
        _loose(cluster_id),
    )


def _idle(cluster_id: int) -> dict[str, int] | None:
    if not looks_now().filter(cluster_id=cluster_id).exists():
        return None
    rows = idle_now().filter(cluster_id=cluster_id).select_related(None).order_by().values_list("namespace")
    return {namespace: memory or 0 for namespace, memory in rows.annotate(Sum("memory_bytes"))}


_NOTHING = (None, None, None)


def _card_parts(then: Moment) -> Iterable[tuple[Subject, int, Minute]]:
    parts: dict[int, list[tuple[int | None, ...]]] = defaultdict(list)
    for card_id, _node, allocated in then.cards:
        used, utilization, activity = then.measures.get(card_id, _NOTHING)
        held = mib(allocated) if then.held is not None else None
        if used is not None or held is not None or utilization is not None or activity is not None:
            parts[card_id // CARDS_A_PART].append((card_id, used, held, utilization, activity))
    for part, rows in parts.items():
        keys, *columns = zip(*rows, strict=True)
        yield Subject.CARD, part, Minute(list(keys), dict(zip(OF_CARD, map(list, columns), strict=True)))


def _sum_parts(then: Moment) -> Iterable[tuple[Subject, int, Minute]]:
    nodes: dict[str, Sums] = {}
    pools: dict[str, Sums] = defaultdict(Sums)
    whole = Sums()
    pool_of: dict[str, str] = {}
    for name, pool, total, allocated, free, cards_free in then.nodes:
        nodes[name], pool_of[name] = Sums(), pool
        for sums in (nodes[name], pools[pool], whole) if then.held is not None else ():
            sums.add_node(mib(total), mib(allocated), mib(free), cards_free)
    for card_id, node, _allocated in then.cards:
        if node not in nodes:
            continue
        for sums in (nodes[node], pools[pool_of[node]], whole):
            sums.add_card(*then.measures.get(card_id, _NOTHING))
    yield from _parts(Subject.NODE, nodes)
    yield from _parts(Subject.POOL, pools)
    if nodes:
        yield from _parts(Subject.CLUSTER, {"": whole})


def _namespace_parts(then: Moment) -> Iterable[tuple[Subject, int, Minute]]:
    """A card's use is a namespace's where nobody else is on it; the cards of a namespace are those that it is known to be on."""
    if then.held is None:
        return
    found: dict[str, Sums] = defaultdict(Sums)
    for namespace, (memory, holds, metered) in then.held.sums.items():
        sums = found[namespace]
        sums.allocated, sums.unknown = mib(memory), holds - metered
        sums.idle = None if then.idle is None or memory is None else mib(then.idle.get(namespace, 0))
    sizes = {card_id: mib(allocated) for card_id, _node, allocated in then.cards}
    # Holders whose card is not known may be on any card of their node.
    loose = then.held.loose
    on_cards: dict[tuple[int, str], set[str]] = defaultdict(set)
    for card_id, node, namespace in then.held.placed:
        on_cards[card_id, node].add(namespace)
    for (card_id, node), names in on_cards.items():
        alone = len(names) == 1 and loose.get(node, names) <= names
        measured = then.measures.get(card_id, _NOTHING) if alone else _NOTHING
        for name in names:
            found[name].add_card(*measured)
            if (size := sizes.get(card_id)) is not None and measured[0] is not None:
                found[name].unused = (found[name].unused or 0) + max(0, size - measured[0])
    yield from _parts(Subject.NAMESPACE, found, OF_NAMESPACE)


def _loose(cluster_id: int) -> dict[str, set[str]]:
    """Node → namespaces of unidentified allocations."""
    found: dict[str, set[str]] = defaultdict(set)
    rows = Allocation.objects.filter(cluster_id=cluster_id, ended_at=None, card=None).order_by()
    for node, namespace in rows.values_list("node_name", "namespace").distinct():
        found[node].add(namespace)
    return found


def _parts(
    subject: Subject, found: dict[str, Sums], columns: Sequence[str] = OF_SUM
) -> Iterable[tuple[Subject, int, Minute]]:
    parts: dict[int, list[str]] = defaultdict(list)
    for key in found:
        parts[part_of(subject, key)].append(key)
    for part, keys in parts.items():
        yield subject, part, Minute(list(keys), {name: [found[key].column(name) for key in keys] for name in columns})


def thousandths(ratio: float | None) -> int | None:
    """A ratio as it is kept."""
    return None if ratio is None else round(ratio * 1000)
