"""Cards of gpushare nodes on the real control plane: Job controller and API server are Kubernetes' own, the plugin is played."""

from __future__ import annotations

import pytest

from inventory.models import Card, Cluster
from pages.rows.targets import each_card
from tests.cluster_runs.conftest import add_node
from tests.cluster_runs.kubelet import Kubelet, Script
from tests.cluster_runs.test_runs import drive, jobs
from tests.services import wait_until
from tests.validations.recorded import PASSED, codes, wish
from validations import campaigns, tasks, validity
from validations.coverage import coverage
from validations.models import Campaign, Run
from validations.requests import request_run

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]


def whole(cluster: Cluster, *nodes: str) -> Campaign:
    """A campaign over all cards of these nodes, at its end."""
    spots = each_card([("real", node, "") for node in nodes])
    campaign, _ = campaigns.create("cuda-vectoradd", spots, max_parallel=12)

    def over() -> bool:
        tasks.advance_campaigns()
        tasks.reconcile(cluster.pk)
        campaign.refresh_from_db()
        return campaign.state == "done" and not Run.objects.filter(job_removed=False).exists()

    wait_until(over, "the campaign is done", 240.0, every_s=0.2)
    return campaign


def proven(node: str) -> list[str]:
    cards = list(Card.objects.filter(node_name=node).order_by("index"))
    found = validity.of_cards([card.pk for card in cards])
    return [card.key for card in cards if found[card.pk].state == "validated"]


def test_the_card_that_was_asked_for_is_the_one_that_runs(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "exact", script=Script(PASSED), stack="gpushare")
    run, _ = request_run(wish(node="exact", card="2"))
    drive(real, run)
    assert (run.verdict, run.card_key, run.card_evidence, run.card_note) == ("passed", "2", "annotation-v2", ""), (
        run.reasons
    )
    assert proven("exact") == ["2"]
    assert jobs(kubelet) == []


def test_a_campaign_reaches_every_card_of_every_node(real: Cluster, kubelet: Kubelet) -> None:
    for name in ("each-0", "each-1"):
        add_node(real, kubelet, name, script=Script(PASSED), stack="gpushare")
    found = coverage(whole(real, "each-0", "each-1"))
    assert (found.targets, found.tested, found.validated, found.runs) == (8, 8, 8, 8)
    assert proven("each-0") == proven("each-1") == ["0", "1", "2", "3"]


def test_a_stubborn_plugin_makes_one_proof_and_the_campaign_says_what_it_never_reached(
    real: Cluster, kubelet: Kubelet
) -> None:
    add_node(real, kubelet, "stubborn", gpus=2, script=Script(PASSED, card=1), stack="gpushare")
    found = coverage(whole(real, "stubborn"))
    assert (found.targets, found.tested, found.validated, found.not_tested) == (2, 1, 1, 1)
    assert proven("stubborn") == ["1"]
    stray = Run.objects.filter(card_requested="0").first()
    assert stray is not None
    assert (stray.card_key, codes(stray)) == ("1", ["other-card"])


def test_some_card_of_a_gpushare_node_goes_through_the_scheduler(real: Cluster, kubelet: Kubelet) -> None:
    add_node(real, kubelet, "any", script=Script(PASSED), stack="gpushare")
    run, _ = request_run(wish(node="any"))
    drive(real, run)
    # No extender is wired in here: nobody has written a card on the pod.
    assert (run.verdict, run.card_key, run.card_evidence) == ("passed", "", "count-only")
    assert proven("any") == []
