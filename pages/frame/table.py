"""The table of a list: its columns, their heads, and the cells of its lines.

Columns come from the declaration of the resource. A cell looks as its type does, unless the list has a template for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.template.loader import select_template
from django.utils.functional import Promise

from pages.frame.links import state_url
from resources.declared import Resource

Text = str | Promise


@dataclass(frozen=True)
class Column:
    """A column. name: of its field. order: the public name it sorts by ("" when it does not). number: right-aligned, and
    largest first. kind: how its cell looks where the list has none of its own.
    """

    name: str
    title: Text
    order: str = ""
    number: bool = False
    kind: str = "text"
    #: Word of the glossary that explains its heading; "" for none.
    term: str = ""


@dataclass(frozen=True)
class Cell:
    """One cell. value: of a column that looks as its type does."""

    template: Any
    title: str
    value: Any


@dataclass(frozen=True)
class Line:
    """One line. key: its name, by which a live page keeps it. gone: it is of the past. line: what the page has made of its row."""

    key: str
    gone: bool
    line: Any
    cells: list[Cell]


@dataclass(frozen=True)
class Head:
    """A column's head as it is now. sort: "ascending", "descending" or ""."""

    title: str
    number: bool
    url: str
    sort: str
    term: str = ""


def columns_of(resource: Resource[Any], names: Sequence[str] | None = None) -> list[Column]:
    """The columns of a resource's table, as it is declared. names: others than it has unless others are chosen."""
    named = [(name, resource.facts[name]) for name in (resource.table if names is None else names)]
    return [Column(name, one.title, one.order[0], one.number, resource.kind(name), one.term) for name, one in named]


def head_of(request: HttpRequest, column: Column, order: Sequence[str]) -> Head:
    if not column.order:
        return Head(str(column.title), column.number, "", "", term=column.term)
    first = order[0] if order else ""
    current = first.removeprefix("-") == column.order
    descending = current and first.startswith("-")
    # The first click puts first what is looked for first: names from A, numbers from the largest; the next one turns it round.
    turn_down = not descending if current else column.number
    name = f"-{column.order}" if turn_down else column.order
    sort = ("descending" if descending else "ascending") if current else ""
    return Head(str(column.title), column.number, state_url(request, ordering=name), sort, term=column.term)


def cells_of(resource: Resource[Any], folder: str, columns: Sequence[Column], found: list[Any]) -> list[list[Cell]]:
    """The cells of some rows (joined). folder: where the cells are that look special, each of the name of its field."""
    plain = [f"parts/cells/{column.kind}.html" for column in columns]
    templates = [
        select_template([f"{folder}/{column.name}.html", general])
        for column, general in zip(columns, plain, strict=True)
    ]
    # Made once a column, not once a cell: a title is translated each time it is written.
    fixed = [Cell(template, str(column.title), None) for column, template in zip(columns, templates, strict=True)]
    by_type = [template.template.name == general for general, template in zip(plain, templates, strict=True)]
    named = list(zip(columns, fixed, by_type, strict=True))
    return [
        [
            Cell(cell.template, cell.title, resource.value(row, column.name)) if valued else cell
            for column, cell, valued in named
        ]
        for row in found
    ]
