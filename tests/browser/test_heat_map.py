"""The heat map under the pointer and by keyboard: what a cell is, and the way through the cells."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from inventory.models import Card, Cluster
from tests.browser.conftest import fits
from tests.factories import make_cluster
from tests.pages.test_heat_map import fill

pytestmark = pytest.mark.browser


def test_a_cell_is_told_under_the_pointer_and_at_the_focus(page: Page) -> None:
    card = Card.objects.filter(node_name="gpu-00000").order_by("index")[1]
    page.goto("/map")
    cell = page.locator(f".heatcells a[href='/cards/{card.pk}']")
    cell.hover()
    told = page.locator("#brief")
    expect(told).to_be_visible()
    expect(told).to_contain_text("gpu-00000 · card 1")
    expect(told).to_contain_text("Allocated")
    # The browser's own hint does not cover it; a screen reader has the name all the same.
    expect(cell).not_to_have_attribute("title", "")
    expect(cell).to_have_accessible_name("gpu-00000 card 1: 33–66%, 9 GiB free of 15 GiB")
    page.mouse.move(5, 5)
    expect(told).to_be_hidden()


def test_the_map_is_one_stop_of_the_tab_key_and_arrows_walk_through_it(page: Page) -> None:
    page.goto("/map")
    links = page.locator(".heatnodes a")
    first = links.first
    first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.getAttribute('href')") == links.nth(1).get_attribute("href")
    expect(page.locator("#brief")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#brief")).to_be_hidden()
    page.keyboard.press("Tab")
    assert not page.evaluate("document.activeElement.matches('.heatnodes a')")


def test_an_entry_of_the_legend_filters(page: Page) -> None:
    page.goto("/map")
    page.locator(".heatkey a", has_text="fully allocated").click()
    expect(page.locator(".heatcells a.heat-s0")).to_have_count(0)
    expect(page.locator(".heatkey a[aria-current]")).to_have_count(1)
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".heatkey a[aria-current]")).to_have_count(0)


@pytest.mark.parametrize("page", [{}, {"color_scheme": "dark"}], indirect=True)
def test_a_cell_of_a_picture_is_told_under_the_pointer(page: Page) -> None:
    fill(make_cluster("large"), 200, ids_from=1_000_000)
    page.goto("/map?cluster=large")
    picture = page.locator(".heatpicture svg").first
    # The third card of the first node of this pool.
    box = picture.bounding_box()
    assert box
    scale = box["width"] / float(str(picture.get_attribute("viewBox")).split()[2])
    page.mouse.move(box["x"] + 27 * scale, box["y"] + 7 * scale)
    told = page.locator("#brief")
    expect(told).to_contain_text("card 2")
    expect(told).to_contain_text("80 GiB")
    page.mouse.move(box["x"] + 47 * scale, box["y"] + 7 * scale)
    expect(told).to_contain_text("card 4")
    assert fits(page)


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_each_cell_has_its_title(page: Page) -> None:
    page.goto("/map")
    titles: list[Any] = page.locator(".heatcells a").evaluate_all("cells => cells.map(one => one.title)")
    assert titles
    assert all(titles)
    assert Cluster.objects.count() == 1
