"""All allocations of a cluster, judged, and written as rows that lists can sort: the one writer of `IdleAllocation` and `IdleLook`.

A constant number of queries for a cluster. Reads rows only: the collector has measured, the reconciler has placed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from inventory.idle import rule
from inventory.models import Allocation, Card, IdleAllocation, IdleLook, Pod, UsageSource
from inventory.models.idle import Confidence
from inventory.queries.measured import last_active, measured_now
from runtime import bulk
from runtime.clock import UnixTime, database_now
from stacks.engine import base

#: Between two looks. A row that is older than KEPT says nothing of now: nobody looks any more.
EVERY_S = 60.0
KEPT = timedelta(minutes=10)
_COLUMNS = (
    "allocation_id",
    "cluster_id",
    "node_name",
    "namespace",
    "owner_name",
    "model",
    "idle_since",
    "confidence",
    "measure",
    "memory_bytes",
    "cards",
    "memory_used_bytes",
    "byte_seconds",
    "card_seconds",
    "written_at",
)
#: Of a card that is measured now; from the fifth on what `last_active` wants.
_MEASURED = (
    "card_id",
    "memory_used_bytes",
    "activity_measure",
    UnixTime("watched_since"),
    "activity_ratio",
    UnixTime("active_at"),
    UnixTime("written_at"),
    UnixTime("source__round_at"),
)


class Held(msgspec.Struct, frozen=True, gc=False):
    """An allocation that has not ended. since: when it began, in seconds since 1970."""

    id: int
    node_name: str
    card_id: int | None
    pod_uid: str
    namespace: str
    owner_name: str
    mode: str
    quantity: int
    memory_bytes: int | None
    terminating: bool
    since: float


class Known(msgspec.Struct, frozen=True):
    """A card that is not gone."""

    id: int
    node_name: str
    model: str
    memory_total_bytes: int | None


def idle_now() -> QuerySet[IdleAllocation]:
    """Holds without work, as a look of the last minutes has them."""
    fresh = IdleAllocation.objects.filter(written_at__gte=Now() - KEPT, allocation__ended_at=None)
    return fresh.select_related("cluster", "allocation", "allocation__card")


def looks_now() -> QuerySet[IdleLook]:
    """What the looks of the last minutes have said."""
    return IdleLook.objects.filter(looked_at__gte=Now() - KEPT)


def look() -> int:
    """Look over all clusters. Returns how many allocations are idle. Called by the schedule."""
    sources = list(UsageSource.objects.values_list("cluster_id", flat=True))
    IdleAllocation.objects.exclude(cluster__in=sources).delete()
    IdleLook.objects.exclude(cluster__in=sources).delete()
    return sum(look_over(cluster_id) for cluster_id in sources)


def look_over(cluster_id: int) -> int:
    """Judge the allocations of one cluster, and write it. Returns how many allocations are idle."""
    window_s = settings.IDLE_MINUTES * 60.0
    with transaction.atomic():
        # Two who look at once write one after the other.
        if not UsageSource.objects.select_for_update().filter(cluster_id=cluster_id).exists():
            return 0
        now = database_now()
        held = _held(cluster_id)
        judge = _Judge(cluster_id, held, now, window_s)
        rows = [row for one in held if (row := judge.row(one)) is not None]
        bulk.upsert(IdleAllocation, _COLUMNS, rows, ("allocation_id",))
        IdleAllocation.objects.filter(cluster_id=cluster_id, written_at__lt=now).delete()
        told = {"looked_at": now, "window_s": window_s, "verdicts": dict(judge.verdicts)}
        IdleLook.objects.update_or_create(cluster_id=cluster_id, defaults=told)
    return len(rows)


def _held(cluster_id: int) -> list[Held]:
    rows = Allocation.objects.filter(cluster_id=cluster_id, ended_at=None).order_by("id")
    columns: tuple[Any, ...] = (*Held.__struct_fields__[:-1], UnixTime("started_at"))
    return [Held(*values) for values in rows.values_list(*columns).iterator(5000)]


class _Judge:
    """What is known of a cluster, to judge its allocations by."""

    def __init__(self, cluster_id: int, held: Sequence[Held], now: datetime, window_s: float) -> None:
        self.cluster_id, self.now, self.window_s = cluster_id, now, window_s
        self._now_s = now.timestamp()
        self.verdicts: Counter[str] = Counter()
        present = Card.objects.filter(cluster_id=cluster_id, removed_at=None)
        self._known = {row[0]: Known(*row) for row in present.values_list(*Known.__struct_fields__)}
        on_cards = Counter(one.card_id for one in held if one.card_id is not None)
        unplaced = Counter(one.node_name for one in held if one.card_id is None)
        self._used: dict[int, int | None] = {}
        self._cards = self._looked_at(on_cards, unplaced)
        self._of_node: dict[str, list[int]] = defaultdict(list)
        for card in self._known.values():
            self._of_node[card.node_name].append(card.id)
        pods = Pod.objects.filter(cluster_id=cluster_id, phase="Running", component="", terminating_since=None)
        self._running = set(pods.exclude(node_name="").values_list("uid", flat=True))

    def _looked_at(self, on_cards: Counter[int], unplaced: Counter[str]) -> dict[int, rule.Card]:
        found: dict[int, rule.Card] = {}
        rows = measured_now().filter(cluster_id=self.cluster_id, activity_ratio__isnull=False)
        # Not as rows of the model: theirs hold all measures, some kilobytes a card.
        for card_id, used, measure, watched, *seen in rows.values_list(*_MEASURED).iterator(5000):
            card = self._known.get(card_id)
            if card is None:
                continue
            # Pods whose card is not known may be on any card of their node.
            holders = on_cards[card_id] + unplaced[card.node_name]
            found[card_id] = rule.Card(measure, watched, last_active(*seen), holders)
            if holders == 1:
                self._used[card_id] = used
        return found

    def row(self, held: Held) -> tuple[Any, ...] | None:
        """The columns of an idle allocation. None: not idle; the reason is counted."""
        verdict = self._judged(held)
        self.verdicts[verdict.verdict.value] += 1
        if verdict.verdict is not rule.Verdict.IDLE:
            return None
        seconds = self._now_s - verdict.since
        cards = self._cards_of(held)
        return (
            held.id,
            self.cluster_id,
            held.node_name,
            held.namespace,
            held.owner_name,
            self._model(held),
            datetime.fromtimestamp(verdict.since, UTC),
            Confidence.CERTAIN if verdict.sure else Confidence.LIKELY,
            verdict.measure,
            held.memory_bytes,
            cards,
            self._used.get(held.card_id or 0),
            None if held.memory_bytes is None else held.memory_bytes * seconds,
            None if cards is None else cards * seconds,
            self.now,
        )

    def _judged(self, held: Held) -> rule.Judged:
        if held.terminating or held.pod_uid not in self._running:
            return rule.Judged(rule.Verdict.NOT_RUNNING)
        places = [held.card_id] if held.card_id is not None else self._of_node[held.node_name]
        nothing = rule.Card()
        cards = [self._cards.get(place, nothing) for place in places]
        return rule.judge(cards, held.since, self._now_s, self.window_s)

    def _cards_of(self, held: Held) -> float | None:
        """How many cards an allocation is; of a card that is given out by memory its part; None: not metered, or a slice."""
        if held.mode == base.WHOLE:
            return 1.0 if held.card_id is not None else float(held.quantity)
        card = self._known.get(held.card_id or 0)
        if held.mode == base.MEMORY and card and card.memory_total_bytes and held.memory_bytes is not None:
            return held.memory_bytes / card.memory_total_bytes
        return None

    def _model(self, held: Held) -> str:
        places: Iterable[int] = [held.card_id] if held.card_id is not None else self._of_node[held.node_name]
        models = {card.model for place in places if (card := self._known.get(place))}
        return models.pop() if len(models) == 1 else ""
