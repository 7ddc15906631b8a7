"""The pages as a reader uses them: with a mouse, with the keyboard only, on a phone, in the dark."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from inventory.models import Allocation, Card, Cluster, Subject
from tests.browser.conftest import PHONE
from tests.factories import make_node
from tests.factories.history import put_minute

pytestmark = pytest.mark.browser
PAGES = (
    *(
        "/",
        "/nodes",
        "/cards",
        "/allocations",
        "/allocations/pending",
        "/allocations/idle",
        "/namespaces",
        "/namespaces/chargeback",
        "/namespaces/chargeback?by=owner",
        "/fit?cards=2&memory=8",
        "/history",
        "/map",
        "/findings",
        "/clusters",
        "/clusters/prod",
    ),
    *("/nodes/prod/gpu-00000", "/nodes/prod/gpu-00003", "/pods/prod/team-a/hungry", "/cards?at=1h"),
    *("/search?q=train", "/account", "/docs/access", "/docs/words", "/keys", "/views?of=nodes", "/nodes/prod/nope"),
)
REFRESH = "() => { document.getElementById('live').dispatchEvent(new Event('refresh')) }"
DRAWN = "() => !document.querySelector('#live[data-asking]')"


def refresh(page: Page) -> int:
    """Ask for what is new now, as the clock does every few seconds. Returns the status."""
    with page.expect_response(lambda response: "hx-request" in response.request.headers) as answer:
        page.evaluate(REFRESH)
    status = answer.value.status
    page.wait_for_function(DRAWN)
    return status


def test_a_filter_is_an_address_that_can_be_sent(page: Page) -> None:
    page.goto("/nodes")
    page.locator("#filter > summary").press("Enter")
    page.locator(".filters").get_by_label("Stack").focus()
    page.locator(".filters").get_by_label("Stack").select_option("gpushare")
    page.get_by_role("button", name="Apply").press("Enter")
    expect(page).to_have_url(re.compile(r"/nodes\?stack=gpushare$"))
    expect(page.locator("tbody tr")).to_have_count(4)
    page.reload()
    expect(page.locator(".filters").get_by_label("Stack")).to_have_value("gpushare")
    expect(page.locator("tbody tr")).to_have_count(4)


def test_a_head_sorts_and_says_so(page: Page) -> None:
    page.goto("/cards")
    page.get_by_role("link", name="Allocated, GiB").click()
    expect(page.get_by_role("columnheader", name="Allocated, GiB")).to_have_attribute("aria-sort", "descending")
    first = page.locator("tbody tr").first
    expect(first).to_contain_text("80")


def test_a_refresh_brings_what_is_new_and_keeps_focus_and_place(page: Page) -> None:
    page.goto("/allocations")
    link = page.locator("tbody tr").nth(30).get_by_role("link").nth(1)
    link.focus()
    link.scroll_into_view_if_needed()
    row = page.locator("tbody tr").nth(30)
    before = (link.get_attribute("href"), page.evaluate("document.activeElement.getBoundingClientRect().top"))
    assert refresh(page) == 204
    Allocation.objects.filter(pod=row.locator("th").inner_text().split("\n")[0]).update(memory_bytes=77 * 2**30)
    assert refresh(page) == 200
    expect(row).to_contain_text("77 GiB")
    after = page.evaluate(
        "[document.activeElement.getAttribute('href'), document.activeElement.getBoundingClientRect().top]"
    )
    assert after[0] == before[0]
    assert abs(after[1] - before[1]) < 2
    expect(page.locator("#said")).to_have_text("Page updated.")


def test_what_was_opened_stays_open_over_a_refresh(page: Page) -> None:
    page.goto("/nodes/prod/gpu-00003")
    page.get_by_text("Why a card is unidentified").click()
    Card.objects.filter(node_name="gpu-00003", index=0).update(health="unhealthy")
    assert refresh(page) == 200
    expect(page.get_by_role("cell", name="unhealthy")).to_be_visible()
    expect(page.get_by_text("The device plugin chooses the card")).to_be_visible()


@pytest.mark.parametrize("page", [{"viewport": PHONE}, {"viewport": {"width": 1280, "height": 800}}], indirect=True)
def test_a_node_and_a_card_do_not_scroll_sideways_and_have_rows_of_one_line(page: Page) -> None:
    """On a phone of two."""
    held = Allocation.objects.filter(node_name="gpu-00000").exclude(card=None)[0]
    for path in ("/nodes/prod/gpu-00000", f"/cards/{held.card_id}"):
        page.goto(path)
        page.evaluate(
            "() => { for (const one of document.querySelectorAll('main details')) one.open = one.id !== 'more' }"
        )
        wide = "root => root.scrollWidth - root.clientWidth"
        assert page.locator("html").evaluate(wide) == 0, path
        page.reload()
        high = "rows => rows.map((row) => row.getBoundingClientRect().height)"
        table = page.locator("table.cardbars tbody tr, table.rowtable tbody tr")
        expect(table.first).to_be_visible()
        most = 40 if page.evaluate("innerWidth") > PHONE["width"] else 66
        assert max(table.locator("visible=true").evaluate_all(high)) <= most, path
        assert max(page.locator(".feed > li").locator("visible=true").evaluate_all(high), default=0) <= most, path


def test_a_command_is_copied_by_a_button(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/nodes/prod/gpu-00000")
    page.get_by_label("More").click()
    page.get_by_role("button", name="Copy “kubectl cordon gpu-00000”").click()
    expect(page.locator("#said")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "kubectl cordon gpu-00000"


def test_a_selection_is_not_taken_away(page: Page) -> None:
    page.goto("/nodes")
    page.evaluate("getSelection().selectAllChildren(document.querySelector('tbody tr th a'))")
    Allocation.objects.all().delete()
    Card.objects.all().delete()
    refresh(page)
    assert "gpu-00000" in page.evaluate("getSelection().toString()")


def test_the_refresh_can_be_paused(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("#live-state")).to_have_attribute("data-state", "paused")
    page.reload()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()


def test_a_service_that_does_not_answer_is_said_on_the_page(page: Page, console: list[str]) -> None:
    page.goto("/nodes")
    page.route("**/nodes", lambda route: route.fulfill(status=502, body="bad gateway"))
    for _ in range(2):
        page.evaluate(REFRESH)
        page.wait_for_function(DRAWN)
    expect(page.get_by_text("Cannot reach gpudash; this page may be stale.")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(14)
    page.unroute("**/nodes")
    assert refresh(page) == 204
    expect(page.locator("#lost")).to_be_hidden()
    assert any("502" in line for line in console)
    console.clear()


def test_the_search_is_one_key_away(page: Page) -> None:
    page.goto("/nodes")
    page.keyboard.press("/")
    expect(page.locator("#palette-text")).to_be_focused()
    # Enter comes before the answer to this text: it acts on that answer, not on the one that stands there.
    expect(page.locator("#palette-found a").first).to_have_text("Overview")
    page.locator("#palette-text").fill("gpu-00003")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("gpu-00003")


def test_the_first_stop_of_the_keyboard_skips_to_the_content(page: Page) -> None:
    page.goto("/nodes")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_the_map_is_one_stop_and_the_arrows_walk_it(page: Page) -> None:
    page.goto("/")
    for name in ("T4, gpushare", "A100 SXM 80 GB, nvidia"):
        page.get_by_role("link", name=name, exact=True).click()
    tiles = page.locator(".map .tile")
    expect(tiles).not_to_have_count(0)
    page.wait_for_function(DRAWN)
    assert tiles.evaluate_all("all => all.filter((tile) => tile.tabIndex === 0).length") == 1
    tiles.first.focus()
    page.keyboard.press("ArrowRight")
    expect(tiles.nth(1)).to_be_focused()
    page.keyboard.press("ArrowDown")
    below = page.evaluate("document.activeElement.getBoundingClientRect().top")
    assert below > tiles.nth(1).bounding_box()["y"]  # type: ignore[index]
    page.keyboard.press("End")
    expect(tiles.last).to_be_focused()
    href = tiles.last.get_attribute("href")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"{href}$"))


@pytest.mark.parametrize("page", [{"viewport": PHONE}], indirect=True)
def test_no_page_is_wider_than_a_phone(page: Page) -> None:
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    card = Card.objects.order_by("pk")[0].pk
    for path in (*PAGES[:-1], f"/cards/{card}"):
        page.goto(path)
        assert page.evaluate(wide) == 0, path


@pytest.mark.parametrize("width", [320, 390, 920, 1001, 1280, 1400])
def test_the_navigation_shows_the_page_that_is_open_and_nothing_is_cut(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    page.goto("/clusters")
    names = page.get_by_role("navigation", name="Pages")
    if width <= 1000:
        expect(names).to_be_hidden()
        page.get_by_role("button", name="Navigation").click()
    expect(names.get_by_role("link", name="Clusters")).to_have_attribute("aria-current", "page")
    expect(names.get_by_role("link", name="Clusters")).to_be_in_viewport()
    assert names.evaluate("nav => nav.scrollWidth <= nav.clientWidth")
    if width <= 1000:
        page.keyboard.press("Escape")
        expect(names).to_be_hidden()
    if width >= 390:  # a short state is not cut either
        assert page.locator("#sync > span:last-child").evaluate("text => text.scrollWidth <= text.clientWidth")
    assert page.locator("header.bar").evaluate("bar => bar.scrollWidth <= bar.clientWidth")


@pytest.mark.parametrize("page", [{"viewport": PHONE}], indirect=True)
def test_on_a_phone_filters_fold_and_cells_carry_their_heads(page: Page) -> None:
    page.goto("/nodes")
    expect(page.locator(".filters").get_by_label("Stack")).to_be_hidden()
    page.locator("#filter > summary").click()
    expect(page.locator(".filters").get_by_label("Stack")).to_be_visible()
    head = page.locator("tbody td[data-label='Free cards']").first.evaluate(
        "cell => getComputedStyle(cell, '::before').content"
    )
    assert head == '"Free cards "'
    # Each row two lines: its name, and what matters most.
    assert page.locator("tbody tr").first.bounding_box()["height"] < 70  # type: ignore[index]


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_the_dark_theme_follows_the_system_and_can_be_overruled(page: Page) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(13, 16, 21)"
    page.get_by_role("button", name="vera").click()
    page.get_by_role("button", name="light").click()
    assert page.evaluate(ground) == "rgb(244, 246, 248)"


def test_ages_grow_without_asking_the_server(page: Page) -> None:
    page.clock.install()
    page.goto("/nodes?columns=name,changed_at")
    page.get_by_role("button", name="Pause").click()
    shown = page.locator("tbody time").first
    expect(shown).to_have_text("5 min ago")
    page.clock.run_for(120_000)
    expect(shown).to_have_text("7 min ago")


def test_what_can_be_pressed_has_a_name(page: Page) -> None:
    nameless = """() => [...document.querySelectorAll('a[href], button, input:not([type=hidden]), select')].filter((element) =>
        !element.closest('[aria-hidden=true]') && !(element.getAttribute('aria-label') || element.textContent.trim()
        || element.labels?.length)).map((element) => element.outerHTML)"""
    for path in PAGES[:-1]:
        page.goto(path)
        assert page.evaluate(nameless) == [], path


def test_a_name_that_turns_text_round_does_not_turn_its_neighbours(page: Page) -> None:
    Allocation.objects.filter(node_name="gpu-00000").update(node_name="\u202eabc")
    page.goto("/allocations?node=%E2%80%AEabc")
    cell = page.locator("tbody td[data-label='Location']").first
    node, card = cell.get_by_role("link").nth(0), cell.get_by_role("link").nth(1)
    assert card.bounding_box()["x"] > node.bounding_box()["x"]  # type: ignore[index]


def test_printing_leaves_the_frame_away(page: Page) -> None:
    page.goto("/nodes")
    page.emulate_media(media="print")
    expect(page.locator("header.bar")).to_be_hidden()
    expect(page.locator("tbody tr").first).to_be_visible()


def test_a_chart_is_drawn_read_by_keys_and_survives_a_refresh(page: Page, fleet: Cluster) -> None:
    now = datetime.now(UTC).replace(second=0, microsecond=0)
    for minute in range(30):
        at = now - timedelta(minutes=minute)
        put_minute(
            fleet, at, Subject.NODE, "gpu-00000", used=4096, allocated=8192, utilization=250, cards=8, measured=7
        )
    page.goto("/nodes/prod/gpu-00000?window=1h")
    chart = page.get_by_role("group", name="Chart of memory and activity")
    expect(chart.locator(".plot")).to_have_count(2)
    names = ["allocated 8 GiB", "peak used 4 GiB", "used 4 GiB", "utilization 25%"]
    expect(page.locator(".names li")).to_have_text(names)
    chart.focus()
    page.keyboard.press("End")
    readout = page.locator(".readout")
    expect(readout).to_contain_text("allocated 8 GiB used 4 GiB utilization 25% 7 of 8 cards measured")
    last = readout.text_content()
    page.keyboard.press("ArrowLeft")
    expect(readout).not_to_have_text(last or "")
    page.keyboard.press("Home")
    expect(readout).to_contain_text("no data")
    make_node(fleet, "gpu-00000", "gpushare", 8, loads=(0.9,))
    assert refresh(page) == 200
    expect(chart.locator(".plot")).to_have_count(2)
    expect(readout).to_contain_text("no data")
    area = chart.locator(".area").first.bounding_box()
    assert area
    page.mouse.move(area["x"] + area["width"] - 2, area["y"] + 20)
    expect(readout).to_contain_text("allocated 8 GiB")
    chart.blur()
    page.mouse.move(area["x"], area["y"] - 200)
    expect(readout).to_be_hidden()


@pytest.mark.parametrize("page", [{"viewport": PHONE}], indirect=True)
def test_a_chart_is_as_wide_as_a_phone(page: Page, fleet: Cluster) -> None:
    put_minute(fleet, datetime.now(UTC).replace(second=0, microsecond=0), used=4096, allocated=8192)
    page.goto("/history?window=1h")
    expect(page.locator(".chart .plot")).to_have_count(1)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_room_is_found_by_one_click_and_a_form(page: Page, fleet: Cluster) -> None:
    make_node(fleet, "roomy", "nvidia", 4, loads=(0.0,))
    page.goto("/")
    page.locator("main").get_by_role("link", name="Find capacity").click()
    expect(page.get_by_role("heading", name="Find capacity", exact=True)).to_be_visible()
    page.get_by_label("Cards", exact=True).fill("4")
    page.get_by_label("Memory per card, GiB").fill("20 GiB")
    page.get_by_label("Memory per card, GiB").press("Enter")
    expect(page.locator(".answer")).to_contain_text("4 × 20 GiB")
    expect(page.locator("tbody tr").filter(has_text="roomy")).to_contain_text("nvidia.com/gpu: 4")
    expect(page.get_by_role("heading", name="Rejected nodes")).to_be_visible()
    assert "memory=20+GiB" in page.url
