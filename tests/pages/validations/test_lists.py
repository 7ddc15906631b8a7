"""Runs, suites and a card's history as lists: the answer first, then what was asked for; empty, wrong and many."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from inventory.models import Card, Cluster, Node
from tests.factories import make_fleet
from tests.pages.reading import get
from tests.pages.validations.rows import make_run, reason
from validations.models import Campaign, CampaignTarget, LastResult
from validations.suites import registry


def test_with_no_run_the_page_says_what_to_do(viewer: Client, operator: Client, place: Cluster) -> None:
    page = get(viewer, "/validations")
    assert "0 of 3 cards validated" in page.text
    assert "No runs yet" in page.text
    assert "needs the role operator: ask an administrator" in page.text
    assert "Launch run" in get(operator, "/validations").text


def test_a_run_has_its_verdict_place_and_reason(viewer: Client, place: Cluster, card: Card) -> None:
    make_run(place, card=card, verdict="failed", reasons=[reason("verification", "The card gave a wrong result.")])
    row = get(viewer, "/validations").rows[0]
    assert row[0].startswith("CUDA vectorAdd")
    assert row[1] == "✕ failed"
    assert "gpu-1" in row[2]
    assert "card 0" in row[2]
    assert row[3] == "The card gave a wrong result."


def test_the_answer_counts_each_card_once_and_never_an_unproven_one(viewer: Client, place: Cluster, card: Card) -> None:
    Node.objects.filter(name="gpu-1").update(driver_version="550.54.15")
    make_run(place, card=card)
    make_run(place, card=card, suite="nvidia-smi")
    make_run(place)  # some card of the node: proves no card
    page = get(viewer, "/validations")
    assert "1 of 3 cards validated with the current driver in the last 14 days" in page.text
    assert "2 not validated" in page.text


def test_a_changed_driver_and_a_failure_take_the_proof_away(viewer: Client, place: Cluster, card: Card) -> None:
    Node.objects.filter(name="gpu-1").update(driver_version="560.0")
    make_run(place, card=card)
    assert "0 of 3 cards validated" in get(viewer, "/validations").text
    assert "1 with a changed driver" in get(viewer, "/validations").text
    make_run(place, card=card, verdict="failed", minutes_ago=1)
    assert "1 card failed" in get(viewer, "/validations").text


def test_an_unknown_driver_is_told_apart(viewer: Client, place: Cluster, card: Card) -> None:
    make_run(place, card=card, driver="")
    page = get(viewer, "/validations")
    assert "1 of 3 cards validated in the last 14 days, 0 with the current driver" in page.text
    assert "1 with an unknown driver" in {tag.get("title") for tag in page.tags_of("span")}


def test_an_old_proof_is_not_a_fresh_one(viewer: Client, place: Cluster, card: Card) -> None:
    make_run(place, card=card)
    LastResult.objects.update(good_at=timezone.now() - timedelta(days=15))
    text = get(viewer, "/validations").text
    assert "0 of 3 cards validated" in text
    assert "1 validated earlier" in text


def test_filters_keep_what_they_name_and_refuse_nonsense(viewer: Client, place: Cluster, card: Card) -> None:
    make_run(place, card=card, verdict="failed")
    make_run(place, suite="nvidia-smi")
    make_run(place, suite="winml-tinyyolov2", node="win-1", state="running")
    for query, count in (
        ("suite=nvidia-smi", 1),
        ("verdict=failed", 1),
        ("active=true", 1),
        ("active=false", 2),
        ("node=win-1", 1),
        ("card=0", 1),
        ("requested_by=olga", 3),
        ("q=win", 1),
    ):
        assert len(get(viewer, f"/validations?{query}").rows) == count, query
    assert "No matches for this filter." in get(viewer, "/validations?q=nowhere").text
    for query in ("verdict=nope", "nope=1", "cursor=x", "ordering=nope"):
        get(viewer, f"/validations?{query}", 400)


def test_pages_of_runs_meet(viewer: Client, place: Cluster) -> None:
    made = [make_run(place, minutes_ago=number).pk for number in range(5)]
    first = get(viewer, "/validations?page_size=3")
    second = get(viewer, next(link for link in first.links if "cursor=" in link))
    assert len(first.rows + second.rows) == len(made)
    assert {*first.titles, *second.titles} >= set(made)


def test_runs_as_csv_are_the_filtered_rows(viewer: Client, place: Cluster) -> None:
    make_run(place, node="=cmd()", verdict="failed")
    make_run(place)
    answer = viewer.get("/validations?verdict=failed&format=csv")
    rows = list(csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode())))  # type: ignore[attr-defined]
    assert [(row["verdict"], row["node"]) for row in rows] == [("failed", "'=cmd()")]


def test_each_suite_says_what_it_proves_and_how_it_went(viewer: Client, place: Cluster) -> None:
    make_run(place)
    make_run(place, verdict="errored")
    page = get(viewer, "/validations/suites")
    assert len([row for row in page.rows if row[-1].startswith("Launch")]) == len(registry())
    row = next(row for row in page.rows if row[0].startswith("CUDA vectorAdd"))
    assert "reads back the right result" in row[1]
    assert "1 passed" in row[4]
    assert "1 errored" in row[4]
    assert "/validations/new?suite=cuda-vectoradd" in page.links


def test_a_card_has_its_runs_and_one_measurement_over_time(viewer: Client, place: Cluster, card: Card) -> None:
    for number in range(4):
        numbers = {"gflops": (1000.0 + number, "GFLOP/s")}
        make_run(place, card=card, suite="cuda-nbody", minutes_ago=10 - number, measurements=numbers)
    other = Card.objects.get(node_name="gpu-1", index=1)
    make_run(place, card=other, suite="cuda-nbody", measurements={"gflops": (900.0, "GFLOP/s")})
    page = get(viewer, f"/validations/cards/{card.pk}")
    assert "4 runs" in page.text
    assert sum("dot" in tag.get("class", "") for tag in page.tags_of("path")) == 4
    assert [row[1] for row in page.rows[:4]] == ["1,003", "1,002", "1,001", "1,000"]
    model = get(viewer, f"/validations/cards/{card.pk}?of=model")
    assert sum("dot" in tag.get("class", "") for tag in model.tags_of("path")) == 5
    assert sum("own" in tag.get("class", "") for tag in model.tags_of("path")) == 4
    for query in ("of=nope", "measure=nope"):
        get(viewer, f"/validations/cards/{card.pk}?{query}", 400)


def test_a_card_without_runs_says_so_and_a_missing_card_is_not_found(viewer: Client, card: Card) -> None:
    page = get(viewer, f"/validations/cards/{card.pk}")
    assert "Not validated" in page.text
    assert "No runs on this card yet" in page.text
    get(viewer, "/validations/cards/999999999999999999999", 404)


def test_the_inventory_says_of_each_card_whether_it_was_proven(viewer: Client, place: Cluster, card: Card) -> None:
    good = make_run(place, card=card)
    bad = make_run(place, card=Card.objects.get(node_name="gpu-1", index=1), verdict="failed")
    node = get(viewer, "/nodes/prod/gpu-1")
    assert {f"/validations/runs/{run.pk}" for run in (good, bad)} <= set(node.links)
    said = sorted(row[-1] for row in get(viewer, "/cards").rows)
    assert said == ["never", "✓ 4 min ago, validated, gpu-1, card 0", "✕ failed, gpu-1, card 1"]
    assert "by CUDA vectorAdd" in get(viewer, f"/cards/{card.pk}").text
    overview = get(viewer, "/")
    assert "Validated 1 33% of 3 · 1 failed" in overview.text
    assert "Validation failed on 1 card" in overview.text


def _queries(client: Client, path: str) -> int:
    client.get(path)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200, path
    return len(queries)


def test_the_number_of_queries_does_not_grow_with_the_rows(operator: Client, cluster: Cluster) -> None:
    make_fleet(cluster, nodes=14, cards=2)
    campaign = Campaign.objects.create(suite="cuda-nbody")
    cards = list(Card.objects.order_by("pk"))
    paths = [
        *("/validations", "/validations/suites", "/validations/campaigns", f"/validations/campaigns/{campaign.pk}"),
        *(f"/validations/cards/{cards[0].pk}", "/", "/nodes", "/cards", "/nodes/prod/gpu-00000"),
        "/validations/new?suite=cuda-vectoradd&node=gpu-00000",
    ]

    def fill(chosen: list[Card], first: int) -> None:
        for number, card in enumerate(chosen):
            verdict = "failed" if number % 3 == 0 else "passed"
            run = make_run(
                cluster,
                suite="cuda-nbody",
                node=card.node_name,
                card=card,
                verdict=verdict,
                measurements={"gflops": (1.0, "GFLOP/s")},
            )
            CampaignTarget.objects.create(
                campaign=campaign,
                position=first + number,
                cluster=cluster,
                node_name=card.node_name,
                card_key=card.key,
                run=run,
            )
            Campaign.objects.create(suite="cuda-nbody")

    fill(cards[:2], 0)
    few = {path: _queries(operator, path) for path in paths}
    fill(cards[2:], 2)
    many = {path: _queries(operator, path) for path in paths}
    assert {path: (few[path], many[path]) for path in paths if many[path] > few[path]} == {}
    assert max(many.values()) <= 40
