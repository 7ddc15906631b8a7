"""Lists keep the order of their rows while they are refreshed: what is new waits and is announced, what left stays, muted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from inventory.models import Cluster
from tests.browser.test_live_parts import SCRIPTS
from tests.browser.test_reading import refresh
from tests.factories import make_finding
from tests.processes import ROOT

pytestmark = pytest.mark.browser
STATE = (
    '<span id="news" hidden data-added="{} new" data-left="{} removed" data-moved="order changed"><span></span></span>'
)
DRAW = """([old, next, all]) => {
  document.body.innerHTML = `${old[0]}<div id="live">${old[1]}</div>`;
  const live = document.getElementById("live");
  let told = { added: 0, left: 0, moved: false };
  for (const html of next) window.livePart.morph(live, html, [], (a, b) => { told = window.steady.keep(a, b); });
  const text = window.steady.say(told);
  if (all) window.livePart.morph(live, next.at(-1), []);
  const rows = [...live.querySelectorAll("tbody tr")].map((row) => row.innerText.trim() + (row.className === "left" ? "!" : ""));
  return [rows, text, document.getElementById("news").hidden];
}"""


@pytest.fixture(scope="module")
def empty(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.goto("about:blank")
    for script in (*SCRIPTS, ROOT / "static" / "js" / "tables.js"):
        page.add_script_tag(content=script.read_text())
    yield page
    page.close()


def table(*groups: str, steady: str = "data-steady") -> str:
    """Each a group, its key before a colon, then its rows: "a1 b1" or "one: a1 b1"; the first letter of a row is its key."""
    made = ""
    for group in groups:
        name, colon, rows = group.rpartition(":")
        head = f"<tr class=group><th>{name}</th></tr>" if colon else ""
        body = "".join(f'<tr data-key="{row[0]}"><td>{row}</td></tr>' for row in rows.split())
        made += f"<tbody{f' data-key={name}' if colon else ''}>{head}{body}</tbody>"
    return f"<section><table {steady}>{made}</table></section>"


def drawn(page: Page, old: str, *new: str, all_of_it: bool = False) -> Any:
    return page.evaluate(DRAW, [[STATE, old], list(new), all_of_it])


def test_rows_change_where_they_are(empty: Page) -> None:
    assert drawn(empty, table("a1 b1 c1"), table("a2 b1 c2")) == [["a2", "b1", "c2"], "", True]


def test_another_order_is_told_and_not_taken(empty: Page) -> None:
    assert drawn(empty, table("a1 b1 c1"), table("c2 a1 b2")) == [["a1", "b2", "c2"], "order changed", False]


def test_new_rows_wait_and_those_that_left_stay_muted(empty: Page) -> None:
    found = drawn(empty, table("a1 b1 c1"), table("x1 a2 y1 c1"))
    assert found == [["a2", "b1!", "c1"], "2 new · 1 removed", False]


def test_what_left_and_comes_back_is_a_row_again(empty: Page) -> None:
    assert drawn(empty, table("a1 b1"), table("a1"), table("a1 b2")) == [["a1", "b2"], "", True]


def test_the_reader_asks_for_what_is_new(empty: Page) -> None:
    assert drawn(empty, table("a1 b1"), table("x1 b1"), all_of_it=True)[0] == ["x1", "b1"]


def test_groups_keep_their_order_and_their_rows(empty: Page) -> None:
    old, new = table("one: a1 b1", "two: c1"), table("new: z1 y1", "two: c2 d1", "one: b2")
    found = drawn(empty, old, new)
    assert found == [["one", "a1!", "b2", "two", "c2"], "3 new · 1 removed · order changed", False]


def test_a_group_that_left_stays_with_its_rows(empty: Page) -> None:
    found = drawn(empty, table("one: a1", "two: b1"), table("two: b2"))
    assert found == [["one", "a1!", "two", "b2"], "1 removed", False]


def test_other_tables_and_rows_without_a_name_of_their_own_are_drawn_as_they_are(empty: Page) -> None:
    assert drawn(empty, table("a1 b1", steady=""), table("b1 a1", steady=""))[:2] == [["b1", "a1"], ""]
    assert drawn(empty, table("a1 a2 b1"), table("b1 a1 a2"))[:2] == [["b1", "a1", "a2"], ""]


def test_a_list_that_was_empty_or_becomes_so(empty: Page) -> None:
    assert drawn(empty, "<p>none</p>", table("a1"))[:2] == [["a1"], ""]
    assert drawn(empty, table("a1"), "<p>none</p>")[:2] == [[], ""]


def test_a_new_finding_is_announced_and_shown_when_it_is_asked_for(page: Page, fleet: Cluster) -> None:
    page.goto("/findings?group=none")
    rows = page.locator("tbody tr[data-key]")
    before = rows.count()
    first = rows.first.get_attribute("data-key")
    make_finding(fleet, "count-zero", "error", "gpu-00001")
    assert refresh(page) == 200
    expect(page.locator("#news")).to_contain_text("1 new")
    expect(page.locator("#said")).to_contain_text("1 new")
    assert (rows.count(), rows.first.get_attribute("data-key")) == (before, first)
    page.get_by_role("button", name="Update list").click()
    expect(rows).to_have_count(before + 1)
    expect(page.locator("#news")).to_be_hidden()
    expect(rows.first.locator("a").first).to_be_focused()
