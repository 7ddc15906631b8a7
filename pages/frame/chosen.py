"""Which columns a list shows: those of its table, or those that the address names (`columns=node,model`).

The names are those of the fields of the resource, as CSV and REST have them. The order is that of the declaration; the first
column says which row it is, and is always there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.translation import gettext as _

from pages.frame.links import state_url
from pages.frame.table import Column

PARAMETER = "columns"
#: Of a parameter that names more than a table can have.
_MOST_CHARS = 2000


@dataclass(frozen=True)
class Choice:
    """One box of the menu. fixed: the column that cannot be left out."""

    name: str
    title: str
    shown: bool
    fixed: bool


@dataclass(frozen=True)
class Chosen:
    """columns: those shown. names: as they are chosen, None where the list is as it is declared.

    menu: all that there are. kept: the other parameters, which the menu's form carries. usual_url: without a choice.
    """

    columns: list[Column]
    names: list[str] | None
    menu: list[Choice]
    kept: list[tuple[str, str]]
    usual_url: str


def asked(request: HttpRequest) -> list[str] | None:
    """The names that the address gives, each once; None: it gives none. A form sends one parameter a box."""
    texts = request.GET.getlist(PARAMETER)
    named = [name.strip() for text in texts for name in text[:_MOST_CHARS].split(",")]
    found = list(dict.fromkeys(name for name in named if name))
    return found or None


def wrong(request: HttpRequest, there: Sequence[Column]) -> str:
    """What is wrong with the names; "" when nothing is."""
    names = {one.name for one in there}
    unknown = [name[:64] for name in asked(request) or () if name not in names]
    if not unknown:
        return ""
    told = {"unknown": ", ".join(map(repr, unknown[:10])), "known": ", ".join(one.name for one in there)}
    return _("Unknown column: %(unknown)s. Valid columns: %(known)s.") % told


def plain(request: HttpRequest, usual: Sequence[Column], there: Sequence[Column]) -> str | None:
    """How the choice is written in an address: "node,model"; None: it is the usual one, or there is none, or it is wrong."""
    names = asked(request)
    if names is None or wrong(request, there):
        return None
    shown = [one.name for one in _shown(names, there)]
    if shown == [one.name for one in usual]:
        return None
    given = request.GET.getlist(PARAMETER)
    return given[0] if len(given) == 1 and set(names) == set(shown) else ",".join(shown)


def chosen(request: HttpRequest, usual: Sequence[Column], there: Sequence[Column]) -> Chosen:
    """usual: the columns unless others are chosen; there: all of the time that is asked for."""
    names = asked(request)
    columns = list(usual) if names is None else _shown(names, there)
    shown = {one.name for one in columns}
    return Chosen(
        columns=columns,
        names=None if names is None else [one.name for one in columns],
        menu=[Choice(one.name, str(one.title), one.name in shown, place == 0) for place, one in enumerate(there)],
        kept=[
            (name, one)
            for name, values in request.GET.lists()
            if name not in (PARAMETER, "cursor", "format")
            for one in values
            if one
        ],
        usual_url=state_url(request, columns=None),
    )


def _shown(names: Sequence[str], there: Sequence[Column]) -> list[Column]:
    return [one for place, one in enumerate(there) if place == 0 or one.name in names]
