"""What a report becomes in the tables: numbers that no column can hold are unknown, and what is not known is not free."""

from __future__ import annotations

import pytest
from django.utils import timezone

from inventory.models import Allocation, Card, Cluster, NodeTotals
from inventory.reconcile import difference
from inventory.reconcile.chunk import Chunk, NodeChunk
from inventory.reconcile.columns import card_state
from stacks.engine import base
from tests.factories import make_cluster

HUGE = 2**70


def hostile_account() -> base.NodeReport:
    card = base.Card(
        key="0", stack="nvidia", index=2**40, memory_total_bytes=HUGE, memory_physical_bytes=HUGE, shares=2**40
    )
    held = base.Allocation(
        pod_uid="u\0",
        namespace="n",
        pod="p" * 900,
        container="c",
        resource="r",
        quantity=HUGE,
        evidence="claim",
        stack="nvidia",
        card="0",
        memory_bytes=HUGE,
        core_percent=2**40,
    )
    room = base.Room(
        card="c" * 900,
        cards=HUGE,
        slices=(base.Slices("p" * 900, HUGE),),
        fits=(base.Fit("1g\0", 0, 1, HUGE),),
        source="s" * 900,
        unknown=base.PARENTS,
    )
    finding = base.Finding(code="x", severity="error", text="t\0" * 9000, card="0", pod="p" * 900)
    return base.NodeReport(
        stacks=("nvidia",),
        unit="GiB",
        cards=(base.CardReport(card=card, allocations=(held,), memory_allocated_bytes=HUGE),),
        unplaced=(held,),
        findings=(finding,),
        rooms=(room,) * 900,
        cards_total=2**40,
        cards_allocated=2**40,
        memory_total_bytes=HUGE,
        memory_allocated_bytes=HUGE,
        memory_unplaced_bytes=HUGE,
        recheck_at=1e30,
    )


@pytest.mark.django_db
def test_a_number_that_no_column_can_hold_is_unknown_and_stops_nothing() -> None:
    cluster: Cluster = make_cluster("huge", held=False)
    node = NodeChunk(name="n", report=hostile_account(), pods={}, totals=None, cards={}, allocations=[], findings=[])
    difference.write(Chunk(cluster_id=cluster.id, now=timezone.now(), names=["n"], seen=[], nodes=[node]))
    card, node_totals = Card.objects.get(), NodeTotals.objects.get()
    assert (card.memory_total_bytes, card.memory_allocated_bytes, card.index, card.shares) == (None, None, None, None)
    assert (node_totals.memory_total_bytes, node_totals.cards_total, node_totals.recheck_at) == (None, None, None)
    rooms = node_totals.found_rooms
    assert len(rooms) == 64
    assert rooms[0] == base.Room(
        card="c" * 128,
        cards=None,
        slices=(base.Slices("p" * 64, 2**63 - 1),),
        fits=(base.Fit("1g", 0, 1, None),),
        source="s" * 255,
        unknown=base.PARENTS,
    )
    assert set(Allocation.objects.values_list("memory_bytes", "core_percent")) == {(None, None)}


def test_a_card_that_is_full_is_full_and_one_that_is_not_known_is_not_free() -> None:
    def state(allocated: int | None, total: int | None = 10, mode: str = base.MEMORY, unplaced: bool = False) -> str:
        card = base.Card(key="0", stack="s", mode=mode, memory_total_bytes=total)
        return card_state(base.CardReport(card=card, memory_allocated_bytes=allocated), unplaced).value

    assert [state(0), state(4), state(10), state(11)] == ["free", "partly", "full", "over"]
    assert [state(None), state(None, None), state(4, None)] == ["unknown", "unknown", "partly"]
    assert state(0, None, base.WHOLE, unplaced=True) == "unknown"
    assert state(None, None, base.SHARES, unplaced=True) == "unknown"


@pytest.mark.django_db
def test_a_card_has_the_room_of_its_own_or_of_the_card_that_it_is_a_slice_of_else_of_all_that_are_cut() -> None:
    cluster: Cluster = make_cluster("cut", held=False)
    cards = (
        base.Card(key="own", stack="dra"),
        base.Card(key="whole", stack="nvidia"),
        base.Card(key="part", stack="dra", profile="1g.10gb", parent="own"),
        base.Card(key="loose", stack="nvidia", profile="1g.10gb"),
    )
    mine, shared = base.Room(card="own", on_demand=True), base.Room(cards=2, each=False, unknown=base.NO_TABLE)
    report = base.NodeReport(
        stacks=("dra", "nvidia"),
        cards=tuple(base.CardReport(card=card, allocations=()) for card in cards),
        rooms=(mine, shared),
    )
    node = NodeChunk(name="n", report=report, pods={}, totals=None, cards={}, allocations=[], findings=[])
    difference.write(Chunk(cluster_id=cluster.id, now=timezone.now(), names=["n"], seen=[], nodes=[node]))
    assert {card.key: card.found_room for card in Card.objects.all()} == {
        "own": mine,
        "whole": None,
        "part": mine,
        "loose": shared,
    }
    assert NodeTotals.objects.get().found_rooms == (mine, shared)


def test_what_somebody_wrote_into_a_column_of_rooms_says_nothing() -> None:
    assert NodeTotals(rooms="[{]").found_rooms == ()
    assert Card(room='{"cards": "many"}').found_room is None
