"""What a result is compared with, read again, and remembered as the proof of a card."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from api.validations import metrics
from inventory.models import Allocation, Card, Cluster, Node, NodeTotals
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, codes, launched, passed_by
from validations import baseline, validity, validity_counts
from validations.models import LastResult, Measurement, Reparse, Run
from validations.reparse import NotEnded, reparse
from validations.requests import request_again
from validations.suites import registry

NBODY = b"""> Compute 8.0 CUDA device: [NVIDIA A100]
number of bodies = 256000
256000 bodies, total time for 10 iterations: %s ms
= 272.166 billion interactions per second
= %s single-precision GFLOP/s at 20 flops per interaction
"""


SMI = b"index, uuid, name, memory.total [MiB]\n0, GPU-one-0, NVIDIA A100, 81920 MiB\n"


def nbody(time_ms: float, gflops: float) -> bytes:
    return NBODY % (f"{time_ms:.3f}".encode(), f"{gflops:.3f}".encode())


@pytest.fixture
def single(prod: Cluster) -> Cluster:
    """Besides, two nodes of one card each, so that a run is sure of its card."""
    make_node(prod, "one", "nvidia", 1, loads=(0.0,))
    make_node(prod, "two", "nvidia", 1, loads=(0.0,))
    return prod


@pytest.fixture
def ended(single: Cluster, fake: FakeCluster, settings: Any) -> Callable[..., Run]:
    settings.ALLOWED_IMAGES = ["suites", "example.org/*"]

    def make(log: bytes, exit_code: int = 0, **more: Any) -> Run:
        run = launched(single, **more)
        fake.end(run.job_name, log, exit_code)
        return passed_by(run, single)

    return make


def counted(cluster_id: int) -> dict[int, str]:
    """Id of a card → its state, of all that are present: counted by card, by node and by pool alike."""
    present = Card.objects.filter(cluster_id=cluster_id, removed_at=None)
    by_card = validity_counts.by_card([cluster_id])
    states = {
        pk: by_card.get((cluster_id, node, key), validity.NEVER)
        for pk, node, key in present.values_list("pk", "node_name", "key")
    }
    found = Counter(states.values())
    whole = validity_counts.added(validity_counts.by_pool([cluster_id], timezone.now()).values())
    assert whole.of(present.count()) == {one: found[one] for one in validity.STATES}
    of_nodes: Counter[str] = Counter()
    for counts in validity_counts.by_node([cluster_id]).values():
        of_nodes.update(counts)
    assert {**of_nodes, validity.NEVER: found[validity.NEVER]} == {validity.NEVER: 0, **found}
    return states


@pytest.mark.parametrize(
    ("value", "before", "unit", "percent"),
    [
        (12.0, 10.0, "ms", 20.0),
        (8.0, 10.0, "GFLOP/s", 25.0),
        (10.0, 8.0, "GB/s", -20.0),
        (1.0, 2.0, "x", None),
        (0.0, 2.0, "ms", None),
        (2.0, 0.0, "s", None),
    ],
)
def test_slower_is_more_time_for_the_same_work(value: float, before: float, unit: str, percent: float | None) -> None:
    found = baseline.slower_percent(value, before, unit)
    assert found is None if percent is None else found == pytest.approx(percent)


def test_a_slower_run_is_a_warning_that_says_by_how_much(ended: Callable[..., Run]) -> None:
    first = ended(nbody(24.0, 5443.0), node="one", suite="cuda-nbody")
    assert first.verdict == "passed"
    second = ended(nbody(26.0, 5024.0), node="one", suite="cuda-nbody")
    assert second.verdict == "passed"
    third = ended(nbody(52.0, 2512.0), node="one", suite="cuda-nbody")
    assert (third.verdict, codes(third)[0]) == ("warning", "slower")
    assert second.pk in third.reasons[0]["text"]
    assert "100% slower" in third.reasons[0]["text"]
    row = Measurement.objects.get(run=third, name="time")
    assert (row.baseline_id, row.baseline_value) == (second.pk, 26.0)
    assert row.slower_percent == pytest.approx(100.0)


def test_the_baseline_is_the_same_card_first_then_the_same_model(ended: Callable[..., Run]) -> None:
    other = ended(nbody(10.0, 9000.0), node="two", suite="cuda-nbody")
    first = ended(nbody(10.0, 9000.0), node="one", suite="cuda-nbody")
    assert {row.baseline_id for row in first.measurements.filter(baseline__isnull=False)} == {other.pk}
    second = ended(nbody(10.0, 9000.0), node="one", suite="cuda-nbody")
    assert {row.baseline_id for row in second.measurements.filter(baseline__isnull=False)} == {first.pk}


@pytest.mark.parametrize("change", ["driver", "options", "model"])
def test_runs_that_are_not_alike_are_not_compared(ended: Callable[..., Run], change: str) -> None:
    ended(nbody(10.0, 9000.0), node="two", suite="cuda-nbody")
    options = {}
    if change == "driver":
        Node.objects.filter(name="one").update(driver_version="999.0")
    elif change == "model":
        Card.objects.filter(node_name="one").update(model="another")
    else:
        options = {"image": "example.org/other:1"}
    run = ended(nbody(90.0, 1000.0), node="one", suite="cuda-nbody", options=options)
    assert run.verdict == "passed"
    assert not run.measurements.exclude(baseline=None).exists()


def test_a_run_on_some_card_is_the_nodes_until_the_mirror_saw_which_it_took(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod)
    assert (run.card_key, run.target_text) == ("", "any card of node gpu-1")
    pod = fake.pod(run.job_name, node="gpu-1", running=True)
    card = Card.objects.get(uuid="GPU-gpu-1-2")
    common = {"cluster": prod, "node_name": "gpu-1", "card": card, "card_key": card.key, "namespace": "n", "pod": "p"}
    common |= {"container": "suite", "resource": "nvidia.com/gpu", "stack": "nvidia", "mode": "whole", "quantity": 1}
    Allocation.objects.create(
        **common, pod_uid=pod["metadata"]["uid"], evidence="device-status", started_at=card.changed_at, digest=0
    )
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    assert (run.card_id, run.card_key, run.card_evidence) == (card.pk, card.key, "device-status")
    assert validity.of_cards([card.pk])[card.pk].state == "validated"


def test_a_card_that_was_asked_for_and_cannot_be_chosen_is_kept_as_a_wish(prod: Cluster, fake: FakeCluster) -> None:
    run = launched(prod, card="GPU-gpu-1-1")
    assert (run.card, run.card_key, run.card_requested) == (None, "", "GPU-gpu-1-1")


def test_a_log_is_read_again_and_the_old_result_is_kept(ended: Callable[..., Run]) -> None:
    run = ended(PASSED, node="one")
    assert reparse(run) is None
    Run.objects.filter(pk=run.pk).update(
        parser_version=0, verdict="failed", reasons=[{"code": "old", "text": "old", "line": None}]
    )
    row = reparse(run)
    run.refresh_from_db()
    assert row is not None
    assert (run.verdict, run.reasons, run.parser_version) == ("passed", [], registry()["cuda-vectoradd"].parser_version)
    assert (row.old_verdict, row.old_reasons[0]["code"], row.new_verdict) == ("failed", "old", "passed")
    assert Reparse.objects.count() == 1


def test_reading_again_gives_no_pass_to_a_run_that_was_ended_from_outside(
    single: Cluster, fake: FakeCluster, ended: Callable[..., Run]
) -> None:
    run = launched(single, node="one")
    fake.end(run.job_name, PASSED, 0, pod_reason="Evicted", message="low on memory")
    passed_by(run, single)
    Run.objects.filter(pk=run.pk).update(verdict="failed")
    reparse(run)
    run.refresh_from_db()
    assert run.verdict == "errored"


def test_a_run_without_a_stored_log_is_not_read_again(single: Cluster, ended: Callable[..., Run]) -> None:
    with pytest.raises(NotEnded):
        reparse(launched(single, node="two"))
    run = ended(PASSED, node="one")
    run.log_pruned_at = run.ended_at
    with pytest.raises(NotEnded):
        reparse(run)


def test_again_asks_for_the_same_once_more(ended: Callable[..., Run]) -> None:
    run = ended(PASSED, node="one", card="GPU-one-0", options={"host_memory": "2Gi"})
    again, new = request_again(run, None)
    assert new
    assert (again.rerun_of_id, again.card_key, again.options, again.suite) == (
        run.pk,
        run.card_key,
        run.options,
        run.suite,
    )


def test_the_proof_of_a_card_follows_its_runs(ended: Callable[..., Run]) -> None:
    card = Card.objects.get(node_name="one")
    account = NodeTotals.objects.get(node_name="one")

    def state() -> str:
        found = validity.of_cards([card.pk])[card.pk]
        assert validity.of_nodes([account.pk])[account.pk].state == found.state
        assert counted(card.cluster_id)[card.pk] == found.state
        return found.state

    assert state() == "never"
    errored = ended(b"nothing", node="one")
    assert (errored.verdict, state()) == ("errored", "never")
    good = ended(PASSED, node="one")
    assert state() == "validated"
    found = validity.of_cards([card.pk])[card.pk]
    assert (found.good_run, found.good_suite, found.good_driver) == (good.pk, "cuda-vectoradd", "550.54.15")
    Node.objects.filter(name="one").update(driver_version="560.1")
    assert state() == "driver-changed"
    Node.objects.filter(name="one").update(driver_version="")
    assert state() == "validated"
    ended(FAILED, 1, node="one")
    assert state() == "failed"
    ended(b"nothing", node="one")
    assert state() == "failed"
    ended(PASSED, node="one")
    assert state() == "validated"
    assert LastResult.objects.filter(node_name="one").count() == 1


def test_proofs_of_many_cards_take_one_query(ended: Callable[..., Run]) -> None:
    ended(PASSED, node="one")
    clusters = list(Cluster.objects.values_list("pk", flat=True))
    for chosen in (Card.objects.filter(node_name="one"), Card.objects.all()):
        ids = list(chosen.values_list("pk", flat=True))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            validity.of_cards(ids)
            validity_counts.by_pool(clusters, timezone.now())
            validity_counts.by_node(clusters)
            validity_counts.by_card(clusters)
        assert len(queries) == 4


def test_a_lower_level_is_shown_as_what_it_is_and_proves_nothing(ended: Callable[..., Run]) -> None:
    card = Card.objects.get(node_name="one")

    def state() -> str:
        found = validity.of_cards([card.pk])[card.pk]
        assert counted(card.cluster_id)[card.pk] == found.state
        return found.state

    smi = ended(SMI, node="one", suite="nvidia-smi")
    assert (smi.verdict, smi.level, state()) == ("passed", "detected", "detected")
    ran = ended(nbody(10.0, 9000.0), node="one", suite="cuda-nbody")
    assert (ran.level, state()) == ("ran", "ran")
    found = validity.of_cards([card.pk])[card.pk]
    assert (found.lower_run, found.lower_suite, found.good_run) == (ran.pk, "cuda-nbody", None)
    own = ended(PASSED, node="one", options={"image": "example.org/mine:1"})
    assert (own.verdict, own.level, state()) == ("passed", "none", "ran")
    assert "not the suite's own" in own.level_note
    assert (ended(PASSED, node="one").level, state()) == ("checked", "validated")
    assert ended(FAILED, 1, node="one").level == ""
    assert state() == "failed"
    ended(PASSED, node="one", options={"image": "example.org/mine:1"})
    assert state() == "failed", "an image of one's own takes no failure back"
    ended(PASSED, node="one")
    assert state() == "validated"


def test_the_short_diagnostic_takes_no_failure_of_the_long_one_back(ended: Callable[..., Run]) -> None:
    card = Card.objects.get(node_name="one")

    def report(name: str, status: str) -> bytes:
        test = f'{{"name":"{name}","results":[{{"status":"{status}"}}]}}'
        return f'{{"DCGM Diagnostic":{{"test_categories":[{{"category":"x","tests":[{test}]}}]}}}}\n'.encode()

    states = []
    for log, code, level in (
        (report("memory", "Fail"), 1, 2),
        (report("software", "Pass"), 0, 1),
        (report("memory", "Pass"), 0, 2),
    ):
        ended(log, code, node="one", suite="dcgm-diag", options={"level": level})
        states.append(validity.of_cards([card.pk])[card.pk].state)
    assert states == ["failed", "failed", "validated"]


@pytest.mark.parametrize("unknown", ["driver", "model"])
def test_what_is_not_known_is_not_the_same(ended: Callable[..., Run], unknown: str) -> None:
    if unknown == "driver":
        Node.objects.update(driver_version="")
    else:
        Card.objects.update(model="")
    ended(nbody(10.0, 9000.0), node="one", suite="cuda-nbody")
    run = ended(nbody(90.0, 1000.0), node="one", suite="cuda-nbody")
    assert run.verdict == "passed"
    assert baseline.baseline_of(run) is None


def test_a_comparison_names_node_and_card(ended: Callable[..., Run]) -> None:
    ended(nbody(10.0, 9000.0), node="two", suite="cuda-nbody")
    run = ended(nbody(90.0, 1000.0), node="one", suite="cuda-nbody")
    assert "on node two, card GPU-two-0)" in run.reasons[0]["text"]


def test_the_scrape_tells_a_pass_from_a_proof(ended: Callable[..., Run]) -> None:
    smi = ended(SMI, node="one", suite="nvidia-smi")
    good = ended(PASSED, node="one")
    own = ended(PASSED, node="one", options={"image": "example.org/mine:1"})
    text = "".join(metrics.families())

    def series(name: str) -> dict[str, float]:
        """suite and level → value"""
        found = {}
        for line in text.splitlines():
            if line.startswith(f"gpudash_validation_run_{name}{{"):
                labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
                found["/".join(labels[key] for key in ("suite", "level") if key in labels)] = float(
                    line.rpartition(" ")[2]
                )
        return found

    assert smi.ended_at
    assert good.ended_at
    assert own.ended_at
    assert series("last_validated_timestamp_seconds") == {"cuda-vectoradd": good.ended_at.timestamp()}
    assert series("last_passed_timestamp_seconds") == {
        "nvidia-smi": smi.ended_at.timestamp(),
        "cuda-vectoradd": own.ended_at.timestamp(),
    }
    assert series("last_level") == {"nvidia-smi/detected": 1.0, "cuda-vectoradd/none": 1.0}
    assert series("last_verdict") == {"nvidia-smi": 1.0, "cuda-vectoradd": 1.0}
