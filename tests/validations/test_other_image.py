"""A run of another image than the suite's is marked as such wherever its result is shown."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from accounts.roles import Role
from api.validations import metrics
from inventory.models import Card, Cluster
from tests.cast import make_user, signed_in
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED, launched, passed_by
from validations import campaigns, tasks, validity
from validations.coverage import coverage
from validations.models import Run

MINE = {"image": "example.org/mine:1"}


@pytest.fixture
def single(prod: Cluster, settings: Any) -> Cluster:
    settings.ALLOWED_IMAGES = ["suites", "example.org/*"]
    make_node(prod, "one", "nvidia", 1, loads=(0.0,))
    return prod


@pytest.fixture
def mine(single: Cluster, fake: FakeCluster) -> Callable[..., Run]:
    def make(log: bytes = PASSED, exit_code: int = 0, **options: str) -> Run:
        run = launched(single, node="one", options=MINE | options)
        fake.end(run.job_name, log, exit_code)
        return passed_by(run, single)

    return make


@pytest.fixture
def viewer(db: None) -> Client:
    return signed_in(make_user("vera", Role.VIEWER))


def test_it_is_written_with_the_run(mine: Callable[..., Run], single: Cluster) -> None:
    run = mine()
    assert (run.verdict, run.level, run.own_image) == ("passed", "none", False)
    assert launched(single, node="one").own_image


def test_the_worker_says_what_it_launched_whatever_the_row_said(single: Cluster, fake: FakeCluster) -> None:
    run = launched(single, node="one", options=MINE)
    Run.objects.filter(pk=run.pk).update(state="queued", own_image=True)
    fake.jobs.clear()
    passed_by(run, single)
    assert (run.state, run.own_image) == ("pending", False)


def test_pages_say_it_beside_the_verdict_and_not_what_a_pass_proves(mine: Callable[..., Run], viewer: Client) -> None:
    run = mine()
    url = reverse("run", args=[run.pk])
    card = Card.objects.get(node_name="one").pk
    for path in (url, "/validations", reverse("card-runs", args=[card])):
        page = viewer.get(path, follow=True)
        assert page.status_code == 200
        assert "passed (another image)" in page.content.decode(), path
    text = viewer.get(url).content.decode()
    assert "reads back the right result" not in text
    assert "not the suite&#x27;s own" in text


def test_suites_count_it_apart(mine: Callable[..., Run], viewer: Client) -> None:
    mine()
    mine(FAILED, 1)
    page = viewer.get("/validations/suites").content.decode()
    assert "2 with another image" in page
    assert "own_image=false" in page
    assert "verdict=passed" not in page


def test_rest_and_csv_say_it_and_can_be_asked_for_it(mine: Callable[..., Run], viewer: Client, single: Cluster) -> None:
    run, own = mine(), launched(single, node="gpu-1")
    assert viewer.get(f"/api/v1/runs/{run.pk}").json()["own_image"] is False
    for value, wanted in (("false", [run.pk]), ("true", [own.pk]), ("any", [own.pk, run.pk])):
        rows = viewer.get(f"/api/v1/runs?own_image={value}").json()["results"]
        assert [row["id"] for row in rows] == wanted
    body = b"".join(viewer.get("/api/v1/runs?format=csv").streaming_content).decode()  # type: ignore[attr-defined]
    told = {row["id"]: row["own_image"].lower() for row in csv.DictReader(io.StringIO(body))}
    assert told == {run.pk: "false", own.pk: "true"}


def test_a_campaign_of_it_says_so(single: Cluster, fake: FakeCluster, viewer: Client) -> None:
    campaign, _ = campaigns.create("cuda-vectoradd", [("prod", "one", "")], options=MINE)
    tasks.advance_campaigns()
    tasks.reconcile(single.pk)
    fake.end(Run.objects.get().job_name, PASSED)
    tasks.reconcile(single.pk)
    found = coverage(campaign)
    assert (found.tested, found.validated, found.inconclusive, found.other_image) == (1, 0, 1, 1)
    told = viewer.get(f"/api/v1/campaigns/{campaign.pk}").json()
    assert told["coverage"]["other_image"] == 1
    [row] = viewer.get(f"/api/v1/campaigns/{campaign.pk}/matrix").json()["results"]
    assert (row["verdict"], row["level"], row["own_image"]) == ("passed", "none", False)
    page = viewer.get(f"/validations/campaigns/{campaign.pk}", follow=True).content.decode()
    assert "1 with another image, proves nothing" in page
    assert "passed (another image)" in page


def test_a_card_that_its_own_image_proved_besides_is_not_counted_as_such(
    mine: Callable[..., Run], single: Cluster, fake: FakeCluster
) -> None:
    mine()
    campaign, _ = campaigns.create("cuda-vectoradd", [("prod", "one", "")])
    tasks.advance_campaigns()
    tasks.reconcile(single.pk)
    fake.end(Run.objects.get(campaign=campaign).job_name, PASSED)
    tasks.reconcile(single.pk)
    Run.objects.update(campaign=campaign)
    assert (coverage(campaign).validated, coverage(campaign).other_image) == (1, 0)
    card = Card.objects.get(node_name="one")
    assert validity.of_cards([card.pk])[card.pk].state == "validated"


def test_the_scrape_and_the_command_say_it(
    mine: Callable[..., Run], single: Cluster, fake: FakeCluster, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> list[str]:
        text = "".join(metrics.families())
        return [line for line in text.splitlines() if line.startswith("gpudash_validation_run_last_other_image{")]

    run = mine()
    assert len(told()) == 1
    assert told()[0].endswith(" 1")
    call_command("validate", "cuda-vectoradd", "--node", "one")
    again = Run.objects.exclude(pk=run.pk).get()
    passed_by(again, single)
    fake.end(again.job_name, PASSED)
    passed_by(again, single)
    assert told() == []
