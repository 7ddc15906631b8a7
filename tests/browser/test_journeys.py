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
from inventory.models import Allocation, Card, Cluster, Finding, NodeChange, NodeTotals
from tests.browser.conftest import PHONE
from tests.browser.travelling import SIGHTS, Sight, Traveller
from tests.cast import make_user, signed_in
from tests.factories import end_allocation, make_finding, make_node
from tests.factories.history import put_minute
from tests.pages.validations.rows import make_run, reason
from validations.models import Campaign, CampaignTarget, Run

pytestmark = pytest.mark.browser
WRONG = [reason("verification", "The card gave a wrong result.")]


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


def test_where_do_two_cards_of_20_gib_fit_with_the_yaml(traveller: Traveller) -> None:
    page = traveller.page
    traveller.press(page.locator("main a.button[href='/fit']"))
    traveller.fill("cards", "2")
    traveller.fill("memory", "20")
    traveller.send("memory")
    expect(page.locator(".answer").first).to_contain_text("2 × 20 GiB")
    expect(page.locator("tbody tr").filter(has_text="roomy")).to_contain_text("nvidia.com/gpu: 2")
    # The pod of the first node is there, and may be copied; that of another node is one step more.
    expect(page.locator("#pod .yaml")).to_contain_text("kind: Pod")
    expect(page.locator("#pod [data-copy]")).to_be_visible()
    assert len(traveller.steps) == 2
    traveller.press(page.locator("tbody tr").filter(has_text="roomy").locator("a[href*='node=prod%2Froomy']"))
    expect(page.locator("#pod .yaml")).to_contain_text("kubernetes.io/hostname: roomy")
    expect(page.locator("#pod .yaml")).to_contain_text("nvidia.com/gpu: 2")
    assert len(traveller.steps) == 3
    traveller.arrived("room")


def test_which_pods_block_a_node_of_eight_cards(traveller: Traveller, world: World) -> None:
    make_node(world.cluster, "blocked", "nvidia", 8, loads=(1.0, *(0.0,) * 7))
    page, pod = traveller.page, "/pods/prod/default/train-blocked-0-0"
    traveller.press(page.locator("main a.button[href='/fit']"))
    traveller.fill("cards", "8")
    traveller.send("cards")
    near = page.locator("tr[data-key='nearly-prod-blocked']")
    expect(near.locator("td.num")).to_have_text("1")
    expect(near.locator("td.full a")).to_have_attribute("href", pod)
    assert len(traveller.steps) == 2
    traveller.press(near.locator("td.full a"))
    expect(page).to_have_url(re.compile(pod))
    assert len(traveller.steps) == 3
    traveller.arrived("blocked")


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
    traveller.press(page.locator("a.find"))
    traveller.look_for(Card.objects.get(pk=world.held.card_id).uuid)
    traveller.fill("at", at.strftime("%Y-%m-%dT%H:%M"))
    traveller.send("at")
    expect(page.locator(".lead")).to_contain_text(f"{at:%Y-%m-%d} 02:00 UTC")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text(world.held.pod)
    assert len(traveller.steps) == 3
    traveller.arrived("who-held")


def test_prove_these_cards_and_show_it(traveller: Traveller, world: World) -> None:
    page, campaign = traveller.page, f"/validations/campaigns/{world.campaign.pk}"
    traveller.navigate("/validations")
    traveller.press(page.locator("main a[href='/validations/campaigns']").first)
    traveller.press(page.locator(f"tbody a[href='{campaign}']").first)
    traveller.press(page.locator(f"main a[href='{campaign}/report']").first)
    expect(page.locator("#sha256")).to_contain_text("sha256:")
    assert len(traveller.steps) == 4
    traveller.arrived("proof")


def test_a_run_failed_since_when_and_what_differs(traveller: Traveller, world: World) -> None:
    page = traveller.page
    traveller.navigate("/validations")
    traveller.press(page.locator(f"tbody a[href='/validations/runs/{world.failed.pk}']").first)
    expect(page.locator(".compared")).to_contain_text("535.1")
    expect(page.locator(".compared .strip li")).to_have_count(2)
    assert len(traveller.steps) == 2
    traveller.arrived("failed-run")


def test_is_it_the_card_the_driver_or_the_image(traveller: Traveller, world: World) -> None:
    """The suspect with its evidence, and what to try next."""
    page = traveller.page
    traveller.navigate("/validations")
    traveller.press(page.locator(f"tbody a[href='/validations/runs/{world.failed.pk}']").first)
    panel = page.locator("section[aria-labelledby='what-to-do']")
    expect(panel.locator("b")).to_contain_text("card" if traveller.sight.locale == "en" else "卡")
    expect(panel.locator(".actions a[href*='/validations/new']").first).to_be_visible()
    assert len(traveller.steps) == 2
    traveller.arrived("suspect")


def test_what_is_wrong_and_what_do_i_do(traveller: Traveller, world: World) -> None:
    """From the overview to the node, and to what to do about it."""
    page = traveller.page
    make_finding(world.cluster, "count-zero", "error", "gpu-00003")
    page.reload()
    traveller.press(page.locator(".attention a[href^='/nodes/prod/gpu-00003']").first)
    found = page.locator(".feed details").filter(has=page.locator("summary")).first
    traveller.press(found.locator("summary"))
    expect(found.locator("p").first).to_be_visible()
    expect(found.locator("p").last).not_to_be_empty()
    assert len(traveller.steps) == 2
    traveller.arrived("remedy")


def test_which_team_holds_most(traveller: Traveller) -> None:
    page, today = traveller.page, timezone.now()
    traveller.navigate("/namespaces")
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


def test_what_changed_on_this_node_since_yesterday(traveller: Traveller, world: World) -> None:
    """From what needs attention, or from the model that the node belongs to, to the node: its changes are there."""
    page, node = traveller.page, world.gone.node_name
    moment = timezone.now()
    for hours, what, before, after in (
        (30, "kernel", "5.15", "6.1"),
        (5, "cordoned", "", "yes"),
        (4, "driver", "570", "580"),
    ):
        NodeChange.objects.create(
            cluster=world.cluster,
            node_name=node,
            what=what,
            before=before,
            after=after,
            at=moment - timedelta(hours=hours),
        )
    pool = NodeTotals.objects.get(node_name=node).pool
    traveller.press(page.locator(f"tr[data-key='pool-{pool}'] .toggle"))
    traveller.press(page.locator(f"main .opened a[href='/nodes/prod/{node}']").first)
    changes = page.locator("section[aria-labelledby='node-changes']")
    expect(changes.locator(".feed li[data-key^='node-']")).to_have_count(2)
    expect(changes).to_contain_text("570 → 580")
    expect(changes).not_to_contain_text("6.1")
    expect(changes.locator(".track").first).to_be_visible()
    assert len(traveller.steps) == 2
    traveller.arrived("node-changes")


def test_add_a_cluster_and_give_a_colleague_access(traveller: Traveller) -> None:
    page = traveller.page
    traveller.navigate("/administration")
    traveller.press(page.locator("main a[href='/administration/clusters/new']").first)
    expect(page.locator("main")).to_contain_text("gpudash cluster add NAME")
    assert len(traveller.steps) == 2
    traveller.navigate("/administration")
    traveller.press(page.locator("main a[href='#give-access']"))
    traveller.press(page.locator("main a[href='/users/new']"))
    expect(page.locator("main form [name='name'], main form [name='username']").first).to_be_visible()
    traveller.arrived("access")


def test_which_findings_went_away_and_for_a_spreadsheet(traveller: Traveller, world: World) -> None:
    page = traveller.page
    traveller.navigate("/findings")
    traveller.press(page.locator("#when > summary"))
    traveller.press(page.locator(".when a[href*='from=7d']").first)
    expect(page.locator(f"tbody tr[data-key$='-{world.gone.pk}']")).to_have_count(1)
    file = traveller.download(page.locator("main a[href*='findings'][href*='csv']").first)
    rows = list(csv.DictReader(file.read_text().splitlines()))
    assert [row["node"] for row in rows if row["ended_at"]] == [world.gone.node_name]
    traveller.arrived("findings-gone")


def test_compare_two_nodes(traveller: Traveller) -> None:
    """From the page of the one."""
    page = traveller.page
    page.goto("/nodes/prod/gpu-00000")
    traveller.press(page.locator("main a[href='/nodes/compare?a=prod/gpu-00000']"))
    traveller.press(page.locator("main a[href='/nodes/compare?a=prod/gpu-00000&b=prod/gpu-00007']"))
    expect(page.locator("thead a[href='/nodes/prod/gpu-00007']")).to_be_visible()
    assert len(traveller.steps) == 2
    traveller.arrived("compared")


def test_compare_two_rows_of_a_list(traveller: Traveller) -> None:
    page = traveller.page
    page.goto("/cards?node=gpu-00000")
    compare = page.locator("[data-select-bar] button[data-picks]")
    boxes = page.locator("input.pick[name=target]")
    for number, ready in ((0, False), (3, True), (4, False)):
        boxes.nth(number).check()
        expect(compare).to_be_enabled(enabled=ready)
    boxes.nth(4).uncheck()
    traveller.press(compare)
    expect(page.locator("thead th a[href^='/cards/']").first).to_be_visible()
    assert len(traveller.steps) == 1
    traveller.arrived("compared-cards")


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
