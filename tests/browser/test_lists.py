"""Views, columns, the palette, keys and help on words, by the keyboard alone where they can be."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import ALL, source, violations
from tests.browser.conftest import PHONE, fits
from tests.browser.test_reading import refresh

pytestmark = pytest.mark.browser


def test_columns_are_chosen_by_the_keyboard_and_stay_in_the_live_part(page: Page) -> None:
    page.goto("/nodes")
    page.locator("#columns > summary").focus()
    page.keyboard.press("Enter")
    page.get_by_role("checkbox", name="Zone").focus()
    page.keyboard.press("Space")
    page.get_by_role("checkbox", name="Free, GiB").focus()
    page.keyboard.press("Space")
    page.locator("#columns").get_by_role("button", name="Show").press("Enter")
    expect(page).to_have_url(re.compile(r"columns=name"))
    expect(page.get_by_role("columnheader", name="Zone")).to_be_visible()
    expect(page.get_by_role("columnheader", name="Free, GiB")).to_have_count(0)
    assert refresh(page) in (200, 204)
    expect(page.get_by_role("columnheader", name="Zone")).to_be_visible()
    page.get_by_text("Columns", exact=True).first.click()
    expect(page.get_by_role("checkbox", name="Zone")).to_be_checked()
    expect(page.get_by_role("checkbox", name="Node")).to_be_disabled()


def test_a_view_is_saved_in_the_menu_and_opened_in_the_palette(page: Page) -> None:
    page.goto("/nodes?stack=gpushare&columns=name,model")
    page.locator("#views > summary").press("Enter")
    name = page.get_by_label("Save current view as")
    name.fill("Shared memory")
    name.press("Enter")
    expect(page.get_by_text("Saved as “Shared memory”.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"/nodes\?stack=gpushare&columns=name"))
    page.goto("/")
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-text")).to_be_focused()
    page.keyboard.type("shared mem")
    expect(page.locator("#palette-found a").first).to_contain_text("Shared memory")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/nodes\?stack=gpushare&columns=name"))
    expect(page.locator("tbody tr")).to_have_count(4)


def test_the_palette_is_walked_by_arrows_and_gives_the_focus_back(page: Page) -> None:
    page.goto("/nodes")
    first = page.locator("tbody a").first
    first.focus()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-found a").nth(3)).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#palette-found a").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#palette-text")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#palette-found :is(a, button)").last).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    expect(first).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.type("gpu-00003")
    expect(page.locator("#palette-found a").first).to_contain_text("gpu-00003")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/nodes/prod/gpu-00003$"))


def test_the_keys_are_a_dialog_and_a_page(page: Page) -> None:
    page.goto("/nodes")
    page.keyboard.press("?")
    expect(page.locator("#keys dl")).to_contain_text("next and previous row")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("f")
    expect(page).to_have_url(re.compile(r"/findings$"))
    page.goto("/keys")
    expect(page.locator("main dl")).to_contain_text("this list")


def test_rows_are_walked_by_j_and_k(page: Page) -> None:
    page.goto("/nodes")
    links = page.locator("tbody tr th a")
    page.keyboard.press("j")
    expect(links.first).to_be_focused()
    page.keyboard.press("j")
    expect(links.nth(1)).to_be_focused()
    page.keyboard.press("k")
    expect(links.first).to_be_focused()
    page.keyboard.press("/")
    page.keyboard.type("jk?")
    expect(page.locator("#palette-text")).to_have_value("jk?")


def test_help_on_a_word_opens_by_the_keyboard_and_outlives_a_refresh(page: Page) -> None:
    page.goto("/cards")
    button = page.get_by_role("button", name="What “used” means")
    button.focus()
    page.keyboard.press("Enter")
    text = page.locator("#term-used")
    expect(text).to_be_visible()
    expect(text).to_contain_text("exporter")
    expect(button).to_have_attribute("aria-expanded", "true")
    refresh(page)
    expect(text).to_be_visible()
    page.keyboard.press("Escape")
    expect(text).to_be_hidden()
    page.get_by_role("button", name="What “used” means").press("Enter")
    text.get_by_role("link", name="More").click()
    expect(page).to_have_url(re.compile(r"/docs/words#used$"))


def test_on_a_phone_menus_and_palette_fit_and_open_by_a_button(page: Page) -> None:
    for width in (PHONE["width"], 320):
        page.set_viewport_size({"width": width, "height": PHONE["height"]})
        page.goto("/cards")
        for menu in ("#columns", "#views"):
            page.locator(f"{menu} > summary").click()
            page.wait_for_function("() => !document.querySelector('.htmx-request')")
            panel = page.locator(f"{menu} .menu-panel")
            expect(panel).to_be_in_viewport(ratio=0.6)
            box = panel.bounding_box()
            assert box is not None
            assert (box["x"] >= 0, box["x"] + box["width"] <= width) == (True, True), (width, menu, box)
            assert fits(page), (width, menu)
            page.locator(f"{menu} > summary").click()
        page.get_by_role("link", name="Search or jump to").click()
        expect(page.locator("#palette-found a").first).to_be_visible()
        assert fits(page), width
        page.get_by_role("button", name="Close").click()
        page.goto("/views?of=cards")
        assert fits(page), width


def test_what_opens_above_a_page_is_accessible(page: Page) -> None:
    script, wrong = source(), {}
    page.goto("/cards")
    for name, opener in (("columns", "#columns > summary"), ("views", "#views > summary"), ("help", "button.help")):
        page.locator(opener).first.click()
        page.wait_for_function("() => !document.querySelector('.htmx-request')")
        wrong[name] = violations(page, script, ALL)
        page.locator(opener).first.click()
    page.keyboard.press("Control+k")
    expect(page.locator("#palette-found a").first).to_be_visible()
    wrong["palette"] = violations(page, script, ALL)
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("#keys dl")).to_be_visible()
    wrong["keys"] = violations(page, script, ALL)
    assert {name: found for name, found in wrong.items() if found} == {}


def test_a_choice_by_the_mouse_applies_at_once_and_by_the_keyboard_not(page: Page) -> None:
    page.goto("/nodes")
    page.locator("#filter > summary").click()
    page.locator(".filters").get_by_label("Stack").select_option("gpushare")
    expect(page).to_have_url(re.compile(r"/nodes\?stack=gpushare$"))
    page.get_by_role("link", name="Stack: ").click()
    expect(page).to_have_url(re.compile(r"/nodes$"))
    page.locator("#filter > summary").press("Enter")
    field = page.locator(".filters").get_by_label("Stack")
    field.press("ArrowDown")
    expect(field).not_to_have_value("")
    page.wait_for_timeout(300)
    expect(page).to_have_url(re.compile(r"/nodes$"))


def test_a_menu_closes_by_escape_and_by_a_click_beside_it(page: Page) -> None:
    page.goto("/nodes")
    panel = page.locator("#filter .menu-panel")
    for close in (lambda: page.keyboard.press("Escape"), lambda: page.locator("h1").click()):
        page.locator("#filter > summary").click()
        expect(panel).to_be_visible()
        close()
        expect(panel).to_be_hidden()


def test_what_is_cut_has_its_text_in_its_title(page: Page) -> None:
    page.set_viewport_size({"width": 800, "height": 700})
    page.goto("/findings?group=none")
    cell = page.locator("tbody summary").first
    cell.hover()
    assert cell.get_attribute("title") == cell.inner_text().strip()
