"""Every name, id, command and manifest of a page about one thing can be copied, by the one button that there is."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from django.contrib.auth.models import User

from inventory.models import Card
from stacks.engine.software.base import Statement
from tests.browser.full import make_full
from tests.cast import signed_in
from tests.factories.software import make_software
from tests.pages.reading import get

#: Pages about one thing: name of the address, and what of tests/browser/visits.py is opened of it.
PATHS = (
    "/nodes/prod/gpu-00000",
    "/cards/{card}",
    "/cards/{gone}",
    "/validations/runs/{passed}",
    "/validations/runs/{failed}",
    "/validations/runs/{queued}",
    "/pods/prod/team-a/hungry",
    "/pods/prod/team-a/claiming",
    "/pods/prod/{namespace}/{pod}",
    "/clusters/prod",
    "/clusters/far",
)
_VOID = frozenset(("meta", "link", "input", "br", "img", "hr", "rect", "path"))
#: What is set in the letters of code: ids, commands, manifests.
_CODE = frozenset(("mono", "command"))
#: Logs have their own file, codes of reasons are words of ours; rows of tables and the steps of a run are of other things.
_NOT_LOOKED_AT = frozenset(("runlog", "tag", "remedy-panel", "run-steps", "table"))


@dataclass
class Element:
    tag: str
    classes: frozenset[str] = frozenset()
    attributes: dict[str, str] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)
    parent: Element | None = None

    @property
    def text(self) -> str:
        return "".join(one if isinstance(one, str) else one.text for one in self.children)

    def walk(self) -> list[Element]:
        own = [one for one in self.children if isinstance(one, Element)]
        return [self, *(below for one in own for below in one.walk())]

    @property
    def looked_at(self) -> bool:
        here: Element | None = self
        while here is not None:
            if _NOT_LOOKED_AT & {here.tag, *here.classes}:
                return False
            here = here.parent
        return True

    @property
    def copied(self) -> list[str]:
        """What the buttons beside it, or in it, copy."""
        around = self.walk() + (self.parent.walk() if self.parent else [])
        return [one.attributes["data-copy"] for one in around if "data-copy" in one.attributes]


class _Tree(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = self.here = Element("")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        made = Element(tag, frozenset(given.get("class", "").split()), given, parent=self.here)
        self.here.children.append(made)
        if tag not in _VOID:
            self.here = made

    def handle_endtag(self, tag: str) -> None:
        while self.here.parent and self.here.tag != tag:
            self.here = self.here.parent
        self.here = self.here.parent or self.here

    def handle_data(self, data: str) -> None:
        self.here.children.append(data)


def main_of(html: str) -> Element:
    tree = _Tree()
    tree.feed(html)
    return next(one for one in tree.root.walk() if one.tag == "main")


def _single(text: str) -> str:
    return " ".join(text.split())


def without_button(main: Element) -> list[str]:
    """The name of the page, and what is set as code, that no button copies. The heading of a run is a sentence."""
    run = any("verdict" in one.classes for one in main.walk())
    named = [one for one in main.walk() if one.tag in ("h1", "code", "pre")[run:] or one.classes & _CODE]
    return [
        f"<{one.tag}> {_single(one.text)[:80]}"
        for one in named
        if _single(one.text) and one.looked_at and not any(_same(one, copied) for copied in one.copied)
    ]


def _same(one: Element, copied: str) -> bool:
    """A long one is cut where it is shown, and whole in its title."""
    begin, cut, end = _single(one.text).partition("…")
    whole = _single(copied)
    told = whole.startswith(begin) and whole.endswith(end) if cut else whole == begin
    return told or copied == one.attributes.get("title")


def test_each_can_be_copied(db: None) -> None:
    full = make_full()
    make_software(
        full.cluster,
        "gpu-00000",
        {
            "driver": Statement(state="missing", remedy="kubectl label node gpu-00000 x=y"),
            "dcgm": Statement(state="waiting"),
        },
    )
    ada = signed_in(User.objects.get(username="ada"))
    with_uuid = f"/cards/{Card.objects.exclude(uuid='')[0].pk}"
    found = {path: without_button(main_of(get(ada, path.format(**full.ids)).html)) for path in (*PATHS, with_uuid)}
    assert {path: missing for path, missing in found.items() if missing} == {}
