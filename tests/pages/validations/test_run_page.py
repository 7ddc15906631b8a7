"""The page of a run: verdict in words, steps, log, measurements, what it ran on, and what one may do with it."""

from __future__ import annotations

from django.test import Client

from inventory.models import Card, Cluster
from tests.pages.reading import get
from tests.pages.validations.rows import PASSED_LOG, make_run, reason
from validations.models import LogChunk, Reparse, Run

SCRIPT = "<script>alert(1)</script>"


def test_a_pass_says_what_it_proves_and_shows_the_line_that_proves_it(
    viewer: Client, place: Cluster, card: Card
) -> None:
    run = make_run(place, card=card, log=PASSED_LOG, evidence_line=5)
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert "Passed on gpu-1 card 0" in page.text
    assert "runs a kernel on it and reads back the right result. This validates the card." in page.text
    validity = [tag for tag in page.tags_of("li") if "proof" in tag.get("class", "")]
    assert [tag["data-n"] for tag in validity] == ["5"]


def test_a_failure_names_its_reason_and_links_to_the_line(viewer: Client, place: Cluster) -> None:
    reasons = [reason("verification", "The card gave a wrong result.", 3), reason("exit-code", "The exit code is 1.")]
    run = make_run(place, verdict="failed", reasons=reasons, log=b"a\nb\nResult verification failed\n", exit_code=1)
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert "Failed: wrong result on gpu-1" in page.text
    assert "The card gave a wrong result. line 3 · The exit code is 1 · 40 s · olga , 5 min ago" in page.text
    assert "?line=3#L3" in page.links


def test_an_errored_run_says_where_it_stopped(viewer: Client, place: Cluster) -> None:
    run = make_run(
        place,
        verdict="errored",
        reasons=[reason("unschedulable", "0/3 nodes are available")],
        exit_code=None,
        log_complete=None,
    )
    run.steps.filter(state__in=("pulling", "running", "collecting")).delete()
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert "Errored: unschedulable: no node accepted the pod on gpu-1" in page.text
    assert "Scheduled 50 s, no further" in page.text
    assert "Suspect: scheduling." in page.text
    assert "No log stored" in page.text
    assert "Ran " not in " ".join(tag.get("class", "") for tag in page.tags_of("li"))


def test_a_verdict_from_the_log_says_that_the_container_ran(viewer: Client, place: Cluster) -> None:
    """A container of a second starts and ends between two looks: no step says that it ran."""
    run = make_run(place, verdict="failed", reasons=[reason("verification", "The card gave a wrong result.")])
    run.steps.filter(state__in=("pulling", "running")).delete()
    assert "no further" not in get(viewer, f"/validations/runs/{run.pk}").text


def test_a_waiting_run_shows_why_in_the_clusters_words(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="pending", pending_reason="Unschedulable", pending_message="0/3 nodes are available")
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert "Unschedulable" in page.text
    assert "0/3 nodes are available" in page.text
    assert "No lines yet." in page.text


def test_an_error_of_the_clusters_api_is_shown_as_text(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="creating", last_error=f"403: quota {SCRIPT}")
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert f"403: quota {SCRIPT}" in page.text
    assert SCRIPT not in page.html


def test_a_log_is_text_and_nothing_else(viewer: Client, place: Cluster) -> None:
    run = make_run(
        place, verdict="failed", reasons=[reason("x", SCRIPT, 1)], log=f"{SCRIPT}\n\x1b[31mred\x1b[0m\n".encode()
    )
    page = get(viewer, f"/validations/runs/{run.pk}?view=all")
    assert SCRIPT not in page.html
    assert SCRIPT in page.text
    assert "\x1b" not in page.html


def test_four_mebibytes_of_log_make_a_small_page(viewer: Client, place: Cluster) -> None:
    run = make_run(place, log=(b"<" * 100 + b"\n") * 41_000)
    for query in ("", "?view=all", "?view=tail", "?line=20000", "?find=<"):
        page = get(viewer, f"/validations/runs/{run.pk}{query}")
        assert len(page.html) < 700_000, query
    assert "All 41,000 lines" in page.text


def test_windows_of_a_long_log_are_linked(viewer: Client, place: Cluster) -> None:
    run = make_run(place, log=b"".join(b"line %d\n" % number for number in range(1, 1401)))
    first = get(viewer, f"/validations/runs/{run.pk}?view=all")
    assert "Earlier lines" not in first.text
    later = next(link for link in first.links if "from=501" in link)
    second = get(viewer, later.partition("#")[0])
    assert "line 501" in second.text
    assert "Earlier lines" in second.text
    assert "Later lines" in second.text


def test_search_in_the_log_says_how_many_lines_hold_it(viewer: Client, place: Cluster) -> None:
    run = make_run(place, log=b"alpha\nbeta\nALPHA\n")
    assert "2 matching lines" in get(viewer, f"/validations/runs/{run.pk}?find=alpha").text
    assert "No line contains “gamma”." in get(viewer, f"/validations/runs/{run.pk}?find=gamma").text


def test_measurements_stand_beside_the_last_good_run(viewer: Client, place: Cluster, card: Card) -> None:
    make_run(place, card=card, suite="cuda-nbody", measurements={"gflops": (1000.0, "GFLOP/s")}, minutes_ago=60)
    slow = make_run(
        place, card=card, suite="cuda-nbody", verdict="warning", measurements={"gflops": (500.0, "GFLOP/s")}
    )
    page = get(viewer, f"/validations/runs/{slow.pk}")
    assert "Ratio" in page.text
    row = next(row for row in page.rows if row[0].startswith("gflops"))
    assert row[1:] == ["500.0 GFLOP/s", "1,000", "0.5×"]
    assert "No floor: gflops" in page.text


def test_without_a_good_run_before_nothing_is_compared(viewer: Client, place: Cluster, card: Card) -> None:
    run = make_run(place, card=card, suite="cuda-nbody", measurements={"gflops": (500.0, "GFLOP/s")})
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert "No earlier pass with the same suite" in page.text
    assert "×" not in page.text


def test_some_card_is_said_to_prove_the_node_only(viewer: Client, place: Cluster) -> None:
    run = make_run(place)
    assert (
        "The result belongs to the node: the card is unidentified." in get(viewer, f"/validations/runs/{run.pk}").text
    )


def test_an_unknown_driver_is_said_to_be(viewer: Client, place: Cluster) -> None:
    run = make_run(place, driver="")
    assert "Driver unknown" in get(viewer, f"/validations/runs/{run.pk}").text


def test_earlier_results_of_the_same_log_are_listed(viewer: Client, place: Cluster) -> None:
    run = make_run(place, log=PASSED_LOG)
    Reparse.objects.create(
        run=run,
        at=run.ended_at,
        old_parser_version=0,
        old_verdict="errored",
        old_reasons=[reason("no-verdict", "Nothing found.")],
        new_parser_version=1,
        new_verdict="passed",
    )
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert "Earlier results of this log" in page.text
    assert "Nothing found." in page.text


def test_the_raw_log_is_a_file_of_the_bytes_as_they_came(viewer: Client, place: Cluster) -> None:
    raw = b"\xff\xfe" + "<b>text</b>\n".encode("utf-16-le")
    run = make_run(place, log=raw)
    answer = viewer.get(f"/validations/runs/{run.pk}/log.txt")
    assert b"".join(answer.streaming_content) == raw  # type: ignore[attr-defined]
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


def test_the_manifest_is_on_the_page_and_a_file(viewer: Client, place: Cluster) -> None:
    run = make_run(place)
    assert "kind: Job" in get(viewer, f"/validations/runs/{run.pk}").html
    answer = viewer.get(f"/validations/runs/{run.pk}/manifest")
    assert "kind: Job" in answer.content.decode()
    assert answer.headers["Content-Disposition"].startswith("attachment")


def test_a_deleted_log_says_so(viewer: Client, place: Cluster) -> None:
    run = make_run(place, log=b"x\n")
    LogChunk.objects.filter(run=run).delete()
    Run.objects.filter(pk=run.pk).update(log_pruned_at=run.ended_at)
    assert "The log was deleted after its retention time" in get(viewer, f"/validations/runs/{run.pk}").text


def test_a_run_that_is_not_there_is_said_so_and_a_strange_parameter_too(viewer: Client, place: Cluster) -> None:
    run = make_run(place)
    for name in ("nope", "x" * 300, "%00", f"{run.pk}x"):
        assert "No run" in get(viewer, f"/validations/runs/{name}", 404).text
    for query in ("view=nope", "line=-1", "line=x", "from=1e9"):
        assert get(viewer, f"/validations/runs/{run.pk}?{query}", 400).text


def test_stored_json_of_any_shape_is_shown_or_left_out(viewer: Client, place: Cluster) -> None:
    run = make_run(place, verdict="failed", log=b"x\n")
    for reasons, facts in (
        ({"a": 1}, []),
        ([1, None, {"code": 5, "text": None, "line": "7"}], {"deep": [{"a": [1]}]}),
        ("x", 3),
    ):
        Run.objects.filter(pk=run.pk).update(reasons=reasons, facts=facts, node_snapshot=facts, options=reasons)
        get(viewer, f"/validations/runs/{run.pk}")


def test_the_live_part_is_not_sent_again_while_nothing_changes(viewer: Client, place: Cluster) -> None:
    run = make_run(place, state="running")
    path = f"/validations/runs/{run.pk}"
    whole = get(viewer, path)
    fingerprint = next(tag["data-fingerprint"] for tag in whole.tags_of("div") if tag.get("id") == "live")
    headers = {"HX-Request": "true", "X-Fingerprint": fingerprint}
    assert viewer.get(path, headers=headers).status_code == 204
    Run.objects.filter(pk=run.pk).update(pending_message="news")
    assert "news" in get(viewer, path, **headers).text


def test_a_pass_says_how_much_it_proves(viewer: Client, place: Cluster, card: Card) -> None:
    validated = get(viewer, f"/validations/runs/{make_run(place, card=card).pk}").text
    assert "This validates the card." in validated
    assert "Level result checked" in validated
    seen = make_run(place, card=card, suite="nvidia-smi")
    page = get(viewer, f"/validations/runs/{seen.pk}")
    assert "Passed (detected only) on" in page.text
    assert "This does not validate the card." in page.text
    own = make_run(place, card=card, level="none", level_note="The image x is not the suite's own.")
    page = get(viewer, f"/validations/runs/{own.pk}")
    assert "This proves nothing about the card. The image x is not the suite's own." in page.text
    failed = get(viewer, f"/validations/runs/{make_run(place, card=card, verdict='failed').pk}")
    assert "validates" not in failed.text


def test_the_form_promises_what_the_result_then_says(viewer: Client, place: Cluster, card: Card) -> None:
    truth = "The speed is measured, the result is not checked. This does not validate the card."
    assert f"A pass: A card sustains arithmetic work. {truth}" in get(viewer, "/validations/new?suite=cuda-nbody").text
    run = make_run(place, card=card, suite="cuda-nbody")
    assert f"A card sustains arithmetic work. {truth}" in get(viewer, f"/validations/runs/{run.pk}").text
    assert f"A card sustains arithmetic work. {truth}" in get(viewer, "/validations/suites").text


def test_the_form_promises_nothing_of_an_image_that_is_not_the_suites(viewer: Client, place: Cluster) -> None:
    page = get(viewer, "/validations/new?suite=cuda-nbody&option.image=reg/mine:1")
    assert "A pass: This proves nothing about the card." in page.text


def test_the_page_says_that_another_card_ran(viewer: Client, place: Cluster, card: Card) -> None:
    note = "Card 1 was asked for; the pod took card 0 (annotation-v1): the result is that card's."
    run = make_run(place, card=card, card_requested="1", card_evidence="annotation-v1", card_note=note)
    assert note in get(viewer, f"/validations/runs/{run.pk}").text


def test_the_run_that_is_compared_with_is_named_with_node_and_card(viewer: Client, place: Cluster, card: Card) -> None:
    other = Card.objects.get(node_name="gpu-1", index=1)
    make_run(place, card=other, suite="cuda-nbody", measurements={"time": (10.0, "ms")}, minutes_ago=60)
    run = make_run(place, card=card, suite="cuda-nbody", measurements={"time": (11.0, "ms")})
    page = get(viewer, f"/validations/runs/{run.pk}")
    assert "Ratio" in page.text
    assert "gpu-1 · card 1" in page.text
    Run.objects.filter(pk=run.pk).update(driver_version="")
    alone = get(viewer, f"/validations/runs/{run.pk}").text
    assert "Measurements" in alone
    assert "Ratio" not in alone


def test_lists_tell_a_pass_from_a_proof(viewer: Client, place: Cluster, card: Card) -> None:
    make_run(place, card=card, suite="nvidia-smi")
    page = get(viewer, "/validations")
    assert "0 of 3 cards validated" in page.text
    assert "3 not validated" in page.text
    assert "1 detected only" in {tag.get("title") for tag in page.tags_of("span")}
    assert "detected only" in get(viewer, "/cards").text
    assert "Not validated. The driver detected the card:" in get(viewer, f"/cards/{card.pk}").text
    assert len(get(viewer, "/validations?level=checked").rows) == 0
    assert len(get(viewer, "/validations?level=detected").rows) == 1
