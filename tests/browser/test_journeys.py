"""Questions that people come with, from the overview to the answer, and how many clicks that takes."""

from __future__ import annotations

import csv
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from inventory.charges import days, now
from inventory.models import Allocation, Card, Cluster
from tests.browser.conftest import PHONE
from tests.factories import end_allocation
from tests.factories.history import put_minute

pytestmark = pytest.mark.browser


def test_my_pod_is_pending_why_in_two_clicks(page: Page) -> None:
    page.goto("/")
    page.locator("a.stat[href='/allocations/waiting']").click()
    page.get_by_role("link", name="hungry").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("team-a/hungry")
    expect(page.get_by_role("heading", name="Why it waits")).to_be_visible()
    reason = page.get_by_role("row").filter(has_text="No single card of these nodes has that much memory free")
    expect(reason).to_contain_text("3 of 3")
    expect(page.get_by_role("heading", name="Closest nodes, and what they lack")).to_be_visible()


def test_who_held_this_card_at_two_in_three_clicks(page: Page, fleet: Cluster) -> None:
    at = (timezone.now() - timedelta(days=1)).replace(hour=2, minute=0, second=0, microsecond=0)
    card = Card.objects.filter(holders_count=1, mode="whole").order_by("pk")[0]
    held = Allocation.objects.get(card=card, ended_at=None)
    held.started_at = at - timedelta(hours=1)
    held.save()
    end_allocation(held)
    page.goto("/")
    page.get_by_role("link", name="Cards", exact=True).click()
    page.locator(f"tbody a[href='/cards/{card.pk}']").click()
    page.get_by_label("Who held it at (UTC)").fill(at.strftime("%Y-%m-%dT%H:%M"))
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".lead")).to_contain_text(f"At {at:%Y-%m-%d} 02:00 UTC: held 1.")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text(held.pod)
    expect(page.get_by_label("at (UTC)")).to_have_value(at.strftime("%Y-%m-%dT%H:%M"))
    page.get_by_role("link", name="now", exact=True).click()
    expect(page.locator("tbody tr")).to_have_count(0)


def test_what_did_each_team_use_this_month_in_three_clicks(page: Page, fleet: Cluster) -> None:
    today = timezone.now()
    Card.objects.filter(cluster=fleet).update(first_seen_at=today - timedelta(days=2))
    put_minute(fleet, today.replace(second=0, microsecond=0) - timedelta(minutes=1), total=1)
    days.write_day(fleet.pk, today.date(), today)
    now.look()
    page.goto("/")
    page.get_by_role("link", name="Namespaces", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Which team holds most, and what idles?")
    expect(page.locator("tbody tr").first).to_contain_text("team-")
    page.get_by_role("link", name="chargeback of a month").click()
    expect(page.get_by_role("row").filter(has_text="held by nobody")).to_be_visible()
    with page.expect_download() as begun:
        page.get_by_role("link", name="CSV", exact=True).click()
    assert begun.value.suggested_filename == f"gpudash-chargeback-prod-{today:%Y-%m}.csv"
    lines = list(csv.DictReader(begun.value.path().read_text().splitlines()))
    assert sum(Decimal(line["card_share_percent"]) for line in lines) == 100


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
