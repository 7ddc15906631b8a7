"""The nodes of a cluster with what is promised and what is measured of each, in a constant number of queries."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import msgspec

from exporters.engine.identity import normal_uuid
from exporters.engine.measures import MEMORY_RESERVED
from inventory.compared import rules
from inventory.idle.allocations import idle_now
from inventory.mirror.values import plain
from inventory.models import Allocation, Card, CardUsage, NodeTotals, Pod
from inventory.models import Node as NodeRow
from inventory.models.choices import NOT_ALLOCATED
from inventory.queries.measured import KEPT_SINCE, Usage
from inventory.queries.pod_usage import on_card
from stacks.engine import base

_BATCH = 5000


class Known(msgspec.Struct, frozen=True, gc=False):
    """A card of the mirror. Fields of these structs are columns: only they are read."""

    id: int
    node_name: str
    key: str
    index: int | None
    uuid: str
    parent: str
    stack: str
    mode: str
    state: str
    memory_physical_bytes: int | None
    memory_allocated_bytes: int | None


class Held(msgspec.Struct, frozen=True, gc=False):
    """A hold that has not ended."""

    id: int
    node_name: str
    card_id: int | None
    pod_uid: str
    namespace: str
    pod: str
    container: str
    memory_bytes: int | None


class Measured(msgspec.Struct, frozen=True):
    """What an exporter says of a card. The last three are of `more`."""

    node_name: str
    card_id: int | None
    ident: str
    uuid: str
    memory_used_bytes: int | None
    memory_measured_bytes: int | None
    holders: list[dict[str, Any]]
    lost_at: datetime | None
    kept_since: object
    hidden: object
    reserved: object


#: Names of the last three as paths into JSON.
_MEASURED = (
    *Measured.__struct_fields__[:-3],
    f"more__{KEPT_SINCE}",
    "more__holders_hidden",
    f"more__{MEMORY_RESERVED.name}",
)


def read(cluster_id: int, now: datetime) -> list[rules.Node]:
    """now: the database's clock; its source was read lately."""
    return _Reading(cluster_id, now).nodes()


class _Reading:
    """All of one cluster, in memory: some 150 MiB for 40,000 cards with 100,000 holders."""

    def __init__(self, cluster_id: int, now: datetime) -> None:
        self._now, mine = now, {"cluster_id": cluster_id}
        cards = Card.objects.filter(**mine, removed_at=None).order_by("id")
        self._cards: dict[str, list[Known]] = defaultdict(list)
        for values in cards.values_list(*Known.__struct_fields__).iterator(_BATCH):
            self._cards[values[1]].append(Known(*values))
        self._measured: dict[int, Measured] = {}
        self._boards: dict[str, set[str]] = defaultdict(set)
        usage = CardUsage.objects.filter(**mine).order_by("id")
        for values in usage.values_list(*_MEASURED).iterator(_BATCH):
            self._measure(Measured(*values))
        self._held: dict[int, list[Held]] = defaultdict(list)
        self._loose: Counter[str] = Counter()
        held = Allocation.objects.filter(**mine, ended_at=None).order_by("id")
        for values in held.values_list(*Held.__struct_fields__).iterator(_BATCH):
            one = Held(*values)
            if one.card_id is None:
                self._loose[one.node_name] += 1
            else:
                self._held[one.card_id].append(one)
        rows = NodeRow.objects.filter(**mine, has_gpu=True).values_list("name", "ready", "os")
        self._nodes = {name: (ready is True, os == "windows") for name, ready, os in rows}
        totals = NodeTotals.objects.filter(**mine).values_list("node_name", "cards_physical")
        self._physical: dict[str, int | None] = dict(totals)
        self._idle = _idle(cluster_id)
        self._parts = _components(cluster_id, self._doubtful())
        self._fresh = Counter(
            card.node_name for cards in self._cards.values() for card in cards if self._usage(card) is not None
        )

    def _measure(self, one: Measured) -> None:
        if one.lost_at is None:
            # A slice has the UUID of its card.
            self._boards[one.node_name].add(normal_uuid(one.uuid) or one.ident.partition("/")[0])
        if one.card_id is not None:
            self._measured[one.card_id] = one

    def _usage(self, card: Known) -> Measured | None:
        """What is measured of it now."""
        found = self._measured.get(card.id)
        return found if found is not None and found.lost_at is None else None

    def _doubtful(self) -> set[tuple[str, str]]:
        """(namespace, name) of pods that exporters name on cards that nobody holds."""
        named = set()
        for cards in self._cards.values():
            for card in cards:
                usage = self._usage(card)
                if (
                    usage is not None
                    and card.state in NOT_ALLOCATED
                    and (usage.memory_used_bytes or 0) > rules.BASE_BYTES
                ):
                    named |= {(one["namespace"], one["pod"]) for one in usage.holders}
        return named

    def nodes(self) -> list[rules.Node]:
        total = self._fresh.total()
        return [self._node(name, total) for name in sorted(self._cards.keys() | self._idle.keys())]

    def _node(self, name: str, measured: int) -> rules.Node:
        ready, windows = self._nodes.get(name, (False, False))
        cards = self._cards.get(name, [])
        cut = {parent for card in cards if (parent := normal_uuid(card.parent) or card.parent)}
        boards = self._physical.get(name) if len({card.stack for card in cards}) == 1 and not windows else None
        return rules.Node(
            name=name,
            ready=ready,
            windows=windows,
            cards=tuple(self._card(card, cut) for card in cards),
            unplaced=self._loose[name],
            boards=boards,
            named_boards=len(self._boards[name]) if name in self._boards else None,
            idle=tuple(self._idle.get(name, ())),
            elsewhere=measured - self._fresh[name],
        )

    def _card(self, card: Known, cut: set[str]) -> rules.Card:
        row, usage = self._measured.get(card.id), self._usage(card)
        held = self._held.get(card.id, [])
        named = tuple(plain(f"{one['namespace']}/{one['pod']}", 512) for one in usage.holders) if usage else ()
        reserved = usage.reserved if usage and isinstance(usage.reserved, int | float) else 0
        return rules.Card(
            key=card.key,
            label=f"card {card.index}" if card.index is not None else f"card {card.key}",
            mode=card.mode,
            physical_bytes=card.memory_physical_bytes,
            allocated_bytes=card.memory_allocated_bytes,
            free=card.state in NOT_ALLOCATED,
            holders=self._holders(held, usage, card),
            hidden=bool(usage and usage.hidden),
            fresh=usage is not None,
            used=usage.memory_used_bytes if usage else None,
            total=usage.memory_measured_bytes if usage else None,
            reserved=int(reserved),
            named=tuple(dict.fromkeys(named)),
            legitimate=(normal_uuid(card.uuid) or card.key) in cut or any(name in self._parts for name in named),
            lost_at=row.lost_at.timestamp() if row is not None and row.lost_at is not None else None,
        )

    def _holders(self, held: list[Held], usage: Measured | None, card: Known) -> tuple[rules.Holder, ...]:
        """By pod: what its containers were given and use."""
        if not held:
            return ()
        counted: dict[int, int | None] = {}
        if usage is not None and card.mode != base.WHOLE:
            more = {KEPT_SINCE: usage.kept_since} if usage.kept_since is not None else {}
            told = on_card(held, Usage(measured_at=self._now, holders=usage.holders, more=more), 0)
            counted = {pk: None if one.whole_card else one.memory_used_bytes for pk, one in told.items()}
        pods: dict[str, list[Held]] = {}
        for one in held:
            pods.setdefault(one.pod_uid, []).append(one)
        return tuple(
            rules.Holder(
                f"{mine[0].namespace}/{mine[0].pod}",
                _sum(one.memory_bytes for one in mine),
                _sum(counted.get(one.id) for one in mine),
            )
            for mine in pods.values()
        )


def _sum(values: Iterable[int | None]) -> int | None:
    """None as soon as one part is not known."""
    found = list(values)
    return None if None in found else sum(value for value in found if value is not None)


def _idle(cluster_id: int) -> dict[str, list[rules.Idle]]:
    found: dict[str, list[rules.Idle]] = defaultdict(list)
    rows = idle_now().filter(cluster_id=cluster_id).order_by("id").select_related(None)
    columns = ("node_name", "namespace", "allocation__pod", "allocation__card__index", "allocation__card_key")
    for node, namespace, pod, index, key, memory, cards, since, confidence in rows.values_list(
        *columns, "memory_bytes", "cards", "idle_since", "confidence"
    ).iterator(_BATCH):
        card = f"card {index}" if index is not None else f"card {key}" if key else ""
        found[node].append(
            rules.Idle(f"{namespace}/{pod}", card, memory, cards, since.timestamp(), confidence == "certain")
        )
    return found


def _components(cluster_id: int, named: set[tuple[str, str]]) -> set[str]:
    """Which of these pods belong to a plugin or an operator: "namespace/name"."""
    if not named:
        return set()
    parts = Pod.objects.filter(cluster_id=cluster_id, name__in={name for _, name in named}).exclude(component="")
    return {f"{namespace}/{name}" for namespace, name in parts.values_list("namespace", "name")}
