"""New lines of a log for a page that is open: only what is new, half a line again when it is whole, and the end."""

from __future__ import annotations

from typing import Any

from django.test import Client

from inventory.models import Cluster
from tests.pages.reading import read
from tests.pages.validations.rows import PASSED_LOG, make_run
from validations import logstore
from validations.models import Run


def ask(client: Client, run: Run, after: int, stored: int) -> Any:
    return client.get(f"/validations/runs/{run.pk}/log?after={after}&stored={stored}")


def numbers(answer: Any) -> list[int]:
    return [int(tag["data-n"]) for tag in read(answer).tags_of("li") if "data-n" in tag]


def test_a_log_that_did_not_grow_is_not_read(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"one\n")
    assert ask(viewer, run, 1, run.log_stored).status_code == 204


def test_only_new_lines_come(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"one\ntwo\n")
    logstore.append(run, b"three\nfour\n", 11)
    answer = ask(viewer, run, 2, 8)
    assert numbers(answer) == [3, 4]
    assert (answer.headers["X-Log-Last"], answer.headers["X-Log-Stored"]) == ("4", "19")
    assert answer.headers["X-Log-Ended"] == "false"


def test_half_a_line_comes_again_when_it_is_whole(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"one\ntw")
    first = ask(viewer, run, 0, 0)
    assert numbers(first) == [1, 2]
    assert first.headers["X-Log-Last"] == "1"
    logstore.append(run, b"o\n", 2)
    assert numbers(ask(viewer, run, 1, 6)) == [2]


def test_the_end_comes_with_the_lines_that_prove_the_verdict(viewer: Client, place: Cluster) -> None:
    run = make_run(place, log=PASSED_LOG, proof_line=5)
    answer = ask(viewer, run, 4, 100)
    assert answer.headers["X-Log-Ended"] == "true"
    assert answer.headers["X-Log-Proof"] == "5"
    assert numbers(answer) == [5, 6]


def test_a_flood_of_lines_is_cut_and_said(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"x\n" * 5000)
    answer = ask(viewer, run, 0, 0)
    assert numbers(answer)[-1] == 5000
    assert len(numbers(answer)) <= 500
    assert "faster than they could be shown" in read(answer).text


def test_an_unknown_run_and_strange_numbers_are_refused(viewer: Client, place: Cluster) -> None:
    assert viewer.get("/validations/runs/nope/log").status_code == 404
    run = make_run(place)
    assert viewer.get(f"/validations/runs/{run.pk}/log?after=x").status_code == 400
    assert viewer.get(f"/validations/runs/{run.pk}/log?after={'9' * 11}").status_code == 200
