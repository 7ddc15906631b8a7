"""Whose turn it is: nobody waits for ever, and one node's change is not behind a recount of all."""

from __future__ import annotations

import pytest

from inventory.models import Allocation, DirtyNode, Finding, NodeTotals
from inventory.reconcile import dirty
from inventory.reconcile.dirty import dirty_nodes
from tests.inventory.mirror.objects import plugin
from tests.inventory.reconcile.conftest import Fleet
from tests.inventory.reconcile.objects import share_node, share_pod, whole_node

NODES, CHUNK = 24, 4


@pytest.fixture
def large(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """Six chunks of nodes, each with a pod on its first card, accounted."""
    monkeypatch.setattr(dirty, "CHUNK", CHUNK)
    fleet.put("nodes", *(share_node(name(number), 30) for number in range(NODES)))
    fleet.put("pods", *(share_pod(f"p-{number}", name(number), 4, 0) for number in range(NODES)))
    fleet.reconcile()
    return fleet


def name(number: int) -> str:
    return f"n-{number:02d}"


def make_all_dirty(fleet: Fleet, stack: str = "") -> None:
    DirtyNode.objects.create(cluster=fleet.cluster, stack=stack)


def step_while_all_are_dirty(fleet: Fleet) -> None:
    """One chunk, with a new row for all nodes before it and another that comes with it."""
    make_all_dirty(fleet)
    fleet.reconciler.step()  # the row becomes one for each node
    fleet.reconciler.step()


def forget_figures() -> None:
    """Figures that only a new account mends."""
    NodeTotals.objects.update(allocations_count=99, digest=-1)


def waiting_figures() -> int:
    return NodeTotals.objects.filter(allocations_count=99).count()


def test_all_nodes_dirty_again_and_again_keep_no_node_waiting(large: Fleet) -> None:
    forget_figures()
    for _ in range(NODES // CHUNK):
        step_while_all_are_dirty(large)
    assert waiting_figures() == 0


def test_a_change_of_one_node_is_in_the_next_chunk_of_a_recount_of_all(large: Fleet) -> None:
    make_all_dirty(large)
    large.reconciler.step()
    large.put("pods", share_pod("late", name(NODES - 1), 5, 1))
    large.reconciler.step()
    assert Allocation.objects.filter(pod="late", ended_at=None).exists()
    assert DirtyNode.objects.filter(among_all=True).exists()


def test_changes_of_many_nodes_leave_half_of_each_chunk_to_the_recount(large: Fleet) -> None:
    make_all_dirty(large)
    large.reconciler.step()
    before = DirtyNode.objects.filter(among_all=True).count()
    large.put("pods", *(share_pod(f"late-{number}", name(number), 5, 1) for number in range(8, NODES)))
    large.reconciler.step()
    assert before - DirtyNode.objects.filter(among_all=True).count() == CHUNK
    assert Allocation.objects.filter(pod__startswith="late-", ended_at=None).count() == CHUNK // 2


def test_a_change_of_one_node_waits_for_a_bounded_number_of_chunks_under_a_flood(large: Fleet) -> None:
    for _ in range(3):
        step_while_all_are_dirty(large)
    large.put("pods", *(share_pod(f"late-{number}", name(number), 5, 1) for number in (23, 22, 21, 20)))
    step_while_all_are_dirty(large)
    step_while_all_are_dirty(large)
    assert Allocation.objects.filter(pod__startswith="late-", ended_at=None).count() == 4


def test_a_row_for_all_does_not_put_those_back_that_are_dirty(large: Fleet) -> None:
    large.put("pods", share_pod("late", name(7), 5, 1))
    first = DirtyNode.objects.get().id
    make_all_dirty(large)
    large.reconciler.step()
    own = DirtyNode.objects.get(node_name=name(7))
    assert (own.id, own.among_all) == (first, False)
    assert DirtyNode.objects.count() == NODES


def test_the_arguments_of_a_plugin_recount_the_nodes_of_the_stack_that_reads_them(large: Fleet) -> None:
    large.put("nodes", whole_node("other-1"), whole_node("other-2"))
    large.reconcile()
    large.put("daemonsets", plugin("GiB"))
    large.reconciler.step()
    waits = set(dirty_nodes(large.cluster.id).exclude(node_name="").values_list("node_name", flat=True))
    assert waits == {name(number) for number in range(NODES)}
    large.reconcile()
    assert NodeTotals.objects.get(node_name=name(0)).unit_source == "--memory-unit of the device plugin's DaemonSet"


def test_nodes_whose_account_could_not_be_made_are_among_those_of_every_stack(large: Fleet) -> None:
    large.put("nodes", whole_node("other-1"))
    large.reconcile()
    large.reconciler._not_accounted("other-1", NodeTotals.objects.latest("changed_at").changed_at)
    make_all_dirty(large, stack="gpushare")
    large.reconciler.step()
    assert DirtyNode.objects.filter(node_name="other-1").exists()
    large.reconcile()
    assert not Finding.objects.filter(code="not-accounted", ended_at=None).exists()
