"""docs/team.md, or another page, to be carried out: the commands of a section in their order, with what they are said to print.

A reader replaces `<words in angle brackets>` by their own; so does the test, and one that it does not know is an error.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from tests.docs.reading import ROOT

PAGE = ROOT / "docs" / "team.md"
_PLACE = re.compile(r"<([a-z0-9][^<>\n]*)>")
_BLOCK = re.compile(r"^( *)```(console|ini|yaml)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
#: Prompts are printed where a terminal is; their answers come on standard input.
_PROMPT = re.compile(r"^(Password|Password again|Enter .*|Enter it again): *$")
_VARIES = (
    (r"https://10\\\.2\\\.0\\\.1:6443", r"https://[0-9.:]+"),
    (r"\d{4}\\-\d\d\\-\d\d\\ \d\d:\d\d:\d\d", r"\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d"),
    (r"\d+\\ s\\ ago", r"\\d+ \\w+ ago"),
    ("…", ".*"),
)


@dataclass(frozen=True)
class Step:
    """One command. shown: the lines that the page says it prints, () where it says nothing."""

    command: str
    shown: tuple[str, ...] = ()

    def agrees(self, printed: str) -> bool:
        """Whether all shown lines were printed, in this order; times, addresses and … may be anything."""
        lines = iter(printed.splitlines())
        return all(any(re.fullmatch(_pattern(shown), line.strip()) for line in lines) for shown in self.shown)


def _pattern(shown: str) -> str:
    pattern = re.escape(shown.strip())
    for here, there in _VARIES:
        pattern = re.sub(here, there, pattern)
    return pattern


def section(title: str, page: Path = PAGE) -> str:
    """The text below a heading of the second level."""
    found = re.search(
        rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    if found is None:
        raise AssertionError(f"{page.name} has no section {title!r}")
    return found[1]


def steps(title: str, page: Path = PAGE, **places: str) -> list[Step]:
    """The commands of a section. places: what stands for <the words> (blanks as _)."""
    found: list[Step] = []
    for _, kind, block in _BLOCK.findall(section(title, page)):
        if kind == "console":
            found += _of_block(filled(textwrap.dedent(block), **places))
    return found


def _of_block(block: str) -> list[Step]:
    found: list[Step] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:]))
        elif found and line.strip() and not _PROMPT.match(line):
            found[-1] = Step(found[-1].command, (*found[-1].shown, line))
    return found


def block(title: str, language: str, **places: str) -> str:
    """The only block of a language in a section."""
    found = [text for _, kind, text in _BLOCK.findall(section(title)) if kind == language]
    if len(found) != 1:
        raise AssertionError(f"{title!r} has {len(found)} blocks of {language}")
    return filled(textwrap.dedent(found[0]), **places)


def filled(text: str, **places: str) -> str:
    """The text with the reader's own words. Raises AssertionError for a place that nothing is given for."""

    def own(match: re.Match[str]) -> str:
        name = re.sub(r"[^a-z0-9]+", "_", match[1])
        if name not in places:
            raise AssertionError(f"what is to be put for <{match[1]}>?")
        return places[name]

    return _PLACE.sub(own, text)
