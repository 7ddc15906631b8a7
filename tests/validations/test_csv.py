"""Runs, campaigns and matrices as CSV by REST: all rows of a list, filtered and in order."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from django.test import Client

from accounts.roles import Role
from inventory.models import Cluster
from tests.cast import bearer, make_token, make_user
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, launched, passed_by
from validations import campaigns, tasks
from validations.models import Campaign, Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def api(prod: Cluster) -> Client:
    """An operator with a token."""
    return bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))


def table(answer: Any) -> list[dict[str, str]]:
    assert answer.status_code == 200, answer.content
    assert answer.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(b"".join(answer).decode())))


def rows(client: Client, path: str, query: str = "") -> list[dict[str, str]]:
    return table(client.get(f"/api/v1/{path}?format=csv{query}"))


@pytest.fixture
def campaign(prod: Cluster, fake: FakeCluster) -> Campaign:
    """Four places: one that passed, one that failed, one on which the suite does not fit, one that is under way."""
    for name, trait in (("gpu-2", "nvidia"), ("win", "directx"), ("gpu-3", "nvidia")):
        make_node(prod, name, trait, 1, loads=(0.0,))
    places = [("prod", name, "") for name in ("gpu-1", "gpu-2", "win", "gpu-3")]
    made, _ = campaigns.create("cuda-vectoradd", places, max_parallel=1)
    for log, code in ((PASSED, 0), (FAILED, 1)):
        tasks.advance_campaigns()
        tasks.reconcile(prod.pk)
        run = Run.objects.order_by("-id")[0]
        fake.end(run.job_name, log, code)
        tasks.reconcile(prod.pk)
    tasks.advance_campaigns()
    campaigns.change(made, "pause")
    return made


def test_runs_are_all_rows_and_not_a_page(api: Client, prod: Cluster) -> None:
    made = [launched(prod, suite=suite).pk for suite in ("cuda-vectoradd", "nvidia-smi", "cuda-nbody")]
    found = rows(api, "runs", "&page_size=1")
    assert [row["id"] for row in found] == made[::-1]
    assert {(row["cluster"], row["node"], row["state"]) for row in found} == {("prod", "gpu-1", "pending")}


def test_what_is_not_known_of_a_run_is_an_empty_cell_and_never_a_word(
    api: Client, prod: Cluster, fake: FakeCluster
) -> None:
    run = launched(prod)
    (waiting,) = rows(api, "runs")
    assert (waiting["verdict"], waiting["exit_code"], waiting["card"], waiting["ended_at"]) == ("", "", "", "")
    fake.end(run.job_name, PASSED)
    passed_by(run, prod)
    (done,) = rows(api, "runs")
    assert (done["verdict"], done["exit_code"], done["driver_version"]) == ("passed", "0", "550.54.15")
    assert done["ended_at"].endswith("Z")


def test_filters_and_order_of_runs_hold(api: Client, prod: Cluster) -> None:
    for suite in ("cuda-vectoradd", "nvidia-smi", "cuda-nbody"):
        launched(prod, suite=suite)
    assert [row["suite"] for row in rows(api, "runs", "&ordering=suite")] == [
        "cuda-nbody",
        "cuda-vectoradd",
        "nvidia-smi",
    ]
    assert [row["suite"] for row in rows(api, "runs", "&suite=cuda-nbody")] == ["cuda-nbody"]


def test_the_header_asks_for_it_as_well(api: Client, prod: Cluster) -> None:
    launched(prod)
    answer = api.get("/api/v1/runs", headers={"Accept": "text/csv"})
    assert len(table(answer)) == 1
    assert answer.headers["Content-Disposition"] == 'attachment; filename="gpudash-runs.csv"'


@pytest.mark.parametrize("query", ["colour=red", "ordering=manifest", "state=lost"])
def test_what_makes_no_sense_is_a_400_and_no_table(api: Client, query: str) -> None:
    answer = api.get(f"/api/v1/runs?format=csv&{query}")
    assert answer.status_code == 400
    assert {error["field"] for error in answer.json()["errors"]} == {query.partition("=")[0]}


def test_a_launch_is_never_answered_as_csv(api: Client, prod: Cluster) -> None:
    body = {"suite": "cuda-vectoradd", "node": "gpu-1"}
    asked = api.post("/api/v1/runs?format=csv", body, content_type="application/json")
    assert (asked.status_code, [error["field"] for error in asked.json()["errors"]]) == (400, ["format"])
    header = api.post("/api/v1/runs", body, content_type="application/json", headers={"Accept": "text/csv"})
    assert header.status_code == 406
    assert Run.objects.count() == 0


def test_campaigns_are_a_table(api: Client, campaign: Campaign) -> None:
    (row,) = rows(api, "campaigns", "&state=paused")
    assert (row["id"], row["suite"], row["max_parallel"]) == (campaign.pk, "cuda-vectoradd", "1")
    assert (row["stop_after_failures"], row["ended_at"]) == ("", "")
    assert rows(api, "campaigns", "&state=done") == []


def test_the_page_gives_the_same_table_of_campaigns(api: Client, campaign: Campaign) -> None:
    page = Client()
    page.force_login(make_user("vera", Role.VIEWER))
    assert table(page.get("/validations/campaigns?format=csv")) == rows(api, "campaigns")


def test_a_matrix_has_every_place_with_its_verdict(api: Client, campaign: Campaign) -> None:
    found = rows(api, f"campaigns/{campaign.pk}/matrix", "&page_size=1")
    assert [(row["node"], row["verdict"], row["reason"], row["exit_code"]) for row in found] == [
        ("gpu-1", "passed", "", "0"),
        ("gpu-2", "failed", "verification", "1"),
        ("win", "", "", ""),
        ("gpu-3", "", "", ""),
    ]
    assert [bool(row["skipped"]) for row in found] == [False, False, True, False]
    assert [row["state"] for row in found] == ["ended", "ended", "", "queued"]
    assert [bool(row["run_id"]) for row in found] == [True, True, False, True]
    (failed,) = rows(api, f"campaigns/{campaign.pk}/matrix", "&verdict=failed")
    assert failed["node"] == "gpu-2"
    assert api.get("/api/v1/campaigns/nope/matrix?format=csv").status_code == 404


def test_what_a_stranger_wrote_is_no_formula(api: Client, campaign: Campaign) -> None:
    Campaign.objects.update(name='=HYPERLINK("http://evil","x"),\n"quoted"')
    (row,) = rows(api, "campaigns")
    assert row["name"] == '\'=HYPERLINK("http://evil","x"),\n"quoted"'


def test_runs_say_why_and_which_card_was_asked_for(api: Client, campaign: Campaign) -> None:
    found = {row["node"]: row for row in rows(api, "runs")}
    assert found["gpu-2"]["verdict"] == "failed"
    run = Run.objects.get(node_name="gpu-2")
    assert (found["gpu-2"]["reason"], found["gpu-2"]["reason_text"]) == (run.reasons[0]["code"], run.reasons[0]["text"])
    assert (found["gpu-1"]["reason"], found["gpu-1"]["reason_text"]) == ("", "")
    assert "card_requested" in found["gpu-1"]
