"""Signing in at a real issuer (Dex) in a real browser: there and back, who is let in, and the page of who is not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from accounts.group_roles import parsed
from gpudash.config.external_accounts import Issuer
from tests.browser.conftest import DESKTOP, PHONE, fits
from tests.dex import CLIENT, CLIENT_SECRET, dex
from tests.go_program import Withheld

pytestmark = [pytest.mark.browser, pytest.mark.sweep, pytest.mark.timeout(600)]


@pytest.fixture
def issuer(site: str, settings: Any) -> Iterator[None]:
    try:
        with dex(f"{site}/sign-in/oidc/callback") as url:
            settings.OIDC = Issuer(url, CLIENT, CLIENT_SECRET, "Dex", "groups", ("openid", "profile", "groups"))
            settings.SOCIALACCOUNT_PROVIDERS = settings.OIDC.providers
            settings.GROUP_ROLES = parsed("gpu-admins=admin; gpu-users=viewer")
            yield
    except Withheld as withheld:
        pytest.skip(str(withheld))


def person(browser: Browser, site: str, name: str, groups: str, **options: Any) -> BrowserContext:
    """A browser of somebody whom the issuer knows: it is told by headers, as by a proxy before it."""
    who = {"X-Remote-User": name, "X-Remote-User-Id": name, "X-Remote-Group": groups}
    return browser.new_context(base_url=site, locale="en", extra_http_headers=who, **options)


def test_a_colleague_comes_by_the_issuer_to_the_page_that_was_asked_for(
    browser: Browser, site: str, issuer: None
) -> None:
    context = person(browser, site, "ana", "staff,gpu-admins", viewport=DESKTOP)
    page = context.new_page()
    page.goto("/users")
    page.get_by_role("link", name="Sign in with Dex").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Users")
    row = page.locator("tr", has=page.get_by_role("link", name="ana", exact=True))
    expect(row).to_contain_text("single sign-on")
    expect(row).to_contain_text("admin")
    page.get_by_role("link", name="ana", exact=True).first.click()
    page.goto("/account")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("link", name="Sign in with Dex")).to_be_visible()
    context.close()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE, {"width": 320, "height": 700}])
def test_who_is_in_no_group_is_told_so_and_can_go_back(
    browser: Browser, site: str, issuer: None, viewport: dict[str, int]
) -> None:
    context = person(browser, site, "bert", "staff", viewport=viewport, color_scheme="dark")
    page = context.new_page()
    page.goto("/sign-in")
    assert fits(page)
    page.get_by_role("link", name="Sign in with Dex").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Not signed in")
    expect(page.get_by_role("alert")).to_contain_text("None of your groups has access to gpudash.")
    assert fits(page)
    page.get_by_role("link", name="Go to sign-in").click()
    expect(page.get_by_label("Username")).to_be_visible()
    context.close()
