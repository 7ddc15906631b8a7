"""The grid of a campaign: a row a node, a cell a card, bounded however many nodes there are."""

from __future__ import annotations

import re

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from inventory.models import Card, Cluster
from pages.sections import campaign_grid
from pages.sections.campaign_grid import grid
from tests.factories import make_node
from tests.pages.reading import get
from tests.pages.validations.rows import make_run
from validations.models import Campaign, CampaignTarget, Run


def target(
    campaign: Campaign, cluster: Cluster, node: str, card: str = "", run: Run | None = None, **more: str
) -> None:
    position = campaign.targets.count()
    CampaignTarget.objects.create(
        campaign=campaign, position=position, cluster=cluster, node_name=node, card_key=card, run=run, **more
    )


@pytest.fixture
def campaign(cluster: Cluster) -> Campaign:
    return Campaign.objects.create(suite="cuda-vectoradd", name="All T4s", requested_by_name="olga")


def cells(made: campaign_grid.Grid) -> list[list[list[str]]]:
    """Node → fields → signs; a card that is no target has none."""
    return [
        [[cell.line.shown.sign if cell.line else "" for cell in field] for line in node.lines for field in line]
        for node in made.nodes
    ]


def test_a_row_has_all_cards_of_its_node_and_a_sign_for_each_target(cluster: Cluster, campaign: Campaign) -> None:
    for name in ("a", "b"):
        make_node(cluster, name, "gpushare", 3, loads=(0.0,))
    one, two = Card.objects.filter(node_name="a").order_by("index")[:2]
    target(campaign, cluster, "b", "1", skipped="Node b is not ready. (not-ready)")
    target(campaign, cluster, "a", "0", make_run(cluster, node="a", card=one, campaign=campaign))
    target(campaign, cluster, "a", "1", make_run(cluster, node="a", card=two, campaign=campaign, verdict="failed"))
    target(campaign, cluster, "a", "2")
    made = grid(campaign, 1)
    assert [node.name for node in made.nodes] == ["b", "a"]
    assert made.heads == ["0", "1", "2"]
    assert cells(made) == [[[""], ["–"], [""]], [["✓"], ["✕"], ["·"]]]
    assert made.left_out


def test_each_cell_leads_to_its_run_and_says_what_it_is(viewer: Client, cluster: Cluster, campaign: Campaign) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.0,))
    card = Card.objects.get(node_name="a", index=1)
    failed = make_run(cluster, node="a", card=card, campaign=campaign, verdict="failed")
    target(campaign, cluster, "a", "1", failed)
    page = get(viewer, f"/validations/campaigns/{campaign.pk}")
    [cell] = [tag for tag in page.tags_of("a") if tag.get("class") == "cell"]
    assert cell["href"] == f"/validations/runs/{failed.pk}"
    assert cell["title"] == "card 1: failed"
    assert page.tables["Results of the cards of each node"] == [["a", "", "✕a card 1: failed"]]
    assert "not a target" in page.text
    assert "card 0: not a target" in page.titles


def test_slices_of_a_card_stand_in_one_field(cluster: Cluster, campaign: Campaign) -> None:
    make_node(cluster, "mig", "nvidia", 5, loads=(0.0,))
    keys = list(Card.objects.filter(node_name="mig").order_by("index", "id").values_list("key", flat=True))
    for key, parent in zip(keys, ("0", "0", "1", "1", ""), strict=True):
        Card.objects.filter(key=key).update(parent=parent, profile="1g.5gb" if parent else "")
    for key in keys:
        target(campaign, cluster, "mig", key)
    assert cells(grid(campaign, 1)) == [[["·", "·"], ["·", "·"], ["·"]]]
    assert grid(campaign, 1).heads == ["", "", ""]


def test_a_target_without_a_card_is_that_of_the_card_its_run_took(cluster: Cluster, campaign: Campaign) -> None:
    make_node(cluster, "a", "gpushare", 2, loads=(0.0,))
    card = Card.objects.get(node_name="a", index=1)
    target(campaign, cluster, "a", "", make_run(cluster, node="a", card=card, campaign=campaign))
    assert cells(grid(campaign, 1)) == [[[""], ["✓"]]]
    target(campaign, cluster, "gone", "7", make_run(cluster, node="gone", campaign=campaign, verdict="errored"))
    target(campaign, cluster, "any", "", make_run(cluster, node="any", campaign=campaign))
    found = grid(campaign, 1)
    assert cells(found)[1:] == [[["?"]], [["✓"]]]
    assert [node.lines[0][0][0].name for node in found.nodes[1:]] == ["card 7", "any card"]


def test_a_node_of_many_cards_has_several_lines(viewer: Client, cluster: Cluster, campaign: Campaign) -> None:
    make_node(cluster, "wide", "gpushare", 40, loads=(0.0,))
    target(campaign, cluster, "wide", "39")
    assert [len(line) for line in grid(campaign, 1).nodes[0].lines] == [16, 16, 8]
    assert 'rowspan="3"' in get(viewer, f"/validations/campaigns/{campaign.pk}").html


def test_thousands_of_nodes_are_paged(viewer: Client, cluster: Cluster, campaign: Campaign) -> None:
    CampaignTarget.objects.bulk_create(
        CampaignTarget(
            campaign=campaign, position=node * 8 + card, cluster=cluster, node_name=f"n-{node:04d}", card_key=str(card)
        )
        for node in range(1250)
        for card in range(8)
    )
    path = f"/validations/campaigns/{campaign.pk}"
    page = get(viewer, path)
    assert len(re.findall(r'data-key="node-', page.html)) == campaign_grid.NODES
    assert "Page 1 of 50 · 1,250 nodes" in page.text
    assert "?page=2" in page.links
    assert len(page.html) < 250_000
    last = get(viewer, f"{path}?page=50")
    assert "n-1249" in last.text
    assert "?page=49" in last.links
    assert "?page=51" not in last.links
    assert "n-1249" in get(viewer, f"{path}?page=999").text


def test_the_number_of_queries_does_not_grow(viewer: Client, cluster: Cluster) -> None:
    def count(nodes: int) -> int:
        campaign = Campaign.objects.create(suite="cuda-vectoradd", requested_by_name="olga")
        for number in range(nodes):
            name = f"n-{nodes}-{number}"
            make_node(cluster, name, "gpushare", 2, loads=(0.0,))
            card = Card.objects.get(node_name=name, index=0)
            target(campaign, cluster, name, "0", make_run(cluster, node=name, card=card, campaign=campaign))
        viewer.get(f"/validations/campaigns/{campaign.pk}")
        with CaptureQueriesContext(connection) as queries:
            assert viewer.get(f"/validations/campaigns/{campaign.pk}").status_code == 200
        return len(queries)

    assert count(2) == count(30) <= 24


@pytest.mark.parametrize("query", ["page=0", "page=x", "page=", "page=%00", "page=99999999999", "verdict=failed"])
def test_a_page_that_makes_no_sense_is_refused(viewer: Client, campaign: Campaign, query: str) -> None:
    assert query.partition("=")[0] in get(viewer, f"/validations/campaigns/{campaign.pk}?{query}", 400).text
