"""The script that brings a live part up to date, in a real browser: whatever changed, the page is what a reload would give."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from tests.processes import ROOT

pytestmark = pytest.mark.browser
SCRIPTS = (ROOT / "static" / "vendor" / "idiomorph" / "idiomorph.min.js", ROOT / "static" / "js" / "morph.js")
#: Draws `old`, puts `next` into it, and compares with `next` drawn from nothing.
COMPARE = """([old, next]) => {
  const live = document.createElement("div");
  live.innerHTML = old;
  document.body.replaceChildren(live);
  const waited = window.livePart.morph(live, next, []);
  const fresh = document.createElement("div");
  fresh.innerHTML = next;
  return [live.innerHTML === fresh.innerHTML, waited];
}"""
_WORDS = st.sampled_from(["", "a", "31 %", "é𝄞", " &lt;b&gt; "])
_KEYS = st.lists(st.sampled_from("abcdefgh"), max_size=8)


@pytest.fixture(scope="module")
def empty(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.goto("about:blank")
    for script in SCRIPTS:
        page.add_script_tag(content=script.read_text())
    yield page
    page.close()


@st.composite
def parts(draw: Any) -> str:
    """A part as pages have them: keyed rows (also twice the same key), lists without keys, text between elements."""
    rows = "".join(
        f'<tr data-key="{key}" class="{draw(_WORDS)}"><td title="{draw(_WORDS)}">{draw(_WORDS)}</td>'
        + "".join(f"<td><b>{draw(_WORDS)}</b></td>" for _ in range(draw(st.integers(0, 2))))
        + "</tr>"
        for key in draw(_KEYS)
    )
    items = "".join(f"<li>{draw(_WORDS)}</li>" for _ in range(draw(st.integers(0, 4))))
    sections = "".join(f'<section><h2 id="{key}">{key}</h2>{draw(_WORDS)}</section>' for key in draw(_KEYS))
    table = f"<table><tbody>{rows}</tbody></table>" if draw(st.booleans()) else ""
    return f"{draw(_WORDS)}<p>{draw(_WORDS)}</p>{table}<ul>{items}</ul>{sections}<!-- {draw(st.integers(0, 2))} -->"


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(old=parts(), new=parts())
def test_a_page_that_was_brought_up_to_date_is_the_page_loaded_anew(empty: Page, old: str, new: str) -> None:
    assert empty.evaluate(COMPARE, [old, new]) == [True, False]


def _draw(page: Page, old: str, new: str, before: str, held: str = "[]") -> Any:
    """`before` runs in between, with `live`; then draws. Returns whether something waits, and what is shown."""
    script = f"""([old, next]) => {{
      document.body.innerHTML = '<div id="live"></div>';
      const live = document.getElementById("live");
      live.innerHTML = old;
      {before};
      window.again = (held) => window.livePart.morph(live, next, held);
      return [window.livePart.morph(live, next, {held}), live.innerHTML];
    }}"""
    return page.evaluate(script, [old, new])


def rows(**values: int) -> str:
    cells = "".join(f'<tr data-key="{key}"><td><input value="x">{value}</td></tr>' for key, value in values.items())
    return f"<table><tbody>{cells}</tbody></table>"


def test_only_the_row_that_is_written_in_waits(empty: Page) -> None:
    old, new = rows(a=1, b=1, c=1), rows(c=2, b=2, a=2, d=2)
    mine = "live.querySelector('[data-key=b]')"
    waits, shown = _draw(
        empty, old, new, f"window.mine = {mine}; window.mine.querySelector('input').focus()", f"[{mine}]"
    )
    assert (waits, shown) == (True, rows(c=2, b=1, a=2, d=2))
    assert empty.evaluate("document.activeElement === window.mine.querySelector('input') && window.mine.isConnected")
    assert empty.evaluate("[window.again([]), document.getElementById('live').innerHTML]") == [False, new]


def test_a_row_that_is_gone_stays_while_it_is_held(empty: Page) -> None:
    old, new = rows(a=1, b=1, c=1), rows(c=2, a=2)
    waits, shown = _draw(empty, old, new, "", "[live.querySelector('[data-key=b]')]")
    assert waits
    assert json.dumps(shown).count("data-key") == 3
    assert empty.evaluate("[window.again([]), document.getElementById('live').innerHTML]") == [False, new]


def test_what_the_reader_and_other_scripts_did_stays(empty: Page) -> None:
    old = '<details id="d"><summary>1</summary></details><input type="checkbox" id="c"><figure data-keep id="f"></figure>1'
    new = old.replace(">1<", ">2<").replace("></figure>1", ' data-of="2"></figure>2')
    did = "live.firstChild.open = true; live.children[1].click(); live.children[2].append('drawn'); live.children[1].tabIndex = -1"
    waits, shown = _draw(empty, old, new, did)
    assert not waits
    assert '<details id="d" open=""><summary>2</summary>' in shown
    assert 'tabindex="-1"' in shown
    assert shown.endswith("drawn</figure>2")
    assert empty.evaluate("document.getElementById('c').checked")


def test_elements_that_did_not_change_are_the_same_elements(empty: Page) -> None:
    old, new = rows(a=1, b=1, c=1), rows(x=5, a=1, c=1, b=2)
    _draw(
        empty,
        old,
        new,
        "window.same = [...live.querySelectorAll('tr')]; live.querySelectorAll('input')[2].focus()",
    )
    assert empty.evaluate("window.same.map((row) => row.isConnected)") == [True, True, True]
    assert empty.evaluate("window.same[2].contains(document.activeElement)")


def test_ages_are_left_to_the_browser(empty: Page) -> None:
    old = '<p><time datetime="T" data-form="ago">5 s ago</time> <time datetime="T">12:00</time></p>'
    new = old.replace("5 s ago", "3 s ago").replace("12:00", "12:01")
    assert _draw(empty, old, new, "") == [False, old.replace("12:00", "12:01")]
