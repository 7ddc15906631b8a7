"""How much memory each holder of a card uses, where that can be trusted; where not, why not.

A figure is a holder's own only where an exporter counts it by its processes, or where nobody else can be on the card: then the card's
figure is its. What several share is nobody's figure: it is never split, and never told twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from django.db.models import Count

from inventory.models import Allocation, Card, CardUsage
from inventory.queries.holds import Holder, true_holder
from inventory.queries.measured import HIDDEN, KEPT_SINCE, NOT_COLLECTED, Usage, plain_usages
from runtime.scope import counting


class Note(StrEnum):
    """Why a holder's used memory is not known."""

    ENDED = "ended"
    #: Another time than now is asked for: what was used is not kept by holder.
    PAST = "past"
    CARD_UNKNOWN = "card-unknown"
    NOT_COLLECTED = "not-collected"
    #: The exporter says nothing of the card any more.
    SILENT = "silent"
    #: Others hold the card too, and the exporter counts the card only.
    SHARED = "shared"
    #: There are holders on the node of which nobody knows on which card they are.
    MAYBE_SHARED = "maybe-shared"
    #: The exporter names another pod on the card.
    OTHER_NAMED = "other-named"
    #: The pod holds the card by several containers, and only their sum is counted.
    OF_POD = "of-pod"


@dataclass(frozen=True)
class PodUsage:
    """memory_used_bytes: None where it cannot be said, and `note` why. others: pods on the same card, for SHARED.

    whole_card: the figure is the card's, driver and all; else it is counted by the holder's processes.
    """

    memory_used_bytes: int | None = None
    note: str = ""
    others: int = 0
    whole_card: bool = False
    measured_at: datetime | None = None
    source: str = ""


class Held(Protocol):
    """A hold on a card that has not ended: an `Allocation`, or what has its columns."""

    @property
    def id(self) -> int: ...
    @property
    def pod_uid(self) -> str: ...
    @property
    def namespace(self) -> str: ...
    @property
    def pod(self) -> str: ...
    @property
    def container(self) -> str: ...


def on_card(held: Sequence[Held], usage: Usage, loose: int) -> dict[int, PodUsage]:
    """Of all holders of one card, by id. loose: holders on its node whose card is not known. Pure."""
    if usage.measured_at is None:
        note = Note.SILENT if usage.lost_at is not None else Note.NOT_COLLECTED
        return {one.id: PodUsage(note=note) for one in held}
    named = [] if KEPT_SINCE in usage.more else usage.holders
    return {one.id: _of(one, held, named, usage, loose) for one in held}


def _of(one: Held, held: Sequence[Held], named: Sequence[Mapping[str, Any]], usage: Usage, loose: int) -> PodUsage:
    pods = {other.pod_uid for other in held}
    mine = [other for other in held if other.pod_uid == one.pod_uid]
    entries = [entry for entry in named if _is_of(entry, one)]
    told = [entry for entry in entries if entry.get("memory") is not None]
    if told:
        own = [entry for entry in told if not entry.get("of_pod") and entry["container"] == one.container]
        if own and sum(other.container == one.container for other in mine) == 1:
            return _counted(own[0], usage)
        sums = {entry["memory"] for entry in told if entry.get("of_pod") or not entry["container"]}
        if len(mine) == 1 and len(sums) == 1:
            return _counted(told[0], usage)
        if len(mine) > 1:
            return PodUsage(note=Note.OF_POD)
    if len(pods) > 1 or usage.more.get(HIDDEN):
        return PodUsage(note=Note.SHARED, others=len(pods) - 1)
    if len(mine) > 1:
        return PodUsage(note=Note.OF_POD)
    if usage.holders and not any(_is_of(entry, one) for entry in usage.holders):
        return PodUsage(note=Note.OTHER_NAMED)
    if loose:
        return PodUsage(note=Note.MAYBE_SHARED, others=loose)
    if usage.memory_used_bytes is None:
        return PodUsage(note=Note.NOT_COLLECTED)
    return PodUsage(usage.memory_used_bytes, "", 0, True, usage.measured_at, usage.usage_source)


def _is_of(entry: Mapping[str, Any], one: Held) -> bool:
    """The same name with another uid is a pod of before."""
    uid = entry.get("uid")
    return (entry["namespace"], entry["pod"]) == (one.namespace, one.pod) and (not uid or uid == one.pod_uid)


def _counted(entry: Mapping[str, Any], usage: Usage) -> PodUsage:
    return PodUsage(
        int(entry["memory"]), "", 0, False, usage.measured_at, str(entry.get("format") or usage.usage_source)
    )


def with_pod_usage(rows: Iterable[Allocation]) -> list[Allocation]:
    """The same allocations, each with its `used`: four queries at most, whatever the number."""
    found = list(rows)
    now_held = [one for one in found if one.ended_at is None]
    cards = {one.card_id for one in now_held if one.card_id is not None}
    usages = _usages(cards)
    holders = _holders(usages)
    loose = _loose({(one.cluster_id, one.node_name) for one in now_held if one.card_id in usages})
    of_card: dict[int, dict[int, PodUsage]] = {}
    for one in found:
        one.used = _used(one, usages, holders, loose, of_card)  # type: ignore[attr-defined]
    return found


def _holders(cards: Mapping[int, Usage]) -> dict[int, list[Held]]:
    """Card id → all who hold it now."""
    found: dict[int, list[Held]] = {}
    if not cards:
        return found
    with counting():
        rows = Allocation.objects.filter(card__in=cards, ended_at=None)
    for card_id, *values in rows.values_list("card_id", *Holder.__struct_fields__):
        found.setdefault(card_id, []).append(Holder(*values))
    return found


def _used(
    one: Allocation,
    usages: Mapping[int, Usage],
    holders: Mapping[int, list[Held]],
    loose: Mapping[tuple[int, str], int],
    of_card: dict[int, dict[int, PodUsage]],
) -> PodUsage:
    if getattr(one, "past", False):
        return PodUsage(note=Note.PAST)
    if one.ended_at is not None:
        return PodUsage(note=Note.ENDED)
    if one.card_id is None:
        return PodUsage(note=Note.CARD_UNKNOWN)
    if one.card_id not in of_card:
        usage, mine = usages.get(one.card_id, NOT_COLLECTED), holders.get(one.card_id, [one])
        of_card[one.card_id] = on_card(mine, usage, loose.get((one.cluster_id, one.node_name), 0))
    # It may have come between two queries.
    return of_card[one.card_id].get(one.id, PodUsage(note=Note.NOT_COLLECTED))


def with_holders_usage(cards: Iterable[Any]) -> list[Any]:
    """Cards that went through `with_usage`: each of their `holders`, where these were read, with its `used`. One query."""
    found = list(cards)
    held = [card for card in found if getattr(card, "holders", ())]
    loose = _loose({(card.cluster_id, card.node_name) for card in held if card.measured.measured_at})
    for card in held:
        holders = [true_holder(one) for one in card.holders]
        made = on_card(holders, card.measured, loose.get((card.cluster_id, card.node_name), 0))
        for one in card.holders:
            one.used = made[one.id]
    return found


def _usages(cards: set[int]) -> dict[int, Usage]:
    return plain_usages(CardUsage.objects.filter(card__in=cards)) if cards else {}


def _loose(nodes: set[tuple[int, str]]) -> Mapping[tuple[int, str], int]:
    """Holders of each node whose card is not known."""
    if not nodes:
        return Counter()
    with counting():
        unplaced = Allocation.objects.filter(
            cluster__in={cluster for cluster, _ in nodes},
            node_name__in={node for _, node in nodes},
            card=None,
            ended_at=None,
        )
    counted = unplaced.order_by().values_list("cluster_id", "node_name").annotate(Count("id"))
    return {(cluster, node): number for cluster, node, number in counted}


def holders_of(card: Card, held: list[Any]) -> list[Any]:
    """The holders of one card that went through `with_usage`, each with its `used`."""
    card.holders = held  # type: ignore[attr-defined]
    with_holders_usage([card])
    return held
