"""What every list page has: filter form, sortable heads, pages, an honest count, CSV and the live part.

A page describes its list as a `ListSpec`; the rules are here once. Knows requests and filter sets, no particular table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame import amounts
from pages.frame.freshness import incomplete, notices
from pages.frame.links import state_url
from pages.frame.live import live_page
from pages.frame.refusals import BadParameter, Errors
from resources import csv_export
from resources.filter_fields import BytesFilter, typed_memory
from resources.filter_sets import StrictFilterSet
from resources.keyset import BadCursor, Page, page_of

Text = str | Promise
PAGE_SIZE, MAX_PAGE_SIZE = 50, 200
#: Beyond this the exact number of rows is not worth its cost; the page says "more than".
COUNT_CAP = 10_000
_ALL = gettext_lazy("all")
_NO_FILTERS = frozenset({"ordering", "cursor", "page_size", "format"})


@dataclass(frozen=True)
class Column:
    """A column. order: the public name it sorts by ("" when it does not). number: right-aligned, and largest first."""

    title: Text
    order: str = ""
    number: bool = False


@dataclass(frozen=True)
class Field:
    """A field of the filter form. options: (value, title) of a select; none for a text field."""

    name: str
    label: Text
    options: Sequence[tuple[str, Text]] | Callable[[], Sequence[tuple[str, str]]] = ()
    placeholder: Text = ""
    wide: bool = False
    #: Title of the choice that filters nothing.
    rest: Text = _ALL


@dataclass(frozen=True)
class Head:
    """A column's head as it is now. sort: "ascending", "descending" or ""."""

    title: str
    number: bool
    url: str
    sort: str


@dataclass(frozen=True)
class Entry:
    """A field of the form with its value."""

    name: str
    label: str
    value: str
    options: list[tuple[str, str]]
    placeholder: str
    wide: bool
    rest: str
    #: What is wrong with the value; "" when nothing is.
    error: str


@dataclass(frozen=True)
class ListSpec:
    """A list. shape: turns the rows of one page into what the template prints, in a constant number of queries."""

    name: str
    filterset: type[StrictFilterSet]
    rows: Callable[[], Any]
    columns: Sequence[Column]
    fields: Sequence[Field]
    shape: Callable[[list[Any]], list[Any]]
    page: str
    part: str
    csv: str


@dataclass(frozen=True)
class Listed:
    """The state of one list page, for the templates."""

    heads: list[Head]
    rows: list[Any]
    count: int
    count_text: str
    total_text: str
    filtered: bool
    first_url: str
    previous_url: str
    next_url: str


def list_page(request: HttpRequest, spec: ListSpec, context: Callable[[], dict[str, Any]]) -> HttpResponseBase:
    """The page, its live part, or its CSV (`?format=csv`). context: what the page says besides the list."""
    if plain := _plain_address(request, spec.filterset):
        return HttpResponseRedirect(plain)
    filterset = spec.filterset(request.GET, queryset=spec.rows())
    size, errors = _check(request, filterset)
    if errors:
        return _refused(request, spec, errors, context)
    if request.GET.get("format") == "csv":
        return csv_export.csv_response(spec.csv, filterset.ordered())
    try:
        page = page_of(filterset.ordered(), request.GET.get("cursor"), size)
    except BadCursor:
        wrong = _("This place in the list does not exist. Start from the first page.")
        return _refused(request, spec, {"cursor": [wrong]}, context)
    shown = {
        "listed": _listed(request, spec, filterset, page),
        "notices": notices(request),
        "incomplete": incomplete(request),
        "csv_url": state_url(request, format="csv"),
        "entries": _entries(request, spec.fields, {}),
        "kept": _kept(request, spec, {}),
        "clear_url": request.path,
    }
    return live_page(request, spec.page, spec.part, shown | context())


def _plain_address(request: HttpRequest, filterset: type[StrictFilterSet]) -> str:
    """The address with amounts of memory as REST takes them, too: "20" and "20 GiB" of a form are 20Gi. "" when they are."""
    names = [name for name, one in filterset.base_filters.items() if isinstance(one, BytesFilter)]
    typed = {name: request.GET[name] for name in names if request.GET.get(name)}
    plain = {name: typed_memory(text) for name, text in typed.items()}
    return state_url(request, **plain) if plain != typed else ""


def _refused(
    request: HttpRequest, spec: ListSpec, errors: Errors, context: Callable[[], dict[str, Any]]
) -> HttpResponseBase:
    """The form as it was filled in, each error at its field, and no list: an unfiltered one would look like an answer."""
    if request.GET.get("format") == "csv":
        raise BadParameter(errors)
    shown = {
        "refused": [(name, " ".join(texts)) for name, texts in errors.items()],
        "notices": notices(request),
        "incomplete": incomplete(request),
        "entries": _entries(request, spec.fields, errors),
        "kept": _kept(request, spec, errors),
        "clear_url": request.path,
    }
    return live_page(request, spec.page, "parts/refused.html", context() | shown, status=400)


def _check(request: HttpRequest, filterset: StrictFilterSet) -> tuple[int, dict[str, list[str]]]:
    """(page size, what makes no sense)."""
    errors: dict[str, list[str]] = {}
    if not filterset.is_valid():
        errors = {name: [str(text) for text in texts] for name, texts in filterset.errors.items()}
    if request.GET.get("format", "csv") != "csv":
        errors["format"] = [_("csv is the only other format of this page.")]
    text = request.GET.get("page_size", "")
    size = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0 if text else PAGE_SIZE
    if not 1 <= size <= MAX_PAGE_SIZE:
        errors["page_size"] = [_("A number from 1 to %(most)d is wanted.") % {"most": MAX_PAGE_SIZE}]
    return size, errors


def _listed(request: HttpRequest, spec: ListSpec, filterset: StrictFilterSet, page: Page[Any]) -> Listed:
    filtered = any(value for name, value in request.GET.items() if name not in _NO_FILTERS)
    count = filterset.qs.order_by()[: COUNT_CAP + 1].count()
    return Listed(
        heads=[_head(request, column, filterset.order) for column in spec.columns],
        rows=spec.shape(page.rows),
        count=count,
        count_text=_count_text(len(page.rows), count),
        total_text=amounts.count(count)
        if count <= COUNT_CAP
        else _("more than %(n)s") % {"n": amounts.count(COUNT_CAP)},
        filtered=filtered,
        first_url=state_url(request) if page.previous else "",
        previous_url=state_url(request, cursor=page.previous) if page.previous else "",
        next_url=state_url(request, cursor=page.next) if page.next else "",
    )


def _count_text(shown: int, count: int) -> str:
    if count > COUNT_CAP:
        return _("%(shown)s of more than %(count)s") % {"shown": shown, "count": amounts.count(COUNT_CAP)}
    if shown == count:
        return _("all %(count)s") % {"count": amounts.count(count)}
    return _("%(shown)s of %(count)s") % {"shown": shown, "count": amounts.count(count)}


def _head(request: HttpRequest, column: Column, order: Sequence[str]) -> Head:
    if not column.order:
        return Head(str(column.title), column.number, "", "")
    first = order[0] if order else ""
    current = first.removeprefix("-") == column.order
    descending = current and first.startswith("-")
    # The first click puts first what is looked for first: names from A, numbers from the largest; the next one turns it round.
    turn_down = not descending if current else column.number
    name = f"-{column.order}" if turn_down else column.order
    sort = ("descending" if descending else "ascending") if current else ""
    return Head(str(column.title), column.number, state_url(request, ordering=name), sort)


def _entries(request: HttpRequest, fields: Sequence[Field], errors: Errors) -> list[Entry]:
    """The form's fields; a select whose only choice is what there is anyway is left out."""
    made = [(field, _entry(request, field, " ".join(errors.get(field.name, ())))) for field in fields]
    return [one for field, one in made if one.value or not callable(field.options) or len(one.options) > 1]


def _entry(request: HttpRequest, field: Field, error: str) -> Entry:
    offered = field.options() if callable(field.options) else field.options
    options = [(value, str(title)) for value, title in offered]
    value = request.GET.get(field.name, "")
    if options and value and value not in dict(options):
        options.append((value, value))  # a wrong one too: what was asked stands in the form
    return Entry(
        name=field.name,
        label=str(field.label),
        value=value,
        options=options,
        placeholder=str(field.placeholder),
        wide=field.wide,
        rest=str(field.rest),
        error=error,
    )


def _kept(request: HttpRequest, spec: ListSpec, errors: Errors) -> list[tuple[str, str, str]]:
    """Parameters in force that the form has no field for: (name, value, address without it). Wrong ones are not kept."""
    own = {field.name for field in spec.fields} | {"cursor", "format"}
    return [
        (name, value, state_url(request, **{name: None}))
        for name, values in request.GET.lists()
        if name not in own and name[:64] not in errors
        for value in values
        if value
    ]
