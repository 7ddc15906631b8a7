"""A run went wrong: since when, and what differs from the last that passed? On its page and by REST."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from inventory.models import Card, Cluster, Node
from pages.sections.beside import speed
from tests.pages.reading import get
from tests.pages.validations.rows import make_run, reason
from validations import compared, querysets
from validations.models import Run
from validations.planning import RunDraft
from validations.requests import request_run

WRONG = [reason("verification", "The card gave a wrong result.")]
NODE = {
    "kernel": "5.15.0-100",
    "os_image": "Ubuntu 22.04",
    "cordoned": "no",
    "labels": {"nvidia.com/cuda.driver.major": "535"},
}


def ran(cluster: Cluster, minutes_ago: float, verdict: str = "passed", **more: Any) -> Run:
    more.setdefault("node_snapshot", NODE)
    return make_run(
        cluster, verdict=verdict, minutes_ago=minutes_ago, reasons=WRONG if verdict == "failed" else (), **more
    )


def told(run: Run) -> compared.Compared:
    whole = querysets.run_whole(run.pk)
    assert whole is not None
    return compared.compared(whole)


def test_the_last_pass_of_the_same_card_comes_first_and_the_first_failure_since_is_named(
    place: Cluster, card: Card
) -> None:
    ran(place, 90, card=card, verdict="failed")
    good = ran(place, 60, card=card)
    first = ran(place, 50, card=card, verdict="failed")
    other = ran(place, 40)  # on some card of the node
    last = ran(place, 30, card=card, verdict="failed")
    ran(place, 10, card=card)  # later than the run that is looked at
    found = told(last)
    assert (found.passed, found.same, found.first_failure) == (good, compared.CARD, first)
    assert [run.pk for run in found.strip if run != other] == [run.pk for run in found.strip]
    assert [run.verdict for run in found.strip] == ["failed", "passed", "failed", "failed"]


def test_without_one_the_node_and_then_the_model_are_asked(place: Cluster, card: Card) -> None:
    Card.objects.filter(pk=card.pk).update(model="Tesla T4")
    card.refresh_from_db()
    on_model = ran(place, 80, node="gpu-7", card_model="Tesla T4")
    last = ran(place, 30, card=card, verdict="failed")
    assert (told(last).passed, told(last).same) == (on_model, compared.MODEL)
    on_node = ran(place, 70)
    assert (told(last).passed, told(last).same) == (on_node, compared.NODE)
    alone = ran(place, 30, suite="cuda-nbody", verdict="failed")
    assert (told(alone).passed, told(alone).changes, told(alone).first_failure) == (None, [], alone)


def test_what_differs_is_told_with_both_values(place: Cluster, card: Card) -> None:
    labels = {"nvidia.com/cuda.driver.major": "550", "nvidia.com/mig.config": "all-1g.10gb"}
    after = NODE | {"kernel": "6.8.0-40", "labels": labels, "cordoned": "yes", "plugins": {"device-plugin": "plugin:2"}}
    ran(place, 60, card=card, driver="535.1", image_digest="x@sha256:1", measurements={"bandwidth": (200.0, "GB/s")})
    last = ran(
        place, 30, "failed", card=card, driver="550.2", node_snapshot=after, options={"size": 7},
        measurements={"bandwidth": (100.0, "GB/s")},
    )  # fmt: skip
    found = told(last)
    assert {(one.name, one.then, one.now) for one in found.changes} == {
        ("driver_version", "535.1", "550.2"),
        ("kernel", "5.15.0-100", "6.8.0-40"),
        ("cordoned", "no", "yes"),
        ("option size", None, "7"),
        ("plugin device-plugin", None, "plugin:2"),
        ("label nvidia.com/cuda.driver.major", "535", "550"),
        ("label nvidia.com/mig.config", None, "all-1g.10gb"),
    }
    assert [one.name for one in found.unknown] == ["image_digest"]
    [pair] = found.measurements
    assert (pair.then, pair.now, pair.slower_percent) == (200.0, 100.0, 100.0)


def test_of_a_snapshot_without_labels_none_is_said_to_have_gone(place: Cluster, card: Card) -> None:
    ran(place, 60, card=card, node_snapshot={"kernel": "5.15.0-100"})
    last = ran(place, 30, "failed", card=card)
    assert told(last).changes == []


def test_the_page_tells_it(viewer: Client, place: Cluster, card: Card) -> None:
    good = ran(place, 60, card=card, driver="535.1")
    ran(place, 50, "failed", card=card, driver="550.2")
    last = ran(place, 30, "failed", card=card, driver="550.2")
    page = get(viewer, f"/validations/runs/{last.pk}")
    assert "First failure:" in page.text
    assert "Driver 535.1 → 550.2" in page.text
    assert "ago , same card" in page.text
    assert "Compared with the last pass" in page.text
    assert "Card, image, options unchanged" in page.text
    assert f"/validations/runs/{good.pk}" in page.html
    assert "Compared with the last pass" not in get(viewer, f"/validations/runs/{good.pk}").text


def test_nothing_known_changed_is_said(viewer: Client, place: Cluster, card: Card) -> None:
    ran(place, 60, card=card)
    last = ran(place, 30, "errored", card=card)
    text = get(viewer, f"/validations/runs/{last.pk}").text
    assert "Differences none known" in text
    assert "Card, driver, image, options unchanged" in text
    assert "First failure: this run" in text


def test_rest_tells_the_same(viewer: Client, place: Cluster, card: Card) -> None:
    good = ran(place, 60, card=card, driver="535.1")
    last = ran(place, 30, "failed", card=card, driver="550.2")
    answer = viewer.get(f"/api/v1/runs/{last.pk}/compared").json()
    assert (answer["passed"], answer["same"], answer["first_failure"]) == (good.pk, "card", last.pk)
    assert answer["changes"] == [{"name": "driver_version", "then": "535.1", "now": "550.2"}]
    assert [row["verdict"] for row in answer["strip"]] == ["passed", "failed"]
    assert viewer.get("/api/v1/runs/nope/compared").status_code == 404


@pytest.mark.parametrize("before", [2, 30])
def test_the_number_of_queries_does_not_follow_the_runs(
    place: Cluster, card: Card, before: int, django_assert_max_num_queries: Any
) -> None:
    for number in range(before):
        ran(place, 100 - number, "failed" if number % 3 else "passed", card=card)
    whole = querysets.run_whole(ran(place, 10, "failed", card=card).pk)
    assert whole is not None
    with django_assert_max_num_queries(6):
        compared.compared(whole)


def test_a_launch_keeps_what_the_node_says_of_itself_and_whether_it_is_cordoned(
    operator: Client, place: Cluster
) -> None:
    Node.objects.filter(name="gpu-1").update(unschedulable=True)
    draft = {"suite": "cuda-vectoradd", "node": "gpu-1"}
    preview = operator.post("/api/v1/runs/preview", draft, content_type="application/json").json()
    assert [one["code"] for one in preview["warnings"]] == ["cordoned"]
    page = get(operator, "/validations/new?suite=cuda-vectoradd&node=gpu-1")
    assert "Node gpu-1 is cordoned" in page.text
    run, _ = request_run(RunDraft(suite="cuda-vectoradd", node="gpu-1"))
    assert run.node_snapshot["cordoned"] == "yes"
    assert all("kubernetes.io" not in name.partition("/")[0] for name in run.node_snapshot["labels"])
    made = operator.get(f"/api/v1/runs/{run.pk}").json()
    assert [one["code"] for one in made["warnings"]] == ["cordoned"]
    Node.objects.filter(name="win-1").update(unschedulable=False)
    preview = operator.post("/api/v1/runs/preview", draft | {"node": "win-1"}, content_type="application/json").json()
    assert preview["warnings"] == []


def test_the_form_says_after_a_launch_that_the_node_is_cordoned(operator: Client, place: Cluster) -> None:
    Node.objects.filter(name="gpu-1").update(unschedulable=True)
    answer = operator.post(
        "/validations/new", {"suite": "cuda-vectoradd", "cluster": "prod", "node": "gpu-1", "key": "k1"}, follow=True
    )
    assert "Node gpu-1 is cordoned" in answer.content.decode()


def test_a_node_made_anew_is_told_and_another_node_is_not_one_made_anew(place: Cluster, card: Card) -> None:
    ran(place, 90, node="gpu-7", suite="cuda-nbody", card_model="Tesla T4", node_snapshot=NODE | {"node_uid": "u7"})
    elsewhere = ran(
        place, 30, "failed", suite="cuda-nbody", card_model="Tesla T4", node_snapshot=NODE | {"node_uid": "u1"}
    )
    assert [one.name for one in told(elsewhere).changes] == ["node_name"]
    ran(place, 60, card=card, node_snapshot=NODE | {"node_uid": "u1"})
    anew = ran(place, 30, "failed", card=card, node_snapshot=NODE | {"node_uid": "u2"})
    assert [(one.name, one.then, one.now) for one in told(anew).changes] == [("node_uid", "u1", "u2")]


@pytest.mark.parametrize(
    ("slower_percent", "words"),
    [
        (183_064, "1,832× slower"),
        (900, "10× slower"),
        (899, "899 % slower"),
        (12.4, "12 % slower"),
        (0.2, "same"),
        (-40, "40 % faster"),
        (-95, "20× faster"),
    ],
)
def test_a_large_ratio_is_no_percentage(slower_percent: float, words: str) -> None:
    assert speed(slower_percent) == words


def test_any_two_runs_are_compared(viewer: Client, place: Cluster, card: Card) -> None:
    numbers = {"time": (10.0, "ms")}
    first = ran(place, 60, card=card, driver="535.1", measurements=numbers)
    second = ran(place, 30, card=card, driver="550.2", measurements={"time": (18_316.4, "ms")})
    page = get(viewer, f"/validations/compare?a={first.pk}&b={second.pk}")
    assert ["Driver", "535.1", "550.2"] in page.rows
    assert ["time", "10.00 ms", "18,316 ms 1,832× slower"] in page.rows
    assert "1 difference · Unchanged: card, image, options" in page.text
    assert not [row for row in page.rows if row[0] == "Image"]
    assert f"/validations/compare?a={second.pk}&b={first.pk}" in page.links
    same = get(viewer, f"/validations/compare?a={first.pk}&b={first.pk}", 400)
    assert "Must be another run than a." in same.text


def test_the_page_of_a_run_leads_to_the_choice_of_others_of_its_suite(
    viewer: Client, place: Cluster, card: Card
) -> None:
    first = ran(place, 60, card=card)
    other = ran(place, 50, card=card, suite="cuda-nbody")
    second = ran(place, 30)
    assert f"/validations/compare?b={second.pk}" in get(viewer, f"/validations/runs/{second.pk}").links
    links = get(viewer, f"/validations/compare?b={second.pk}").links
    assert f"/validations/compare?a={first.pk}&b={second.pk}" in links
    assert f"/validations/compare?a={other.pk}&b={second.pk}" not in links


def test_two_runs_that_are_not_there_are_said_so(viewer: Client, place: Cluster) -> None:
    run = ran(place, 60)
    assert "Must be the ID of a run." in get(viewer, "/validations/compare", 400).text
    assert "No run nope." in get(viewer, f"/validations/compare?a={run.pk}&b=nope", 404).text
