"""The one line that says why a pod waits: what the synced data show, in the order in which a person looks; else the scheduler."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.placement.pending.asked import Ask
from inventory.placement.pending.board import Board, Counted
from inventory.placement.pending.closest import nearest, with_taints
from inventory.placement.pending.deciding import Deciding, Waiting, deciding
from inventory.placement.pending.devices import Alike, Wanted, device_of
from kube import objects as kube
from kube.unschedulable import read
from tests.factories import GIB
from tests.inventory.placement.pending.made import GPU, cards, memory, of_memory, offer

LARGE = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('90Gi')) >= 0"
MODEL = "device.attributes['gpu.nvidia.com'].productName == 'H100'"


def why(asks: list[Ask], board: Board, message: str = "", taint: str = "", **more: Any) -> Deciding:
    """taint: of all nodes."""
    told = read(message)
    taints = [kube.Taint(taint, "", "NoSchedule")] if taint else []
    node = kube.Node(spec=kube.NodeSpec(taints=taints))
    near = with_taints(nearest(asks, board), {one.node: node for one in board.offers}, {GPU}, told)
    waiting = Waiting(asks, (), more.get("wanted", []), told)
    return deciding(waiting, board, near, more.get("cards", ()))


@pytest.mark.parametrize(
    ("asks", "offers", "code", "text"),
    [
        (
            [memory(12)],
            [of_memory("a", free=9, gap=9), of_memory("b", free=16, gap=10)],
            "memory",
            "No card has 12 GiB free. Largest: 10 GiB on b.",
        ),
        ([memory(12)], [of_memory("a")], "memory", "No card has 12 GiB free. Largest free block: 0."),
        (
            [memory(20)],
            [of_memory("a", free=32, gap=16)],
            "larger-than-any-card",
            "No card has 20 GiB. Largest: 16 GiB.",
        ),
        (
            [cards(8)],
            [offer("a", free=7), offer("b", free=2)],
            "cards",
            "No node has 8 × nvidia.com/gpu free. Most: 7 on a.",
        ),
        ([cards(2)], [offer("a")], "cards", "No node has 2 × nvidia.com/gpu free. Free: 0."),
        ([cards(9)], [offer("a", free=8)], "more-than-any-node", "No node has 9 × nvidia.com/gpu. Most: 8."),
        # A node that lets no pod in is not said to have the most.
        (
            [cards(8)],
            [offer("a", free=7, reason="cordoned"), offer("b", free=6)],
            "cards",
            "No node has 8 × nvidia.com/gpu free. Most: 6 on b.",
        ),
        (
            [cards(8)],
            [offer("a", free=8, reason="cordoned"), offer("b", there=2)],
            "cordoned",
            "a fits, but is cordoned",
        ),
        ([cards(8)], [offer("a", free=8, reason="not-ready")], "not-ready", "a fits, but is not ready"),
        # Where free memory is not known, nothing is claimed of it.
        ([memory(12)], [of_memory("a", free=12, gap=None)], "no-report", "No scheduler has reported on this pod yet."),
        (
            [memory(12)],
            [of_memory("a", free=12, gap=None, reason="cordoned")],
            "no-report",
            "No scheduler has reported on this pod yet.",
        ),
    ],
)
def test_what_the_synced_data_show_decides(asks: list[Ask], offers: list[Any], code: str, text: str) -> None:
    found = why(asks, Board(offers))
    assert (found.code, str(found.text)) == (code, text)


def test_a_taint_decides_only_where_there_is_room() -> None:
    found = why([cards(1)], Board([offer("a", free=1)]), taint="dedicated")
    assert str(found.text) == "a fits, but its taint dedicated:NoSchedule is not tolerated"
    assert why([cards(2)], Board([offer("a", free=1)]), taint="dedicated").code == "cards"


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (
            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
            "3 of 3 nodes: The pod's node selector or node affinity excludes these nodes.",
        ),
        ("pod group is not ready", "pod group is not ready"),
        ("", "No scheduler has reported on this pod yet."),
    ],
)
def test_where_there_is_room_the_scheduler_decides(message: str, text: str) -> None:
    found = why([cards(1)], Board([offer("a", free=8)]), message)
    assert found.code == ("scheduler" if message else "no-report")
    assert text in str(found.text)


@pytest.mark.parametrize(
    ("selectors", "number", "free", "code", "text"),
    [
        ((LARGE,), 1, 4, "no-such-card", "No card has memory >= 90Gi. Largest: 80 GiB."),
        ((MODEL,), 1, 4, "no-such-card", "No card has "),
        ((), 5, 4, "cards-allocated", "5 requested: 4 of 8 cards free"),
        # A condition that cannot be judged keeps no card out.
        (("device.attributes['gpu.nvidia.com'].numa == 1",), 1, 4, "no-report", "No scheduler has reported"),
    ],
)
def test_conditions_of_claims_decide_first(
    selectors: tuple[str, ...], number: int, free: int, code: str, text: str
) -> None:
    there = [Alike(device_of("A100", 80 * GIB), 8, free)]
    found = why(
        [], Board([offer("a", resources={GPU: Counted(8, 0)})]), wanted=[Wanted("gpu", number, selectors)], cards=there
    )
    assert found.code == code
    assert text in str(found.text)
