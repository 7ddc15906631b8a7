"""New lines of a log for a page that is open: only what is new is read and sent, half a line again when it is whole, and the end."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Cluster
from pages.sections.logwindow import MOST_LINES
from tests.pages.reading import get, read
from tests.pages.validations.rows import PASSED_LOG, make_run
from tests.sweeps import first_and_rest
from validations import logstore
from validations.models import LogChunk, Run, State


def goes_on(answer: Any) -> str:
    """Where the page asks for more; "" when it does not."""
    return next((unescape(tag["hx-get"]) for tag in read(answer).tags_of("li") if "hx-get" in tag), "")


def opened(client: Client, run: Run) -> str:
    return goes_on(client.get(f"/validations/runs/{run.pk}"))


def numbers(answer: Any) -> list[int]:
    return [int(tag["data-n"]) for tag in read(answer).tags_of("li") if "data-n" in tag]


def texts(answer: Any) -> list[str]:
    return [
        unescape(text) for text in re.findall(r"data-n=[^>]*>[^<]*<.*?<code>(.*?)</code>", read(answer).html, re.DOTALL)
    ]


def add(run: Run, data: bytes) -> None:
    logstore.append(run, data, len(data))


def end(run: Run, **columns: Any) -> None:
    columns = {"verdict": "passed", "ended_at": run.created_at, "parser_version": 1, "log_complete": True} | columns
    Run.objects.filter(pk=run.pk).update(state=State.ENDED, **columns)


def test_a_log_that_did_not_grow_is_not_read(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"one\n")
    more = opened(viewer, run)
    LogChunk.objects.all().delete()
    assert viewer.get(more).status_code == 204


def test_only_new_lines_come(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"one\ntwo\n")
    more = opened(viewer, run)
    add(run, b"three\nfour\n")
    answer = viewer.get(more)
    assert (numbers(answer), texts(answer)) == ([3, 4], ["three", "four"])
    assert viewer.get(goes_on(answer)).status_code == 204


def test_half_a_line_comes_again_when_it_is_whole(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"one\n10%\r2")
    first = viewer.get(f"/validations/runs/{run.pk}")
    assert numbers(first) == [1, 2, 2]
    add(run, b"0%")
    second = viewer.get(goes_on(first))
    assert (numbers(second), texts(second)) == ([2, 2], ["10%", "20%"])
    add(run, b"\nthree\n")
    third = viewer.get(goes_on(second))
    assert (numbers(third), texts(third)) == ([2, 2, 3], ["10%", "20%", "three"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("size", first_and_rest([7, 1, 50]))
def test_a_log_that_comes_in_pieces_reads_as_it_does_at_once(
    viewer: Client, place: Cluster, encoding: str, size: int
) -> None:
    """Characters cut in two, a carriage return before its feed."""
    text = "".join(f"line {number}\r\n显卡 ✓\n\n" for number in range(6))
    raw = text.encode(encoding)
    start = 40  # enough to tell the encoding by
    run = make_run(place, state="running", log=raw[:start])
    page = viewer.get(f"/validations/runs/{run.pk}")
    shown = list(zip(numbers(page), texts(page), strict=True))
    more = goes_on(page)
    for at in range(start, len(raw), size):
        add(run, raw[at : at + size])
        answer = viewer.get(more)
        begun = numbers(answer)[0] if numbers(answer) else 10**6
        shown = [line for line in shown if line[0] < begun] + list(zip(numbers(answer), texts(answer), strict=True))
        more = goes_on(answer)
    whole = viewer.get(f"/validations/runs/{run.pk}")
    assert shown == list(zip(numbers(whole), texts(whole), strict=True))
    assert [number for number, _ in shown] == list(range(1, 19))


def test_time_prefixes_stay_away_from_lines_that_come_later(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"2024-05-01T10:00:00Z one\n")
    more = opened(viewer, run)
    add(run, b"2024-05-01T10:00:01Z two\n")
    assert texts(viewer.get(more)) == ["two"]


def test_the_end_comes_with_what_the_page_says_of_a_complete_log(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=PASSED_LOG[:-8])
    more = opened(viewer, run)
    add(run, PASSED_LOG[-8:])
    end(run, evidence_line=5)
    answer = viewer.get(more)
    assert (numbers(answer), goes_on(answer)) == ([5, 6], "")
    assert [tag["data-n"] for tag in read(answer).tags_of("li") if "proof" in tag.get("class", "")] == ["5"]
    assert answer.headers["X-Log-Proof"] == "5"
    swapped = {tag["id"]: tag["hx-swap-oob"] for name in ("ul", "p", "label") for tag in read(answer).tags_of(name)}
    assert swapped == {"log-chips": "true", "log-empty": "true", "log-follow": "delete"}
    assert "All 6 lines" in read(answer).text


def test_a_run_that_ends_without_a_line_says_so(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running")
    page = viewer.get(f"/validations/runs/{run.pk}")
    assert "No lines yet." in read(page).text
    end(run, verdict="errored", log_complete=None)
    assert "No log stored" in read(viewer.get(goes_on(page))).text


def test_the_place_where_a_part_is_missing_is_marked_when_it_comes(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"head\nhal")
    more = opened(viewer, run)
    add(run, logstore.left_out_line(1234) + b"lf\ntail\n")
    end(run)
    answer = viewer.get(more)
    assert texts(answer) == ["hal…", "[gpudash: 1234 bytes left out]", "…lf", "tail"]
    assert [tag["data-n"] for tag in read(answer).tags_of("li") if "cut" in tag.get("class", "")] == ["3"]


def test_a_flood_of_lines_is_cut_and_said(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"x\n")
    more = opened(viewer, run)
    add(run, b"x\n" * 5000)
    answer = viewer.get(more)
    assert numbers(answer) == list(range(5002 - MOST_LINES, 5002))
    assert "Some lines were skipped." in read(answer).text


def test_the_cost_is_that_of_the_new_lines(viewer: Client, place: Cluster) -> None:
    """Of a long log the chunks before the new lines are not touched, but for the byte that ends the last line."""
    short = make_run(place, state="running", log=b"line\n")
    long = make_run(place, suite="nvidia-smi", state="running", log=b"line\n")
    for number in range(400):
        add(long, b"line %d of a long log\n" % number)
    costs = {}
    for run in (short, long):
        more = opened(viewer, run)
        add(run, b"new\nand new\n")
        with CaptureQueriesContext(connection) as queries:
            assert texts(viewer.get(more)) == ["new", "and new"]
        costs[run.pk] = [len(queries), _chunks_read(queries)]
    assert costs[long.pk] == costs[short.pk]
    assert costs[long.pk][1] == [b"\n", b"new\nand new\n"]


def _chunks_read(queries: CaptureQueriesContext) -> list[bytes]:
    """What the queries of chunks have brought, row by row."""
    selects = [one["sql"] for one in queries.captured_queries if "validations_logchunk" in one["sql"]]
    found = []
    with connection.cursor() as cursor:
        for sql in selects:
            cursor.execute(sql)
            found += [bytes(row[0]) for row in cursor.fetchall()]
    return found


@pytest.mark.parametrize(
    "query",
    [
        "",
        "offset=1",
        "offset=6&after=1",
        "after=2",
        "offset=999999999&after=1",
        f"after={'9' * 11}",
        "offset=4&after=9",
    ],
)
def test_a_place_that_the_log_does_not_have_brings_its_end_instead_of_what_is_shown(
    viewer: Client, place: Cluster, query: str
) -> None:
    run = make_run(place, state="running", log=b"one\ntwo\n")
    answer = viewer.get(f"/validations/runs/{run.pk}/log?{query}")
    assert answer.status_code == 200
    assert (numbers(answer), texts(answer)) == ([1, 2], ["one", "two"])
    assert viewer.get(goes_on(answer)).status_code == 204
    if query:
        assert (answer.headers["HX-Retarget"], answer.headers["HX-Reswap"]) == ("[data-lines]", "innerHTML")


def test_a_log_that_was_deleted_meanwhile_leaves_no_lines(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running", log=b"one\ntwo\n")
    more = opened(viewer, run)
    LogChunk.objects.all().delete()
    end(run, log_pruned_at=run.created_at)
    answer = viewer.get(more)
    assert (numbers(answer), answer.headers["HX-Reswap"]) == ([], "innerHTML")
    assert "The log was deleted" in read(answer).text


@pytest.mark.parametrize(
    "query", ["after=x", "offset=-1", "offset=1e3", f"offset={'9' * 40}", "stored=%00", "encoding=rot13", "offset=٣"]
)
def test_what_makes_no_sense_is_refused(viewer: Client, place: Cluster, query: str) -> None:
    run = make_run(place, state="running", log=b"one\n")
    assert viewer.get(f"/validations/runs/{run.pk}/log?{query}").status_code == 400


def test_an_unknown_run_is_not_there(viewer: Client, place: Cluster) -> None:
    assert viewer.get("/validations/runs/nope/log").status_code == 404


def test_no_number_of_lines_is_said_of_a_log_that_grows_or_is_empty(viewer: Client, place: Cluster) -> None:
    running = make_run(place, state="running")
    page = get(viewer, f"/validations/runs/{running.pk}")
    assert "All lines" in page.text
    assert "0 lines" not in page.text
    ended = make_run(place, verdict="errored", node="win-1")
    assert "lines" not in get(viewer, f"/validations/runs/{ended.pk}").text
