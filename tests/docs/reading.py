"""README and docs as text: pages, links, headings, commands. Knows nothing of what they speak about."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from tests.processes import ROOT

PAGES = (
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
)

_FENCE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_CONSOLE = re.compile(r"^( *)```console\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def prose(page: Path) -> str:
    """The page without its code blocks: a # or ]( inside of them is neither heading nor link."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    """Targets of links and pictures."""
    return [one or other for one, other in _LINK.findall(prose(page))]


def anchors(page: Path) -> set[str]:
    """What a link to a heading of the page may say after #, as GitHub makes it."""
    return {_slug(heading) for heading in _HEADING.findall(prose(page))}


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def console_lines(page: Path) -> Iterator[str]:
    """Commands of the console blocks, without the prompt; a backslash joins lines."""
    for _, block in _CONSOLE.findall(page.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines():
            if line.lstrip().startswith("$ "):
                yield line.lstrip()[2:].split(" # ")[0].strip()


def manage_calls(page: Path) -> list[list[str]]:
    """What stands after manage.py, or after `gpudash` of an installation, in the console blocks, as words.

    Lines that only show a syntax ([…], …) are left out, and where the output goes.
    """
    found = []
    for line in console_lines(page):
        inside = re.search(r"(?:manage\.py|^(?:\(umask 077; )?gpudash) (.*?)\)?(?: > .*)?$", line)
        if inside and not re.search(r"[\[…]|^--version$", inside[1]):
            found.append(shlex.split(inside[1]))
    return found


def table_rows(page: Path) -> list[list[str]]:
    """Cells of all table rows, stripped."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def blocks(page: Path, language: str) -> list[str]:
    """Code blocks of one language, without their fences."""
    fence = re.compile(rf"^( *)```{language}\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
    return [found[1] for found in fence.findall(page.read_text(encoding="utf-8"))]
