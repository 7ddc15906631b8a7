"""Reading of pages in tests: the text, the rows, the links; what a reader would see, not how it is marked up."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any

from django.http import HttpResponse
from django.test import Client

_VOID = {"meta", "link", "input", "br", "img", "hr"}


@dataclass
class Page:
    """One answer. text: everything that is written on it, blanks made single.

    rows: cells of all table rows of bodies; tables: the same by the caption of their table.
    """

    status: int
    html: str
    text: str = ""
    rows: list[list[str]] = field(default_factory=list)
    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def tags_of(self, name: str) -> list[dict[str, str]]:
        return [attributes for tag, attributes in self.tags if tag == name]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.texts: list[str] = []
        self.rows: list[list[str]] = []
        self.captions: list[str] = []
        self._caption = ""
        self.links: list[str] = []
        self.titles: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self._body = self._cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        if tag not in _VOID:
            self.open.append(tag)
        if tag == "a" and "href" in attributes:
            self.links.append(attributes["href"])
        if "title" in attributes:
            self.titles.append(attributes["title"])
        if tag == "tbody":
            self._body = True
        elif tag == "tr" and self._body:
            self.rows.append([])
            self.captions.append(_single(self._caption))
        elif tag == "caption":
            self._caption = ""
        elif tag in ("td", "th") and self._body:
            self.rows[-1].append("")
            self._cell = True
        elif tag in ("small", "p", "div", "summary") and self._cell:
            self.rows[-1][-1] += " "

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            while self.open.pop() != tag:
                pass
        if tag == "tbody":
            self._body = False
        elif tag in ("td", "th"):
            self._cell = False

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            return
        self.texts.append(data)
        if "caption" in self.open:
            self._caption += data
        if self._cell:
            self.rows[-1][-1] += data


def read(response: HttpResponse | Any) -> Page:
    html = response.content.decode()
    reader = _Reader()
    reader.feed(html)
    rows = [[_single(cell) for cell in row] for row in reader.rows]
    text = _single(" ".join(reader.texts))
    tables: dict[str, list[list[str]]] = {}
    for caption, row in zip(reader.captions, rows, strict=True):
        tables.setdefault(caption, []).append(row)
    return Page(response.status_code, html, text, rows, tables, reader.links, reader.titles, reader.tags)


def get(client: Client, path: str, status: int = 200, **headers: str) -> Page:
    """The page at a path; the status must be as expected."""
    response: Any = client.get(path, headers=headers)
    assert response.status_code == status, f"{path}: {response.status_code}\n{response.content.decode()[:2000]}"
    return read(response)


def _single(text: str) -> str:
    return re.sub(r"\s+", " ", unescape(text)).strip()
