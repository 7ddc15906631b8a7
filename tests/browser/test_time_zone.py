"""Times are in the zone of the reader's browser from the first page on, which is asked for once more at most."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Browser, expect

from accounts.roles import Role
from inventory.models import Cluster, NodeTotals
from tests.cast import make_user, signed_in
from tests.factories.history import put_minute

pytestmark = pytest.mark.browser


def opened(browser: Browser, live_server: Any, **options: Any) -> Any:
    session = signed_in(make_user("zoe", Role.VIEWER)).cookies[settings.SESSION_COOKIE_NAME]
    context = browser.new_context(base_url=live_server.url, **options)
    context.add_cookies([{"name": session.key, "value": session.value, "url": live_server.url}])
    return context


def test_the_browsers_zone_is_the_pages_zone(browser: Browser, live_server: Any, fleet: Cluster) -> None:
    context = opened(browser, live_server, timezone_id="Asia/Shanghai")
    page = context.new_page()
    loaded: list[str] = []
    page.on("load", lambda _: loaded.append(page.url))
    page.goto("/")
    expect(page.locator(".foot")).to_contain_text("Times: Asia/Shanghai (UTC+08:00)")
    expect(page.locator("main time").first).to_have_attribute(
        "title", page.locator("main time").first.get_attribute("title")
    )
    assert "CST · " in page.locator("main time").first.get_attribute("title")
    page.goto("/nodes")
    expect(page.locator(".foot")).to_contain_text("UTC+08:00")
    assert len(loaded) <= 3
    node = NodeTotals.objects.order_by("pk")[0].node_name
    at = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=3)
    put_minute(fleet, at, total=1, allocated=1)
    page.goto("/history?cluster=prod&window=1h")
    page.locator(".plots").focus()
    page.keyboard.press("End")
    expect(page.locator(".readout")).to_contain_text("CST")
    # The control of a list is in that zone, and its address is good for readers of others.
    page.goto(f"/allocations?node={node}")
    page.locator("#when > summary").click()
    expect(page.locator("label[for='when-at']")).to_have_text("at (CST)")
    page.locator("#when-at").fill(f"{at:%Y-%m-%dT%H:%M}")
    page.locator("#when form button").first.click()
    expect(page).to_have_url(re.compile("%2B08%3A00"))
    context.close()


def test_without_scripts_times_are_utc_and_the_page_says_so(browser: Browser, live_server: Any, fleet: Cluster) -> None:
    context = opened(browser, live_server, timezone_id="Asia/Shanghai", java_script_enabled=False)
    page = context.new_page()
    page.goto("/")
    expect(page.locator(".foot")).to_contain_text("Times: UTC")
    context.close()


def test_without_cookies_the_page_is_not_asked_for_again_and_again(
    browser: Browser, live_server: Any, fleet: Cluster
) -> None:
    context = opened(browser, live_server, timezone_id="Asia/Shanghai")
    page = context.new_page()
    page.add_init_script("Object.defineProperty(document, 'cookie', {get: () => '', set: () => {}})")
    loaded: list[str] = []
    page.on("load", lambda _: loaded.append(page.url))
    page.goto("/")
    page.wait_for_timeout(800)
    assert len(loaded) == 1
    context.close()
