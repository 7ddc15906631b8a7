"""Two questions with their clicks: prove these cards and show it; a run failed: since when, and what differs?"""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from inventory.models import Card, Cluster
from tests.browser.conftest import PHONE
from tests.pages.validations.rows import make_run, reason
from validations.models import Campaign, CampaignTarget

pytestmark = pytest.mark.browser
WRONG = [reason("verification", "The card gave a wrong result.")]


@pytest.fixture
def campaign(fleet: Cluster) -> Campaign:
    """Three cards of a node: proven, failed, not reached. The failed one passed a day before, on another driver."""
    cards = list(Card.objects.filter(mode="whole").order_by("node_name", "index")[:3])
    made = Campaign.objects.create(suite="cuda-vectoradd", name="All T4s", requested_by_name="olga", state="done")
    make_run(fleet, node=cards[1].node_name, card=cards[1], driver="535.1", minutes_ago=1440)
    runs = [
        make_run(fleet, node=cards[0].node_name, card=cards[0], campaign=made),
        make_run(fleet, node=cards[1].node_name, card=cards[1], campaign=made, verdict="failed", reasons=WRONG),
        None,
    ]
    for position, (card, run) in enumerate(zip(cards, runs, strict=True)):
        skipped = "" if run else f"Node {card.node_name} is not ready. (not-ready)"
        CampaignTarget.objects.create(
            campaign=made,
            position=position,
            cluster=fleet,
            node_name=card.node_name,
            card_key=card.key,
            run=run,
            skipped=skipped,
        )
    return made


def test_prove_these_cards_and_show_it_in_four_clicks(page: Page, campaign: Campaign, tmp_path: Path) -> None:
    page.goto("/")
    page.get_by_role("link", name="Validations", exact=True).click()
    page.get_by_role("link", name="Campaigns", exact=True).click()
    page.get_by_role("link", name="All T4s").click()
    expect(page.locator(".lead").first).to_contain_text("1 of 3 cards validated · 1 card failed · 1 not tested")
    page.get_by_role("link", name="Report", exact=True).click()
    expect(page.get_by_role("heading", name="Not tested")).to_be_visible()
    expect(page.locator("main")).to_contain_text("is not ready.")
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    file = tmp_path / "report.json"
    download.value.save_as(file)
    expect(page.locator("#sha256")).to_have_text(f"sha256:{hashlib.sha256(file.read_bytes()).hexdigest()}")


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_on_paper_there_is_no_navigation_and_nothing_is_cut(page: Page, campaign: Campaign) -> None:
    page.goto(f"/validations/campaigns/{campaign.pk}/report")
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 720, "height": 1000})
    for gone in ("aside.side", "header.bar", "footer.foot", "nav.crumbs", ".tools"):
        expect(page.locator(gone).first).to_be_hidden()
    heads = page.locator("table.report thead").evaluate_all("rows => rows.map(row => getComputedStyle(row).display)")
    assert set(heads) == {"table-header-group"}
    cut = "rows => rows.filter(row => row.scrollWidth > row.clientWidth + 1).length"
    assert page.locator(".scroll").evaluate_all(cut) == 0
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(22, 26, 32)"  # also from the dark theme


def test_a_run_failed_since_when_and_what_differs_in_two_clicks(page: Page, campaign: Campaign) -> None:
    page.goto("/")
    page.get_by_role("link", name="Validations", exact=True).click()
    page.locator("tbody tr").filter(has_text="The card gave a wrong result.").get_by_role("link").first.click()
    panel = page.locator(".compared")
    expect(panel).to_contain_text("First failure: this run")
    expect(panel).to_contain_text("same card")
    expect(panel.locator("dt", has_text="Driver").locator("+ dd")).to_contain_text("535.1")
    expect(panel.locator(".strip li")).to_have_count(2)


@pytest.mark.parametrize("page", [{"viewport": {"width": 320, "height": 700}}, {"viewport": PHONE}], indirect=True)
def test_report_and_comparison_are_no_wider_than_a_phone(page: Page, campaign: Campaign) -> None:
    run = campaign.runs.get(verdict="failed")
    for path in (
        f"/validations/campaigns/{campaign.pk}",
        f"/validations/campaigns/{campaign.pk}/report",
        f"/validations/runs/{run.pk}",
    ):
        page.goto(path)
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wide) == 0, path
