"""Which nodes come closest, and what each lacks: what cannot be changed counts most, then what a person can change, then pods."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.placement.pending import closest
from inventory.placement.pending.board import Board, Counted, Offer
from inventory.placement.pending.closest import Lack, nearest, with_taints
from kube import objects as kube
from kube.unschedulable import read
from tests.factories import GIB
from tests.inventory.placement.pending.made import GPU, MEMORY, cards, memory, of_memory, offer

OTHER = "example.com/link"


@pytest.mark.parametrize(
    ("node", "lacks"),
    [
        (offer("n", free=8), []),
        (offer("n", free=3), [Lack("short", GPU, 4, 3)]),
        (offer("n", free=-2), [Lack("short", GPU, 4, 0)]),
        (offer("n", there=2, free=2), [Lack("too-few", GPU, 4, 2)]),
        (offer("n", resources={OTHER: Counted(1, 1)}), [Lack("not-offered", GPU, 4)]),
        (offer("n", free=8, reason="cordoned"), [Lack("cordoned")]),
        (offer("n", free=8, reason="not-ready"), [Lack("not-ready")]),
        (offer("n", free=8, reason="readiness-unknown"), [Lack("not-ready")]),
        (offer("n", free=1, reason="cordoned"), [Lack("cordoned"), Lack("short", GPU, 4, 1)]),
    ],
)
def test_a_node_lacks_whole_cards(node: Offer, lacks: list[Lack]) -> None:
    board = Board([node, offer("other", free=0)])
    [found] = [one for one in nearest([cards(4)], board) if one.node == "n"]
    assert list(found.lacks) == lacks


@pytest.mark.parametrize(
    ("node", "lacks"),
    [
        (of_memory("n", free=20, gap=16), []),
        # Enough in all, not on one card.
        (of_memory("n", free=20, gap=10), [Lack("block", MEMORY, 12 * GIB, 10 * GIB)]),
        (of_memory("n", there=16, free=16, gap=8), [Lack("too-small", MEMORY, 12 * GIB, 8 * GIB)]),
        (of_memory("n", there=8), [Lack("too-few", MEMORY, 12, 8)]),
        (of_memory("n", free=20, gap=None), [Lack("unknown", MEMORY, 12 * GIB)]),
        # A node whose unit is not known is judged by its numbers alone.
        (of_memory("n", free=2, gap=0, unit=""), [Lack("short", MEMORY, 12, 2)]),
    ],
)
def test_a_node_lacks_memory_of_one_card(node: Offer, lacks: list[Lack]) -> None:
    [found] = nearest([memory(12)], Board([node]))
    assert list(found.lacks) == lacks


def test_what_no_node_states_is_no_node_s_lack() -> None:
    """A scheduler extender may count it alone."""
    [found] = nearest([cards(1)], Board([offer("n", resources={})]))
    assert found.lacks == ()


def test_only_nodes_of_the_stacks_that_are_requested_are_near() -> None:
    board = Board([offer("whole", free=1), of_memory("parts")])
    assert [one.node for one in nearest([memory(4)], board)] == ["parts"]
    assert nearest([], board) == []


def test_the_order_is_what_can_be_changed_most_easily_first() -> None:
    board = Board(
        [
            offer("a-link-missing", resources={OTHER: Counted(1, 1)}, free=8),
            offer("b-too-few", there=2, free=2),
            offer("c-down", free=8, reason="not-ready"),
            offer("d-cordoned", free=8, reason="cordoned"),
            offer("e-lacks-three", free=1),
            offer("f-lacks-one", free=3),
            offer("g-lacks-one", free=3),
            offer("h-has-room", free=4),
        ]
    )
    assert [one.node for one in nearest([cards(4)], board)] == [
        "h-has-room",
        "f-lacks-one",
        "g-lacks-one",
        "e-lacks-three",
        "d-cordoned",
        "c-down",
        "b-too-few",
        "a-link-missing",
    ]
    assert len(nearest([cards(4)], board, most=3)) == 3


def _node(*taints: tuple[str, str]) -> kube.Node:
    return kube.Node(spec=kube.NodeSpec(taints=[kube.Taint(key, "", effect) for key, effect in taints]))


@pytest.mark.parametrize(
    ("message", "taints"),
    [
        ("0/2 nodes are available: 1 node(s) had untolerated taint {dedicated: ml}.", ["dedicated:NoSchedule"]),
        ("0/2 nodes are available: 1 node(s) had untolerated taint {another: }.", []),
        # The scheduler names none, so all count: but those of its own and of the requested resource, which the API server tolerates.
        ("0/2 nodes are available: 1 node(s) had untolerated taint(s).", ["dedicated:NoSchedule", "hot:NoExecute"]),
        ("", ["dedicated:NoSchedule", "hot:NoExecute"]),
        ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", []),
    ],
)
def test_taints_are_lacking_by_what_the_scheduler_names(message: str, taints: list[str]) -> None:
    node = _node(
        *(("dedicated", "NoSchedule"), ("hot", "NoExecute"), ("soft", "PreferNoSchedule"), (GPU, "NoSchedule")),
        ("node.kubernetes.io/unschedulable", "NoSchedule"),
    )
    near = nearest([cards(1)], Board([offer("n", free=1)]))
    [found] = with_taints(near, {"n": node}, {GPU}, read(message))
    assert [(one.code, one.what) for one in found.lacks] == [(closest.TAINT, text) for text in taints]


def test_a_tainted_node_comes_after_one_that_lacks_a_card() -> None:
    near = nearest([cards(4)], Board([offer("tainted", free=4), offer("short", free=3)]))
    nodes: dict[str, Any] = {"tainted": _node(("dedicated", "NoSchedule")), "short": _node()}
    assert [one.node for one in near] == ["tainted", "short"]
    assert [one.node for one in with_taints(near, nodes, {GPU}, read(""))] == ["short", "tainted"]
