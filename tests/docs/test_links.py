"""Every link of README and docs leads somewhere, and the pictures are there and small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.reading import PAGES, ROOT, anchors, links

MAX_PICTURE = 200_000
MAX_WORDS = 30_000


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_relative_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = [link for link in links(page) if "://" not in link and not _leads_somewhere(page, link)]
    assert not broken


def _leads_somewhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = page.parent / name if name else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_every_page_of_docs_is_named_in_the_readme() -> None:
    named = {(ROOT / link.partition("#")[0]).name for link in links(ROOT / "README.md")}
    assert {page.name for page in (ROOT / "docs").rglob("*.md")} <= named


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100


def test_the_hand_written_docs_are_short() -> None:
    """All of docs/ but docs/reference/, which is generated."""
    words = {page.name: len(page.read_text(encoding="utf-8").split()) for page in (ROOT / "docs").glob("*.md")}
    assert sum(words.values()) <= MAX_WORDS, sorted(words.items(), key=lambda one: -one[1])[:5]


def test_every_picture_is_shown() -> None:
    shown = {(page.parent / link).resolve() for page in PAGES for link in links(page) if "pictures/" in link}
    assert {path.name for path in (ROOT / "docs" / "pictures").iterdir() if path.resolve() not in shown} == set()


def test_the_pictures_that_are_shown_are_small() -> None:
    shown = {page.parent / link for page in PAGES for link in links(page) if "pictures/" in link}
    assert shown
    assert [picture.name for picture in sorted(shown) if picture.stat().st_size > MAX_PICTURE] == []


def test_a_broken_link_is_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One head: `two`\n\n[a](#one-head-two) [b](#three) [c](missing.md)\n\n```console\n# [d](e.md)\n```\n"
    )
    assert [link for link in links(page) if not _leads_somewhere(page, link)] == ["#three", "missing.md"]
