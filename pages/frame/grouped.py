"""Rows of a list put together under heads, by node, model or namespace: the parameter `group` of its address.

The rows stay one list in one order, which begins with the columns of their groups (`Resource.groups`), so that filters, orders,
pages and refreshes work as without groups. The sums of the heads come from one query over the groups of the page. Knows no table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame.links import state_url
from pages.frame.table import Line, Text

PARAMETER = "group"
#: The group of a list that is grouped unless another is asked for: its rows as they are.
NONE = "none"
_UNGROUPED = gettext_lazy("Not grouped")


@dataclass(frozen=True)
class GroupHead:
    """The row above those of a group. facts: its sums. unknown: what is said where there is no title. cluster: "" for the only one.

    namespace: of which it has the hue.
    """

    title: str
    url: str = ""
    facts: Sequence[str] = ()
    cluster: str = ""
    namespace: str = ""
    unknown: str = ""


#: Values of the columns of a group.
Key = tuple[Any, ...]
Heads = Callable[[HttpRequest, Any, Sequence[str], Sequence[Key]], Mapping[Key, GroupHead]]


@dataclass(frozen=True)
class Grouping:
    """heads: (request, the rows that the filter keeps, columns, keys) → their heads, by key. column: of the table, which they say.

    part: a template that shows the groups alone, of what the context of the page says, so that no rows are read.
    """

    title: Text
    heads: Heads = field(default=lambda *_: {})
    column: str = ""
    part: str = ""


@dataclass(frozen=True)
class Group:
    """head: None where the list has no groups."""

    key: str
    head: GroupHead | None
    lines: list[Line]


@dataclass(frozen=True)
class Choice:
    title: str
    url: str
    current: bool


def asked(request: HttpRequest, groups: Mapping[str, Grouping], usual: str) -> str:
    """The name of the group in force; "" for none. usual: of a list that is grouped unless another is asked for."""
    name = request.GET.get(PARAMETER) or _usual(request, usual)
    return name if name in groups else ""


def _usual(request: HttpRequest, usual: str) -> str:
    """Without a parameter. In the past each row has its own end, so the rows themselves are shown."""
    return "" if any(request.GET.get(name) for name in ("at", "from", "to")) else usual


def wrong(request: HttpRequest, groups: Mapping[str, Grouping], usual: str) -> str:
    """What is wrong with the parameter; "" when nothing is."""
    given = request.GET.getlist(PARAMETER)
    names = [*groups, *([NONE] if usual else [])]
    if not given or (len(given) == 1 and given[0] in ("", *names)):
        return ""
    return _("Must be one of: %(names)s.") % {"names": ", ".join(names)} if names else _("This list has no groups.")


def choices(request: HttpRequest, groups: Mapping[str, Grouping], usual: str) -> list[Choice]:
    """What the menu offers; none where there are no groups."""
    now, usual = asked(request, groups, usual), _usual(request, usual)
    made = [
        Choice(str(one.title), state_url(request, group=None if name == usual else name), name == now)
        for name, one in groups.items()
    ]
    none = Choice(str(_UNGROUPED), state_url(request, group=NONE if usual else None), not now)
    return [*made, none] if usual else [none, *made] if made else []


def grouped(
    request: HttpRequest,
    grouping: Grouping | None,
    columns: Sequence[str],
    rows: Any,
    lines: list[Line],
    found: list[Any],
) -> list[Group]:
    """The lines of a page under the heads of their groups. rows: all that the filter keeps. found: the rows of the page, ordered."""
    if grouping is None or not lines:
        return [Group("", None, lines)]
    getters = [attrgetter(column.replace("__", ".")) for column in columns]
    keys = [tuple(get(row) for get in getters) for row in found]
    heads = grouping.heads(request, rows, columns, list(dict.fromkeys(keys)))
    made: dict[Key, Group] = {}
    for key, line in zip(keys, lines, strict=True):
        name = "-".join(str(value or "") for value in key)
        made.setdefault(key, Group(f"group-{name}", heads.get(key, GroupHead("")), [])).lines.append(line)
    return list(made.values())
