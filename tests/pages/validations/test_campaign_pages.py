"""Campaigns: from ticked nodes, a filter or a list; failures first; paused, resumed and stopped by a button."""

from __future__ import annotations

from django.test import Client

from inventory.models import Card, Cluster, Node, NodeTotals
from tests.factories import make_node
from tests.pages.reading import Page, get, read
from tests.pages.validations.rows import make_run, reason
from validations.models import Campaign, CampaignTarget, Run

FORM = {
    "suite": "cuda-vectoradd",
    "targets": "prod/gpu-1\nprod/win-1",
    "max_parallel": "2",
    "per": "node",
    "key": "c-1",
}


def textarea(html: str) -> str:
    """Its text; the first new line after the tag belongs to the tag."""
    text = html.partition("<textarea")[2].partition(">")[2].partition("</textarea>")[0]
    return text.removeprefix("\n").removeprefix("\r\n")


def made(cluster: Cluster) -> Campaign:
    """Three places: one failed, one passed, one not begun."""
    campaign = Campaign.objects.create(suite="cuda-vectoradd", name="After the update", max_parallel=1)
    failed = make_run(cluster, verdict="failed", reasons=[reason("verification", "The card gave a wrong result.")])
    passed = make_run(cluster, node="gpu-2")
    for position, (node, run) in enumerate([("gpu-2", passed), ("gpu-1", failed), ("gpu-3", None)]):
        CampaignTarget.objects.create(campaign=campaign, position=position, cluster=cluster, node_name=node, run=run)
    return campaign


def test_with_no_campaign_the_page_says_how_to_make_one(viewer: Client, place: Cluster) -> None:
    assert "A campaign runs one suite on many nodes" in get(viewer, "/validations/campaigns").text


def test_a_campaign_that_is_done_says_in_the_list_how_many_failed(viewer: Client, place: Cluster) -> None:
    campaign = made(place)
    Campaign.objects.filter(pk=campaign.pk).update(state="done")
    Campaign.objects.create(suite="cuda-nbody", name="Nothing yet", state="done")
    page = get(viewer, "/validations/campaigns")
    assert [row[1] for row in page.rows] == ["done", "done · 1 failed or with errors"]
    table = page.html.partition("<tbody>")[2]
    assert [table.count(f'class="sign {level}"') for level in ("good", "warning")] == [1, 1]


def test_ticked_nodes_become_places(operator: Client, place: Cluster) -> None:
    page = get(operator, "/validations/campaigns/new?suite=cuda-vectoradd&target=prod/gpu-1&target=prod/win-1")
    assert textarea(page.html).split("\n") == ["prod/gpu-1", "prod/win-1"]
    assert "2 targets." in page.text
    assert "node win-1 runs windows" in page.text
    assert "kind: Job" in page.text


def test_the_filter_of_the_node_list_becomes_places(operator: Client, place: Cluster) -> None:
    page = get(operator, "/validations/campaigns/new?nodes=stack%3Ddirectx-alibaba")
    assert textarea(page.html) == "prod/win-1"
    assert "There is no filter of this name" in get(operator, "/validations/campaigns/new?nodes=nope%3D1").text


def boxes(page: Page) -> list[str]:
    return [tag["value"] for tag in page.tags_of("input") if tag.get("name") == "target"]


def test_ticked_rows_are_validated_by_who_may_start_one_and_compared_by_anybody(
    operator: Client, viewer: Client, place: Cluster
) -> None:
    for client, may in ((operator, True), (viewer, False)):
        nodes, cards = get(client, "/nodes"), get(client, "/cards?ordering=node,index")
        assert boxes(nodes) == ["prod/gpu-1", "prod/win-1"]
        assert boxes(cards) == ["prod/gpu-1 0", "prod/gpu-1 1", "prod/win-1 0"]
        assert [("Validate selected" in page.text) for page in (nodes, cards)] == [may, may]
    page = get(operator, "/validations/campaigns/new?suite=cuda-vectoradd&target=prod/gpu-1+1")
    assert textarea(page.html) == "prod/gpu-1 1"


def test_a_campaign_is_started_once(operator: Client, place: Cluster) -> None:
    first = operator.post("/validations/campaigns/new", FORM)
    second = operator.post("/validations/campaigns/new", FORM)
    campaign = Campaign.objects.get()
    assert first.headers["Location"] == second.headers["Location"] == f"/validations/campaigns/{campaign.pk}"
    assert (campaign.max_parallel, campaign.stop_after_failures, campaign.requested_by_name) == (2, None, "olga")
    assert campaign.targets.count() == 2


def test_a_cordoned_node_is_warned_of_before_the_start_and_after_it(operator: Client, place: Cluster) -> None:
    address = "/validations/campaigns/new?suite=cuda-vectoradd&target=prod/gpu-1&target=prod/win-1"
    assert "cordoned" not in get(operator, address).text
    Node.objects.filter(name="gpu-1").update(unschedulable=True)
    assert "1 node is cordoned" in (told := get(operator, address).text)
    assert "cordoned: prod/gpu-1. Runs tolerate this" in told
    answer = operator.post("/validations/campaigns/new", FORM)
    assert "1 node is cordoned" in get(operator, answer["Location"]).text


def test_one_per_card_makes_a_place_of_each_card(operator: Client, place: Cluster) -> None:
    operator.post("/validations/campaigns/new", FORM | {"per": "card", "targets": "gpu-1"})
    assert sorted(CampaignTarget.objects.values_list("node_name", "card_key")) == [("gpu-1", "0"), ("gpu-1", "1")]


def test_what_makes_no_sense_is_said_and_nothing_is_started(operator: Client, place: Cluster) -> None:
    for fields, text in (
        ({"suite": "nope"}, "No suite"),
        ({"targets": ""}, "0 targets"),
        ({"targets": "prod/gpu-9"}, "Nodes not found: prod/gpu-9"),
        ({"max_parallel": "many"}, "Must be an integer."),
        ({"max_parallel": "0"}, "Must be an integer from 1"),
        ({"stop_after_failures": "-1"}, "Must be an integer."),
        ({"option.deadline_s": "7"}, "must be an integer from 60 to 86400"),
        ({"targets": "x" * 800}, "Line 1 must be “cluster/node”."),
    ):
        answer = operator.post("/validations/campaigns/new", FORM | fields)
        assert answer.status_code == 400, fields
        assert text in read(answer).text, fields
    assert not Campaign.objects.exists()


def test_failures_come_first_and_every_place_has_its_sign(viewer: Client, place: Cluster) -> None:
    campaign = made(place)
    page = get(viewer, f"/validations/campaigns/{campaign.pk}")
    assert "2 of 3 targets done · 1 failed or with errors" in page.text
    assert page.text.index("Failed or with errors") < page.text.index("Nodes and cards")
    assert "The card gave a wrong result." in page.text
    targets = f"/validations/campaigns/{campaign.pk}/targets"
    assert targets in page.links
    assert [row[1] for row in get(viewer, targets).rows] == ["✓ passed", "✕ failed", "· not started"]
    assert len(get(viewer, f"{targets}?verdict=failed").rows) == 1


def test_it_can_be_paused_resumed_and_stopped(operator: Client, place: Cluster) -> None:
    campaign = made(place)
    for verb, state in (("pause", "paused"), ("resume", "running"), ("stop", "stopped")):
        operator.post(f"/validations/campaigns/{campaign.pk}/{verb}")
        campaign.refresh_from_db()
        assert campaign.state == state
    text = read(operator.post(f"/validations/campaigns/{campaign.pk}/resume", follow=True)).text
    assert "The campaign is stopped" in text


def test_a_campaign_that_is_not_there_is_said_so(viewer: Client, place: Cluster) -> None:
    assert "No campaign nope." in get(viewer, "/validations/campaigns/nope", 404).text
    assert not Run.objects.exists()


def test_one_reason_of_several_places_is_told_once_above_the_table(viewer: Client, place: Cluster) -> None:
    campaign = made(place)
    for position, node in ((3, "gpu-4"), (4, "gpu-5")):
        run = make_run(
            place, node=node, verdict="failed", reasons=[reason("verification", "The card gave a wrong result.")]
        )
        CampaignTarget.objects.create(campaign=campaign, position=position, cluster=place, node_name=node, run=run)
    html = get(viewer, f"/validations/campaigns/{campaign.pk}").html
    above = html[html.index('id="campaign-failures"') : html.index('id="campaign-grid"')]
    assert above.count("The card gave a wrong result.") == 1
    assert [above.count(f">{node}<") for node in ("gpu-1", "gpu-4", "gpu-5")] == [1, 1, 1]


def test_models_by_name_or_a_part_of_it_become_places(operator: Client, place: Cluster) -> None:
    make_node(place, "dgx", "nvidia", 2, loads=(0.0,))
    Card.objects.filter(node_name="dgx").update(model="NVIDIA-A100-SXM4-80GB")
    Card.objects.filter(node_name="gpu-1", index=1).update(model="Tesla-P4")
    new = "/validations/campaigns/new?suite=cuda-vectoradd"
    page = get(operator, f"{new}&model=a100&model=p4")
    # Of a node that has other cards as well, only those of the model are.
    assert textarea(page.html).split("\n") == ["prod/dgx", "prod/gpu-1 1"]
    assert "Tests 2 of 5 cards" in page.text
    assert textarea(get(operator, f"{new}&model=A100,P4").html) == textarea(page.html)
    assert textarea(get(operator, f"{new}&model=Tesla-P4").html) == "prod/gpu-1 1"
    assert "No card model contains B200." in get(operator, f"{new}&model=B200").text


def test_the_form_says_how_many_cards_are_tested_and_offers_all(operator: Client, place: Cluster) -> None:
    new = "/validations/campaigns/new"
    page = read(operator.post(new, FORM | {"targets": "prod/gpu-1", "per": "node", "preview": "1"}))
    assert "Tests 1 of 3 cards" in page.text
    page = read(operator.post(new, FORM | {"targets": "prod/gpu-1", "per": "card", "preview": "1"}))
    assert "Tests 2 of 3 cards" in page.text
    page = read(operator.post(new, FORM | {"targets": "prod/gpu-1", "add": "all"}))
    assert textarea(page.html).split("\n") == ["prod/gpu-1", "prod/win-1"]
    assert "Tests 3 of 3 cards" in page.text
    assert "Test all 3 cards" not in page.text
    assert not Campaign.objects.exists()


def test_models_that_were_typed_are_added_before_anything_is_started(operator: Client, place: Cluster) -> None:
    answer = operator.post("/validations/campaigns/new", FORM | {"targets": "prod/win-1", "model": "T4"})
    assert answer.status_code == 400
    assert textarea(answer.content.decode()).split("\n") == ["prod/win-1", "prod/gpu-1"]
    assert "Targets were added. Check them, then start." in read(answer).text
    assert not Campaign.objects.exists()


def test_a_list_takes_several_models_and_parts_of_their_names(viewer: Client, place: Cluster) -> None:
    make_node(place, "dgx", "nvidia", 2, loads=(0.0,))
    NodeTotals.objects.filter(node_name="dgx").update(model="NVIDIA-A100-SXM4-80GB")
    NodeTotals.objects.filter(node_name="win-1").update(model="NVIDIA-A100-SXM4-80GB-MIG-1g.10gb")
    names = [[row[0] for row in get(viewer, f"/nodes?{query}").rows] for query in (
        "model=a100", "model=NVIDIA-A100-SXM4-80GB", "model=MIG&model=Tesla-T4", "model=nope",
    )]  # fmt: skip
    assert names == [["dgx", "win-1"], ["dgx"], ["gpu-1", "win-1"], []]
    rest = viewer.get("/api/v1/nodes?model=a100").json()["results"]
    assert [row["name"] for row in rest] == ["dgx", "win-1"]
    assert "Card model: MIG, Tesla-T4" in get(viewer, "/nodes?model=MIG&model=Tesla-T4").text
