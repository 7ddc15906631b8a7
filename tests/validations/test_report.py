"""The report of a campaign: its content, its hash, and whether a stored campaign still gives it."""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.roles import Role
from inventory.models import Card, Cluster
from tests.cast import make_user, signed_in
from tests.factories import make_node
from tests.pages.reading import get
from tests.pages.validations.rows import make_run, reason
from validations import report
from validations.models import Campaign, CampaignTarget, Run


@pytest.fixture
def viewer(db: None) -> Client:
    return signed_in(make_user("vera", Role.VIEWER))


@pytest.fixture
def campaign(prod: Cluster) -> Campaign:
    """Cards 0 to 5 of node h: proven, failed, another image, on another card, cancelled, does not fit; all ended."""
    make_node(prod, "h", "hami", 6, loads=(0.0,))
    made = Campaign.objects.create(suite="cuda-vectoradd", name="T4s", requested_by_name="olga", state="stopped")
    cards = list(Card.objects.filter(node_name="h").order_by("index"))
    both: dict[str, Any] = {"node": "h", "campaign": made, "image_digest": "registry.example/suite@sha256:" + "a" * 64}
    failed = [reason("verification", "The card gave a wrong result.")]
    runs = [
        make_run(prod, card=cards[0], **both),
        make_run(prod, card=cards[1], verdict="failed", reasons=failed, **both),
        make_run(prod, card=cards[2], own_image=False, level="none", image="mine:1", **both),
        None,
        make_run(prod, card=cards[4], verdict="errored", ending=["cancelled", "by olga"], **both),
        None,
    ]
    tried = make_run(prod, card=cards[0], card_requested=cards[3].key, **both)
    words = {3: {"not_tested": "took another", "tried": tried}, 5: {"skipped": "Node h is not ready. (not-ready)"}}
    for position, (card, run) in enumerate(zip(cards, runs, strict=True)):
        CampaignTarget.objects.create(
            campaign=made,
            position=position,
            cluster=prod,
            node_name="h",
            card_key=card.key,
            run=run,
            **words.get(position, {}),
        )
    return made


def command(*words: str) -> str:
    out = io.StringIO()
    call_command("report", *words, stdout=out)
    return out.getvalue()


def test_each_place_has_its_outcome_and_what_ran_there(campaign: Campaign) -> None:
    found = report.content(campaign)
    assert [one["outcome"] for one in found["targets"]] == [
        "validated", "failed", "inconclusive", "another-card", "cancelled", "not-ready",
    ]  # fmt: skip
    first = found["targets"][0]
    assert (first["cluster"], first["node"], first["index"], first["uuid"]) == (
        "prod",
        "h",
        0,
        "GPU-h-0",
    )
    assert (first["verdict"], first["level"], first["driver"]) == ("passed", "checked", "550.54.15")
    assert found["targets"][1]["reason_text"] == "The card gave a wrong result."
    assert found["targets"][5]["why_not"] == "Node h is not ready. (not-ready)"
    assert {(one["image"], one["own"]) for one in found["images"]} == {
        ("registry.example/suite:1", True),
        ("mine:1", False),
    }
    assert [one["run"] for one in found["other_runs"]] == [Run.objects.get(card_requested__gt="").pk]
    cards = found["coverage"]
    assert (cards["targets"], cards["validated"], cards["failed"], cards["inconclusive"], cards["not_tested"]) == (
        6,
        1,
        1,
        1,
        3,
    )
    outcomes = [one["outcome"] for one in found["targets"] if one["outcome"] not in report.TESTED]
    assert cards["why"] == {name: outcomes.count(name) for name in outcomes}


def test_page_rest_and_command_give_one_hash_that_a_reader_can_repeat(
    campaign: Campaign, viewer: Client, tmp_path: Path
) -> None:
    told = command(campaign.pk, "-o", "json")
    file = tmp_path / "report.json"
    file.write_text(told)
    summed = subprocess.run(["sha256sum", str(file)], capture_output=True, text=True, check=True).stdout.split()[0]
    answer = viewer.get(f"/api/v1/campaigns/{campaign.pk}/report")
    assert answer.content.decode() == told
    assert answer.headers["X-Report-SHA256"] == hashlib.sha256(answer.content).hexdigest() == summed
    address = f"/validations/campaigns/{campaign.pk}/report"
    assert f"sha256:{summed}" in get(viewer, address).text
    assert viewer.get(f"{address}?format=json").content.decode() == told
    again = json.dumps(json.loads(told), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert again == told
    assert f"sha256:{summed}" in command(campaign.pk)


@pytest.mark.django_db
def test_verify_of_a_file_in_which_a_name_stands_twice_is_no_traceback(tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text('{"payload": 1, "payload": 2}')
    with pytest.raises(CommandError, match="not a campaign report"):
        call_command("report", "verify", str(file))


def test_verify_says_whether_the_stored_campaign_gives_the_same(campaign: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "report.json"
    file.write_text(command(campaign.pk, "-o", "json"))
    assert "Identical: the file matches" in command("verify", str(file))
    Run.objects.filter(verdict="failed").update(verdict="passed", level="checked")
    out = io.StringIO()
    with pytest.raises(CommandError, match="The file differs from") as caught:
        call_command("report", "verify", str(file), stdout=out)
    assert caught.value.returncode == 1
    assert 'targets[1].verdict: "failed" in the file, "passed" stored' in out.getvalue()


def test_a_file_that_was_changed_is_found_out(campaign: Campaign, tmp_path: Path) -> None:
    told = command(campaign.pk, "-o", "json")
    file = tmp_path / "report.json"
    file.write_text(told.replace('"outcome":"failed"', '"outcome":"validated"'))
    with pytest.raises(CommandError, match="The file differs from"):
        command("verify", str(file))
    file.write_text(told + "\n")
    with pytest.raises(CommandError, match="not in canonical form"):
        command("verify", str(file))
    for text in ("[]", "{}", "nothing", '{"campaign": {"id": "nope"}, "format": "gpudash-campaign-report/1"}'):
        file.write_text(text)
        with pytest.raises(CommandError) as caught:
            command("verify", str(file))
        assert caught.value.returncode == 2


def test_the_page_has_absolute_times_and_tells_why_cards_were_not_reached(campaign: Campaign, viewer: Client) -> None:
    page = get(viewer, f"/validations/campaigns/{campaign.pk}/report")
    assert "1 of 6 cards validated · 1 card failed" in page.text
    assert "3 not tested" in page.text
    for text in (
        "another card was allocated",
        "run cancelled",
        "UTC",
        "another image",
        "sha256:" + "a" * 64,
        "GPU-h-0",
    ):
        assert text in page.text, text
    assert "has not ended" in page.text
    assert f"/validations/campaigns/{campaign.pk}/report" in get(viewer, f"/validations/campaigns/{campaign.pk}").html
    assert viewer.get("/validations/campaigns/nope/report").status_code == 404
    assert viewer.get("/api/v1/campaigns/nope/report").status_code == 404


def test_the_number_of_queries_does_not_follow_the_places(
    campaign: Campaign, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(7):
        report.content(campaign)
