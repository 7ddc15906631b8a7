"""What the selects of the filter forms offer: few, and only what there is."""

from __future__ import annotations

from collections.abc import Sequence

from inventory.models import Cluster, NodeTotals
from runtime.cached import shared
from stacks import STACKS

#: A select of more than this is of no use.
MOST_MODELS = 200


def clusters() -> Sequence[tuple[str, str]]:
    return [(name, name) for name in Cluster.objects.values_list("name", flat=True)[:MOST_MODELS]]


def stacks() -> Sequence[tuple[str, str]]:
    return [(stack.name, stack.name) for stack in STACKS]


def pools() -> Sequence[tuple[str, str]]:
    """Pools that nodes are in now: one query, as `models`."""
    return shared("pools", None, _pools)


def _pools() -> Sequence[tuple[str, str]]:
    found = NodeTotals.objects.exclude(pool="").order_by("pool").values_list("pool", flat=True).distinct()
    return [(name, name) for name in found[:MOST_MODELS]]


def models() -> Sequence[tuple[str, str]]:
    """Card models that nodes have now: one query over the accounts, not over the cards."""
    return shared("models", None, _models)


def _models() -> Sequence[tuple[str, str]]:
    found = NodeTotals.objects.exclude(model="").order_by("model").values_list("model", flat=True).distinct()
    return [(name, name) for name in found[:MOST_MODELS]]
