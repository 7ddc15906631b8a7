"""Groups and results of other tools in the demo's past: runs of two nodes with their bisection, and a report that was imported."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from accounts.local import local_admin
from accounts.roles import Role
from fleetsim import Fleet, serve
from gpudash.demo_past import Past, groups, reported
from gpudash.demo_past.runs import Runs
from gpudash.demo_past.seats import seats
from gpudash.demo_programs import demo_programs
from inventory.models import Cluster
from tests.cast import make_user, signed_in
from tests.database import connected_to
from tests.pages.reading import get
from validations import querysets
from validations.lifecycle.judge import judge
from validations.models import ImportedResult, Run
from validations.suspected import suspected

#: The first fleet with two nodes of each of the large kinds.
NODES = 44


@pytest.fixture
def fleet(migrated_file: Path, tmp_path: Path, django_db_blocker: Any) -> Iterator[tuple[Cluster, Past]]:
    file = Path(shutil.copy(migrated_file, tmp_path / "demo.sqlite3"))
    programs = demo_programs()
    made = Fleet(nodes=NODES, seed=1, now=time.time(), programs=programs)
    past = Past(made, programs, days=8, pause_s=0)
    with django_db_blocker.unblock(), connected_to(file):
        with serve(made, live=False) as server:
            call_command("cluster", "add", "demo", "--kubeconfig", str(server.kubeconfig(tmp_path / "kubeconfig")))
            call_command("sync", "--once")
        yield Cluster.objects.get(), past


def test_groups_passed_or_lost_a_rank_and_pairs_say_which_node_it_was(fleet: tuple[Cluster, Past]) -> None:
    cluster, past = fleet
    found = seats(cluster, past._uses)
    runs = Runs(cluster, found, past.programs, past.upgrade, past.times, past.seed)
    assert groups.write(runs, past.times, lambda: None) == 5
    rows = list(Run.objects.order_by("id"))
    assert [(run.group, run.verdict, run.reason_code) for run in rows] == [
        (["dgx-a100-01", "dgx-a100-02"], "passed", "no-pass-alone"),
        (["dgx-h100-01", "dgx-h100-02"], "failed", "group-broken"),
        (["dgx-h100-01", "dgx-a100-01"], "passed", "no-pass-alone"),
        (["dgx-h100-02", "dgx-a100-02"], "failed", "group-broken"),
        (["dgx-h100-02", "dgx-a100-01"], "failed", "group-broken"),
    ]
    for run in rows:
        judged = judge(run)
        assert {name: getattr(run, name) for name in judged.columns()} == judged.columns()
        assert [(one.first_rank, one.last_rank) for one in run.nodes.order_by("index")] == [(0, 1), (2, 3)]
    passed, failed = rows[0], rows[1]
    assert 100 < passed.measurements.get(name="bus_bandwidth_max").value < 250
    whole = querysets.run_whole(failed.pk)
    assert whole is not None
    told = suspected(whole)
    assert told is not None
    assert "Each failed with two nodes that passed in other groups: dgx-h100-02." in told.found.because
    assert "Passed since then with another node: dgx-h100-01." in told.found.because
    page = get(signed_in(make_user("vera", Role.VIEWER)), f"/validations/runs/{failed.pk}")
    assert "Each failed with two nodes that passed in other groups: dgx-h100-02." in page.text


def test_a_report_of_another_tool_is_there(fleet: tuple[Cluster, Past]) -> None:
    cluster, past = fleet
    assert reported.write(cluster, local_admin(), past.times)
    row = ImportedResult.objects.get()
    assert (row.format, row.verdict, row.node_count, row.card_count, row.unmatched_count) == (
        "junit",
        "failed",
        1,
        4,
        0,
    )
    assert row.tested_at is not None
    assert row.tested_at < row.received_at
