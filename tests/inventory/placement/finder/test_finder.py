"""What keeps pods off nodes, whatever they ask for; what is asked for, as it is typed; and how many queries that takes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.models import Allocation, Card, Cluster, Node, NodeTotals, Watch
from inventory.pieces import OneCard, unpacked
from inventory.placement.finder import nodes
from inventory.placement.finder.finder import Found, Taking, find, rank
from inventory.placement.finder.request import WAYS, BadRequest, Request, Toleration, read
from inventory.placement.finder.rows import Figures
from inventory.placement.finder.words import NOTES, REASONS
from inventory.queries.free import free_cards
from kube import objects as kube
from runtime.scope import Scope, seeing
from stacks.engine import fitting
from stacks.engine.fitting import Answer
from tests.factories import GIB, MIB, make_cluster, make_fleet, make_node
from tests.factories.batch import make_case

pytestmark = pytest.mark.django_db
TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}


def say(name: str, **facts: Any) -> None:
    """Have a node say something else of itself. facts: parts of its object."""
    row = Node.objects.get(name=name)
    found = msgspec.json.decode(row.facts)
    for part, value in facts.items():
        found[part] = found.get(part, {}) | value
    Node.objects.filter(pk=row.pk).update(facts=msgspec.json.encode(found).decode())


def change(node: str, number: int = 0, model: str | None = None, **piece: Any) -> None:
    """Have the finder read something else of a card."""
    totals = NodeTotals.objects.get(node_name=node)
    found = unpacked(totals.pieces)
    assert found is not None
    card = found.cards[number]
    found.cards[number] = OneCard(
        msgspec.structs.replace(card.piece, **piece), card.stack, card.model if model is None else model
    )
    NodeTotals.objects.filter(pk=totals.pk).update(pieces=msgspec.json.encode(found).decode())


def whys(found: Found) -> dict[str, tuple[str, str]]:
    return {one.node: (one.code, one.about) for one in found.refusing}


def taking(found: Found) -> list[str]:
    return [one.node for one in found.taking]


def test_no_node_is_offered_that_a_pod_would_not_be_scheduled_on(cluster: Cluster) -> None:
    for name in ("good", "cordoned", "tainted", "soft", "uncounted", "strange"):
        make_node(cluster, name, "nvidia", 2, loads=(0.0,))
    make_node(cluster, "down", "nvidia", 2, loads=(0.0,), ready=False)
    make_node(cluster, "silent", "nvidia", 2, loads=(0.0,), ready=None)
    Node.objects.filter(name="cordoned").update(unschedulable=True)
    say("tainted", spec={"taints": [TAINT]})
    say("soft", spec={"taints": [TAINT | {"effect": "PreferNoSchedule"}]})
    NodeTotals.objects.filter(node_name="uncounted").delete()
    Node.objects.filter(name="strange").update(facts="{")
    found = find(Request(cards=2))
    assert taking(found) == ["good", "soft"]
    assert whys(found) == {
        "cordoned": ("cordoned", ""),
        "tainted": ("taint", "nvidia.com/gpu=present:NoSchedule"),
        "uncounted": ("not-counted", ""),
        "strange": ("node-unknown", ""),
        "down": ("not-ready", ""),
        "silent": ("readiness-unknown", ""),
    }
    assert {one.code: one.nodes for one in found.reasons} == {code: 1 for code, _about in whys(found).values()}


@pytest.mark.parametrize("text", ["", "["])
def test_a_node_whose_cards_cannot_be_read_is_not_counted(cluster: Cluster, text: str) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(0.0,))
    NodeTotals.objects.update(pieces=text)
    assert whys(find(Request())) == {"a": ("not-counted", "")}


@pytest.mark.parametrize(
    ("typed", "takes"),
    [
        ("nvidia.com/gpu", True),
        ("nvidia.com/gpu:NoSchedule", True),
        ("nvidia.com/gpu=present", True),
        ("nvidia.com/gpu=present:NoSchedule", True),
        ("*", True),
        ("nvidia.com/gpu=other", False),
        ("nvidia.com/gpu:NoExecute", False),
        ("another", False),
    ],
)
def test_a_taint_is_tolerated_as_kubernetes_has_it(cluster: Cluster, typed: str, takes: bool) -> None:
    make_node(cluster, "tainted", "nvidia", 1, loads=(0.0,))
    say("tainted", spec={"taints": [TAINT]})
    assert taking(find(read({"tolerate": [typed]}))) == (["tainted"] if takes else [])


def test_labels_choose_nodes_and_one_that_is_not_mirrored_is_not_known(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(0.0,))
    asked = "topology.kubernetes.io/zone=zone-a"
    assert taking(find(read({"selector": [asked]}))) == ["a"]
    assert whys(find(read({"selector": ["topology.kubernetes.io/zone=zone-b"]}))) == {
        "a": ("selector", "topology.kubernetes.io/zone=zone-b")
    }
    assert whys(find(read({"selector": ["team=blue"]}))) == {"a": ("selector", "team=blue")}
    dropped = "feature.node.kubernetes.io/cpu-cpuid.AVX2=true"
    assert whys(find(read({"selector": [dropped]}))) == {"a": ("selector-unknown", dropped)}


@pytest.mark.parametrize(
    "changes",
    [
        {"expires_at": None},
        {"last_event_at": timezone.now() - timedelta(minutes=10)},
        {"synced_at": None},
        {"state": "refused"},
    ],
)
def test_a_cluster_that_is_not_in_step_has_no_room(cluster: Cluster, changes: dict[str, Any]) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(0.0,))
    assert taking(find(Request())) == ["a"]
    Watch.objects.filter(kind="nodes").update(**changes)
    found = find(Request())
    assert (taking(found), whys(found)) == ([], {"a": ("stale-cluster", "")})


def test_unhealthy_cards_are_not_offered(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 2, loads=(0.0,))
    make_node(cluster, "b", "gpushare", 1, loads=(0.0,))
    change("a", healthy=False)
    change("b", healthy=False, free=0)
    assert whys(find(Request(cards=2, stacks=("nvidia",))))["a"] == ("unhealthy-cards", "")
    [one] = find(Request(cards=1, stacks=("nvidia",))).taking
    assert [card.piece.healthy for card in one.cards] == [True]
    assert one.answer.notes == ("may-be-unhealthy",)
    assert whys(find(Request(memory=GIB, stacks=("gpushare",))))["b"] == ("unhealthy-cards", "")


def test_what_is_free_is_what_the_overview_and_the_lists_call_free(cluster: Cluster) -> None:
    """One definition of a free card: those that take a whole card are those with the state free."""
    make_node(cluster, "a", "nvidia", 8)
    make_node(cluster, "b", "nvidia-count", 8)
    found = {one.node: one for one in find(Request()).taking}
    assert {card.piece.id for card in found["a"].cards} == set(
        Card.objects.filter(node_name="a", state="free").values_list("pk", flat=True)
    )
    assert free_cards().named == len(found["a"].cards)
    assert found["b"].answer.notes == ("card-not-known",)
    free = NodeTotals.objects.get(node_name="b").cards_free or 0
    assert free == free_cards().unidentified
    assert "b" in taking(find(Request(cards=free)))
    assert "b" not in taking(find(Request(cards=free + 1)))


def test_the_tightest_node_comes_first_and_what_is_not_certain_last(cluster: Cluster) -> None:
    make_node(cluster, "wide", "gpushare", 2, loads=(0.0,))
    make_node(cluster, "tight", "gpushare", 2, loads=(0.4,))
    make_node(cluster, "vague", "nvidia-count", 2, loads=(0.0, 1.0))
    assert taking(find(Request(memory=4 * GIB))) == ["tight", "wide", "vague"]


def answer(node: str, notes: tuple[str, ...] = (), gap: int | None = 40, free: int | None = 2, **more: Any) -> Taking:
    figures = Figures((), 0, "", "", 8, free, None, gap, None, None)
    return Taking("prod", node, next(iter(WAYS.values())), Answer(notes=notes, **more), (), figures, kube.Node())


def test_equal_accelerators_come_first_then_what_is_certain_then_the_tightest() -> None:
    wanted = [
        answer("tight", gap=24),
        answer("fewer-free", free=2),
        answer("name-a", free=3),
        answer("name-b", free=3),
        answer("no-count", free=None),
        answer("no-gap", gap=None),
        answer("vague", ("card-not-known",), gap=1),
        answer("maybe-sick", ("may-be-unhealthy",), gap=30),
        answer("slices", gap=1, parts=True),
        answer("slices-vague", ("card-not-known",), gap=1, parts=True),
        answer("npu", gap=1, npu=True),
        answer("npu-slices", gap=1, npu=True, parts=True),
    ]
    several = Request(cards=2)
    assert sorted(wanted[::2] + wanted[1::2], key=lambda one: rank(one, several)) == wanted
    single = sorted(wanted, key=lambda one: rank(one, Request()))
    assert [one.node for one in single][:3] == ["slices", "tight", "fewer-free"]
    assert [one.node for one in single][-2:] == ["npu", "npu-slices"]


@pytest.mark.parametrize(
    ("case", "asked", "npu", "parts"),
    [
        ("nvidia-idle", Request(), False, False),
        ("mig-mixed-labels-stale", Request(), False, True),
        ("ascend-device-info", Request(), True, False),
        ("hami-ascend", Request(memory=GIB), True, False),
        ("hami-7-fields", Request(memory=GIB), False, False),
        ("amd-partitions-mixed", Request(), False, True),
        ("dra-amd-partitions", Request(), False, True),
        ("enflame-whole", Request(), True, False),
        ("cambricon-whole", Request(), True, False),
    ],
)
def test_what_is_no_gpu_or_a_part_of_a_card_is_known(case: str, asked: Request, npu: bool, parts: bool) -> None:
    make_case(make_cluster("case"), case, ready=True)
    [one] = find(asked).taking
    assert (one.answer.npu, one.answer.parts) == (npu, parts)


def test_a_node_that_lacks_cpu_or_memory_is_refused_and_one_that_does_not_say_is_noted(cluster: Cluster) -> None:
    for name in ("roomy", "full", "silent"):
        make_node(cluster, name, "nvidia", 2, loads=(0.0, 1.0))
    NodeTotals.objects.filter(node_name="full").update(cpu_free_millis=7_999, host_memory_free_bytes=GIB)
    NodeTotals.objects.filter(node_name="silent").update(cpu_free_millis=None)
    found = find(read({"cpu": ["8"], "host_memory": ["1"]}))
    assert taking(found) == ["roomy", "silent"]
    assert whys(found) == {"full": ("little-cpu", "")}
    assert {one.node: one.notes for one in found.taking} == {"roomy": (), "silent": ("host-unknown",)}
    assert whys(find(read({"host_memory": ["1025 MiB"]}))) == {"full": ("little-host-memory", "")}
    assert whys(find(Request())) == {}
    assert {one.figures.cpu_free for one in found.taking} == {96_000 - 1500, None}


def test_the_model_is_asked_for_by_a_part_of_its_name(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(0.0,))
    make_node(cluster, "t", "gpushare", 1, loads=(0.0,))
    assert taking(find(read({"model": ["a100"]}))) == ["a"]
    assert whys(find(read({"model": ["a100"]}))) == {"t": ("other-model", "")}
    NodeTotals.objects.update(model="")
    for node in ("a", "t"):
        change(node, model="")
    assert set(whys(find(read({"model": ["a100"]}))).values()) == {("model-unknown", "")}


@pytest.mark.parametrize(
    ("typed", "size"),
    [
        ("20", 20 * GIB),
        ("20 GiB", 20 * GIB),
        ("20gib", 20 * GIB),
        ("20000 MiB", 20000 * MIB),
        ("20Gi", 20 * GIB),
        ("7,5", 15 * GIB // 2),
        ("20 GB", 20 * 10**9),
        ("16384", 16384 * GIB),
    ],
)
def test_an_amount_without_a_unit_is_gib(typed: str, size: int) -> None:
    assert read({"memory": [typed]}).memory == size


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("memory", text) for text in ("a lot", "-1", "0", "21474836480", "1e400", "20 QiB", "9" * 50)),
        *(("cpu", text) for text in ("0", "-1", "many", "1e9")),
        *(("host_memory", text) for text in ("much", "0")),
        *(("cards", text) for text in ("0", "-1", "1.5", "x", "1025", "١")),
        *(("tolerate", text) for text in ("=a", "a:Never", "a=b=c", "a b\0")),
        *(("selector", text) for text in ("zone", "=a", "a=b=c")),
        ("stack", "abacus"),
        ("model", "x" * 600),
    ],
)
def test_what_makes_no_sense_is_refused_by_its_name(name: str, text: str) -> None:
    with pytest.raises(BadRequest) as refused:
        read({name: [text]})
    assert list(refused.value.errors) == [name]


def test_a_request_is_read_whole() -> None:
    given = {"cards": ["2"], "memory": [""], "stack": ["hami", "gpushare"], "tolerate": ["a=b:NoExecute, *"]}
    found = read(given | {"selector": ["zone=a"], "model": [" H100 "], "cluster": ["prod"]})
    assert found == Request(
        cards=2,
        stacks=("hami", "gpushare"),
        models=("h100",),
        tolerations=(Toleration("a", "b", "NoExecute"), Toleration("*")),
        selector=(("zone", "a"),),
        clusters=("prod",),
    )


def test_clusters_are_chosen_by_name(cluster: Cluster) -> None:
    make_node(cluster, "a", "nvidia", 1, loads=(0.0,))
    make_node(make_cluster("far"), "b", "nvidia", 1, loads=(0.0,))
    assert taking(find(Request(clusters=("far",)))) == ["b"]
    with pytest.raises(BadRequest, match="There is no cluster 'nowhere'"):
        find(Request(clusters=("nowhere",)))


def test_who_sees_one_namespace_sees_the_same_room(cluster: Cluster) -> None:
    make_node(cluster, "a", "gpushare", 4)
    make_node(cluster, "b", "nvidia-count", 4)
    asked = Request(memory=4 * GIB)
    whole = find(asked)
    with seeing(Scope(frozenset(), frozenset({(cluster.pk, "nobody")}))):
        assert not Allocation.objects.exists()
        assert find(asked) == whole
    with seeing(Scope(frozenset(), frozenset())):
        assert find(asked).nodes == 0


def test_every_reason_and_note_has_its_words() -> None:
    assert set(REASONS) == {*nodes.REASONS, *fitting.REASONS}
    assert set(NOTES) == {*fitting.NOTES, nodes.HOST_UNKNOWN}


def test_the_number_of_queries_does_not_grow_with_the_cluster() -> None:
    def count(nodes: int) -> int:
        cluster = make_cluster("prod")
        make_fleet(cluster, nodes=nodes, cards=4, pending=2)
        with CaptureQueriesContext(connection) as queries:
            assert find(Request(cards=2, memory=GIB)).nodes == nodes
        cluster.delete()
        return len(queries)

    assert count(7) == count(150) <= 9
