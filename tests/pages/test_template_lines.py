"""Templates are read and reviewed like code."""

from __future__ import annotations

import re

from tests.processes import ROOT

MOST = 160
#: Two of these side by side on a line, with nothing but tags between, are two elements a line.
BLOCKS = r"(?:tr|td|th|p|div|section|ul|ol|li|dl|dt|dd|table|form|h[1-6]|option|fieldset)"


def test_no_line_of_a_template_or_style_is_long() -> None:
    styles = [
        file for file in (ROOT / "static").rglob("*.css") if "vendor" not in file.parts
    ]  # not ours, not committed
    files = [*(ROOT / "templates").rglob("*.html"), *styles]
    assert len(files) > 60
    long = [
        f"{file.relative_to(ROOT)}:{number}: {len(line)} characters"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > MOST
    ]
    assert long == []


def test_each_template_of_a_cell_makes_a_cell() -> None:
    """An empty one shifts the cells after it under the heads before them."""
    cells = [file for file in (ROOT / "templates").rglob("*.html") if file.parent.name.endswith("cells")]
    assert len(cells) > 60
    made = re.compile(r"<t[dh][\s>]|{% include \"\S*cell\S*\.html\"")
    assert [file.name for file in cells if not made.search(file.read_text(encoding="utf-8"))] == []


def test_each_block_of_a_template_begins_on_a_line_of_its_own() -> None:
    packed = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for file in (ROOT / "templates").rglob("*.html")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(re.findall(rf"<{BLOCKS}[\s>]", line)) > 1
    ]
    assert packed == []
