"""What an open page costs, when it asks, and what it does while the connection or the server is away."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import Page, expect

from bench.weights import Wire
from inventory.models import Allocation, Card, Cluster, Watch
from runtime import cached as shared
from tests.browser.test_reading import DRAWN, REFRESH, refresh

pytestmark = pytest.mark.browser
PAGES = ("/", "/nodes", "/cards", "/allocations")
#: On the wire, heads included, of a page that nobody touches: what it receives, and after the first minute both ways.
MOST_BYTES_A_MINUTE = 5_000
#: Of a first visit with an empty store: the page, styles, scripts.
MOST_REQUESTS = 30


def count(page: Page) -> list[str]:
    """Refreshes from now on; grows."""
    found: list[str] = []
    page.on("request", lambda request: found.append(request.url) if "hx-request" in request.headers else None)
    return found


def pass_by(page: Page, seconds: int) -> None:
    """Time passes on the page: its timers run, and what they asked is answered."""
    for _ in range(seconds):
        page.clock.run_for(1000)
        page.wait_for_function(DRAWN)
    page.wait_for_timeout(200)  # the browser tells what it counted a little later


@pytest.mark.parametrize("path", PAGES)
def test_a_page_that_stands_open_costs_little(
    page: Page, settings: Any, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    settings.SHARED_LOOK_S = 1.0
    monkeypatch.setattr(shared.look, "_seen", None)
    page.clock.install()
    page.goto(path)
    page.wait_for_load_state("networkidle")
    wire = Wire.of(page)
    page.wait_for_timeout(200)
    wire.start()
    pass_by(page, 60)
    assert 3 <= wire.requests <= 7
    assert 0 < wire.received < MOST_BYTES_A_MINUTE
    for _ in range(2):
        wire.start()
        pass_by(page, 60)
        assert 2 <= wire.requests <= 4
        assert 0 < wire.received + wire.sent < MOST_BYTES_A_MINUTE


@pytest.mark.parametrize("path", PAGES)
def test_a_first_visit_makes_few_requests(page: Page, path: str) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path)
    page.wait_for_load_state("networkidle")
    assert 10 < len(asked) <= MOST_REQUESTS


def test_a_change_costs_one_part(page: Page) -> None:
    page.goto("/cards")
    refresh(page)
    wire = Wire.of(page)
    Card.objects.filter(node_name="gpu-00002", index=1).update(health="unhealthy")
    assert refresh(page) == 200
    page.wait_for_timeout(100)
    assert 1000 < wire.received < 8000


def test_it_asks_each_five_seconds_while_things_change_and_seldom_when_they_do_not(page: Page) -> None:
    page.clock.install()
    page.goto("/nodes")
    found = count(page)
    pass_by(page, 16)
    assert len(found) == 3
    pass_by(page, 300)
    found.clear()
    pass_by(page, 91)
    assert len(found) == 3
    page.mouse.move(200, 200)
    page.wait_for_function(DRAWN)
    assert len(found) == 4
    pass_by(page, 6)
    assert len(found) == 5


def test_nothing_is_asked_while_the_page_is_hidden_and_at_once_when_it_comes_back(page: Page) -> None:
    page.clock.install()
    page.goto("/nodes")
    found = count(page)
    turn = "(hidden) => { Object.defineProperty(document, 'hidden', { value: hidden, configurable: true }); }"
    page.evaluate(turn, True)
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    pass_by(page, 60)
    assert found == []
    page.evaluate(turn, False)
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_function(DRAWN)
    assert len(found) == 1


def test_a_lost_connection_is_called_so_and_comes_back_by_itself(page: Page) -> None:
    page.clock.install()
    page.goto("/nodes")
    found = count(page)
    page.context.set_offline(True)
    expect(page.locator("#live-state span")).to_have_text("Offline")
    square = (
        "one => [getComputedStyle(one, '::before').borderTopWidth, getComputedStyle(one, '::before').backgroundColor]"
    )
    assert page.locator("#live-state").evaluate(square) == ["2px", "rgba(0, 0, 0, 0)"]
    expect(page.locator("#sync")).to_have_text(re.compile(r"^\s*·\s*Offline · \d\d:\d\d UTC\s*$"))
    expect(page.locator("#sync")).to_have_attribute("title", re.compile(r"^Data as of \d\d:\d\d UTC\.$"))
    pass_by(page, 20)
    assert found == []
    expect(page.locator("#lost")).to_be_hidden()
    Card.objects.filter(node_name="gpu-00000").delete()
    page.context.set_offline(False)
    expect(page.locator("#live-state span")).to_have_text("Live")
    expect(page.locator("#sync")).to_have_text(re.compile(r"^\s*✓\s*good\s*prod · in sync\s*$"))
    page.wait_for_function(DRAWN)
    assert len(found) == 1


def test_a_server_that_fails_is_asked_less_and_less_and_found_again(page: Page, console: list[str]) -> None:
    page.clock.install()
    page.goto("/nodes")
    page.route("**/nodes", lambda route: route.fulfill(status=503, body="no"))
    found = count(page)
    pass_by(page, 120)
    assert 4 <= len(found) <= 8
    expect(page.locator("#live-state span")).to_have_text("Unreachable")
    expect(page.locator("#lost")).to_be_visible()
    page.unroute("**/nodes")
    pass_by(page, 31)
    expect(page.locator("#live-state span")).to_have_text("Live")
    expect(page.locator("#lost")).to_be_hidden()
    assert all("503" in line for line in console)
    console.clear()


def test_signed_out_in_another_tab_is_called_so(page: Page, console: list[str]) -> None:
    page.goto("/nodes")
    Session.objects.all().delete()
    page.evaluate(REFRESH)
    expect(page.locator("#signed-out")).to_contain_text("Signed out. Sign in")
    expect(page.locator("#lost")).to_be_hidden()
    page.get_by_role("link", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"/sign-in\?next=/nodes"))
    assert all("401" in line for line in console)
    console.clear()


def test_a_language_chosen_in_another_tab_is_that_of_the_whole_page(page: Page) -> None:
    page.goto("/nodes")
    other = page.context.new_page()
    other.goto("/nodes")
    other.get_by_role("button", name="vera").click()
    other.locator("button[value='zh-hans']").click()
    expect(other.locator("h1")).to_have_text("节点")
    page.evaluate(REFRESH)
    expect(page.locator("h1")).to_have_text("节点")


def test_only_the_row_with_the_selection_waits(page: Page, fleet: Cluster) -> None:
    page.goto("/nodes")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('[data-key] th a'))")
    first, second = page.locator("tbody tr").nth(0), page.locator("tbody tr").nth(1)
    before = first.inner_html()
    Allocation.objects.all().delete()
    Watch.objects.update(state="refused", reason="401")
    assert refresh(page) == 200
    expect(page.locator("#live .notice.error")).to_be_visible()
    assert first.inner_html() == before
    assert page.evaluate("getSelection().toString()").strip() != ""
    page.evaluate("getSelection().removeAllRanges()")
    expect(second).to_be_visible()
    page.evaluate(REFRESH)
    page.wait_for_function(DRAWN)
    text = page.evaluate("async () => (await fetch('/nodes')).text()")
    shown = page.evaluate(
        """(html) => {
          const page = new DOMParser().parseFromString(html, "text/html");
          const rows = (place) => [...place.querySelectorAll("#live tbody tr")].map((row) => row.innerText || row.textContent);
          const squeeze = (text) => text.replace(/\\s+/g, "");
          const cell = (place) => [...place.querySelectorAll("#live tbody td:nth-child(5)")].map((one) => squeeze(one.textContent));
          return [rows(document).length === rows(page).length, cell(document), cell(page)];
        }""",
        text,
    )
    assert shown[0]
    assert shown[1] == shown[2]


def test_a_focused_row_does_not_wait(page: Page) -> None:
    page.goto("/allocations")
    assert refresh(page) in (200, 204)
    link = page.locator("tbody tr").nth(2).get_by_role("link").first
    link.focus()
    name = page.locator("tbody tr").nth(2).locator("th").inner_text().split("\n")[0]
    Allocation.objects.filter(pod=name).update(memory_bytes=77 * 2**30)
    assert refresh(page) == 200
    expect(page.locator("tbody tr").nth(2)).to_contain_text("77 GiB")
    assert page.evaluate("document.activeElement.matches('#live a')")
