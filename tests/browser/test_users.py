"""Users as an administrator sees them: made, given a scope, deactivated; a token that is shown once; on a desktop and on a phone."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from accounts.models import ApiToken
from accounts.roles import Role, granted, set_role
from tests.browser.conftest import DESKTOP, PHONE, fits
from tests.cast import PASSWORD

pytestmark = pytest.mark.browser
NARROW = {"width": 320, "height": 700}
BOTH = pytest.mark.parametrize("page", [{"viewport": DESKTOP}, {"viewport": PHONE}], indirect=True)


@BOTH
def test_an_administrator_keeps_users(page: Page) -> None:
    set_role(User.objects.get(username="vera"), Role.ADMIN)
    page.goto("/")
    if page.get_by_role("button", name="Navigation").is_visible():
        page.get_by_role("button", name="Navigation").click()
    page.get_by_role("link", name="Administration").click()
    assert fits(page)
    page.get_by_role("link", name="Add user").click()
    page.get_by_label("Name", exact=True).fill("nora")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Only these").check()
    page.get_by_label("Namespace 1").fill("prod/team-a")
    expect(page.locator("#scope-reach")).to_contain_text("· 1 namespace")
    page.get_by_role("button", name="Create user").click()
    expect(page.get_by_text("Created user nora.")).to_be_visible()
    expect(page.get_by_label("Namespace 1")).to_have_value("prod/team-a")
    page.get_by_label("Namespace 1").fill("")
    page.get_by_label("prod", exact=True).check()
    expect(page.locator("#scope-reach")).to_contain_text("Sees 1 cluster")
    page.get_by_label("Role", exact=True).select_option("operator")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("nora: Role and scope saved.")).to_be_visible()
    assert granted(User.objects.get(username="nora")) == (Role.OPERATOR, ["prod"])
    page.get_by_role("button", name="Deactivate").click()
    expect(page.get_by_text("nora: User deactivated.")).to_be_visible()
    assert fits(page)
    page.get_by_label("You are here").get_by_role("link", name="Users").click()
    row = page.locator("tr", has=page.get_by_role("link", name="nora"))
    expect(row.get_by_text("deactivated")).to_be_visible()
    assert not User.objects.get(username="nora").is_active
    assert fits(page)


def test_what_is_wrong_with_a_form_stands_at_its_field(page: Page, console: list[str]) -> None:
    set_role(User.objects.get(username="vera"), Role.ADMIN)
    page.goto("/users/new")
    page.get_by_label("Name", exact=True).fill("vera")
    page.get_by_label("Password", exact=True).fill("1234")
    page.get_by_role("button", name="Create user").click()
    name = page.locator(".field", has=page.get_by_label("Name", exact=True))
    expect(name.locator(".errorlist")).to_contain_text("already exists")
    expect(page.get_by_label("Name", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Name", exact=True)).to_have_value("vera")
    expect(page.get_by_label("Password", exact=True)).to_have_value("")
    console.clear()  # the browser tells the 400


@BOTH
def test_a_new_token_is_shown_once_and_loading_again_makes_none(page: Page) -> None:
    page.goto("/account")
    form = page.locator("form", has=page.get_by_role("button", name="Create token"))
    form.get_by_label("Name", exact=True).fill("ci")
    form.get_by_role("button", name="Create token").click()
    secret = page.locator("#new-token code")
    expect(secret).to_have_text(re.compile(r"^gpd_\d+_\S{20,}$"))
    assert "gpd_" not in page.url
    assert fits(page)
    page.reload()
    expect(page.get_by_role("rowheader", name="ci")).to_be_visible()
    expect(secret).to_have_count(0)
    page.go_back()
    expect(secret).to_have_count(0)
    assert ApiToken.objects.count() == 1


@pytest.mark.parametrize("page", [{"viewport": NARROW, "color_scheme": "dark"}], indirect=True)
def test_no_page_is_wider_than_a_narrow_screen(page: Page) -> None:
    vera = User.objects.get(username="vera")
    set_role(vera, Role.ADMIN)
    ApiToken.issue(
        vera, "a-token-with-a-long-name-" * 3, Role.VIEWER, vera.date_joined.replace(year=2100), places=("prod",)
    )
    for path in ("/administration", "/users", f"/users/{vera.pk}", "/users/new", "/account", "/account/password",
                 "/account/two-factor", "/docs/access", "/audit"):  # fmt: skip
        page.goto(path)
        assert fits(page), path
