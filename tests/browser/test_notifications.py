"""Two errands in a browser: a rule is made after a look at what it would tell; a finding is acknowledged."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from accounts.roles import Role, set_role
from inventory.models import Cluster
from notifications.channels.engine import Kind
from notifications.models import Rule, Silence
from tests.browser.conftest import DESKTOP, PHONE, fits
from tests.factories import make_finding
from tests.notifications.bell import bell, make_channel

__all__ = ["bell"]
pytestmark = pytest.mark.browser
BOTH = pytest.mark.parametrize("page", [{"viewport": DESKTOP}, {"viewport": PHONE}], indirect=True)


@BOTH
def test_an_administrator_makes_a_rule_after_its_preview(page: Page, fleet: Cluster, bell: Kind) -> None:
    set_role(User.objects.get(username="vera"), Role.ADMIN)
    make_channel()
    for node in ("gpu-00000", "gpu-00001"):
        make_finding(fleet, "row-remap-pending", "error", node)
    page.goto("/notifications")
    page.get_by_role("link", name="New rule").first.click()
    page.get_by_label("Name", exact=True).fill("Errors")
    expect(page.locator("#f-channel")).to_have_value("On call")
    page.get_by_label("Least severity").select_option("error")
    page.get_by_role("button", name="Preview").click()
    preview = page.locator("#preview")
    expect(preview).to_contain_text(re.compile(r"Would report now:\s+\d+ topics\s+·\s+\d+ findings, cards and nodes"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("Errors")
    assert fits(page)
    assert not Rule.objects.exists()
    page.get_by_role("button", name="Create rule").click()
    expect(page.get_by_role("heading", name="Errors")).to_be_visible()
    assert Rule.objects.get().least_severity == "error"
    assert fits(page)


@BOTH
def test_an_operator_acknowledges_a_finding(page: Page, fleet: Cluster) -> None:
    set_role(User.objects.get(username="vera"), Role.OPERATOR)
    page.goto("/findings?group=none&code=units-mixed")
    page.locator("summary", has_text="units-mixed").first.click()
    page.get_by_role("link", name="Acknowledge").first.click()
    page.get_by_label("Reason").fill("spare part ordered")
    page.get_by_label("Ends after").select_option("1 day")
    assert fits(page)
    page.get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_text("Acknowledged. The finding is still counted.")).to_be_visible()
    assert Silence.objects.get().reason == "spare part ordered"
    page.goto("/findings?group=none&silenced=true")
    expect(page.get_by_text("by vera: spare part ordered").first).to_be_visible()
    assert fits(page)
