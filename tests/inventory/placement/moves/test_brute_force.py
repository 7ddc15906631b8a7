"""The plan of small fleets against all sets of pods and all places for them, counted here by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import combinations, product
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from inventory.pieces import OneCard
from inventory.placement.finder.finder import Looked
from inventory.placement.finder.request import Request
from inventory.placement.finder.rows import Figures, NodeState, Rows
from inventory.placement.moves.plan import Cost, cost_of, plan
from inventory.placement.moves.pods import Hold, Pod
from kube import objects
from stacks.engine.base import MEMORY, WHOLE, Context
from stacks.engine.fitting import Piece
from tests.factories import GIB

NOW = datetime(2026, 11, 26, tzinfo=UTC)
GPU, SIZE = "nvidia.com/gpu", 80 * GIB
#: Of each pod of a node: cards, priority, whether a controller has it.
PODS = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2), st.booleans()), max_size=4)
FLEET = st.lists(st.tuples(st.integers(2, 4), PODS), min_size=1, max_size=4)


def fleet(nodes: list[tuple[int, list[tuple[int, int, bool]]]]) -> tuple[Looked, list[Pod], dict[str, int]]:
    """(rows, pods, free cards by node); pods that do not fit on their node are left out."""
    rows = Rows({}, {}, {}, {}, {}, 0)
    pods: list[Pod] = []
    free: dict[str, int] = {}
    for number, (cards, held) in enumerate(nodes):
        name, place, taken, here = f"n{number}", (1, f"n{number}"), 0, 0
        ids = [number * 10 + index for index in range(cards)]
        for each, (wanted, priority, owned) in enumerate(held):
            if taken + wanted > cards:
                continue
            mine = ids[taken : taken + wanted]
            holds = tuple(Hold(one, "nvidia", WHOLE, GPU, 1, SIZE, 0) for one in mine)
            kind, uid = "Job" if owned else "", f"{name}-{each}"
            pods.append(Pod(uid=uid, place=place, namespace="team", name=uid, owner_kind=kind, owner_name="train",
                            priority=priority, holds=holds))  # fmt: skip
            taken, here = taken + wanted, here + 1
        offered: dict[str, str | int] = {GPU: str(cards)}
        status = objects.NodeStatus(capacity=offered, allocatable=offered)
        node = objects.Node(metadata=objects.Metadata(name=name), spec=objects.NodeSpec(), status=status)
        rows.nodes[place] = NodeState(True, False, node)
        rows.figures[place] = Figures(("nvidia",), here, "", "A100", cards, cards - taken, None, None, None, None)
        rows.cards[place] = [
            OneCard(Piece(one, str(one), index, WHOLE, "", SIZE, SIZE if index >= taken else 0, index >= taken, False, True),
                    "nvidia", "A100")
            for index, one in enumerate(ids)
        ]  # fmt: skip
        rows.held[place] = {GPU: taken}
        free[name] = cards - taken
    return Looked({1: "prod"}, frozenset((1,)), rows, Context(now=NOW)), pods, free


def cheapest(pods: list[Pod], free: dict[str, int], cards: int, *, whole_node: bool) -> Cost | None:
    """By trying all: every set of the pods of every node, and every place for each of them."""
    costs = []
    for name in free:
        here = [one for one in pods if one.place[1] == name]
        others = [one for one in free if one != name]
        for size in range(1, len(here) + 1):
            for chosen in combinations(here, size):
                enough = free[name] + sum(len(one.holds) for one in chosen) >= cards
                if enough and (size == len(here) or not whole_node) and _have_room(chosen, others, free):
                    costs.append(cost_of(chosen))
    return min(costs, default=None)


def _have_room(pods: tuple[Pod, ...], others: list[str], free: dict[str, int]) -> bool:
    for places in product(others, repeat=len(pods)):
        needed = dict.fromkeys(others, 0)
        for pod, place in zip(pods, places, strict=True):
            needed[place] += len(pod.holds)
        if all(amount <= free[place] for place, amount in needed.items()):
            return True
    return False


@settings(max_examples=300, deadline=None)
@given(FLEET, st.integers(1, 4), st.booleans(), st.integers(1, 4))
def test_no_plan_is_cheaper(
    nodes: list[tuple[int, list[tuple[int, int, bool]]]], cards: int, whole_node: bool, at_once: int
) -> None:
    looked, pods, free = fleet(nodes)
    with patch("inventory.placement.moves.plan.AT_ONCE", at_once):
        found = plan(
            looked,
            Request(cards=cards),
            lambda places: [one for one in pods if one.place in places],
            whole_node=whole_node,
        )
    assert found.exact
    if found.already is not None:
        name = found.already[1]
        assert free[name] >= cards
        assert not whole_node or all(one.place[1] != name for one in pods)
        return
    best = cheapest(pods, free, cards, whole_node=whole_node)
    assert (found.plan.cost if found.plan else None) == best
    if found.plan is not None:
        assert cost_of([one.pod for one in found.plan.moves]) == best
        assert _have_room(
            tuple(one.pod for one in found.plan.moves), sorted({one.to[1] for one in found.plan.moves}), free
        )


def test_pods_that_share_cards_are_placed_by_free_memory() -> None:
    """A pod of 40 GiB leaves its card for one with 60 GiB free, not for one with 30."""
    hold = Hold(1, "hami", MEMORY, GPU, 1, 40 * GIB, 30)
    pod = Pod(uid="a", place=(1, "n0"), namespace="team", name="a", owner_kind="Job", owner_name="j", holds=(hold,))
    assert pod.asks is not None
    assert (pod.asks.cards, pod.asks.memory, pod.asks.cores) == (1, 40 * GIB, 30)
