"""Launching: what will run is shown before, what does not fit is said before, and one click makes one run."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from inventory.models import Card, Cluster, Node
from tests.factories import make_node
from tests.pages.reading import get, read
from tests.pages.validations.rows import PASSED_LOG, make_run
from validations import tasks
from validations.models import Run
from validations.suites import registry

FORM = {"suite": "cuda-vectoradd", "node": "gpu-1", "key": "k-1"}


def send(client: Client, **fields: str) -> Any:
    return client.post("/validations/new", FORM | fields)


def test_before_anything_is_chosen_the_page_says_what_to_do(operator: Client, place: Cluster) -> None:
    assert "Choose a suite and enter a node." in get(operator, "/validations/new").text
    assert "Enter a node." in get(operator, "/validations/new?suite=cuda-vectoradd").text
    assert "Choose a suite." in get(operator, "/validations/new?node=gpu-1").text


def test_the_manifest_is_seen_before_the_launch(operator: Client, place: Cluster) -> None:
    page = get(operator, "/validations/new?suite=cuda-vectoradd&node=gpu-1")
    assert "Ready to launch." in page.text
    assert "kind: Job" in page.text
    assert "aliyun.com/gpu-mem" in page.text
    assert "gpudash-‹run id›" in page.text
    assert not Run.objects.exists()


def test_some_card_of_the_node_is_said_before(operator: Client, place: Cluster) -> None:
    make_node(place, "counted", "nvidia-count", 2, loads=(0.0,))
    page = get(operator, "/validations/new?suite=cuda-vectoradd&node=counted&card=0")
    assert "the stack chooses the card, so card 0 cannot be requested" in page.text
    page = get(operator, "/validations/new?suite=cuda-vectoradd&node=gpu-1&card=0")
    assert "Card 0 of node gpu-1. The tested card is read from the pod." in page.text
    assert "Any card of node gpu-1." in get(operator, "/validations/new?suite=cuda-vectoradd&node=gpu-1").text


@pytest.mark.parametrize(
    ("asked", "value"), [("", ""), ("&card=0", "0"), ("&card=1", "1"), ("&card=GPU-x", "GPU-x"), ("&card=7", "7")]
)
def test_the_card_that_was_clicked_is_chosen_and_else_any(
    operator: Client, place: Cluster, asked: str, value: str
) -> None:
    Card.objects.filter(node_name="gpu-1", index=1).update(uuid="GPU-x")
    page = get(operator, f"/validations/new?suite=cuda-vectoradd&node=gpu-1{asked}")
    assert chosen(page.html) == ["1" if value == "GPU-x" else value]
    assert ("(not on this node)" in page.html) is (value == "7")


def test_an_index_never_hides_a_key(operator: Client, place: Cluster) -> None:
    Card.objects.filter(node_name="gpu-1", index=1).update(key="GPU-y")
    Card.objects.filter(node_name="gpu-1", index=0).update(key="1")
    assert chosen(get(operator, "/validations/new?suite=cuda-vectoradd&node=gpu-1&card=1").html) == ["1"]


def chosen(html: str) -> list[str]:
    """Values of all options of the card's list that are selected."""
    options = html.partition('<select name="card"')[2].partition("</select>")[0]
    return re.findall(r'<option value="([^"]*)" selected', options)


def test_what_does_not_fit_is_said_before(operator: Client, place: Cluster) -> None:
    page = get(operator, "/validations/new?suite=cuda-vectoradd&node=win-1")
    assert "Cannot run on this target:" in page.text
    assert "node win-1 runs windows" in page.text
    assert send(operator, node="win-1").status_code == 400
    assert not Run.objects.exists()


def test_options_come_with_their_help_and_bounds(operator: Client, place: Cluster) -> None:
    page = get(operator, "/validations/new?suite=cuda-vectoradd&node=gpu-1")
    assert "Deadline of the Job in seconds, including pending time and image pull. (60 to 86,400)" in page.text
    names = {tag.get("name") for tag in page.tags_of("input")}
    assert {"option.image", "option.deadline_s", "option.runtime_class"} <= names


def test_a_wrong_option_is_said_beside_it(operator: Client, place: Cluster) -> None:
    answer = send(operator, **{"option.deadline_s": "7"})
    assert answer.status_code == 400
    page = read(answer)
    assert "must be an integer from 60 to 86400" in page.text
    wrong = [tag for tag in page.tags_of("input") if tag.get("aria-invalid") == "true"]
    assert [tag["name"] for tag in wrong] == ["option.deadline_s"]


def test_a_launch_leads_to_its_run(operator: Client, place: Cluster) -> None:
    answer = send(operator, **{"option.deadline_s": "120"})
    run = Run.objects.get()
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"/validations/runs/{run.pk}"
    assert (run.state, run.requested_by_name, run.options) == ("queued", "olga", {"deadline_s": "120"})
    assert run.manifest["spec"]["activeDeadlineSeconds"] == 120


def test_a_double_click_makes_one_run(operator: Client, place: Cluster) -> None:
    first, second = send(operator), send(operator)
    assert first.headers["Location"] == second.headers["Location"]
    assert Run.objects.count() == 1


def test_the_same_form_with_other_contents_is_not_launched_unasked(operator: Client, place: Cluster) -> None:
    send(operator)
    answer = send(operator, **{"option.deadline_s": "120"})
    assert answer.status_code == 409
    page = read(answer)
    assert "This form was already sent." in page.text
    key = next(tag["value"] for tag in page.tags_of("input") if tag.get("name") == "key")
    assert key != FORM["key"]


def test_a_place_that_is_held_names_the_run_that_holds_it(operator: Client, place: Cluster) -> None:
    send(operator)
    holder = Run.objects.get()
    answer = send(operator, key="k-2")
    assert answer.status_code == 409
    assert f"/validations/runs/{holder.pk}" in read(answer).links


def test_unknown_things_are_said(operator: Client, place: Cluster) -> None:
    assert "No suite nope." in get(operator, "/validations/new?suite=nope&node=gpu-1").text
    assert "has no node 'gpu-9'." in get(operator, "/validations/new?suite=cuda-vectoradd&node=gpu-9").text
    assert "has no card '7'" in get(operator, "/validations/new?suite=cuda-vectoradd&node=gpu-1&card=7").text


def test_preview_without_script_launches_nothing(operator: Client, viewer: Client, place: Cluster) -> None:
    for client in (operator, viewer):
        answer = send(client, preview="1")
        assert answer.status_code == 200
        assert "Ready to launch." in read(answer).text
    assert not Run.objects.exists()


def test_a_full_node_can_be_waited_for(operator: Client, place: Cluster) -> None:
    from inventory.models import Allocation

    Allocation.objects.filter(node_name="gpu-1").update(quantity=30)
    page = get(operator, "/validations/new?suite=cuda-vectoradd&node=gpu-1")
    assert "Not possible now:" in page.text
    assert send(operator).status_code == 400
    assert send(operator, queue_if_full="1").status_code == 302


def test_a_viewer_sees_the_form_disabled_and_what_to_ask_for(viewer: Client, place: Cluster) -> None:
    page = get(viewer, "/validations/new?suite=cuda-vectoradd&node=gpu-1")
    assert "Launching needs the role operator" in page.text
    assert "kind: Job" in page.text
    launch = re.search(r'<button type="submit" class="main"( disabled)?>Launch', page.html)
    assert launch
    assert launch[1]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '" onfocus="x', "{{ 7|add:7 }}", "☃" * 60])
def test_names_are_text(operator: Client, place: Cluster, name: str) -> None:
    Node.objects.filter(name="gpu-1").update(name=name)
    Card.objects.filter(node_name="gpu-1").update(node_name=name, model=name)
    page = get(operator, "/validations/new?suite=cuda-vectoradd&node=" + name)
    assert "<script>alert" not in page.html
    assert not any("onfocus" in tag for _name, tag in page.tags)


def test_a_run_can_be_cancelled(operator: Client, place: Cluster) -> None:
    run = make_run(place, state="running")
    assert operator.post(f"/validations/runs/{run.pk}/cancel").status_code == 302
    run.refresh_from_db()
    assert run.cancelled_by == "olga"
    assert "The Job is being deleted." in get(operator, f"/validations/runs/{run.pk}").text


def test_a_run_can_be_run_again_or_the_form_says_why_not(operator: Client, place: Cluster) -> None:
    first = make_run(place, verdict="failed")
    repeated = operator.post(f"/validations/runs/{first.pk}/rerun").headers["Location"]
    assert Run.objects.get(pk=repeated.rpartition("/")[2]).rerun_of_id == first.pk
    # The place is held now: the page of the run that holds it.
    assert operator.post(f"/validations/runs/{first.pk}/rerun").headers["Location"] == repeated
    # nvidia-smi finds no resource there: the form, filled in as the run was.
    misfit = make_run(place, suite="nvidia-smi", node="win-1", verdict="failed")
    answer = operator.post(f"/validations/runs/{misfit.pk}/rerun")
    assert answer.headers["Location"].startswith("/validations/new?suite=nvidia-smi&cluster=prod&node=win-1")


def test_a_log_is_read_again_by_a_worker_and_the_page_says_so(operator: Client, place: Cluster) -> None:
    run = make_run(place, verdict="errored", log=b"x\n")
    page = read(operator.post(f"/validations/runs/{run.pk}/reparse", follow=True))
    assert "Parsing the log again" in page.text
    assert "Earlier results of this log" not in page.text
    tasks.reparse_run(run.pk)
    page = read(operator.get(f"/validations/runs/{run.pk}"))
    assert "is being parsed again" not in page.text
    assert "Earlier results of this log" in page.text


def test_no_request_parses_a_log(operator: Client, place: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log is written by whoever made the image: what it does to a parser must not be done to the pages."""
    run = make_run(place, verdict="passed", log=PASSED_LOG, evidence_line=5)
    pending = make_run(place, suite="nvidia-smi", state="queued")

    def parsed(*_: object) -> None:
        raise AssertionError("a log was parsed")

    for suite in registry().values():
        monkeypatch.setattr(type(suite), "parse", parsed)
    monkeypatch.setattr("validations.lifecycle.judging.read_log", parsed)
    assert 'data-n="5"' in operator.get(f"/validations/runs/{run.pk}").content.decode()
    for path in (f"/validations/runs/{run.pk}/log?after=0", f"/api/v1/runs/{run.pk}", f"/api/v1/runs/{run.pk}/log"):
        assert operator.get(path).status_code == 200
    for path in (f"{run.pk}/reparse", f"{run.pk}/rerun", f"{pending.pk}/cancel"):
        assert operator.post(f"/validations/runs/{path}").status_code == 302
    pending.refresh_from_db()
    assert pending.verdict == "errored"


def test_options_of_another_suite_are_not_taken_over(operator: Client, place: Cluster) -> None:
    """The suite was changed while the fields of the one before were shown: its image must not run as the new suite."""
    first, second = registry()["cuda-vectoradd"], registry()["cuda-nbody"]
    shown = {f"option.{option.name}": str(option.default) for option in first.options}
    fields = {"suite": second.id, "options_of": first.id, "node": "gpu-1", "key": "k-1"} | shown
    page = read(operator.get("/validations/new", fields))
    image = next(tag["value"] for tag in page.tags_of("input") if tag.get("name") == "option.image")
    assert image == next(option.default for option in second.options if option.name == "image") != shown["option.image"]
    operator.post("/validations/new", fields)
    assert Run.objects.get().options == {}


def test_what_is_wrong_is_said_at_its_field_and_while_typing_in_the_preview(operator: Client, place: Cluster) -> None:
    """The preview alone is swapped while somebody types."""
    path = "/validations/new?suite=cuda-vectoradd&node=gpu-9&option.deadline_s=7"
    wrong = [tag["name"] for tag in get(operator, path).tags_of("input") if tag.get("aria-invalid") == "true"]
    assert wrong == ["node", "option.deadline_s"]
    said = "has no node &#x27;gpu-9&#x27;."
    before, _, preview = get(operator, path).html.partition('id="preview"')
    assert (said in before, said in preview) == (True, False)
    typing = read(operator.get(path, headers={"HX-Request": "true", "HX-Target": "preview"}))
    preview = typing.html.partition('id="preview"')[2]
    assert said in preview
    assert "must be an integer from 60 to 86400" in preview
