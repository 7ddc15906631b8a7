"""Questions that people come with, from the overview to the answer: how many steps that takes, whoever asks and however.

Each journey is made on a desk and on a phone, in light and dark, in English and Chinese, by mouse and by keyboard. Addresses lead the
way, since words differ. `JOURNEY_PICTURES=folder make e2e` keeps a picture of each end.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Browser, Page, expect

from accounts.roles import Role
from inventory.charges import days, now
from inventory.models import Allocation, Card, Cluster, Finding
from tests.browser.conftest import PHONE
from tests.browser.travelling import SIGHTS, Sight, Traveller
from tests.cast import make_user, signed_in
from tests.factories import end_allocation, make_finding, make_node
from tests.factories.history import put_minute
from tests.pages.validations.rows import make_run, reason
from validations.models import Campaign, CampaignTarget, Run

pytestmark = pytest.mark.browser
WRONG = [reason("verification", "The card gave a wrong result.")]
NAV = "header nav a[href='{}']"


@dataclass(frozen=True)
class World:
    """Rows that the questions are about. held: an allocation that ended, and when a card was on it."""

    cluster: Cluster
    held: Allocation
    at: datetime
    campaign: Campaign
    failed: Run
    gone: Finding


@pytest.fixture
def world(fleet: Cluster) -> World:
    make_node(fleet, "roomy", "nvidia", 4, loads=(0.0,))
    held, at = _held(fleet)
    campaign, failed = _campaign(fleet)
    gone = make_finding(fleet, "units-mixed", "warning", "gpu-00001")
    moment = timezone.now()
    Finding.objects.filter(pk=gone.pk).update(
        first_seen_at=moment - timedelta(days=3), ended_at=moment - timedelta(days=2)
    )
    Card.objects.filter(cluster=fleet).update(first_seen_at=moment - timedelta(days=2))
    put_minute(fleet, moment.replace(second=0, microsecond=0) - timedelta(minutes=1), total=1)
    days.write_day(fleet.pk, moment.date(), moment)
    now.look()
    return World(fleet, held, at, campaign, failed, gone)


def _held(cluster: Cluster) -> tuple[Allocation, datetime]:
    at = (timezone.now() - timedelta(days=1)).replace(hour=2, minute=0, second=0, microsecond=0)
    card = Card.objects.filter(cluster=cluster, allocations_count=1, mode="whole").order_by("pk")[0]
    held = Allocation.objects.get(card=card, ended_at=None)
    held.started_at = at - timedelta(hours=1)
    held.save()
    end_allocation(held)
    return held, at


def _campaign(cluster: Cluster) -> tuple[Campaign, Run]:
    """Three cards: proven, failed, not reached. The failed one passed a day before, on another driver."""
    cards = list(Card.objects.filter(mode="whole").order_by("node_name", "index")[:3])
    made = Campaign.objects.create(suite="cuda-vectoradd", name="All T4s", requested_by_name="olga", state="done")
    make_run(cluster, node=cards[1].node_name, card=cards[1], driver="535.1", minutes_ago=1440)
    failed = make_run(cluster, node=cards[1].node_name, card=cards[1], campaign=made, verdict="failed", reasons=WRONG)
    runs = [make_run(cluster, node=cards[0].node_name, card=cards[0], campaign=made), failed, None]
    for position, (card, run) in enumerate(zip(cards, runs, strict=True)):
        CampaignTarget.objects.create(
            campaign=made,
            position=position,
            cluster=cluster,
            node_name=card.node_name,
            card_key=card.key,
            run=run,
            skipped="" if run else f"Node {card.node_name} is not ready. (not-ready)",
        )
    return made, failed


@pytest.fixture(params=SIGHTS, ids=str)
def traveller(browser: Browser, live_server: Any, world: World, request: pytest.FixtureRequest) -> Iterator[Traveller]:
    """Ada, an administrator, at the overview. Errors in the console fail the test."""
    sight: Sight = request.param
    session = signed_in(make_user("ada", Role.ADMIN)).cookies[settings.SESSION_COOKIE_NAME]
    context = browser.new_context(base_url=live_server.url, **sight.options)
    context.add_cookies([{"name": session.key, "value": session.value, "url": live_server.url}])
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto("/")
    yield Traveller(page, sight)
    context.close()
    assert errors == []


def test_where_do_two_cards_of_20_gib_fit(traveller: Traveller) -> None:
    page = traveller.page
    traveller.fill("cards", "2")
    traveller.fill("memory", "20")
    traveller.send("memory")
    expect(page.locator(".answer").first).to_contain_text("2 × 20 GiB")
    expect(page.locator("tbody tr").filter(has_text="roomy")).to_contain_text("nvidia.com/gpu: 2")
    assert len(traveller.steps) == 1
    traveller.arrived("room")


def test_my_pod_is_pending_why(traveller: Traveller) -> None:
    page = traveller.page
    traveller.press(page.locator("a.stat[href='/allocations/pending']"))
    traveller.press(page.locator("tbody a[href='/pods/prod/team-a/hungry']").first)
    expect(page.get_by_role("heading", level=1)).to_have_text("team-a/hungry")
    expect(
        page.get_by_role("row").filter(has_text="3 / 3" if traveller.sight.locale != "en" else "3 of 3")
    ).to_have_count(1)
    assert len(traveller.steps) == 2
    traveller.arrived("pending")


def test_who_held_this_card_at_two(traveller: Traveller, world: World) -> None:
    page, at = traveller.page, world.at
    traveller.press(page.locator(NAV.format("/cards")))
    traveller.press(page.locator(f"tbody a[href='/cards/{world.held.card_id}']").first)
    traveller.fill("at", at.strftime("%Y-%m-%dT%H:%M"))
    traveller.send("at")
    expect(page.locator(".lead")).to_contain_text(f"{at:%Y-%m-%d} 02:00 UTC")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text(world.held.pod)
    assert len(traveller.steps) == 3
    traveller.arrived("who-held")


def test_prove_these_cards_and_show_it(traveller: Traveller, world: World) -> None:
    page, campaign = traveller.page, f"/validations/campaigns/{world.campaign.pk}"
    traveller.press(page.locator(NAV.format("/validations")))
    traveller.press(page.locator("main a[href='/validations/campaigns']").first)
    traveller.press(page.locator(f"tbody a[href='{campaign}']").first)
    traveller.press(page.locator(f"main a[href='{campaign}/report']").first)
    expect(page.locator("#sha256")).to_contain_text("sha256:")
    assert len(traveller.steps) == 4
    traveller.arrived("proof")


def test_a_run_failed_since_when_and_what_differs(traveller: Traveller, world: World) -> None:
    page = traveller.page
    traveller.press(page.locator(NAV.format("/validations")))
    traveller.press(page.locator(f"tbody a[href='/validations/runs/{world.failed.pk}']").first)
    expect(page.locator(".compared")).to_contain_text("535.1")
    expect(page.locator(".compared .strip li")).to_have_count(2)
    assert len(traveller.steps) == 2
    traveller.arrived("failed-run")


def test_which_team_holds_most(traveller: Traveller) -> None:
    page, today = traveller.page, timezone.now()
    traveller.press(page.locator(NAV.format("/namespaces")))
    expect(page.locator("tbody tr").first).to_contain_text("GiB")
    assert len(traveller.steps) == 1
    traveller.arrived("teams")
    traveller.press(page.locator("main a[href^='/namespaces/chargeback']").first)
    expect(page).to_have_url(re.compile("/namespaces/chargeback"))
    traveller.arrived("chargeback")
    file = traveller.download(page.locator("main a[href*='format=csv']").first)
    lines = list(csv.DictReader(file.read_text().splitlines()))
    assert sum(Decimal(line["card_share_percent"]) for line in lines) == 100
    assert {line["month"] for line in lines} == {f"{today:%Y-%m}"}


def test_add_a_cluster_and_give_a_colleague_access(traveller: Traveller) -> None:
    page = traveller.page
    traveller.press(page.locator(NAV.format("/administration")))
    traveller.press(page.locator("main a[href='#add-cluster']"))
    expect(page.locator("#add-cluster")).to_be_in_viewport()
    expect(page.locator("main")).to_contain_text("manage.py cluster add NAME")
    assert len(traveller.steps) == 2
    traveller.press(page.locator("main a[href='#give-access']"))
    traveller.press(page.locator("main a[href='/users/new']"))
    expect(page.locator("main form [name='name'], main form [name='username']").first).to_be_visible()
    traveller.arrived("access")


def test_which_findings_went_away_and_for_a_spreadsheet(traveller: Traveller, world: World) -> None:
    page = traveller.page
    traveller.press(page.locator(NAV.format("/findings")))
    traveller.press(page.locator(".when a[href*='from=7d']").first)
    expect(page.locator(f"tbody tr[data-key$='-{world.gone.pk}']")).to_have_count(1)
    file = traveller.download(page.locator("main a[href*='findings'][href*='csv']").first)
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["node"] for row in rows if row["ended_at"]] == [world.gone.node_name]
    traveller.arrived("findings-gone")


@pytest.mark.parametrize("page", [{"viewport": {"width": 320, "height": 700}}, {"viewport": PHONE}], indirect=True)
def test_times_and_pods_are_no_wider_than_a_phone(page: Page) -> None:
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    card = Card.objects.order_by("pk")[0].pk
    for path in (
        "/pods/prod/team-a/hungry",
        "/allocations?at=1h",
        "/cards?from=24h",
        "/findings?from=7d",
        "/namespaces",
        "/namespaces?by=owner",
        "/namespaces/chargeback",
        f"/cards/{card}",
    ):
        page.goto(path)
        assert page.evaluate(wide) == 0, path
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert page.evaluate(wide) == 0, path
