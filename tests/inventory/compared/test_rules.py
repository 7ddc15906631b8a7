"""What is said of a node where promises and measurements do not go together, and above all where nothing is."""

from __future__ import annotations

from typing import Any

import pytest

from inventory.compared import entries
from inventory.compared.rules import GIB, MIB, SLACK_BYTES, Card, Claim, Holder, Idle, Key, Node, claims, unknown

NOW = 1_790_000_000.0


def card(**values: Any) -> Card:
    """A shared card of 80 GiB, half of it given to two pods, of which each uses a quarter of the card."""
    known: dict[str, Any] = {
        "key": "GPU-1",
        "label": "card 0",
        "mode": "memory",
        "physical_bytes": 80 * GIB,
        "allocated_bytes": 40 * GIB,
        "holders": (Holder("team/a", 20 * GIB), Holder("team/b", 20 * GIB)),
        "fresh": True,
        "used": 40 * GIB,
        "total": 80 * GIB,
    }
    return Card(**(known | values))


def free(**values: Any) -> Card:
    return card(**({"allocated_bytes": 0, "holders": (), "free": True, "used": 30 * GIB} | values))


def node(*cards: Card, **values: Any) -> Node:
    return Node(name="gpu-1", cards=cards, **values)


def said(found: Node, known: frozenset[Key] = frozenset()) -> dict[str, Claim]:
    return {key.code: claim for key, claim in claims(found, known).items()}


def test_what_goes_together_is_not_told() -> None:
    assert claims(node(card(), elsewhere=5, boards=1, named_boards=1)) == {}


# More than it was given.


def test_a_pod_that_is_counted_by_itself_is_named_with_both_numbers() -> None:
    holders = (Holder("team/a", 20 * GIB, 31 * GIB), Holder("team/b", 20 * GIB, 2 * GIB))
    [claim] = claims(node(card(holders=holders, used=33 * GIB))).values()
    assert claim.key == Key(entries.OVERUSED, "GPU-1", "team/a")
    assert "team/a uses 31 GiB on card 0, 20 GiB allocated" in claim.what
    assert "other pods run out of memory" in claim.action


def test_all_together_where_the_exporter_counts_the_card_only() -> None:
    claim = said(node(card(used=44 * GIB)))[entries.OVERUSED]
    assert claim.key.pod == ""
    assert "44 GiB in use on card 0, 40 GiB allocated to team/a, team/b" in claim.what
    assert "explain only 2.265 GiB more" in claim.what


@pytest.mark.parametrize(
    ("values", "on_node"),
    [
        ({"used": 41 * GIB}, {}),  # two contexts and the driver
        ({"used": None}, {}),
        ({"used": 70 * GIB, "mode": "whole"}, {}),
        ({"used": 70 * GIB, "mode": "shares", "allocated_bytes": None}, {}),
        ({"used": 70 * GIB, "allocated_bytes": None}, {}),
        ({"used": 70 * GIB, "holders": (Holder("team/a", 20 * GIB), Holder("team/b", None))}, {}),
        ({"used": 70 * GIB, "hidden": True}, {}),
        ({"used": 70 * GIB}, {"unplaced": 1}),
        ({"used": 70 * GIB, "fresh": False}, {}),
    ],
)
def test_no_more_than_it_was_given_or_not_known(values: dict[str, Any], on_node: dict[str, Any]) -> None:
    assert entries.OVERUSED not in said(node(card(**values), **on_node))


def test_turns_with_a_share_of_memory_are_metered() -> None:
    assert entries.OVERUSED in said(node(card(mode="shares", used=70 * GIB)))


# Used though nobody holds it.


def test_a_card_that_nobody_holds_and_somebody_uses() -> None:
    claim = said(node(free()))[entries.NOT_ALLOCATED]
    assert "30 GiB in use on card 0, 0 GiB allocated" in claim.what
    assert "Driver and firmware need less than 1.288 GiB" in claim.what
    assert "reports no pod on it" in claim.what
    named = said(node(free(named=("team/old",))))[entries.NOT_ALLOCATED]
    assert "The exporter reports team/old on it" in named.what


@pytest.mark.parametrize(
    ("values", "on_node"),
    [
        ({"used": GIB}, {}),
        ({"used": None}, {}),
        ({"fresh": False}, {}),
        ({"free": False}, {}),
        ({"legitimate": True}, {}),
        ({"reserved": 30 * GIB}, {}),
        ({}, {"unplaced": 1}),
        ({}, {"windows": True}),
        ({"holders": (Holder("team/a", None),)}, {}),
    ],
)
def test_it_is_not_said_where_somebody_may_hold_it(values: dict[str, Any], on_node: dict[str, Any]) -> None:
    assert entries.NOT_ALLOCATED not in said(node(free(**values), **on_node))


# Exporters.


def test_a_silent_exporter_is_told_once_with_how_many_cards() -> None:
    lost = [card(key=f"GPU-{n}", label=f"card {n}", fresh=False, lost_at=NOW - n) for n in range(8)]
    claim = said(node(*lost, elsewhere=4))[entries.SILENT]
    assert "no longer reports 8 of 8 cards of this node (card 0" in claim.what
    assert "from before 2026-09-21" in claim.what
    assert claim.since == NOW - 7
    assert claim.wait_s >= 300
    # Nothing is heard anywhere: that is the source.
    assert said(node(*lost)) == {}
    assert said(node(*lost, elsewhere=4, ready=False)) == {}


def test_a_node_without_an_exporter() -> None:
    bare = [card(key=str(n), fresh=False, used=None, total=None) for n in range(8)]
    claim = said(node(*bare, elsewhere=32))[entries.MISSING]
    assert "(8 in total). Other cards of the cluster with metrics: 32" in claim.what
    assert said(node(*bare)) == {}
    assert said(node(*bare, elsewhere=32, ready=False)) == {}
    assert entries.MISSING not in said(node(*bare, elsewhere=32, named_boards=8))
    assert said(node(elsewhere=32)) == {}


@pytest.mark.parametrize(
    ("boards", "named", "told"), [(8, 7, True), (7, 8, True), (8, 8, False), (None, 7, False), (8, None, False)]
)
def test_how_many_cards_there_are(boards: int | None, named: int | None, told: bool) -> None:
    found = said(node(card(), boards=boards, named_boards=named))
    assert (entries.COUNT in found) is told
    if told:
        assert f"Cards of this node: {named} in the exporter, {boards} in gpudash" in found[entries.COUNT].what


def test_a_card_that_was_lost_is_no_wrong_count() -> None:
    lost = card(key="GPU-2", fresh=False, lost_at=NOW)
    assert said(node(card(), lost, boards=2, named_boards=1)).keys() == {entries.SILENT}


@pytest.mark.parametrize(
    ("recorded", "measured", "told"),
    [(80, 40, True), (40, 80, True), (80, 75, False), (8, 9, False), (None, 40, False), (80, None, False)],
)
def test_how_much_memory_a_card_has(recorded: int | None, measured: int | None, told: bool) -> None:
    sizes = [None if one is None else one * GIB for one in (recorded, measured)]
    found = said(node(card(physical_bytes=sizes[0], total=sizes[1], used=None)))
    assert (entries.MEMORY in found) is told
    if told:
        assert (
            f"Card 0 has {recorded} GiB in the records of the cluster, but {measured} GiB in its exporter"
            in found[entries.MEMORY].what
        )


# Idle.


def test_what_is_held_without_work_is_one_for_the_node() -> None:
    holds = [Idle(f"team/{n}", f"card {n}", 80 * GIB, 1.0, NOW - n, n != 3) for n in range(8)]
    [claim] = claims(node(card(), idle=tuple(holds))).values()
    assert claim.key == Key(entries.IDLE)
    assert claim.what.startswith("Idle allocations on this node: 8. team/0 (card 0, 80 GiB, idle since 2026-09-21")
    assert "and 2 more" in claim.what
    assert "Total: 640 GiB" in claim.what
    assert "1 of them are likely only" in claim.what
    assert claim.since == NOW - 7


def test_a_hold_whose_card_and_memory_are_not_known() -> None:
    claim = said(node(idle=(Idle("team/a", "", None, None, NOW, True),)))[entries.IDLE]
    assert "team/a (card unidentified, idle since" in claim.what
    assert "in all" not in claim.what


# It ends later than it begins.


def test_noise_at_the_bound_does_not_end_it() -> None:
    bound = 40 * GIB + 500 * MIB + int(0.8 * GIB) + 1000 * MIB
    key = Key(entries.OVERUSED, "GPU-1")
    assert said(node(card(used=bound - MIB))) == {}
    assert said(node(card(used=bound - MIB)), frozenset((key,)))
    assert said(node(card(used=bound - SLACK_BYTES)), frozenset((key,))) == {}


@pytest.mark.parametrize(
    ("key", "found", "wanted"),
    [
        (Key(entries.NOT_ALLOCATED, "GPU-1"), node(free(fresh=False)), True),
        (Key(entries.NOT_ALLOCATED, "GPU-1"), node(free(used=None)), True),
        (Key(entries.NOT_ALLOCATED, "GPU-1"), node(free(), unplaced=1), True),
        (Key(entries.NOT_ALLOCATED, "GPU-1"), node(free(used=0)), False),
        (Key(entries.NOT_ALLOCATED, "GPU-1"), node(card(used=None)), False),  # held by now
        (Key(entries.NOT_ALLOCATED, "GPU-2"), node(free(fresh=False)), False),  # no such card any more
        (Key(entries.OVERUSED, "GPU-1", "team/a"), node(card()), True),  # not counted by itself now
        (Key(entries.OVERUSED, "GPU-1", "team/z"), node(card()), False),
        (Key(entries.OVERUSED, "GPU-1"), node(free(used=None)), False),
        (Key(entries.MEMORY, "GPU-1"), node(card(total=None)), True),
        (Key(entries.IDLE), node(card(fresh=False)), True),
        (Key(entries.IDLE), node(card()), False),
        (Key(entries.SILENT), node(card(fresh=False)), False),
    ],
)
def test_what_is_not_known_now_is_not_over(key: Key, found: Node, wanted: bool) -> None:
    assert unknown(found, key) is wanted
