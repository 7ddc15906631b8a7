"""Values that the pure functions of pending pods are asked about: nodes of a board, requests, allocations. Nothing is stored."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from inventory.models import Allocation, Card
from inventory.placement.pending.asked import Ask
from inventory.placement.pending.board import Counted, Offer
from tests.factories import GIB

GPU, MEMORY = "nvidia.com/gpu", "aliyun.com/gpu-mem"
NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def offer(node: str, *, there: int = 8, free: int = 0, **more: Any) -> Offer:
    """A node of whole cards; more: other fields."""
    whole: dict[str, Any] = {
        "node": node,
        "stacks": ("nvidia",),
        "unit": "",
        "model": "A100",
        "reason": "",
        "resources": {GPU: Counted(there, free)},
        "cards_total": there,
        "cards_free": free,
        "gap": 80 * GIB if free else 0,
        "if_let": 80 * GIB if free else 0,
        "largest": 80 * GIB,
    }
    return Offer(**(whole | more))


def of_memory(node: str, *, there: int = 32, free: int = 0, gap: int | None = 0, **more: Any) -> Offer:
    """A node of gpushare with two cards. there, free, gap: GiB."""
    size = None if gap is None else gap * GIB
    told = {"gap": size, "if_let": size, "largest": there // 2 * GIB, "unit": "GiB", "stacks": ("gpushare",)}
    return offer(node, resources={MEMORY: Counted(there, free)}, **(told | more))


def cards(number: int) -> Ask:
    return Ask(GPU, number, "nvidia", {})


def memory(gib: int) -> Ask:
    return Ask(MEMORY, gib, "gpushare", {"GiB": GIB, "MiB": 2**20})


def held(
    pod: str, quantity: int = 1, *, minutes: int = 0, card: Card | None = None, gib: int | None = None
) -> Allocation:
    """What a pod was allocated so many minutes after noon."""
    return Allocation(
        pk=sum(map(ord, pod)) * 100 + (card.pk if card else 0),
        pod=pod,
        pod_uid=pod,
        node_name="n",
        resource=GPU,
        quantity=quantity,
        card=card,
        memory_bytes=None if gib is None else gib * GIB,
        started_at=NOON + timedelta(minutes=minutes),
    )


def card(number: int, *, total: int = 16, free: int = 0) -> Card:
    """total, free: GiB."""
    return Card(pk=number, memory_total_bytes=total * GIB, memory_free_bytes=free * GIB)
