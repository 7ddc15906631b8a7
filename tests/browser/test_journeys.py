"""Questions that people come with, from the overview to the answer, and how many clicks that takes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from inventory.models import Allocation, Card, Cluster
from tests.browser.conftest import PHONE
from tests.factories import end_allocation

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


@pytest.mark.parametrize("page", [{"viewport": {"width": 320, "height": 700}}, {"viewport": PHONE}], indirect=True)
def test_times_and_pods_are_no_wider_than_a_phone(page: Page) -> None:
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    card = Card.objects.order_by("pk")[0].pk
    for path in (
        "/pods/prod/team-a/hungry",
        "/allocations?at=1h",
        "/cards?from=24h",
        "/findings?from=7d",
        f"/cards/{card}",
    ):
        page.goto(path)
        assert page.evaluate(wide) == 0, path
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert page.evaluate(wide) == 0, path
