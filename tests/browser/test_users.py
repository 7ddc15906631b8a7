"""The page of users as an administrator sees it: a user is made, given a scope and signed out, on a desktop and on a phone."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from accounts.roles import Role, granted, set_role
from tests.browser.conftest import DESKTOP, PHONE
from tests.cast import PASSWORD

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("page", [{"viewport": DESKTOP}, {"viewport": PHONE}], indirect=True)
def test_an_administrator_keeps_users(page: Page) -> None:
    set_role(User.objects.get(username="vera"), Role.ADMIN)
    page.goto("/users")
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    new = page.locator("section", has=page.get_by_role("heading", name="A new user"))
    new.get_by_label("Name").fill("nora")
    new.get_by_label("Password").fill(PASSWORD)
    new.get_by_label("For").fill("prod/team-a")
    new.get_by_role("button", name="Create user").click()
    expect(page.get_by_text("User nora is there.")).to_be_visible()
    row = page.locator("tr", has=page.get_by_role("rowheader", name="nora"))
    row.get_by_label("For").fill("prod")
    row.get_by_role("combobox").select_option("operator")
    row.get_by_role("button", name="Save the role of nora").click()
    expect(page.get_by_text("nora: Role and scope are changed.")).to_be_visible()
    assert granted(User.objects.get(username="nora")) == (Role.OPERATOR, ["prod"])
    row.get_by_role("button", name="Deactivate").click()
    expect(row.get_by_text("deactivated")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
    assert not User.objects.get(username="nora").is_active
