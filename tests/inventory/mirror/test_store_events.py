"""A bundle of events leaves each object in its last state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from inventory.mirror.store import Store
from inventory.models import DirtyNode, Node, Unreadable
from inventory.models import Pod as PodRow
from tests.inventory.mirror.objects import node, pod, unread

MakeStore = Callable[[str], Store[Any]]


def names() -> list[str]:
    return sorted(PodRow.objects.values_list("name", flat=True))


@pytest.mark.parametrize(
    ("bundle", "cards"),
    [
        (["ADDED 1"], 1),
        (["ADDED 1", "MODIFIED 2"], 2),
        (["ADDED 1", "DELETED 1"], None),
        (["DELETED 1", "ADDED 2"], 2),
        (["ADDED 1", "DELETED 1", "ADDED 3"], 3),
        (["MODIFIED 2", "MODIFIED 1", "MODIFIED 2", "DELETED 2"], None),
        (["ADDED 1", "MODIFIED 0"], None),
        (["MODIFIED 0", "MODIFIED 2"], 2),
        (["ADDED 1", "ADDED 1"], 1),
        (["DELETED 1"], None),
    ],
)
@pytest.mark.parametrize("before", [None, 1, 5])
def test_the_last_state_of_a_bundle_wins(
    store: MakeStore, bundle: list[str], cards: int | None, before: int | None
) -> None:
    pods = store("pods")
    if before is not None:
        pods.apply([("ADDED", pod("a", cards=before), None)])
    pods.apply((kind, pod("a", cards=int(count)), None) for kind, count in (step.split() for step in bundle))
    rows = list(PodRow.objects.values_list("requests", flat=True))
    assert rows == ([] if cards is None else [{"nvidia.com/gpu": cards}])
    assert len(pods.digests) == len(rows)


def test_a_bundle_that_changes_nothing_writes_nothing(store: MakeStore) -> None:
    pods = store("pods")
    assert pods.apply([("ADDED", pod("a"), None), ("ADDED", pod("web", cards=0), None)]) == 1
    DirtyNode.objects.all().delete()
    again = [("MODIFIED", pod("a", resourceVersion="9"), None), ("DELETED", pod("web", cards=0), None)]
    assert pods.apply(again) == 0
    assert DirtyNode.objects.count() == 0


def test_a_pod_that_is_deleted_marks_its_node(store: MakeStore) -> None:
    pods = store("pods")
    pods.apply([("ADDED", pod("a", node="gpu-9"), None)])
    DirtyNode.objects.all().delete()
    assert pods.apply([("DELETED", pod("a", node="gpu-9"), None)]) == 1
    assert list(DirtyNode.objects.values_list("node_name", flat=True)) == ["gpu-9"]


def test_a_pod_that_is_bound_marks_its_node_and_a_waiting_one_none(store: MakeStore) -> None:
    pods = store("pods")
    pods.apply([("ADDED", pod("a", node=""), None)])
    assert DirtyNode.objects.count() == 0
    pods.apply([("MODIFIED", pod("a", node="gpu-1"), None)])
    assert list(DirtyNode.objects.values_list("node_name", flat=True)) == ["gpu-1"]


def test_a_pod_made_anew_under_its_name_is_another_row(store: MakeStore) -> None:
    pods = store("pods")
    pods.apply([("ADDED", pod("a"), None)])
    pods.apply([("DELETED", pod("a"), None), ("ADDED", pod("a", uid="second"), None)])
    assert list(PodRow.objects.values_list("uid", flat=True)) == ["second"]


def test_an_event_that_cannot_be_read_leaves_the_row_and_names_the_object(store: MakeStore) -> None:
    pods = store("pods")
    pods.apply([("ADDED", pod("a"), None)])
    pods.apply([("MODIFIED", None, unread("a", "uid-a"))])
    assert (names(), Unreadable.objects.get().name) == (["a"], "a")


def test_a_good_event_ends_it(store: MakeStore) -> None:
    pods = store("pods")
    pods.apply([("MODIFIED", None, unread("a", "uid-a"))])
    pods.apply([("MODIFIED", pod("a"), None)])
    assert (names(), Unreadable.objects.count()) == (["a"], 0)


def test_a_good_event_later_in_the_same_bundle_ends_it_too(store: MakeStore) -> None:
    store("pods").apply([("ADDED", None, unread("a", "uid-a")), ("MODIFIED", pod("a"), None)])
    assert (names(), Unreadable.objects.count()) == (["a"], 0)


def test_a_bad_event_after_a_good_one_keeps_the_good_state(store: MakeStore) -> None:
    store("pods").apply([("ADDED", pod("a", cards=3), None), ("MODIFIED", None, unread("a", "uid-a"))])
    assert PodRow.objects.get().requests == {"nvidia.com/gpu": 3}
    assert Unreadable.objects.count() == 1


def test_the_deletion_of_an_object_that_cannot_be_read_deletes_it(store: MakeStore) -> None:
    pods = store("pods")
    pods.apply([("ADDED", pod("a"), None), ("ADDED", None, unread("b", "uid-b"))])
    pods.apply([("DELETED", None, unread("a", "uid-a")), ("DELETED", None, unread("b", "uid-b"))])
    assert (names(), Unreadable.objects.count()) == ([], 0)


def test_the_deletion_of_a_node_that_cannot_be_read_deletes_it(store: MakeStore) -> None:
    nodes = store("nodes")
    nodes.apply([("ADDED", node("gpu-1"), None)])
    nodes.apply([("DELETED", None, unread("gpu-1", namespace=""))])
    assert Node.objects.count() == 0


def test_a_node_that_is_cordoned_is_written(store: MakeStore) -> None:
    nodes = store("nodes")
    cordoned = node("gpu-1")
    from kube.objects import NodeSpec

    cordoned.spec = NodeSpec(unschedulable=True)
    nodes.apply([("ADDED", node("gpu-1"), None)])
    assert nodes.apply([("MODIFIED", cordoned, None)]) == 1
    assert Node.objects.get().unschedulable
