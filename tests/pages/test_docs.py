"""The documentation in the product: rendered, with its pictures, and every link leads somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import urljoin

import pytest
from django.test import Client

from accounts.roles import Role
from pages.docs import ROOT_TITLES, TITLES
from pages.frame.site import NAVIGATION
from pages.markdown import rendered, slug
from tests.cast import make_user, signed_in
from tests.database import RowsOfModule
from tests.docs.reading import anchors, links
from tests.pages.reading import Page, read
from tests.processes import ROOT

pytestmark = pytest.mark.django_db
NAMES = (*TITLES, *ROOT_TITLES)


def test_every_document_is_there() -> None:
    files = {str(path.relative_to(ROOT / "docs").with_suffix("")) for path in (ROOT / "docs").rglob("*.md")}
    assert set(TITLES) == files
    assert all((ROOT / f"{name}.md").is_file() for name in ROOT_TITLES)


Ask = Callable[[str], Page]


@pytest.fixture(scope="module")
def asked(rows_of_module: RowsOfModule) -> Ask:
    """What a viewer gets at an address; each is asked once: documents are the same for every test, and link to each other."""
    with rows_of_module():
        client = signed_in(make_user("reader", Role.VIEWER))

    @cache
    def ask(address: str) -> Page:
        answer: Any = client.get(address)
        if answer.streaming or "html" not in answer.headers["Content-Type"]:
            return Page(answer.status_code, "")
        return read(answer)

    return ask


@pytest.mark.parametrize("name", NAMES)
def test_it_has_the_title_of_its_file(asked: Ask, name: str) -> None:
    file = ROOT / f"{name}.md" if name in ROOT_TITLES else ROOT / "docs" / f"{name}.md"
    title = file.read_text().splitlines()[0].removeprefix("# ")
    page = asked(f"/docs/{name}")
    assert page.status == 200
    assert re.findall(r"<h1>\s*(.*?)\s*</h1>", page.html) == [title]
    assert anchors(file) - {slug(title)} <= {
        tag["id"] for level in "23" for tag in page.tags_of(f"h{level}") if "id" in tag
    }


@pytest.mark.parametrize("name", NAMES)
def test_its_links_and_pictures_lead_somewhere(asked: Ask, name: str) -> None:
    page = asked(f"/docs/{name}")
    article = page.html.partition("<article")[2].partition("</article>")[0]
    linked = {urljoin(f"/docs/{name}", one) for one in re.findall(r'(?:href|src)="([^"#]+)', article)}
    inside = {one for one in linked if "://" not in one}
    assert {one: asked(one).status for one in inside} == dict.fromkeys(inside, 200)
    file = ROOT / f"{name}.md" if name in ROOT_TITLES else ROOT / "docs" / f"{name}.md"
    assert article.count("<img") == sum("pictures/" in one for one in links(file))
    for target, anchor in re.findall(r'href="([^"#]*)#([^"]+)"', article):
        if "://" not in target:
            there = asked(urljoin(f"/docs/{name}", target)) if target else page
            assert f'id="{anchor}"' in there.html, f"{target}#{anchor}"


@pytest.mark.parametrize("strange", ["develop", "..", "%2e%2e%2fREADME", "../README", "settings.md", "reference", ""])
def test_nothing_else_is_served(viewer: Client, strange: str) -> None:
    assert viewer.get(f"/docs/{strange}").status_code == 404
    assert viewer.get(f"/docs/pictures/{strange}").status_code == 404


def test_a_stranger_reads_none(client: Client) -> None:
    assert client.get("/docs/security").status_code == 302
    assert client.get("/docs/pictures/run.webp").status_code == 302


def test_markup_and_addresses_that_run_code_are_text() -> None:
    html = rendered(
        "# Title\n\n<script>a()</script> <b onclick=a()>b</b>\n\n[x](javascript:a()) ![y](data:text/html,z) [z](//h)\n",
        lambda target: target if target.startswith("https://") else "",
    )
    assert "<script" not in html
    assert "<b " not in html
    assert "javascript:" not in re.findall(r"<a [^>]*>", html)
    assert "href" not in html


def test_tables_and_code_scroll_by_keyboard_and_are_escaped() -> None:
    html = rendered("```console\n$ echo '<a>'\n```\n\n| a |\n| --- |\n| b |\n", str)
    assert "<pre tabindex=\"0\">\n<code>$ echo '&lt;a&gt;'" in html
    assert '<div class="doc-table" tabindex="0">' in html
    assert rendered("[a](https://x.org/)", str) == '<p><a href="https://x.org/" rel="noreferrer">a</a></p>\n'
    assert rendered("[a](deploy/x)", lambda _: "") == "<p><span>a</span></p>\n"


def test_the_letters_of_the_keyboard_are_those_of_the_navigation() -> None:
    text = (ROOT / "docs" / "lists.md").read_text()
    row = next(line for line in text.splitlines() if line.startswith("| `g`"))
    said = dict(re.findall(r"`([a-z])` ([a-z ]+[a-z])", row.partition("open a page:")[2]))
    titles = {page.letter: str(page.title).lower() for _, pages in NAVIGATION for page in pages}
    assert said == titles
