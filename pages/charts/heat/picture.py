"""A pool of the heat map as one picture: a path for each class and one for the borders of its nodes, however many cells. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pages.charts.heat.cells import Cell

#: Units of the picture: a cell with its gap, what keeps nodes apart, and the width of a line.
PITCH, APART, WIDE = 10, 5, 640
#: A picture of more cells draws bars, not squares.
MOST_SQUARES = 600


@dataclass(frozen=True)
class Picture:
    """paths: (class, path). borders: path around the cards of each node; "" where a cell is a node."""

    paths: list[tuple[str, str]]
    borders: str
    width: int
    height: int


def picture(cells: Sequence[Cell], order: Iterable[str]) -> Picture:
    """order: of the classes."""
    where = spots(cells)
    return Picture(
        paths=_paths(cells, where, order),
        borders=_borders(cells, where),
        width=max((x for x, _y in where), default=0) + PITCH,
        height=max((y for _x, y in where), default=0) + PITCH,
    )


def spots(cells: Sequence[Cell]) -> list[tuple[int, int]]:
    """Where each cell is: nodes stand side by side; one that is longer than a line goes on in the next."""
    of_cards = _of_cards(cells)
    apart = APART if of_cards else 0
    found: list[tuple[int, int]] = []
    x = y = 0
    for _node, group in groupby(cells, key=lambda cell: cell.node):
        mine = list(group)
        if x and x + len(mine) * PITCH > WIDE:
            x, y = 0, y + PITCH + apart
        for _cell in mine:
            if x + PITCH > WIDE:
                x, y = 0, y + PITCH + apart
            found.append((x, y))
            x += PITCH
        x += apart
    return found


def at(cells: Sequence[Cell], x: int, y: int) -> Cell | None:
    """The cell at a place of the picture; None between them."""
    for cell, (left, top) in zip(cells, spots(cells), strict=True):
        if left <= x < left + PITCH and top <= y < top + PITCH:
            return cell
    return None


def _of_cards(cells: Sequence[Cell]) -> bool:
    return bool(cells) and cells[0].card is not None


def _paths(cells: Sequence[Cell], where: Sequence[tuple[int, int]], order: Iterable[str]) -> list[tuple[str, str]]:
    """In a large picture, those of one class that follow each other are one bar."""
    merged = len(cells) > MOST_SQUARES
    bars: list[list[int]] = []
    for place, (x, y) in enumerate(where):
        if merged and bars:
            last = bars[-1][-1]
            if cells[last].key == cells[place].key and where[last] == (x - PITCH, y):
                bars[-1].append(place)
                continue
        bars.append([place])
    drawn: dict[str, list[str]] = {}
    for bar in bars:
        (x, y), width = where[bar[0]], len(bar) * PITCH - 1
        drawn.setdefault(cells[bar[0]].key, []).append(f"M{x} {y}h{width}v9h-{width}z")
    return [(key, "".join(drawn[key])) for key in order if key in drawn]


def _borders(cells: Sequence[Cell], where: Sequence[tuple[int, int]]) -> str:
    if not _of_cards(cells):
        return ""
    placed = zip(cells, where, strict=True)
    parts = []
    for (_node, y), group in groupby(placed, key=lambda one: (one[0].node, one[1][1])):
        mine = [x for _cell, (x, _y) in group]
        width = mine[-1] - mine[0] + PITCH + 2
        parts.append(f"M{mine[0] - 1.5} {y - 1.5}h{width}v12h-{width}z")
    return "".join(parts)
