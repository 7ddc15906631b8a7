"""Markdown of the documentation → HTML of a page. Knows no address: `link` says where a target leads.

Raw HTML in a document is shown as text, and addresses with a scheme that runs code are no links (markdown-it's own rule).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

#: Where a target of a link or picture leads; "" where this installation does not have it.
Link = Callable[[str], str]

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_PARSER = MarkdownIt("commonmark", {"html": False}).enable("table")


def rendered(text: str, link: Link) -> str:
    """The document as HTML, without its first heading: that is the page's own. Tables and code scroll by themselves."""
    tokens = list(_framed(_PARSER.parse(_COMMENT.sub("", text))))
    for token in tokens:
        for at, child in enumerate(token.children or []):
            if child.type == "link_open":
                _lead(child, _end(token.children or [], at), link)
            elif child.type == "image":
                child.attrs = {"src": link(str(child.attrs["src"])), "alt": child.content, "loading": "lazy"}
    html: str = _PARSER.renderer.render(tokens, _PARSER.options, {})
    return html


def slug(heading: str) -> str:
    """What a link to a heading has after #, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def _framed(tokens: list[Token]) -> Iterator[Token]:
    first = tokens[:1] and tokens[0].type == "heading_open"
    for at, token in enumerate(tokens[3:] if first else tokens, 3 if first else 0):
        if token.type == "heading_open":
            token.attrs["id"] = slug(_plain(tokens[at + 1]))
        if token.type in ("fence", "code_block"):
            # The attributes of a fence are those of its <code>; a <pre> around it scrolls.
            yield Token("pre_open", "pre", 1, attrs={"tabindex": "0"}, block=True)
            yield Token("code_inline", "code", 0, content=token.content)
            yield Token("pre_close", "pre", -1, block=True)
            continue
        if token.type == "table_open":
            yield Token("div_open", "div", 1, attrs={"class": "doc-table", "tabindex": "0"}, block=True)
        yield token
        if token.type == "table_close":
            yield Token("div_close", "div", -1, block=True)


def _plain(inline: Token) -> str:
    return "".join(child.content for child in inline.children or [])


def _end(children: list[Token], at: int) -> Token:
    """The close of the link that opens there: links are not nested."""
    return next(child for child in children[at:] if child.type == "link_close")


def _lead(opening: Token, closing: Token, link: Link) -> None:
    address = link(str(opening.attrs["href"]))
    if not address:
        opening.tag = closing.tag = "span"
        opening.attrs = {}
    elif "://" in address:
        opening.attrs = {"href": address, "rel": "noreferrer"}
    else:
        opening.attrs = {"href": address}
