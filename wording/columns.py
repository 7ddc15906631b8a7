"""Text in columns by the rules of Go's text/tabwriter (no minimum width, padding of two spaces): output that is to be equal byte
for byte to that of a Go program needs them.

A tab ends a cell. Cells of consecutive lines in the same place form a column, as wide as its widest cell and the padding; a
line without that cell ends the column. What follows the last tab of a line is not in a column.
Source: documentation of https://pkg.go.dev/text/tabwriter. Knows nothing of what it prints.
"""

from __future__ import annotations

from wording.printable import one_line

PADDING = 2


def aligned(text: str) -> str:
    """The text with each tab replaced by the padding of its column."""
    lines = [line.split("\t") for line in text.split("\n")]
    widths: list[list[int]] = [[0] * (len(cells) - 1) for cells in lines]
    for column in range(max(len(cells) for cells in lines) - 1):
        _set_widths(lines, widths, column)
    return "\n".join(_line(cells, own) for cells, own in zip(lines, widths, strict=True))


def row(cells: list[str]) -> str:
    """One line: a name that holds a tab or a line feed makes no cell and no line of its own."""
    line = "\t".join(cells)
    if line.count("\t") == len(cells) - 1 and line.replace("\t", "").isprintable():
        return line
    return "\t".join(one_line(cell) for cell in cells)


def _set_widths(lines: list[list[str]], widths: list[list[int]], column: int) -> None:
    """Find the blocks of consecutive lines that have this column, and give each its width."""
    block: list[int] = []
    for number, cells in enumerate(lines):
        if column < len(cells) - 1:
            block.append(number)
            continue
        _close(lines, widths, column, block)
        block = []
    _close(lines, widths, column, block)


def _close(lines: list[list[str]], widths: list[list[int]], column: int, block: list[int]) -> None:
    width = max((len(lines[number][column]) for number in block), default=0) + PADDING
    for number in block:
        widths[number][column] = width


def _line(cells: list[str], widths: list[int]) -> str:
    return "".join(cell.ljust(width) for cell, width in zip(cells[:-1], widths, strict=True)) + cells[-1]
