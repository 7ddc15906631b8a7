"""One pending pod, taken apart: the nodes that come closest, what each lacks, and which pods would have to move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from inventory.models import Pod
from inventory.placement.pending.asked import Ask
from inventory.placement.pending.blockers import Blocked, blocked
from inventory.placement.pending.board import Board, boards
from inventory.placement.pending.closest import LOOKED, TOLD, Near, nearest, with_taints
from inventory.placement.pending.decided import nodes_of, waiting_of
from inventory.placement.pending.deciding import Waiting
from inventory.placement.pending.devices import Wanted, on_nodes
from stacks.dra.cards import STACK as CLAIMS


@dataclass(frozen=True)
class Closest:
    """A node. blocked: of each thing that pods there hold too much of."""

    near: Near
    blocked: Sequence[Blocked]


@dataclass(frozen=True)
class Detail:
    """board: of the pod's cluster. nodes: the closest, at most TOLD."""

    waiting: Waiting
    board: Board
    nodes: tuple[Closest, ...]


def detail_of(pod: Pod) -> Detail:
    """pod: a pending one, with its claims. Five queries at most."""
    waiting = waiting_of(pod)
    board = boards([pod.cluster_id])[pod.cluster_id]
    asks, offered = list(waiting.asks), board
    cards: Mapping[tuple[str, str], frozenset[int]] = {}
    if waiting.wanted:
        offered, cards = _with_devices(pod.cluster_id, board, waiting.wanted)
        asks += [Ask(one.name, one.number, CLAIMS, {}) for one in waiting.wanted]
    found = nearest(asks, offered)
    nodes = nodes_of((pod.cluster_id, one.node) for one in found)
    shown = with_taints(found, nodes[pod.cluster_id], {ask.resource for ask in waiting.asks}, waiting.told)[:TOLD]
    held = blocked(pod.cluster_id, shown, cards)
    return Detail(waiting, board, tuple(Closest(one, held.get(one.node, ())) for one in shown))


def _with_devices(
    cluster_id: int, board: Board, wanted: list[Wanted]
) -> tuple[Board, Mapping[tuple[str, str], frozenset[int]]]:
    """(nodes whose cards claims can have, with the cards that the requests mean; the ids of these).

    Nodes with the most free cards, then with the most cards, are looked at: cards are read for them alone.
    """
    offers = sorted(board.of({CLAIMS}), key=lambda one: (-(one.cards_free or 0), -(one.cards_total or 0), one.node))
    chosen = offers[:LOOKED]
    matching = on_nodes(cluster_id, [one.node for one in chosen], wanted)
    made = [
        msgspec.structs.replace(
            one,
            resources=one.resources | {name: each.counted for name, each in matching.get(one.node, {}).items()},
        )
        for one in chosen
    ]
    ids = {(node, name): each.ids for node, found in matching.items() for name, each in found.items()}
    return Board(made), ids
