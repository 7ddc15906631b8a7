"""A card as a tile: filled as far as it is allocated. Of all that is known of it the title says more. Knows no requests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from inventory.models import Card, NodeTotals
from inventory.models.choices import NOT_ALLOCATED, CardState, UnavailableReason
from pages.frame import amounts
from pages.frame.links import card_url
from pages.words.unavailable import unavailable_reason_word
from stacks.engine.base import UNHEALTHY

TILES_DRAWN = 16


class Figures(NamedTuple):
    """Of a card: bytes, None where they are not known or not metered."""

    free: int | None = None
    total: int | None = None
    holders: int | None = None
    health: str = ""


#: Card id → its figures.
FiguresOf = dict[int, Figures]


@dataclass(frozen=True)
class Tile:
    """A card. fill: 0 to 100; state: classes; words: all of it for the title and the screen reader."""

    card_id: int
    url: str
    fill: str
    state: str
    severity: str
    words: str


def raw_tiles(node_totals: NodeTotals) -> list[Any]:
    tiles = node_totals.tiles if isinstance(node_totals.tiles, list) else []
    return [tile for tile in tiles if isinstance(tile, list) and len(tile) == 5 and isinstance(tile[0], int)]


def figures_of(nodes: Iterable[NodeTotals]) -> FiguresOf:
    """Of the cards whose tiles are drawn: one query."""
    ids = [tile[0] for node_totals in nodes for tile in raw_tiles(node_totals)[:TILES_DRAWN]]
    rows = Card.objects.filter(id__in=ids)
    columns = ("id", "memory_free_bytes", "memory_total_bytes", "allocations_count", "health")
    return {card_id: Figures(*figures) for card_id, *figures in rows.values_list(*columns)}


def tile_of(raw: list[Any], node: str, unavailable_reason: str, figures: FiguresOf) -> Tile:
    """node: as it is called in words: other nodes have a card of the same number. unavailable_reason: what keeps pods off it."""
    card_id, label, percent, state, severity = raw
    known = state if state in CardState.values else CardState.UNKNOWN.value
    if unavailable_reason and known == CardState.FREE:
        known = CardState.UNAVAILABLE.value
    number = 0 if known in NOT_ALLOCATED else percent if isinstance(percent, int) else None
    own = figures.get(card_id, Figures())
    if unavailable_reason and own.free is not None:
        own = own._replace(free=min(own.free, 0))
    why = unavailable_reason or (UnavailableReason.UNHEALTHY.value if own.health == UNHEALTHY else "")
    return Tile(
        card_id=card_id,
        url=card_url(card_id),
        fill=str(min(100, number or 0)),
        state=known,
        severity=severity if isinstance(severity, str) else "",
        words=" ".join((node, _words(str(label), known, number, own)))
        + (f" · {off}" if (off := unavailable_reason_word(why)) else ""),
    )


def _words(label: str, state: str, percent: int | None, own: Figures) -> str:
    if state == CardState.SHARED:
        if own.holders is None:
            return _("card %(label)s: shared, memory not metered") % {"label": label}
        return _("card %(label)s: allocated to %(n)d pods, memory not metered") % {"label": label, "n": own.holders}
    if state == CardState.UNKNOWN or percent is None:
        return _("card %(label)s: unknown") % {"label": label}
    if state == CardState.OVER:
        return _("card %(label)s: overcommitted, %(n)d%% allocated") % {"label": label, "n": percent}
    if own.free is None or own.total is None:
        return _("card %(label)s: %(n)d%% allocated") % {"label": label, "n": percent}
    told = {"label": label, "n": percent, "free": amounts.gib(own.free), "total": amounts.gib(own.total)}
    return _("card %(label)s: %(free)s free of %(total)s, %(n)d%% allocated") % told
