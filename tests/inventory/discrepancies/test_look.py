"""From promises and measurements to findings, through the looks and the node reconciler."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from inventory.models import Card, CardUsage, Discrepancy, Finding, IdleLook, NodeTotals, UsageSource
from inventory.models import Pod as PodRow
from tests.factories import GIB, MIB, make_node
from tests.factories.usage import hours_ago, measure, source_of
from tests.inventory.discrepancies.conftest import Watched, busy
from tests.inventory.reconcile.objects import whole_node, whole_pod

pytestmark = pytest.mark.django_db

ONE, TWO = "GPU-aaaaaaaa-0000-0000-0000-000000000000", "GPU-bbbbbbbb-0000-0000-0000-000000000000"


@pytest.fixture
def whole(watched: Watched) -> Watched:
    """Two nodes with two cards each; pods hold the first card of each."""
    uuids = {"gpu-1": (ONE, TWO), "gpu-2": (ONE.replace("a", "c"), TWO.replace("b", "d"))}
    for name, (first, second) in uuids.items():
        watched.fleet.put("nodes", whole_node(name))
        watched.fleet.put(
            "pods", whole_pod(f"train-{name}", name, (first,)), whole_pod(f"seen-{name}", name, (second,))
        )
    watched.fleet.reconcile()
    for name in uuids:
        watched.fleet.drop("pods", whole_pod(f"seen-{name}", name))
    watched.fleet.reconcile()
    assert set(Card.objects.values_list("state", flat=True)) == {"full", "free"}
    return watched


def use(card: Card, memory: int | None) -> None:
    CardUsage.objects.filter(card=card).update(memory_used_bytes=memory)


def totals(name: str = "gpu-1") -> NodeTotals:
    return NodeTotals.objects.get(node_name=name)


class TestMoreThanGiven:
    def test_it_is_told_after_rounds_counted_at_the_node_and_ends(self, shared: Watched) -> None:
        card = Card.objects.get()
        busy(card, memory_used_bytes=15 * GIB, memory_measured_bytes=15 * GIB)
        shared.minutes(5)
        assert shared.told() == {}
        shared.minutes(1)
        text = shared.told()["uses-more-than-allocated"]
        assert "15 GiB in use on card 0, 12 GiB allocated to team-a/a, team-a/b" in text
        assert "is not isolated" in text
        finding = Finding.objects.get(code="uses-more-than-allocated")
        assert (finding.severity, finding.card_key, finding.node_name) == ("warning", card.key, "gpu-1")
        assert (totals().findings_count, totals().worst_severity) == (1, "warning")
        card.refresh_from_db()
        assert card.worst_severity == "warning"
        use(card, 12 * GIB)
        shared.minutes(1)
        assert shared.told() == {}
        finding.refresh_from_db()
        assert finding.ended_at is not None
        assert totals().findings_count == 0

    def test_the_pod_that_does_is_named(self, shared: Watched) -> None:
        entry = {"namespace": "team-a", "container": "main", "uid": "", "of_pod": False, "format": "hami-monitor"}
        busy(Card.objects.get(), holders=[entry | {"pod": "b", "memory": 9 * GIB}], memory_used_bytes=10 * GIB)
        shared.minutes(6)
        finding = Finding.objects.get(code="uses-more-than-allocated")
        assert finding.pod == "team-a/b"
        assert "team-a/b uses 9 GiB on card 0, 6 GiB allocated" in finding.text

    def test_noise_writes_nothing(self, shared: Watched) -> None:
        card = Card.objects.get()
        busy(card, memory_used_bytes=15 * GIB)
        shared.minutes(6)
        before = list(Finding.objects.values())
        for used in (15 * GIB - 200 * MIB, 15 * GIB + 200 * MIB):
            use(card, used)
            shared.minutes(1)
        assert list(Finding.objects.values()) == before


class TestUsedByNobody:
    def free(self) -> Card:
        return Card.objects.get(uuid=TWO)

    def test_it_is_told_and_names_whom_the_exporter_names(self, whole: Watched) -> None:
        entry = {"namespace": "team-a", "pod": "gone", "container": "main", "uid": "", "memory": None, "of_pod": False}
        busy(self.free(), memory_used_bytes=8 * GIB, holders=[entry | {"format": "dcgm-exporter"}])
        whole.minutes(6)
        assert "8 GiB in use on card" in whole.told()["unallocated-memory-in-use"]
        assert "The exporter reports team-a/gone on it" in whole.told()["unallocated-memory-in-use"]
        # A pod that is recorded on it ends it.
        whole.fleet.put("pods", whole_pod("late", "gpu-1", (TWO,)))
        whole.fleet.reconcile()
        whole.minutes(1)
        assert "unallocated-memory-in-use" not in whole.told()

    def test_a_part_of_an_operator_may_use_it(self, whole: Watched) -> None:
        entry = {
            "namespace": "gpu-operator",
            "pod": "diag",
            "container": "",
            "uid": "",
            "memory": None,
            "of_pod": False,
        }
        PodRow.objects.create(
            cluster=whole.fleet.cluster,
            namespace="gpu-operator",
            name="diag",
            uid="diag",
            facts="{}",
            digest=0,
            component="dcgm",
        )
        busy(self.free(), memory_used_bytes=8 * GIB, holders=[entry | {"format": "dcgm-exporter"}])
        whole.minutes(8)
        assert "unallocated-memory-in-use" not in whole.told()

    def test_while_the_mirror_is_behind_nothing_is_said(self, whole: Watched, in_step: Callable[[bool], None]) -> None:
        busy(self.free(), memory_used_bytes=8 * GIB)
        in_step(False)
        whole.minutes(10)
        assert whole.told() == {}
        in_step(True)
        whole.minutes(6)
        assert "unallocated-memory-in-use" in whole.told()
        # What was said stays for a while, and no longer.
        in_step(False)
        whole.minutes(4)
        assert "unallocated-memory-in-use" in whole.told()
        whole.minutes(4)
        assert whole.told() == {}

    def test_a_pod_without_a_card_may_be_on_it(self, whole: Watched) -> None:
        busy(self.free(), memory_used_bytes=8 * GIB)
        whole.fleet.put("pods", whole_pod("somewhere", "gpu-1"))
        whole.fleet.reconcile()
        whole.minutes(8)
        assert "unallocated-memory-in-use" not in whole.told()

    def test_one_missed_round_ends_nothing(self, whole: Watched) -> None:
        row = busy(self.free(), memory_used_bytes=8 * GIB)
        whole.minutes(6)
        CardUsage.objects.filter(pk=row.pk).update(lost_at=Now(), memory_used_bytes=None)
        whole.minutes(1)
        CardUsage.objects.filter(pk=row.pk).update(lost_at=None, memory_used_bytes=8 * GIB)
        whole.minutes(1)
        assert Finding.objects.filter(code="unallocated-memory-in-use", ended_at=None).count() == 1
        assert Finding.objects.filter(code="unallocated-memory-in-use").count() == 1


class TestExporters:
    def measured(self, *names: str) -> None:
        for card in Card.objects.filter(node_name__in=names):
            busy(card)

    def test_a_node_that_was_measured_and_is_no_more(self, whole: Watched) -> None:
        self.measured("gpu-1", "gpu-2")
        whole.minutes(1)
        CardUsage.objects.filter(node_name="gpu-1").update(lost_at=Now(), memory_used_bytes=None)
        whole.minutes(3)
        assert whole.told() == {}
        whole.minutes(3)
        assert "no longer reports 2 of 2 cards of this node" in whole.told()["exporter-silent"]
        assert Finding.objects.filter(code="exporter-silent").count() == 1
        CardUsage.objects.filter(node_name="gpu-1").update(lost_at=None)
        whole.minutes(1)
        assert whole.told() == {}

    def test_a_node_that_is_not_ready_or_gone_is_said_so_alone(self, whole: Watched) -> None:
        self.measured("gpu-1", "gpu-2")
        CardUsage.objects.filter(node_name="gpu-1").update(lost_at=Now(), memory_used_bytes=None)
        node = whole_node("gpu-1")
        assert node.status is not None
        node.status.conditions[0].status = "Unknown"
        whole.fleet.put("nodes", node)
        whole.minutes(8)
        assert whole.told() == {}
        whole.fleet.drop("nodes", node)
        whole.minutes(8)
        assert whole.told() == {}

    def test_a_node_that_was_never_measured(self, whole: Watched) -> None:
        self.measured("gpu-2")
        whole.minutes(15)
        assert whole.told() == {}
        whole.minutes(1)
        assert (
            "reported a card of this node (2 in total). Other cards of the cluster with metrics: 2"
            in whole.told()["exporter-missing"]
        )
        self.measured("gpu-1")
        whole.minutes(1)
        assert whole.told() == {}

    def test_a_source_that_is_down_is_one_finding_of_the_cluster(self, whole: Watched) -> None:
        self.measured("gpu-1", "gpu-2")
        whole.minutes(1)
        UsageSource.objects.update(state="backing-off", reason="http://p was not reached", trouble_since=Now())
        UsageSource.objects.update(due_at=Now() + timedelta(hours=1))
        whole.minutes(4, rounds=False)
        assert whole.told() == {}
        CardUsage.objects.update(lost_at=Now(), memory_used_bytes=None)
        whole.minutes(8, rounds=False)
        [finding] = Finding.objects.all()
        assert (finding.code, finding.node_name, finding.severity) == ("exporters-not-read", "", "warning")
        assert "exporters of this cluster: http://p was not reached. The last complete round was at" in finding.text
        UsageSource.objects.update(state="reading", reason="", trouble_since=None, round_at=Now())
        CardUsage.objects.update(lost_at=None)
        whole.minutes(1)
        assert whole.told() == {}

    def test_when_no_worker_reads_it_is_said_since_when(self, whole: Watched) -> None:
        self.measured("gpu-1")
        UsageSource.objects.update(due_at=Now())
        whole.minutes(8, rounds=False)
        assert (
            "The exporters of this cluster are not being read. A round has been overdue since"
            in whole.told()["exporters-not-read"]
        )

    def test_rounds_that_measure_nothing_are_said_of_the_cluster(self, whole: Watched) -> None:
        source = source_of(whole.fleet.cluster)
        UsageSource.objects.filter(pk=source.pk).update(cards_unmatched=4)
        whole.minutes(7)
        assert whole.told().keys() == {"exporters-not-read"}
        text = whole.told()["exporters-not-read"]
        assert "none of the 4 cards of this cluster (cards unknown to gpudash: 4)" in text

    def test_most_nodes_are_told_as_one(self, watched: Watched) -> None:
        for number in range(30):
            make_node(watched.fleet.cluster, f"gpu-{number}", "nvidia", 1)
        busy(Card.objects.get(node_name="gpu-0"))
        watched.minutes(7)
        [finding] = Finding.objects.filter(code="exporter-missing")
        assert finding.node_name == ""
        assert "29 of 30 nodes with cards have no card that an exporter has ever reported" in finding.text

    def test_numbers_that_disagree_are_both_named(self, whole: Watched) -> None:
        self.measured("gpu-1", "gpu-2")
        CardUsage.objects.filter(card__uuid=ONE).update(memory_measured_bytes=40 * GIB)
        CardUsage.objects.filter(card__uuid=TWO).delete()
        whole.minutes(16)
        assert whole.told().keys() == {"card-memory-differs", "exporter-card-count-differs"}
        assert "Cards of this node: 1 in the exporter, 2 in gpudash" in whole.told()["exporter-card-count-differs"]
        assert (
            "22.49 GiB in the records of the cluster, but 40 GiB in its exporter" in whole.told()["card-memory-differs"]
        )


class TestIdle:
    def test_what_the_idle_rule_says_is_one_for_the_node(self, whole: Watched) -> None:
        hours_ago(3)
        for card in Card.objects.filter(node_name="gpu-1"):
            measure(card, memory_used_bytes=GIB, uuid=card.uuid)
        whole.minutes(1)
        [finding] = Finding.objects.filter(code="idle-allocation")
        assert (finding.severity, finding.node_name, finding.card_key) == ("info", "gpu-1", "")
        assert "Idle allocations on this node: 1. team-a/train-gpu-1" in finding.text
        assert totals().worst_severity == "info"
        before = finding.text
        whole.minutes(3)
        finding.refresh_from_db()
        assert finding.ended_at is None
        assert Finding.objects.count() == 1
        assert "idle since" in before
        CardUsage.objects.update(activity_ratio=0.9, active_at=Now(), written_at=Now())
        whole.minutes(1)
        assert whole.told() == {}


def test_when_exporters_are_read_no_more_nothing_is_left(shared: Watched) -> None:
    busy(Card.objects.get(), memory_used_bytes=15 * GIB)
    shared.minutes(6)
    assert shared.told()
    UsageSource.objects.all().delete()
    shared.look()
    assert not Discrepancy.objects.exists()
    assert not Finding.objects.filter(ended_at=None).exists()


def test_a_pause_of_the_looks_begins_anew(shared: Watched) -> None:
    busy(Card.objects.get(), memory_used_bytes=15 * GIB)
    shared.minutes(3)
    assert Discrepancy.objects.filter(told=False).exists()
    IdleLook.objects.update(findings_at=Now() - timedelta(minutes=6))
    Discrepancy.objects.update(first_at=Now() - timedelta(hours=1))
    shared.minutes(1)
    assert shared.told() == {}
    shared.minutes(5)
    assert shared.told()
