"""Every page as it is used: at 320 pixels, on paper, by names that are read aloud, with heads that stay in sight."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.full import Full
from tests.browser.test_axe import full, page
from tests.browser.visits import REFUSED

__all__ = ["full", "page"]
pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]
NARROW = {"width": 320, "height": 700}
#: A4 upright at 96 pixels an inch, less the margins of static/css/pages/report.css.
PAPER = {"width": 703, "height": 1017}
_SIDEWAYS = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
#: By how many pixels each list of the page is wider than its box; a matrix has as many columns as there are components.
_WIDE_LISTS = """() => [...document.querySelectorAll(".scroll:has(> .stacked)")]
  .map((box) => box.scrollWidth - box.clientWidth)"""
#: Lines of the summary of the page.
_SUMMARY_LINES = """() => [...document.querySelectorAll("main .lead")].map((one) =>
  Math.round(one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)))"""
_OPEN = "() => { for (const one of document.querySelectorAll('details')) one.open = true }"
#: Links and buttons of the page itself that are called alike and lead to different places.
_ALIKE = r"""() => {
  const found = {};
  for (const one of document.querySelectorAll("main a[href]")) {
    if (one.closest("[aria-hidden=true]")) continue;
    const name = (one.getAttribute("aria-label") || one.innerText).replace(/\s+/g, " ").trim();
    if (name) (found[name] ||= new Set()).add(one.getAttribute("href"));
  }
  return Object.entries(found).filter(([, to]) => to.size > 1).map(([name, to]) => `${name}: ${[...to].join(" ")}`);
}"""


def test_no_page_scrolls_sideways_at_320_pixels(page: Page, full: Full) -> None:
    page.set_viewport_size(NARROW)  # type: ignore[arg-type]
    wide = {}
    for path in [*full.paths(), *REFUSED]:
        page.goto(path)
        page.evaluate(_OPEN)
        wide[path] = page.evaluate(_SIDEWAYS)
    assert {path: pixels for path, pixels in wide.items() if pixels > 0} == {}


@pytest.mark.parametrize("width", [1280, 1400])
def test_no_list_scrolls_sideways_on_a_desk_and_summaries_are_short(page: Page, full: Full, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    wide, lines = {}, {}
    for path in full.paths():
        page.goto(path)
        wide[path] = max(page.evaluate(_WIDE_LISTS), default=0)
        lines[path] = max(page.evaluate(_SUMMARY_LINES), default=0)
    assert {path: pixels for path, pixels in wide.items() if pixels > 0} == {}
    assert {path: number for path, number in lines.items() if number > 2} == {}


def test_links_that_are_called_alike_lead_to_one_place(page: Page, full: Full) -> None:
    alike = []
    for path in full.paths():
        page.goto(path)
        page.evaluate(_OPEN)
        alike += [f"{path}: {told}" for told in page.evaluate(_ALIKE)]
    assert not alike, "\n".join(alike)


def test_tables_are_whole_on_paper_and_say_moments(page: Page, full: Full) -> None:
    page.set_viewport_size(PAPER)  # type: ignore[arg-type]
    page.emulate_media(media="print")
    for path in (
        "/cards",
        "/nodes",
        "/allocations",
        "/findings",
        "/nodes/prod/gpu-00000",
        f"/validations/campaigns/{full.ids['campaign']}/report",
    ):
        page.goto(path)
        cut = (
            "() => [...document.querySelectorAll('table')].map((one) => one.getBoundingClientRect().right - innerWidth)"
        )
        assert [pixels for pixels in page.evaluate(cut) if pixels > 1] == [], path
        expect(page.locator("header.bar")).to_be_hidden()
        expect(page.locator(".filters")).to_have_count(0) if "/prod/" in path or "report" in path else expect(
            page.locator(".filters").first
        ).to_be_hidden()
    page.goto("/allocations")
    said = "one => getComputedStyle(one, '::after').content"
    assert page.locator("tbody time").first.evaluate(said).startswith('"20')


def test_paper_has_what_can_be_read_and_nothing_to_press(page: Page, full: Full) -> None:
    page.emulate_media(media="print")
    page.goto("/findings?group=none")
    expect(page.locator("tbody details").first).to_be_hidden()
    expect(page.locator(".pages").first).to_contain_text("all")
    page.evaluate("() => { document.querySelector('tbody details').open = true }")
    expect(page.locator("tbody details p").first).to_be_visible()
    expect(page.locator("summary").locator("visible=true")).to_have_count(0)
    page.goto("/nodes/prod/gpu-00000")
    expect(page.locator(".crumbs")).to_contain_text("prod")
    expect(page.locator(".more").locator("visible=true")).to_have_count(0)


def test_charts_are_drawn_for_paper_and_again_for_the_screen(page: Page, full: Full) -> None:
    level = """() => {
      const area = document.querySelector(".chart .area");
      return [area.clientWidth, getComputedStyle(area.querySelector(".level")).stroke];
    }"""
    page.emulate_media(color_scheme="dark")
    page.goto("/history?window=1h&cluster=prod")
    screen = page.evaluate(level)
    assert screen[1] == "rgb(42, 49, 60)"
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print", color_scheme="dark")
    width, stroke = page.evaluate(level)
    assert (width < PAPER["width"], stroke) == (True, "rgb(223, 227, 233)")


def test_heads_of_a_long_table_stay_below_the_bar(page: Page, full: Full) -> None:
    page.set_viewport_size({"width": 1280, "height": 400})
    page.goto("/nodes")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    top = "one => one.getBoundingClientRect().top"
    bottom = page.locator("header.bar").evaluate("one => one.getBoundingClientRect().bottom")
    head = page.locator("main table thead th").first.evaluate(top)
    assert page.locator("main tbody tr").first.evaluate(top) < bottom, "the page was scrolled far enough"
    assert abs(head - bottom) <= 1
