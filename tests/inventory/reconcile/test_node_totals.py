"""Totals of a node where some holder's card is not known: what is said to be free is free for certain."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from inventory.health import judge
from inventory.reconcile.columns import card_columns, totals_columns
from stacks.engine import base

GIB = 2**30


def card(index: int, allocated_gib: int, total_gib: int = 31) -> base.CardReport:
    what = base.Card(
        key=str(index), index=index, stack="gpushare", mode=base.MEMORY, memory_total_bytes=total_gib * GIB
    )
    return base.CardReport(card=what, memory_allocated_bytes=allocated_gib * GIB)


def hold(memory_gib: int | None, mode: str = base.MEMORY) -> base.Allocation:
    memory = None if memory_gib is None else memory_gib * GIB
    return base.Allocation(
        pod_uid=f"uid-{memory_gib}",
        namespace="team",
        pod="notebook",
        container="main",
        resource="aliyun.com/gpu-mem",
        quantity=6,
        evidence=base.COUNT_ONLY,
        stack="gpushare",
        memory_bytes=memory,
        mode=mode,
    )


def columns(unplaced: tuple[base.Allocation, ...]) -> dict[str, object]:
    cards = (card(0, 28), card(1, 0))
    account = base.NodeReport(
        stacks=("gpushare",), cards=cards, unplaced=unplaced, cards_total=2, cards_allocated=None if unplaced else 1
    )
    return totals_columns(account, [card_columns(one, account) for one in cards])


@pytest.mark.parametrize(
    ("unplaced", "gap_gib", "free"),
    [
        ((), 31, 1),
        ((hold(6),), 25, None),
        ((hold(6), hold(20)), 5, None),
        ((hold(40),), 0, None),
    ],
    ids=["all placed", "6 GiB somewhere", "26 GiB somewhere", "more than the piece"],
)
def test_memory_without_a_card_may_lie_on_the_freest_one(
    unplaced: tuple[base.Allocation, ...], gap_gib: int, free: int | None
) -> None:
    found = columns(unplaced)
    assert (found["largest_gap_bytes"], found["cards_free"]) == (gap_gib * GIB, free)


def test_a_hold_of_unknown_size_leaves_the_largest_piece_unknown() -> None:
    assert columns((hold(None),))["largest_gap_bytes"] is None


def test_a_shared_hold_takes_no_memory_from_the_largest_piece() -> None:
    assert columns((hold(None, base.SHARES),))["largest_gap_bytes"] == 31 * GIB


@pytest.mark.parametrize(("allocated", "free"), [(0, 0), (8, 0), (36, -5)])
def test_nothing_of_a_card_that_is_not_given_out_is_free(allocated: int, free: int) -> None:
    sound, sick = card(0, 24), card(1, allocated)
    sick = base.CardReport(
        card=base.Card(
            key="1", index=1, stack="dra", health=base.UNHEALTHY, mode=base.MEMORY, memory_total_bytes=31 * GIB
        ),
        memory_allocated_bytes=allocated * GIB,
    )
    node = base.NodeReport(cards=(sound, sick))
    columns = [card_columns(one, node) for one in node.cards]
    assert columns[1]["memory_free_bytes"] == free * GIB
    assert totals_columns(node, columns)["largest_gap_bytes"] == 7 * GIB


def test_a_largest_piece_is_never_less_than_nothing() -> None:
    """Also where every card is overcommitted; what is missing there is in the free memory."""
    node = base.NodeReport(
        cards=(card(0, 36), card(1, 40)), memory_total_bytes=62 * GIB, memory_allocated_bytes=76 * GIB
    )
    found = totals_columns(node, [card_columns(one, node) for one in node.cards])
    assert (found["largest_gap_bytes"], found["memory_free_bytes"]) == (0, -14 * GIB)


def test_only_what_its_stack_withholds_is_unavailable() -> None:
    """Pods get a card that only an exporter calls unhealthy."""
    plain = base.Card(key="0", index=0, stack="nvidia", mode=base.MEMORY, memory_total_bytes=31 * GIB)
    withheld = replace(plain, health=base.UNHEALTHY)
    sick = judge.Health(base.UNHEALTHY, ())
    for card, expected in ((plain, ("free", "", 31 * GIB)), (withheld, ("unavailable", "unhealthy", 0))):
        found = card_columns(base.CardReport(card=card, memory_allocated_bytes=0), base.NodeReport(), sick)
        assert (found["state"], found["unavailable_reason"], found["memory_free_bytes"]) == expected
