"""A campaign over cards counts cards, each once, and goes on until each is reached or says why not."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from inventory.models import Card, Cluster, Node
from pages.rows.targets import each_card
from tests.factories import make_node
from tests.validations.fakecluster import FakeCluster
from tests.validations.recorded import FAILED, PASSED
from validations import campaigns, tasks
from validations.coverage import Coverage, coverage
from validations.models import Campaign, CampaignTarget, Run
from validations.requests import request_cancel

V1, V2 = "ALIYUN_COM_GPU_MEM", "scheduler.framework.gpushare"
CARDS = 3


@pytest.fixture
def three(prod: Cluster) -> Cluster:
    """Three gpushare nodes of three free cards."""
    for number in range(3):
        make_node(prod, f"share-{number}", "gpushare", CARDS, loads=(0.0,))
    return prod


def begun(*nodes: str, suite: str = "cuda-vectoradd", **more: Any) -> Campaign:
    spots = each_card([("prod", node, "") for node in nodes])
    return campaigns.create(suite, spots, **{"max_parallel": 9} | more)[0]


def obeys(run: Run) -> int:
    return int(run.card_requested)


def stubborn(_: Run) -> int:
    """The plugin that gives out card 1 whatever it is told."""
    return 1


def drive(cluster: Cluster, fake: FakeCluster, gives: Callable[[Run], int], log: bytes = PASSED) -> None:
    """Until nothing moves. gives: the card that the plugin gives to a run."""
    for _ in range(200):
        tasks.advance_campaigns()
        tasks.reconcile(cluster.pk)
        active = Run.objects.filter(state__in=("pending", "pulling"))
        open_ = Run.objects.exclude(state="ended").exists() or Campaign.objects.filter(state="running").exists()
        if not open_:
            return
        for run in active.order_by("id"):
            _give(fake, run, gives(run))
            fake.end(run.job_name, log, int(log == FAILED))
        tasks.reconcile(cluster.pk)
    raise AssertionError("the campaign goes on for ever")


def _give(fake: FakeCluster, run: Run, card: int) -> None:
    annotations = fake.pod(run.job_name, node=run.node_name)["metadata"]["annotations"]
    if f"{V1}_IDX" in annotations:
        annotations |= {f"{V1}_IDX": str(card), f"{V1}_ASSIGNED": "true", f"{V2}.allocation": f'{{"0":{{"{card}":1}}}}'}


def test_on_gpushare_every_card_is_reached_once_and_proven(three: Cluster, fake: FakeCluster) -> None:
    campaign = begun("share-0", "share-1", "share-2")
    drive(three, fake, obeys)
    assert coverage(campaign) == Coverage(
        targets=9, tested=9, validated=9, inconclusive=0, failed=0, not_tested=0, queued=0, runs=9, unidentified=0
    )
    assert set(CampaignTarget.objects.values_list("run__verdict", flat=True)) == {"passed"}


@pytest.mark.sweep
def test_a_plugin_that_always_gives_card_1_never_makes_nine_cards_of_three(three: Cluster, fake: FakeCluster) -> None:
    campaign = begun("share-0", "share-1", "share-2")
    drive(three, fake, stubborn)
    found = coverage(campaign)
    assert (found.targets, found.tested, found.validated, found.not_tested, found.queued) == (9, 3, 3, 6, 0)
    # One run reaches card 1; then so many without a new card.
    assert found.runs <= 3 * (1 + 2 * CARDS + 2) + 3
    counts = campaigns.progress(campaign)
    assert (counts["passed"], counts["not_tested"]) == (3, 6)
    for target in CampaignTarget.objects.exclude(card_key="1"):
        assert target.run is None
        assert "tested no new card" in target.not_tested
    assert set(CampaignTarget.objects.filter(card_key="1").values_list("run__card_key", flat=True)) == {"1"}


def test_a_card_that_comes_up_by_chance_is_reached_by_it(three: Cluster, fake: FakeCluster) -> None:
    campaign = begun("share-0")
    given = iter([1, 1, 0, 1, 2, 2, 2, 2])
    drive(three, fake, lambda _run: next(given))
    found = coverage(campaign)
    assert (found.tested, found.not_tested) == (3, 0)
    assert {t.card_key: t.run.card_key for t in CampaignTarget.objects.select_related("run") if t.run} == {
        "0": "0", "1": "1", "2": "2",
    }  # fmt: skip


def test_where_no_run_can_say_its_card_one_run_is_made_and_no_card_proven(prod: Cluster, fake: FakeCluster) -> None:
    make_node(prod, "counted", "nvidia-count", 8, loads=(0.0,))
    campaign = begun("counted")
    drive(prod, fake, obeys)
    found = coverage(campaign)
    assert (found.targets, found.tested, found.validated, found.not_tested, found.runs, found.unidentified) == (
        8,
        0,
        0,
        8,
        1,
        1,
    )
    reasons = set(CampaignTarget.objects.values_list("not_tested", flat=True))
    assert len(reasons) == 1
    assert "does not identify the card" in reasons.pop()
    assert campaigns.progress(campaign)["passed"] == 0


def test_a_failure_on_a_card_that_is_not_known_stops_the_campaign_all_the_same(
    prod: Cluster, fake: FakeCluster
) -> None:
    make_node(prod, "counted", "nvidia-count", 2, loads=(0.0,))
    make_node(prod, "other", "nvidia-count", 2, loads=(0.0,))
    campaign = begun("counted", "other", max_parallel=1, stop_after_failures=1)
    drive(prod, fake, obeys, FAILED)
    campaign.refresh_from_db()
    assert (campaign.state, Run.objects.count()) == ("stopped", 1)


def test_a_pass_that_checks_nothing_proves_no_card(three: Cluster, fake: FakeCluster) -> None:
    log = b"index, uuid, name, memory.total [MiB]\n0, GPU-1, Tesla T4, 15360 MiB\n"
    campaign = begun("share-0", suite="nvidia-smi")
    drive(three, fake, obeys, log)
    found = coverage(campaign)
    assert (found.tested, found.validated, found.inconclusive) == (3, 0, 3)


def test_a_failed_card_is_failed_whatever_else_passed_on_it(three: Cluster, fake: FakeCluster) -> None:
    campaign = begun("share-0")
    drive(three, fake, stubborn, FAILED)
    found = coverage(campaign)
    assert (found.failed, found.validated, found.tested) == (1, 0, 1)


def test_a_campaign_that_was_stopped_gives_its_last_runs_to_the_cards_that_they_took(
    three: Cluster, fake: FakeCluster
) -> None:
    campaign = begun("share-0", max_parallel=1)
    tasks.advance_campaigns()
    tasks.reconcile(three.pk)
    run = Run.objects.get()
    campaigns.change(campaign, "stop")
    _give(fake, run, 2)
    fake.end(run.job_name, PASSED)
    tasks.reconcile(three.pk)
    tasks.advance_campaigns()
    rows = {row.card_key: (row.run_id, row.not_tested) for row in CampaignTarget.objects.all()}
    assert rows["2"] == (run.pk, "")
    assert rows["0"] == (None, f"Run {run.pk} tested card 2, but the campaign had ended.")


def test_cards_named_by_index_or_uuid_are_the_same_card(prod: Cluster) -> None:
    make_node(prod, "hami", "hami", 1, loads=(0.0,))
    campaign, _ = campaigns.create("cuda-vectoradd", [("prod", "hami", "0"), ("prod", "hami", "GPU-hami-0")])
    assert list(campaign.targets.values_list("card_key", flat=True)) == ["GPU-hami-0"]


def test_page_rest_and_csv_count_cards(three: Cluster, fake: FakeCluster, operator: Client) -> None:
    campaign = begun("share-0", "share-1", "share-2")
    drive(three, fake, stubborn)
    page = operator.get(f"/validations/campaigns/{campaign.pk}").content.decode()
    text = " ".join(page.split())
    assert "<b>3 of 9 cards validated</b>" in text
    assert "on 3 cards" in text
    assert "6 not tested" in text
    told = operator.get(f"/api/v1/campaigns/{campaign.pk}").json()
    assert {name: told["coverage"][name] for name in ("targets", "tested", "validated", "failed", "not_tested")} == {
        "targets": 9, "tested": 3, "validated": 3, "failed": 0, "not_tested": 6,
    }  # fmt: skip
    rows = operator.get(f"/api/v1/campaigns/{campaign.pk}/matrix?not_tested=true").json()["results"]
    assert len(rows) == 6
    assert all(row["verdict"] is None and row["not_tested"] and row["tried"] for row in rows)
    body = operator.get(f"/api/v1/campaigns/{campaign.pk}/matrix?format=csv").getvalue().decode()
    lines = list(csv.DictReader(body.splitlines()))
    assert [line["tested_card"] for line in lines if line["level"] == "checked"] == ["1", "1", "1"]
    assert sum(bool(line["not_tested"]) for line in lines) == 6
    shown = operator.get(f"/validations/campaigns/{campaign.pk}/targets?format=csv").getvalue().decode()
    assert sum(bool(line["not_tested"]) for line in csv.DictReader(shown.splitlines())) == 6


@pytest.fixture
def operator(db: None) -> Client:
    from accounts.roles import Role
    from tests.cast import make_user, signed_in

    return signed_in(make_user("olga", Role.OPERATOR))


def test_cards_that_are_gone_are_still_counted(three: Cluster, fake: FakeCluster) -> None:
    campaign = begun("share-0")
    drive(three, fake, obeys)
    Card.objects.filter(node_name="share-0").delete()
    assert coverage(campaign).tested == CARDS


def test_cards_that_were_not_reached_are_counted_by_cause(three: Cluster, fake: FakeCluster, operator: Client) -> None:
    Node.objects.filter(name="share-1").update(ready=False)
    campaign = begun("share-1", "share-0", "share-2", max_parallel=1)
    tasks.advance_campaigns()
    tasks.reconcile(three.pk)
    first = Run.objects.get()
    _give(fake, first, 0)
    fake.end(first.job_name, PASSED)
    for _ in range(3):
        tasks.advance_campaigns()
        tasks.reconcile(three.pk)
    found = coverage(campaign)
    assert (found.tested, found.validated, found.not_tested) == (1, 1, 8)
    assert found.why == {"not-ready": 3, "queued": 4, "active": 1}
    assert found.queued == 5
    campaigns.change(campaign, "stop")
    assert coverage(campaign).why == {"not-started": 4, "not-ready": 3, "active": 1}
    told = operator.get(f"/api/v1/campaigns/{campaign.pk}").json()["coverage"]
    assert told["why"] == {"not-started": 4, "not-ready": 3, "active": 1}
    text = " ".join(operator.get(f"/validations/campaigns/{campaign.pk}").content.decode().split())
    assert "4 campaign ended before the run, 3 " in text
    assert text.index("of 9 cards validated") < text.index("targets done")
    rows = operator.get(f"/api/v1/campaigns/{campaign.pk}/matrix").json()["results"]
    assert Counter(row["outcome"] for row in rows) == {"validated": 1, "active": 1, "not-applicable": 3, "queued": 4}
    body = operator.get(f"/api/v1/campaigns/{campaign.pk}/matrix?format=csv").getvalue().decode()
    assert [line["outcome"] for line in csv.DictReader(body.splitlines())] == [row["outcome"] for row in rows]


def test_an_errored_or_cancelled_run_reaches_no_card(three: Cluster, fake: FakeCluster) -> None:
    campaign = begun("share-0")
    tasks.advance_campaigns()
    tasks.reconcile(three.pk)
    errored = Run.objects.order_by("id")[0]
    _give(fake, errored, int(errored.card_requested))
    fake.end(errored.job_name, b"nothing that is a verdict\n")
    tasks.reconcile(three.pk)
    tasks.advance_campaigns()
    tasks.reconcile(three.pk)
    request_cancel(Run.objects.exclude(state="ended").order_by("id")[0], None)
    tasks.reconcile(three.pk)
    found = coverage(campaign)
    assert (found.errored, found.why["errored"], found.why["cancelled"], found.tested) == (1, 1, 1, 0)


def test_one_card_is_told_in_the_singular(prod: Cluster, fake: FakeCluster, operator: Client) -> None:
    make_node(prod, "lone", "gpushare", 1, loads=(0.0,))
    campaign = begun("lone")
    drive(prod, fake, obeys)
    text = " ".join(operator.get(f"/validations/campaigns/{campaign.pk}").content.decode().split())
    assert "<b>1 of 1 card validated</b> · 1 run on 1 card" in text
    assert "1 cards" not in text
