"""Floors and baselines on pages and by REST: what a run was judged against, drawn among the others of its pool."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.roles import Role
from inventory.models import Card, Cluster, NodeTotals
from tests.cast import make_user, signed_in
from tests.factories import make_node
from tests.pages.reading import get
from tests.pages.validations.rows import make_run
from validations.floors import COLUMNS, built_in, parse, with_own
from validations.models import Measurement, Run
from validations.pool_baseline import keep

SOURCE = "Azure ND H100 v5: azurehpc-health-checks 0e0a1ac conf nd96isr_h100_v5, 2026-05"


@pytest.fixture
def viewer(db: None) -> Client:
    return signed_in(make_user("vera", Role.VIEWER))


@pytest.fixture
def odd(cluster: Cluster) -> Run:
    """The last of twelve cards of one pool, which is slow."""
    make_node(cluster, "h", "nvidia", 12)
    cards = list(Card.objects.filter(node_name="h").order_by("index"))
    NodeTotals.objects.filter(node_name="h").update(pool="nvidia · H100")
    for number, card in enumerate(cards[:11]):
        make_run(
            cluster,
            card=card,
            suite="cuda-nbody",
            node="h",
            minutes_ago=60 - number,
            measurements={"gflops": (1000.0 + number, "GFLOP/s")},
        )
    run = make_run(
        cluster,
        card=cards[11],
        suite="cuda-nbody",
        node="h",
        verdict="warning",
        measurements={"gflops": (500.0, "GFLOP/s"), "time": (9.0, "ms")},
    )
    beside: dict[str, Any] = {"pool_median": 1005.0, "pool_spread": 3.0, "pool_targets": 11}
    Measurement.objects.filter(run=run, name="gflops").update(**beside, floor=460.0, floor_source=SOURCE)
    keep(run, run.measurements.all())
    return run


def test_a_run_is_drawn_among_the_others_of_its_pool(viewer: Client, odd: Run) -> None:
    page = get(viewer, f"/validations/runs/{odd.pk}")
    html = page.html
    assert html.count('class="dot "') == 11
    assert html.count('class="dot own warning"') == 1
    assert "band usual" in html
    assert "1,005 ± 3.00" in page.text
    assert f"Floor of gflops: 460.0 GFLOP/s ({SOURCE})" in page.text


def test_without_a_baseline_nothing_is_drawn(viewer: Client, odd: Run) -> None:
    Measurement.objects.update(pool_median=None, floor=None)
    page = get(viewer, f"/validations/runs/{odd.pk}")
    assert "pool-values" not in page.html
    assert "No floor: gflops" in page.text


def test_the_suites_page_lists_floors_and_baselines(viewer: Client, odd: Run) -> None:
    page = get(viewer, "/validations/suites")
    rows = [" ".join(row) for row in page.rows]
    assert any("gflops" in row and "nvidia · H100" in row and "1,005 ± 3.00 GFLOP/s" in row for row in rows)
    assert any("H200" in row and "431.0 GB/s peak" in row and "8 cards · ≥ 16 GiB" in row for row in rows)
    assert "conf nd96isr_h200_v5 (its README says 480), 2026-05" in page.text


def test_the_suites_page_says_which_floors_are_of_a_file(viewer: Client, settings: Any) -> None:
    line = "nccl-allreduce,bus_bandwidth_max,NVIDIA H200,8,16G,,455,GB/s,peak,our racks,acceptance 7,2026-06"
    settings.FLOORS = with_own(parse(f"{','.join(COLUMNS)}\n{line}"))
    text = get(viewer, "/validations/suites").text
    assert text.count("GPUDASH_FLOORS_FILE · our racks · acceptance 7, 2026-06") == 1
    assert "431.0 GB/s" not in text


def test_rest_lists_floors_and_baselines(viewer: Client, odd: Run) -> None:
    floors = viewer.get("/api/v1/floors").json()["results"]
    assert len(floors) == len(built_in())
    assert floors[2] == {
        "suite": "nccl-allreduce",
        "measurement": "bus_bandwidth_max",
        "model": "NVIDIA H100 80GB HBM3",
        "cards": 8,
        "message_bytes": 16 << 30,
        "machine": None,
        "least": 460.0,
        "unit": "GB/s",
        "statistic": "peak",
        "measured_on": "Azure ND H100 v5",
        "source": "azurehpc-health-checks 0e0a1ac conf nd96isr_h100_v5",
        "date": "2026-05",
        "own": False,
    }
    (baseline,) = viewer.get("/api/v1/baselines").json()["results"]
    assert (baseline["median"], baseline["spread"], baseline["targets"]) == (1005.0, 3.0, 11)
    assert (baseline["pool"], baseline["run"]) == ("nvidia · H100", odd.pk)


def test_rest_says_what_a_run_was_judged_against(viewer: Client, odd: Run) -> None:
    found = {one["name"]: one for one in viewer.get(f"/api/v1/runs/{odd.pk}").json()["measurements"]}
    assert (found["gflops"]["floor"], found["gflops"]["floor_source"]) == (460.0, SOURCE)
    assert (found["gflops"]["pool_median"], found["gflops"]["pool_targets"]) == (1005.0, 11)
    assert (found["time"]["floor"], found["time"]["floor_source"], found["time"]["pool_median"]) == (None, None, None)
