"""What changed of a node is kept when its watcher sees it: nothing at first, nothing of what stays, a bounded number of the rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.mirror.follow import Follower
from inventory.mirror.node_changes import MOST_A_DAY, traits
from inventory.mirror.store import Store
from inventory.models import Node as NodeRow
from inventory.models import NodeChange, Watch
from kube.objects import Node
from runtime.leases.lease import Lease
from tests.inventory.mirror.objects import decoded, node, node_json
from tests.kube.scripted import Hang, ScriptedServer, stream
from tests.kube.words import error_line, line, page

MakeStore = Callable[[str], Store[Any]]
TakeLease = Callable[[str], Lease]
Serve = Callable[..., ScriptedServer]
Mirror = Callable[..., Follower]

pytestmark = pytest.mark.django_db


def changes() -> list[tuple[str, str, str]]:
    return list(NodeChange.objects.order_by("what").values_list("what", "before", "after"))


def made(*, labels: dict[str, str] | None = None, cards: int = 2, cordoned: bool = False, **info: str) -> Node:
    value = node_json("gpu-1", cards, labels=labels or {})
    value["spec"] = {"unschedulable": cordoned}
    value["status"]["nodeInfo"] = {"kernelVersion": "5.15", "kubeletVersion": "v1.31.4", "bootID": "one"} | info
    found: Node = decoded(Node, value)
    return found


@pytest.fixture
def nodes(lease: TakeLease) -> Lease:
    """Of the only kind of its cluster: the watcher of nodes also asks for kinds that are not served."""
    Watch.objects.exclude(kind="nodes").delete()
    return lease("nodes")


def sent(name: str, version: int, *, cordoned: bool = False, **metadata: Any) -> dict[str, Any]:
    """As the API server writes it."""
    return node_json(name, version=version, **metadata) | {"spec": {"unschedulable": cordoned}}


def reaches(version: str) -> Callable[[], bool]:
    return lambda: Watch.objects.filter(kind="nodes", resource_version=version).exists()


def test_a_watcher_writes_what_changes_and_nothing_of_its_first_list(
    nodes: Lease, serve: Serve, mirror: Mirror
) -> None:
    first = page(sent("a", 1, cordoned=True), sent("b", 2), version=50, kind="NodeList")
    mirror(nodes, serve(first, Hang), reaches("50"))
    assert NodeRow.objects.count() == 2
    assert changes() == []
    # One came, one is uncordoned, one was written again without a change; then a list after the watch was lost.
    events = (
        line("ADDED", sent("c", 51))
        + line("MODIFIED", sent("a", 52))
        + line("MODIFIED", sent("b", 53))
        + error_line(410, "Expired")
    )
    again = page(sent("a", 52), sent("b", 90, labels={"pool": "x"}), kind="NodeList", version=90)
    mirror(nodes, serve(stream(events, Hang), again, Hang), reaches("90"))
    assert changes() == [("cordoned", "yes", ""), ("label pool", "", "x")]
    assert sorted(NodeRow.objects.values_list("name", flat=True)) == ["a", "b"]


@pytest.mark.parametrize(
    "status",
    [
        {"allocatable": {"nvidia.com/gpu": "\0" * 9000}, "nodeInfo": {"kernelVersion": "k" * 9000, "bootID": "\ud800"}},
        {"allocatable": {"nvidia.com/gpu": "many", "x" * 9000: "1"}},
        {"capacity": {}, "allocatable": {}, "conditions": [{"type": "Ready", "status": "Perhaps"}]},
    ],
)
def test_hostile_nodes_do_not_stop_their_watcher(
    nodes: Lease, serve: Serve, mirror: Mirror, status: dict[str, Any]
) -> None:
    mirror(nodes, serve(page(sent("a", 1), version=50, kind="NodeList"), Hang), reaches("50"))
    events = line("MODIFIED", sent("a", 51) | {"status": status}) + line("MODIFIED", sent("a", 52, cordoned=True))
    mirror(nodes, serve(stream(events, Hang)), reaches("52"))
    assert ("cordoned", "", "yes") in changes()
    assert all(len(what) <= 320 and len(before) <= 253 and len(after) <= 253 for what, before, after in changes())


def test_a_node_that_is_seen_first_has_not_changed(store: MakeStore) -> None:
    store("nodes").apply([("ADDED", made(cordoned=True), None)])
    assert changes() == []


def test_each_change_is_kept_with_what_was_before(store: MakeStore) -> None:
    nodes = store("nodes")
    driver = "nvidia.com/cuda.driver-version.full"
    nodes.apply([("ADDED", made(labels={driver: "570.1", "pool": "a"}), None)])
    after = made(
        labels={driver: "580.2", "gone": "never", "nvidia.com/gfd.timestamp": "7"},
        cards=1,
        cordoned=True,
        bootID="two",
        kernelVersion="6.1",
    )
    nodes.apply([("MODIFIED", after, None)])
    assert changes() == [
        ("boot", "one", "two"),
        ("cordoned", "", "yes"),
        ("driver", "570.1", "580.2"),
        ("kernel", "5.15", "6.1"),
        ("label gone", "", "never"),
        (f"label {driver}", "570.1", "580.2"),
        ("label pool", "a", ""),
        ("offers nvidia.com/gpu", "2", "1"),
    ]
    nodes.apply([("MODIFIED", after, None)])
    assert NodeChange.objects.count() == 8


def test_what_changed_while_nobody_watched_is_kept_at_the_next_list(store: MakeStore) -> None:
    nodes = store("nodes")
    nodes.apply([("ADDED", made(), None)])
    nodes.begin_replace()
    nodes.add_page([made(cordoned=True)], [])
    nodes.end_replace()
    assert changes() == [("cordoned", "", "yes")]


def test_nodes_without_gpus_are_not_kept(store: MakeStore) -> None:
    nodes = store("nodes")
    nodes.apply([("ADDED", made(cards=0), None)])
    nodes.apply([("MODIFIED", made(cards=0, cordoned=True), None)])
    assert changes() == []


def test_a_label_that_changes_all_the_time_is_kept_some_times_a_day(store: MakeStore) -> None:
    nodes = store("nodes")
    for number in range(MOST_A_DAY + 10):
        nodes.apply([("MODIFIED", made(labels={"beat": str(number)}), None)])
    assert NodeChange.objects.count() == MOST_A_DAY
    nodes.apply([("MODIFIED", made(labels={"beat": "last"}, cordoned=True), None)])
    assert NodeChange.objects.filter(what="cordoned").count() == 1


def test_hostile_objects_change_a_bounded_number_of_rows(store: MakeStore) -> None:
    nodes = store("nodes")
    nodes.apply([("ADDED", node("gpu-1"), None)])
    labels = {f"x{number}" * 200: "v" * 5000 + "\0" for number in range(2000)}
    nodes.apply([("MODIFIED", made(labels=labels, cordoned=True), None)])
    assert NodeChange.objects.count() <= 50
    assert NodeChange.objects.filter(what="cordoned").exists()
    assert traits(Node()) == {"ready": "unknown"}


def test_queries_do_not_grow_with_the_nodes(store: MakeStore) -> None:
    counts = []
    for many in (3, 30):
        nodes = store("nodes")
        events = [("ADDED", node(f"{many}-{number}"), None) for number in range(many)]
        nodes.apply(events)
        with CaptureQueriesContext(connection) as questions:
            nodes.apply([("MODIFIED", node(f"{many}-{number}", labels={"a": "b"}), None) for number in range(many)])
        counts.append(len(questions))
    assert counts[0] == counts[1]
    assert NodeChange.objects.count() == 33
