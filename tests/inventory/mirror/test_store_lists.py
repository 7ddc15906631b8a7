"""A list replaces what is there, and only rows that changed are written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from inventory.mirror.store import Store
from inventory.models import Cluster, DirtyNode, Node, Unreadable
from inventory.models import Pod as PodRow
from inventory.models.software import CLUSTER_SOFTWARE
from kube import listed, objects
from kube.decode import Decoder
from kube.objects import DaemonSetStatus
from tests.inventory.mirror.objects import node, plugin, pod, pod_json, unread

MakeStore = Callable[[str], Store[Any]]


def replace(store: Store[Any], *pages: list[Any], strange: tuple[Any, ...] = ()) -> int:
    """A whole list; the strange objects are on its last page. Returns the rows written."""
    store.begin_replace()
    written = sum(store.add_page(page, strange if page is pages[-1] else ()) for page in pages)
    return written + store.end_replace()


def names() -> list[str]:
    return sorted(PodRow.objects.values_list("name", flat=True))


def dirty() -> list[str]:
    return sorted(DirtyNode.objects.values_list("node_name", flat=True))


def test_what_a_list_names_is_there_and_nothing_else(store: MakeStore) -> None:
    pods = store("pods")
    assert replace(pods, [pod("a"), pod("b")], [pod("c", node="gpu-2")]) == 3
    assert replace(pods, [pod("b"), pod("d")]) == 3
    assert names() == ["b", "d"]
    assert (pods.seen, len(pods.digests)) == (2, 2)


def test_pods_without_a_gpu_are_counted_and_not_kept(store: MakeStore) -> None:
    pods = store("pods")
    assert replace(pods, [pod("a"), pod("web", cards=0)]) == 1
    assert (names(), pods.seen) == (["a"], 2)


def test_an_unchanged_list_writes_no_row_and_no_mark(store: MakeStore) -> None:
    replace(store("pods"), [pod("a"), pod("b")])
    DirtyNode.objects.all().delete()
    again = store("pods")
    with CaptureQueriesContext(connection) as queries:
        assert replace(again, [pod("a"), pod("b")]) == 0
    assert dirty() == []
    assert [query["sql"] for query in queries] == []


def test_a_new_resource_version_alone_writes_nothing(store: MakeStore) -> None:
    replace(store("pods"), [pod("a", resourceVersion="1")])
    assert replace(store("pods"), [pod("a", resourceVersion="2")]) == 0


def test_only_the_row_that_changed_is_written_and_only_its_node_marked(store: MakeStore) -> None:
    pods = store("pods")
    replace(pods, [pod("a"), pod("b", node="gpu-2"), pod("c", node="gpu-3")])
    DirtyNode.objects.all().delete()
    assert replace(pods, [pod("a"), pod("b", node="gpu-2", cards=2), pod("c", node="gpu-3")]) == 1
    assert dirty() == ["gpu-2"]
    assert PodRow.objects.get(name="b").requests == {"nvidia.com/gpu": 2}


def test_what_goes_marks_the_node_that_it_was_on(store: MakeStore) -> None:
    pods = store("pods")
    replace(pods, [pod("a"), pod("b", node="gpu-2")])
    DirtyNode.objects.all().delete()
    replace(pods, [pod("a")])
    assert dirty() == ["gpu-2"]


def test_a_node_makes_itself_dirty_and_a_plugin_the_nodes_of_the_stack_that_reads_it(store: MakeStore) -> None:
    replace(store("nodes"), [node("gpu-7")])
    assert dirty() == ["gpu-7"]
    replace(store("daemonsets"), [plugin()])
    assert set(DirtyNode.objects.filter(node_name="").values_list("stack", flat=True)) == {"gpushare", CLUSTER_SOFTWARE}


def test_a_step_of_a_plugins_roll_out_writes_nothing(store: MakeStore) -> None:
    sets = store("daemonsets")
    replace(sets, [plugin()])
    DirtyNode.objects.all().delete()
    for ready in range(5):
        step = plugin()
        step.status = DaemonSetStatus(numberReady=ready, desiredNumberScheduled=5)
        step.metadata.annotations = {"deprecated.daemonset.template.generation": str(ready)}
        step.metadata.resourceVersion = str(100 + ready)
        assert sets.apply([("MODIFIED", step, None)]) == 0
    assert dirty() == []


def test_a_plugin_that_becomes_another_marks_the_nodes_of_its_old_stack_too(store: MakeStore) -> None:
    sets = store("daemonsets")
    replace(sets, [plugin()])
    DirtyNode.objects.all().delete()
    other = plugin()
    labels = {"app": "device-plugin-mcdm"}
    assert other.spec is not None
    assert other.spec.template is not None
    other.metadata.labels = other.spec.template.metadata.labels = labels
    sets.apply([("MODIFIED", other, None)])
    assert set(DirtyNode.objects.values_list("stack", flat=True)) == {
        "gpushare",
        "directx-tensorworks",
        CLUSTER_SOFTWARE,
    }


def test_the_first_list_marks_nothing(fresh: Cluster) -> None:
    from inventory.mirror.kinds import KINDS

    first: Store[Any] = Store(fresh.id, KINDS["pods"], tells_reconciler=False)
    replace(first, [pod("a")])
    assert (names(), dirty()) == (["a"], [])


def test_a_pod_that_loses_its_gpu_is_dropped(store: MakeStore) -> None:
    pods = store("pods")
    replace(pods, [pod("a"), pod("b")])
    assert replace(pods, [pod("a"), pod("b", cards=0)]) == 1
    assert names() == ["a"]


def test_two_objects_of_one_uid_are_one_row_and_stop_nothing(store: MakeStore) -> None:
    replace(store("pods"), [pod("a"), pod("twin", uid="uid-a")], [pod("third", uid="uid-a")])
    assert names() == ["third"]


def test_a_node_that_comes_again_under_its_name_is_the_same_row(store: MakeStore) -> None:
    nodes = store("nodes")
    replace(nodes, [node("gpu-1")])
    first = Node.objects.get()
    replace(nodes, [node("gpu-1", uid="another")])
    again = Node.objects.get()
    assert (again.id, again.uid) == (first.id, "another")


def test_another_cluster_of_the_same_names_is_left_alone(store: MakeStore, cluster: Cluster) -> None:
    from inventory.mirror.kinds import KINDS

    other: Store[Any] = Store(cluster.id, KINDS["pods"])
    replace(other, [pod("a"), pod("b")])
    replace(store("pods"), [pod("a")])
    replace(store("pods"), [])
    assert PodRow.objects.filter(cluster=cluster).count() == 2


# Unreadable objects.


def test_an_unreadable_object_is_kept_by_name_and_its_last_row_stays(store: MakeStore) -> None:
    pods = store("pods")
    replace(pods, [pod("a"), pod("b")])
    replace(pods, [pod("a")], strange=(unread("b", "uid-b"),))
    assert names() == ["a", "b"]
    kept = Unreadable.objects.get()
    assert (kept.kind, kept.namespace, kept.name, kept.error) == ("pods", "team-a", "b", "spec: expected object")


def test_an_unreadable_object_whose_uid_cannot_be_read_keeps_its_row_too(store: MakeStore) -> None:
    pods = store("pods")
    replace(pods, [pod("a"), pod("b"), pod("c")])
    replace(pods, [pod("a")], strange=(unread("b"),))
    assert names() == ["a", "b"]


def test_a_node_that_cannot_be_read_keeps_its_row(store: MakeStore) -> None:
    nodes = store("nodes")
    replace(nodes, [node("gpu-1"), node("gpu-2")])
    replace(nodes, [node("gpu-1")], strange=(unread("gpu-2", namespace=""),))
    assert sorted(Node.objects.values_list("name", flat=True)) == ["gpu-1", "gpu-2"]


def test_an_object_that_is_readable_again_is_no_longer_unreadable(store: MakeStore) -> None:
    pods = store("pods")
    replace(pods, [], strange=(unread("a"), unread("b")))
    replace(store("pods"), [pod("a")], strange=(unread("b"),))
    assert list(Unreadable.objects.values_list("name", flat=True)) == ["b"]


def test_a_list_that_is_broken_off_and_begun_again_forgets_no_unreadable_object(store: MakeStore) -> None:
    pods = store("pods")
    replace(pods, [], strange=(unread("a"), unread("b")))
    pods.begin_replace()
    pods.add_page([pod("x")], [])
    replace(pods, [pod("a")])
    assert Unreadable.objects.count() == 0


def test_strange_objects_count_as_seen(store: MakeStore) -> None:
    pods = store("pods")
    replace(pods, [pod("a")], strange=(unread("b"), unread("b"), unread("")))
    assert pods.seen == 4
    assert sorted(Unreadable.objects.values_list("name", flat=True)) == ["", "b"]


def test_an_object_of_which_no_row_can_be_made_is_unreadable_and_hides_nobody(store: MakeStore) -> None:
    pods = store("pods")
    replace(pods, [pod("a"), pod("b")])

    def strange_row(thing: listed.Pod, context: Any) -> Any:
        if thing.metadata.name == "b":
            raise OverflowError("too large")
        return kind.row(thing, context)

    kind = pods.kind
    pods.kind = msgspec.structs.replace(kind, row=strange_row)
    replace(pods, [pod("a", cards=2), pod("b"), pod("c")])
    assert names() == ["a", "b", "c"]
    assert "too large" in Unreadable.objects.get(name="b").error


#: What was a whole pod's to read is read only of a pod of interest: where it does not decode.
BROKEN = {
    "env is text": (b'"resources"', b'"env":"x","resources"'),
    "a variable is null": (b'"resources"', b'"env":[null],"resources"'),
    "a value is a number": (b'"resources"', b'"env":[{"name":"A","value":1}],"resources"'),
    "env that is not UTF-8": (b'"resources"', b'"env":[{"name":"A","value":"\xff"}],"resources"'),
    "status is a list": (b'"status"', b'"status":[],"x"'),
    "phase is a number": (b'"phase": "Running"', b'"phase": 7'),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_pod_of_interest_of_which_a_part_does_not_decode_is_unreadable_and_its_last_row_stays(
    store: MakeStore, change: tuple[bytes, bytes]
) -> None:
    pods = store("pods")
    replace(pods, [pod("a"), pod("b")])
    before = PodRow.objects.get(name="b").digest
    broken = Decoder(listed.Pod).object(json.dumps(pod_json("b", cards=2)).encode().replace(*change))
    assert isinstance(broken, listed.Pod)
    replace(pods, [pod("a", cards=2), broken, pod("c")])
    assert names() == ["a", "b", "c"]
    assert PodRow.objects.get(name="b").digest == before
    assert Unreadable.objects.get().error.startswith(("env of the container main: ", "status: "))
    pods.apply([("MODIFIED", broken, None), ("MODIFIED", pod("b", cards=2), None)])
    assert not Unreadable.objects.exists()
    pods.apply([("MODIFIED", broken, None)])
    assert Unreadable.objects.get().name == "b"


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN)
def test_a_pod_of_no_interest_is_none_whatever_else_it_holds(store: MakeStore, change: tuple[bytes, bytes]) -> None:
    pods = store("pods")
    thing = Decoder(listed.Pod).object(json.dumps(pod_json("b", cards=0)).encode().replace(*change))
    replace(pods, [thing])
    assert (names(), Unreadable.objects.count(), pods.seen) == ([], 0, 1)


# Hostile text.

HOSTILE = {
    "nul in an annotation": {"annotations": {"ALIYUN_COM_GPU_MEM_IDX": "1\0"}},
    "text that looks like an escaped nul": {"annotations": {"ALIYUN_COM_GPU_MEM_DEV": '{"a":"\\u0000\\\\u0000"}'}},
    "the escape of nul as text": {"annotations": {"ALIYUN_COM_GPU_MEM_DEV": '{"a":"\\u0000"}'}},
    "nul in the name": {"name": "na\0me"},
    "nul in the namespace": {"namespace": "\0"},
    "a name of 5000 characters": {"name": "n" * 5000},
    "a uid of 5000 characters": {"uid": "u" * 5000},
    "a namespace of 5000 characters": {"namespace": "x" * 5000},
    "an annotation of a megabyte": {"annotations": {"ALIYUN_COM_GPU_MEM_DEV": "x" * 2**20}},
    "a time that is none": {"creationTimestamp": "yesterday"},
    "a time before the calendar": {"creationTimestamp": "0001-01-01T00:00:00+14:00"},
    "a time after the calendar": {"deletionTimestamp": "9999-12-31T23:59:59-14:00"},
    "owners of 5000 characters": {"ownerReferences": [{"kind": "K" * 5000, "name": "n\0" * 5000, "controller": True}]},
    "every character": {"name": "".join(map(chr, range(1, 300)))},
}


@pytest.mark.parametrize("metadata", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_stored_and_can_be_read_back(store: MakeStore, metadata: dict[str, Any]) -> None:
    replace(store("pods"), [pod("good"), pod("strange", **metadata)])
    assert PodRow.objects.count() == 2
    assert replace(store("pods"), [pod("good"), pod("strange", **metadata)]) == 0
    for facts in PodRow.objects.values_list("facts", flat=True):
        assert "\0" not in facts
        assert "\0" not in str(msgspec.json.decode(facts, type=objects.Pod).metadata)


@pytest.mark.parametrize("value", ["\\u0000", "\\\\u0000", "a\\u0000b", '{"a":"\\u0000"}', "\\\\\\u0000"])
def test_text_that_only_looks_like_a_nul_is_kept_as_it_is(store: MakeStore, value: str) -> None:
    replace(store("pods"), [pod("a", annotations={"ALIYUN_COM_GPU_MEM_DEV": value})])
    facts = msgspec.json.decode(PodRow.objects.get().facts, type=objects.Pod)
    assert facts.metadata.annotations == {"ALIYUN_COM_GPU_MEM_DEV": value}


def test_a_hostile_resource_name_is_stored(store: MakeStore) -> None:
    strange = pod("strange")
    assert strange.spec is not None
    assert strange.spec.containers is not None
    resources = strange.spec.containers[0].resources
    assert resources is not None
    resources.limits = {"nvidia.com/gpu": "1", "nvidia.com/gpu\0": "2", "nvidia.com/" + "g" * 5000: "9" * 30}
    replace(store("pods"), [strange])
    assert "\0" not in str(PodRow.objects.get().requests)
