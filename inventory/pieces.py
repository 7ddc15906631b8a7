"""The cards of a node as the rules of placement see them, packed into one column of its totals (`NodeTotals.pieces`).

The finder reads all nodes at each request: 5,000 texts, instead of 40,000 cards and the sums of 100,000 allocations. The reconciler
writes them with the cards and allocations of the node, in one transaction. What is held is that of all namespaces; no pod is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from inventory.models.choices import NOT_ALLOCATED, CardState
from kube.decoders import decoder
from stacks import STACKS
from stacks.engine.base import UNHEALTHY, Room
from stacks.engine.fitting import Open, Part, Parts, Piece

_IN_PARTS = frozenset(stack.name for stack in STACKS if any(way.in_parts for way in stack.ways))
_MOST = 2**63 - 1
#: Of a row, by name.
Columns = dict[str, Any]


class OneCard(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A card, of which stack, and its model ("" when it is not known)."""

    piece: Piece
    stack: str
    model: str


class Pieces(msgspec.Struct, frozen=True, array_like=True):
    """held: resource → quantity. open: what is held on no known card. stacks: of the node."""

    cards: list[OneCard]
    held: dict[str, int]
    open: list[Open]
    stacks: tuple[str, ...]


_rooms = decoder(Room)
_pieces = decoder(Pieces)


def packed(
    cards: Iterable[tuple[int, Columns]],
    allocations: Iterable[Columns],
    ids: Mapping[str, int],
    stacks: Iterable[str],
) -> str:
    """cards: ids and columns of those that are there. allocations: columns of those that go on. ids: of cards, by key."""
    held: dict[str, int] = {}
    on_cards: dict[int, tuple[int, int]] = {}
    homeless: dict[tuple[str, str, str], Open] = {}
    for one in allocations:
        resource, memory = one["resource"], one["memory_bytes"]
        held[resource] = min(held.get(resource, 0) + one["quantity"], _MOST)
        card = ids.get(one["card_key"])
        if card is not None:
            number, cores = on_cards.get(card, (0, 0))
            on_cards[card] = number + 1, cores + (one["core_percent"] or 0)
            continue
        key = resource, one["stack"], one["mode"]
        before = homeless.get(key) or Open(*key, 0, True)
        known = min(before.memory + (memory or 0), _MOST)
        homeless[key] = Open(*key, known, before.metered and memory is not None)
    made = [_one(pk, columns, *on_cards.get(pk, (0, 0))) for pk, columns in cards]
    found = Pieces(made, held, list(homeless.values()), tuple(stacks))
    return msgspec.json.encode(found).decode()


def unpacked(text: str) -> Pieces | None:
    """None where the column is not written yet, or cannot be read: then nothing is known of the node, and it is not an empty one."""
    try:
        return _pieces.decode(text) if text else None
    except msgspec.DecodeError:
        return None


def _one(pk: int, card: Columns, holds: int, cores: int) -> OneCard:
    free, unavailable, state = card["memory_free_bytes"], card["memory_unavailable_bytes"], card["state"]
    piece = Piece(
        id=pk,
        key=card["key"],
        index=card["index"],
        mode=card["mode"],
        profile=card["profile"],
        total=card["memory_total_bytes"],
        # What is unavailable is judged by the rule of its stack, which may allocate it all the same.
        free=free + unavailable if free is not None and unavailable is not None else free,
        unheld=state in NOT_ALLOCATED,
        doubtful=state == CardState.UNKNOWN,
        healthy=card["health"] != UNHEALTHY,
        shares=card["shares"],
        holds=holds,
        cores=cores,
        parts=_parts(card["room"]) if card["stack"] in _IN_PARTS and card["room"] else None,
    )
    return OneCard(piece, card["stack"], card["model"])


def _parts(text: str) -> Parts:
    room = _rooms.decode(text)
    kinds = tuple(Part(fit.memory_bytes, fit.sure, fit.most) for fit in room.fits if fit.profile)
    return Parts(kinds if room.made or room.on_demand else (), room.made)
