"""Certificates of campaigns and policies: what they say, who may have one, and where it is written down."""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.roles import Role
from audit.models import Entry
from inventory.models import Card, Cluster
from runtime.scope import Scope, seeing
from tests.cast import make_user, signed_in
from tests.factories import make_node
from tests.pages.reading import get
from tests.pages.validations.rows import PASSED_LOG, make_run, reason
from validations import report
from validations.certificate import envelope, issue, offline
from validations.models import Campaign, CampaignTarget, Policy, PolicyCard, Run

ENDED = datetime(2026, 11, 20, 10, tzinfo=UTC)


@pytest.fixture
def key(tmp_path: Path, settings: Any) -> Path:
    file = tmp_path / "signing.pem"
    offline.made(file)
    settings.SIGNING_KEY_FILE = file
    return file


@pytest.fixture
def operator(db: None) -> Client:
    return signed_in(make_user("olga", Role.OPERATOR))


@pytest.fixture
def campaign(prod: Cluster) -> Campaign:
    """Cards 0 to 2 of node h: validated, failed, not tested; ended."""
    make_node(prod, "h", "hami", 3, loads=(0.0,))
    made = Campaign.objects.create(
        suite="cuda-vectoradd", name="T4s", requested_by_name="olga", state="done", ended_at=ENDED
    )
    cards = list(Card.objects.filter(node_name="h").order_by("index"))
    both: dict[str, Any] = {"node": "h", "campaign": made, "image_digest": "registry.example/suite@sha256:" + "a" * 64}
    digest = hashlib.sha256(PASSED_LOG).hexdigest()
    numbers = {"bandwidth": (31.5, "GB/s")}
    runs = [
        make_run(prod, card=cards[0], log=PASSED_LOG, log_sha256=digest, measurements=numbers, **both),
        make_run(prod, card=cards[1], verdict="failed", reasons=[reason("verification", "Wrong result.")], **both),
        None,
    ]
    for position, (card, run) in enumerate(zip(cards, runs, strict=True)):
        words = {} if run else {"skipped": "Node h is not ready. (not-ready)"}
        at = {"campaign": made, "position": position, "cluster": prod, "node_name": "h", "card_key": card.key}
        CampaignTarget.objects.create(run=run, **at, **words)
    return made


def opened(data: bytes, key: Path) -> dict[str, Any]:
    return envelope.verified(data, envelope.read_public(key.with_name(f"{key.name}.pub")))


def test_the_statement_says_what_was_tested_what_was_not_and_by_what(campaign: Campaign, key: Path) -> None:
    found = opened(issue.of_campaign(campaign), key)
    assert (found["_type"], found["predicateType"]) == (envelope.STATEMENT_TYPE, envelope.PREDICATE_TYPE)
    assert found["subject"] == [
        {"name": name, "digest": {"sha256": hashlib.sha256(name.encode()).hexdigest()}}
        for name in ("card-uuid:GPU-h-0", "card-uuid:GPU-h-1")
    ]
    said = found["predicate"]
    assert said["result"] == "FAILED"
    assert said["counts"] == {"targets": 3, "validated": 1, "failed": 1, "inconclusive": 0, "not_tested": 1}
    assert said["report"] == json.loads(report.canonical(report.content(campaign)))
    assert said["report_sha256"] == report.sha256(report.canonical(said["report"]))
    assert said["report"]["targets"][2]["why_not"] == "Node h is not ready. (not-ready)"
    assert said["report"]["drivers"] == ["550.54.15"]
    run = said["report"]["targets"][0]["run"]
    assert said["runs"][run]["log"] == {
        "sha256": hashlib.sha256(PASSED_LOG).hexdigest(),
        "bytes": len(PASSED_LOG),
        "bytes_left_out": None,
        "complete": True,
    }
    [measured] = said["runs"][run]["measurements"]
    assert (measured["name"], measured["value"], measured["unit"]) == ("bandwidth", 31.5, "GB/s")
    assert said["window"]["until"] >= said["window"]["from"]
    assert set(said) == {
        *("result", "counts", "without_uuid", "window", "issued_at", "issued_for", "gpudash_version"),
        *("report_sha256", "report", "runs"),
    }


def test_rest_page_and_command_give_it_and_the_audit_log_says_so(
    campaign: Campaign, key: Path, operator: Client, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    answer = operator.post(f"/api/v1/campaigns/{campaign.pk}/certificate")
    assert (answer.status_code, opened(answer.content, key)["predicate"]["issued_for"]) == (200, "olga")
    page = operator.post(f"/validations/campaigns/{campaign.pk}/certificate")
    assert "attachment" in page.headers["Content-Disposition"]
    assert opened(page.content, key)["predicate"]["result"] == "FAILED"
    call_command("report", campaign.pk, "--certificate")
    assert opened(capsys.readouterr().out.encode(), key)["predicate"]["result"] == "FAILED"
    entries = list(Entry.objects.filter(action="certificate-sign").order_by("id"))
    assert [one.target for one in entries] == [f"campaign {campaign.pk}"] * 3
    payload = base64.b64decode(json.loads(answer.content)["payload"])
    assert entries[0].detail["sha256"] == hashlib.sha256(payload).hexdigest()
    public = operator.get("/api/v1/signing-key").json()
    assert entries[0].detail["key"] == public["key_id"]
    assert public["public_key"] == (tmp_path / "signing.pem.pub").read_text()
    shown = get(operator, f"/validations/campaigns/{campaign.pk}/report")
    assert public["key_id"] in shown.text
    assert "PRIVATE" not in shown.text


def test_without_a_key_it_is_refused_and_says_what_to_do(campaign: Campaign, operator: Client) -> None:
    answer = operator.post(f"/api/v1/campaigns/{campaign.pk}/certificate")
    assert answer.status_code == 409
    assert "GPUDASH_SIGNING_KEY_FILE" in answer.json()["detail"]
    assert operator.get("/api/v1/signing-key").status_code == 409
    assert "GPUDASH_SIGNING_KEY_FILE" in get(operator, f"/validations/campaigns/{campaign.pk}/report").text
    moved = operator.post(f"/validations/campaigns/{campaign.pk}/certificate", follow=True)
    assert "gpudash report key FILE" in moved.content.decode()
    with pytest.raises(CommandError, match="gpudash report key FILE"):
        call_command("report", campaign.pk, "--certificate")
    assert not Entry.objects.filter(action="certificate-sign").exists()


def test_a_key_file_that_is_none_is_named_without_its_content(
    campaign: Campaign, settings: Any, tmp_path: Path
) -> None:
    settings.SIGNING_KEY_FILE = tmp_path / "bad"
    settings.SIGNING_KEY_FILE.write_text("hunter2")
    with pytest.raises(issue.NotIssued) as found:
        issue.of_campaign(campaign)
    assert "hunter2" not in str(found.value)


def test_viewers_do_not_sign(campaign: Campaign, key: Path) -> None:
    viewer = signed_in(make_user("vera", Role.VIEWER))
    assert viewer.post(f"/api/v1/campaigns/{campaign.pk}/certificate").status_code == 403
    assert viewer.post(f"/validations/campaigns/{campaign.pk}/certificate").status_code == 403
    assert viewer.get("/api/v1/signing-key").status_code == 200


def test_a_campaign_that_goes_on_has_no_certificate(campaign: Campaign, key: Path) -> None:
    Campaign.objects.filter(pk=campaign.pk).update(ended_at=None, state="running")
    campaign.refresh_from_db()
    with pytest.raises(issue.NotIssued, match="has not ended"):
        issue.of_campaign(campaign)


def test_who_does_not_see_all_of_it_gets_none(campaign: Campaign, prod: Cluster, key: Path) -> None:
    dev = Cluster.objects.create(name="dev")
    CampaignTarget.objects.create(campaign=campaign, position=9, cluster=dev, node_name="x", card_key="y")
    with seeing(Scope(frozenset({prod.pk}))), pytest.raises(issue.OutOfScope):
        issue.of_campaign(campaign)
    with seeing(Scope(frozenset({prod.pk, dev.pk}))):
        assert opened(issue.of_campaign(campaign), key)["predicate"]["counts"]["targets"] == 4


def test_no_uuid_no_certificate(campaign: Campaign, key: Path) -> None:
    Card.objects.update(uuid="")
    Run.objects.update(card_uuid="")
    with pytest.raises(issue.NotIssued, match="UUID"):
        issue.of_campaign(campaign)


def test_a_policy_has_one_of_what_its_cards_are(campaign: Campaign, prod: Cluster, key: Path, operator: Client) -> None:
    policy = Policy.objects.create(name="weekly", suite="cuda-vectoradd", max_age_s=86400)
    for target, state in zip(CampaignTarget.objects.order_by("position"), ("valid", "failed", "due"), strict=True):
        PolicyCard.objects.create(
            policy=policy,
            cluster=prod,
            node_name="h",
            card_key=target.card_key,
            state=state,
            reason="" if state == "valid" else "never",
            since=ENDED,
            run=target.run,
        )
    answer = operator.post(f"/api/v1/policies/{policy.pk}/certificate")
    said = opened(answer.content, key)["predicate"]
    assert said["report"]["policy"]["name"] == "weekly"
    assert [one["outcome"] for one in said["report"]["targets"]] == ["validated", "failed", "due"]
    assert said["counts"] == {"targets": 3, "validated": 1, "failed": 1, "inconclusive": 0, "not_tested": 1}
    assert len(said["runs"]) == 2
    assert operator.post(f"/policies/{policy.pk}/certificate").status_code == 200
    assert "Certificate" in get(operator, f"/policies/{policy.pk}").text


def test_the_number_of_queries_is_that_of_the_report_and_two(
    campaign: Campaign, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(8):
        report.content(campaign)
        issue.evidence(Run.objects.filter(campaign=campaign))
