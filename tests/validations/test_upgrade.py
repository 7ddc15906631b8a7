"""The upgrade of stored runs: what they prove is read from what was kept of them, and old proofs that are none go."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from tests.factories import make_cluster

pytestmark = pytest.mark.sweep

BEFORE = [("validations", "0002_launcher_next_try")]


@pytest.fixture
def before(transactional_db: None) -> Iterator[Any]:
    """The tables as the last version had them, and its models."""
    executor = MigrationExecutor(connection)
    executor.migrate(BEFORE)
    yield executor.loader.project_state(BEFORE).apps
    _forward()


def _forward() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def _run(apps: Any, suite: str, minutes: int, verdict: str = "passed", **columns: Any) -> Any:
    at = timezone.now() - timedelta(minutes=minutes)
    columns = {"driver_version": "550.1", "card_model": "T4", "card_key": "0", "node_name": "gpu-1"} | columns
    return apps.get_model("validations", "Run").objects.create(
        id=f"{suite[-12:]}{minutes}", suite=suite, cluster_id=apps.get_model("inventory", "Cluster").objects.get().pk,
        namespace="n", state="ended", state_since=at, ended_at=at, verdict=verdict, **columns,
    )  # fmt: skip


#: (suite, columns of a stored run, the level that it has proven)
STORED: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("cuda-vectoradd", {}, "right"),
    ("cuda-vectoradd", {"options": {"image": "example.org/mine:1"}}, "none"),
    ("cuda-vectoradd", {"options": {"image": "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0"}}, "right"),
    ("cuda-vectoradd", {"verdict": "failed"}, ""),
    ("cuda-nbody", {}, "ran"),
    ("winml-tinyyolov2", {}, "ran"),
    ("nvidia-smi", {}, "seen"),
    ("directx-directml", {}, "none"),
    ("directx-directml", {"facts": {"gpu_name": "NVIDIA A10"}}, "right"),
    ("dcgm-diag", {}, "seen"),
    ("dcgm-diag", {"options": {"level": 2}, "facts": {"tests": {"software": "pass"}}}, "seen"),
    ("dcgm-diag", {"options": {"level": "2"}, "facts": {"tests": {"memory": "pass"}}}, "right"),
    ("nccl-allreduce", {"verdict": "warning", "reasons": [{"code": "not-verified"}]}, "ran"),
    ("gone-suite", {}, "none"),
)


@pytest.mark.django_db(transaction=True)
def test_a_stored_run_gets_the_level_that_it_has_proven(before: Any) -> None:
    """All in one upgrade, each on a node of its own."""
    from validations.models import Run

    make_cluster("prod")
    runs = [
        _run(before, suite, number, node_name=f"gpu-{number}", **columns)
        for number, (suite, columns, _) in enumerate(STORED)
    ]
    _forward()
    found = dict(Run.objects.values_list("pk", "level"))
    assert [(*case[:2], found[run.pk]) for case, run in zip(STORED, runs, strict=True)] == list(STORED)
    others = set(Run.objects.filter(own_image=False).values_list("pk", flat=True))
    assert others == {runs[1].pk}, "the one of an image that is not the suite's"


@pytest.mark.django_db(transaction=True)
def test_an_old_pass_that_checked_nothing_is_no_proof_any_more(before: Any) -> None:
    from validations.models import LastResult, Measurement

    make_cluster("prod")
    made = {suite: _run(before, suite, 5) for suite in ("cuda-nbody", "cuda-vectoradd", "nvidia-smi")}
    strange = _run(before, "cuda-nbody", 3, card_key="1", driver_version="")
    for suite, run in made.items():
        common = {"run": run, "verdict": "passed", "ended_at": run.ended_at, "good": run, "good_at": run.ended_at}
        place = {"cluster_id": run.cluster_id, "node_name": "gpu-1", "card_key": "0", "suite": suite}
        before.get_model("validations", "LastResult").objects.create(**place, **common)
    row = before.get_model("validations", "Measurement").objects.create(
        run=strange,
        name="time",
        value=1.0,
        unit="ms",
        baseline=made["cuda-nbody"],
        baseline_value=2.0,
        slower_percent=-50.0,
    )
    _forward()
    found = {row.suite: row for row in LastResult.objects.all()}
    assert found["cuda-vectoradd"].good_id == made["cuda-vectoradd"].pk
    assert (found["cuda-nbody"].good_id, found["cuda-nbody"].lower_level) == (None, "ran")
    assert (found["nvidia-smi"].good_id, found["nvidia-smi"].lower_level) == (None, "seen")
    assert found["nvidia-smi"].passed_at == made["nvidia-smi"].ended_at
    assert Measurement.objects.get(pk=row.pk).baseline_id is None
