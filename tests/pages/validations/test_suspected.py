"""Why a run went wrong, read from the tables: on its page and by REST."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from django.test import Client

from inventory.models import Card, Cluster
from stacks.engine.base import UNHEALTHY, HealthReport
from tests.pages.reading import get
from tests.pages.validations.rows import make_run, reason
from validations import querysets
from validations.models import Run
from validations.suspected import Suspected, suspected


def told(run: Run) -> Suspected:
    whole = querysets.run_whole(run.pk)
    assert whole is not None
    found = suspected(whole)
    assert found is not None
    return found


WRONG = [reason("exit-code", "Exit code 1.")]


def failed(cluster: Cluster, card: Card | None, minutes_ago: float, **more: Any) -> Run:
    return make_run(
        cluster, card=card, verdict="failed", minutes_ago=minutes_ago, exit_code=1, **{"reasons": WRONG} | more
    )


def test_the_tables_are_read_for_it(place: Cluster, card: Card) -> None:
    beside = Card.objects.get(node_name="gpu-1", index=1)
    make_run(place, card=beside, minutes_ago=60)
    found = told(failed(place, card, 30))
    assert found.found.what == "card"
    assert found.found.because == ("1 other card of this node passed the same image.",)
    assert [(one.test, one.node, one.card) for one in found.next] == [
        ("rerun", "gpu-1", ""),
        ("other-card", "gpu-1", beside.key),
    ]


def test_a_fault_that_the_card_reports_now_counts(place: Cluster, card: Card) -> None:
    fault = HealthReport(source="dcgm-exporter", level=UNHEALTHY, code="xid", says="Xid error (hardware)")
    Card.objects.filter(pk=card.pk).update(health_reports=msgspec.json.encode([fault]).decode())
    found = told(failed(place, card, 30)).found
    assert (found.what, found.because[0]) == ("card", "The card reports a fault: Xid error (hardware).")


def test_runs_of_another_suite_and_of_long_ago_do_not_count(place: Cluster, card: Card) -> None:
    beside = Card.objects.get(node_name="gpu-1", index=1)
    make_run(place, card=beside, minutes_ago=60, suite="cuda-nbody")
    make_run(place, card=beside, minutes_ago=60 * 24 * 30)
    assert told(failed(place, card, 30)).found.what == "unknown"


def test_a_long_diagnostic_is_offered_where_it_can_run(place: Cluster, card: Card) -> None:
    limits = {"nvidia.com/gpu": "1"}
    manifest = {"spec": {"template": {"spec": {"containers": [{"resources": {"limits": limits}}]}}}}
    run = failed(place, card, 30, manifest=manifest, reasons=[reason("verification", "Wrong result.")])
    first = told(run).next[0]
    assert (first.test, first.suite, first.options, first.card) == ("diagnostic", "dcgm-diag", {"level": 3}, card.key)


@pytest.mark.parametrize("before", [2, 40])
def test_the_number_of_queries_does_not_follow_the_runs(
    place: Cluster, card: Card, before: int, django_assert_num_queries: Any
) -> None:
    Card.objects.update(model="Tesla T4")
    card.refresh_from_db()
    for number in range(before):
        make_run(place, card=card, minutes_ago=100 + number, verdict="failed" if number % 3 else "passed")
        make_run(place, node=f"gpu-{number + 5}", card_model="Tesla T4", card_key="0", minutes_ago=100 + number)
    whole = querysets.run_whole(failed(place, card, 10, reasons=[reason("timeout", "Timed out.")]).pk)
    assert whole is not None
    with django_assert_num_queries(3):
        suspected(whole)


def test_rest_tells_it(viewer: Client, place: Cluster, card: Card) -> None:
    beside = Card.objects.get(node_name="gpu-1", index=1)
    make_run(place, card=beside, minutes_ago=60)
    run = failed(place, card, 30)
    answer = viewer.get(f"/api/v1/runs/{run.pk}").json()["suspect"]
    assert answer["what"] == "card"
    assert answer["because"] == ["1 other card of this node passed the same image."]
    assert answer["try"].startswith("Rerun on this card.")
    assert answer["tests"][1] == {
        "suite": "cuda-vectoradd",
        "cluster": "prod",
        "node": "gpu-1",
        "card": beside.key,
        "nodes": [],
        "options": {},
    }
    good = make_run(place, card=card, minutes_ago=5)
    assert viewer.get(f"/api/v1/runs/{good.pk}").json()["suspect"] is None


def test_the_page_says_what_to_do_with_a_link_to_the_next_test(viewer: Client, place: Cluster, card: Card) -> None:
    beside = Card.objects.get(node_name="gpu-1", index=1)
    make_run(place, card=beside, minutes_ago=60)
    run = failed(place, card, 30, options={"elements": 7})
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert "Suspect: card. 1 other card of this node passed the same image." in page.text
    form = f"/validations/new?suite=cuda-vectoradd&cluster=prod&node=gpu-1&card={beside.key}&option.elements=7"
    assert form in page.links
    assert "What to do" not in get(viewer, f"/validations/runs/{make_run(place, card=card).pk}").text


def test_a_cancelled_run_has_no_suspect(viewer: Client, place: Cluster, card: Card) -> None:
    run = make_run(place, card=card, verdict="errored", reasons=[reason("cancelled", "Cancelled by olga.")])
    assert "Suspect" not in get(viewer, f"/validations/runs/{run.pk}").text
