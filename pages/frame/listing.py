"""What every list page has: filter form, sortable heads, pages, an honest count, CSV and the live part.

A page describes its list as a `ListSpec`; the rules are here once. Knows requests and filter sets, no particular table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.urls import reverse
from django.utils.timezone import get_current_timezone_name
from django.utils.translation import gettext as _

from pages.frame import amounts, chosen, grouped
from pages.frame.chosen import PARAMETER, Chosen
from pages.frame.fields import Field, entries_of
from pages.frame.freshness import incomplete, notices
from pages.frame.kept import Kept, kept_text
from pages.frame.links import state_url, with_query
from pages.frame.live import live_page
from pages.frame.refusals import BadParameter, Errors
from pages.frame.table import Column, Head, Line, Text, cells_of, columns_of, head_of
from pages.frame.when import when_of
from resources import csv_export, moments
from resources.declared import Resource
from resources.filter_fields import BytesFilter, typed_memory
from resources.filter_sets import StrictFilterSet
from resources.keyset import BadCursor, Page, page_of
from resources.view import LISTS

__all__ = ["Field", "ListSpec", "filters_of", "list_page"]

PAGE_SIZE, MAX_PAGE_SIZE = 50, 200
#: Beyond this the exact number of rows is not worth its cost; the page says "more than".
COUNT_CAP = 10_000
_NO_FILTERS = frozenset({"ordering", "cursor", "page_size", "format", PARAMETER, grouped.PARAMETER})


Context = Callable[[StrictFilterSet], dict[str, Any]]


@dataclass(frozen=True)
class ListSpec:
    """A list of a resource.

    shape: turns the (joined) rows of one page into what the templates print, in a constant number of queries.
    title: of the page, where that is another than the caption of its table. page, part: a template that has more than a list.
    key: what names a line of the table, so that a live page keeps it. gone: whether a line is of the past.
    cells: folder of the cells that look special, each of the name of its field; the others look as their type does.
    rows, columns: others than the resource's own. words: parameter → what its value is called, for those without a field.
    more: columns that only the page has, after the usual ones. order: the page's own, where none is asked for and it is of now.
    of_then: names of the columns that say something of another time than now; all, where it is empty.
    groups: name → how its rows can be put together, of those of the resource; group: the one in force unless another is asked for.
    """

    resource: Resource[Any]
    fields: Sequence[Field]
    shape: Callable[[list[Any]], list[Any]]
    caption: Text
    cells: str
    key: Callable[[Any], str]
    gone: Callable[[Any], bool] = lambda line: False
    title: Text = ""
    page: str = "list_page.html"
    part: str = "list_part.html"
    style: str = ""
    rows: Callable[[], Any] | None = None
    columns: Sequence[Column] = ()
    more: Sequence[Column] = ()
    order: str = ""
    words: Mapping[str, Callable[[str], str]] = field(default_factory=dict)
    of_then: Sequence[str] = ()
    groups: Mapping[str, grouped.Grouping] = field(default_factory=dict)
    group: str = ""

    @property
    def filterset(self) -> type[StrictFilterSet]:
        return self.resource.filterset

    def all_rows(self) -> Any:
        return (self.rows or self.resource.rows)()

    def all_columns(self, then: bool = False) -> Sequence[Column]:
        """then: of another time than now."""
        return self._then((*(self.columns or columns_of(self.resource)), *self.more), then)

    def there(self, then: bool = False) -> Sequence[Column]:
        """All columns that can be chosen: the usual ones first."""
        usual = (*(self.columns or columns_of(self.resource)), *self.more)
        names = {one.name for one in usual}
        more = [name for name in self.resource.columns if name not in names]
        return self._then([*usual, *columns_of(self.resource, more)], then)

    def _then(self, columns: Sequence[Column], then: bool) -> Sequence[Column]:
        return [one for one in columns if one.name in self.of_then] if then and self.of_then else columns


@dataclass(frozen=True)
class Listed:
    """The state of one list page, for the templates. rows: what `ListSpec.shape` has made; groups: the same as a table."""

    heads: list[Head]
    rows: list[Any]
    groups: list[grouped.Group]
    caption: str
    style: str
    count: int
    count_text: str
    total_text: str
    first_url: str
    previous_url: str
    next_url: str


def list_page(request: HttpRequest, spec: ListSpec, context: Context) -> HttpResponseBase:
    """The page, its live part, or its CSV (`?format=csv`). context: what the page says besides the list, of the rows it keeps."""
    if plain := _plain_address(request, spec):
        return HttpResponseRedirect(plain)
    filterset = spec.filterset(_asked(request, spec), queryset=spec.all_rows())
    size, errors = _check(request, filterset, spec)
    if errors:
        return _refused(request, spec, filterset, errors, context)
    if request.GET.get("format") == "csv":
        names = chosen.asked(request) and _chosen(request, spec, filterset).names
        return csv_export.csv_response(spec.resource, filterset.ordered(), names)
    name = grouped.asked(request, spec.groups, spec.group)
    grouping = spec.groups.get(name)
    cursor, alone = request.GET.get("cursor"), grouping is not None and bool(grouping.part)
    try:
        if alone and cursor:
            raise BadCursor
        page = None if alone else page_of(filterset.ordered(spec.resource.groups.get(name, ())), cursor, size)
    except BadCursor:
        wrong = _("Invalid list position. Start from the first page.")
        return _refused(request, spec, filterset, {"cursor": [wrong]}, context)
    fields = [one for one in spec.fields if not filterset.span or one.name != filterset.whether_over]
    entries = entries_of(request, fields, {})
    shown = {
        "listed": None if page is None else _listed(request, spec, filterset, page, name),
        "filtered": any(value for name, value in request.GET.items() if name not in _NO_FILTERS),
        "notices": notices(request),
        "incomplete": incomplete(request),
        "csv_url": state_url(request, format="csv"),
        "views_url": _views_url(request),
        "entries": entries,
        "kept": _kept(request, spec, {}),
        "when": when_of(request, filterset),
        "clear_url": _without_filters(request),
        "chosen": _chosen(request, spec, filterset),
    }
    part = grouping.part if alone and grouping is not None else spec.part
    return live_page(request, spec.page, part, shown | _heading(request, spec) | context(filterset))


def _heading(request: HttpRequest, spec: ListSpec) -> dict[str, Any]:
    """heading: of the page. group, group_title: the group in force, "" for none. group_choices: what else can be."""
    name = grouped.asked(request, spec.groups, spec.group)
    return {
        "heading": str(spec.title or spec.caption),
        "group": name,
        "group_title": str(spec.groups[name].title) if name else "",
        "group_choices": grouped.choices(request, spec.groups, spec.group),
    }


def _asked(request: HttpRequest, spec: ListSpec) -> QueryDict:
    found = filters_of(request.GET)
    of_now = not any(found.get(name) for name in moments.NAMES)
    if spec.order and of_now and not found.get("ordering") and found.get("format") != "csv":
        found["ordering"] = spec.order
    return found


def filters_of(query: QueryDict) -> QueryDict:
    """The parameters that are for the rows, not for what is shown of them."""
    found = query.copy()
    for name in (PARAMETER, grouped.PARAMETER):
        found.pop(name, None)
    return found


def _chosen(request: HttpRequest, spec: ListSpec, filterset: StrictFilterSet) -> Chosen:
    then = filterset.span is not None
    return chosen.chosen(request, spec.all_columns(then), spec.there(then))


def _views_url(request: HttpRequest) -> str:
    """The saved views of this list, and where it is saved as it is now; "" for a list whose views are not saved."""
    found = request.resolver_match
    page = found.url_name if found else ""
    if found is None or page not in LISTS:
        return ""
    # A list that each of some things has, such as campaigns, says of which one it is.
    at = next(iter(found.kwargs.values()), "")
    return with_query(reverse("saved-views"), of=page, query=state_url(request).partition("?")[2], at=at)


def _without_filters(request: HttpRequest) -> str:
    """The list without filters, with the columns and the group that are chosen."""
    return with_query(
        request.path,
        columns=",".join(chosen.asked(request) or ()),
        group=request.GET.get(grouped.PARAMETER),
    )


def _plain_address(request: HttpRequest, spec: ListSpec) -> str:
    """The address with amounts of memory as REST takes them, too: "20" and "20 GiB" of a form are 20Gi; with columns in one
    parameter, without it where they are the usual ones; and with the zone of a time, where the reader has another than REST.
    "" when it is so.
    """
    names = [name for name, one in spec.filterset.base_filters.items() if isinstance(one, BytesFilter)]
    typed: dict[str, Any] = {name: request.GET[name] for name in names if request.GET.get(name)}
    plain: dict[str, Any] = {name: typed_memory(text) for name, text in typed.items()}
    given = request.GET.getlist(PARAMETER)
    if given and not chosen.wrong(request, spec.there()):
        typed[PARAMETER] = given[0] if len(given) == 1 else None
        plain[PARAMETER] = chosen.plain(request, spec.all_columns(), spec.there())
        if len(given) > 1 and plain[PARAMETER] is None:
            typed[PARAMETER] = given[0]
    if get_current_timezone_name() != settings.TIME_ZONE:
        times = {name: request.GET[name] for name in moments.NAMES if request.GET.get(name)}
        typed |= times
        plain |= {name: moments.with_zone(text) for name, text in times.items()}
    return state_url(request, **plain) if plain != typed else ""


def _refused(
    request: HttpRequest,
    spec: ListSpec,
    filterset: StrictFilterSet,
    errors: Errors,
    context: Context,
) -> HttpResponseBase:
    """The form as it was filled in, each error at its field, and no list: an unfiltered one would look like an answer."""
    if request.GET.get("format") == "csv":
        raise BadParameter(errors)
    shown = {
        "refused": [(name, " ".join(texts)) for name, texts in errors.items()],
        "notices": notices(request),
        "incomplete": incomplete(request),
        "entries": entries_of(request, spec.fields, errors),
        "kept": _kept(request, spec, errors),
        "when": when_of(request, filterset),
        "clear_url": request.path,
        "chosen": _chosen(request, spec, filterset),
    }
    shown |= _heading(request, spec)
    return live_page(request, spec.page, "parts/refused.html", context(filterset) | shown, status=400)


def _check(request: HttpRequest, filterset: StrictFilterSet, spec: ListSpec) -> tuple[int, dict[str, list[str]]]:
    """(page size, what makes no sense)."""
    errors: dict[str, list[str]] = {}
    if not filterset.is_valid():
        errors = {name: [str(text) for text in texts] for name, texts in filterset.errors.items()}
    if wrong := chosen.wrong(request, spec.there()):
        errors[PARAMETER] = [wrong]
    if wrong := grouped.wrong(request, spec.groups, spec.group):
        errors[grouped.PARAMETER] = [wrong]
    if request.GET.get("format", "csv") != "csv":
        errors["format"] = [_("Must be csv.")]
    text = request.GET.get("page_size", "")
    size = int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0 if text else PAGE_SIZE
    if not 1 <= size <= MAX_PAGE_SIZE:
        errors["page_size"] = [_("Must be an integer from 1 to %(most)d.") % {"most": MAX_PAGE_SIZE}]
    return size, errors


def _listed(request: HttpRequest, spec: ListSpec, filterset: StrictFilterSet, page: Page[Any], group: str) -> Listed:
    """group: the name of the group in force, "" for none."""
    count = filterset.qs.order_by()[: COUNT_CAP + 1].count()
    grouping, by = spec.groups.get(group), spec.resource.groups.get(group, ())
    first, *others = _chosen(request, spec, filterset).columns
    columns = [first, *(one for one in others if grouping is None or one.name != grouping.column)]
    found = spec.resource.join(page.rows)
    rows = spec.shape(found)
    lines = [
        Line(spec.key(line), spec.gone(line), line, cells)
        for line, cells in zip(rows, cells_of(spec.resource, spec.cells, columns, found), strict=True)
    ]
    every = filterset.with_computed(filterset.qs, by)
    return Listed(
        heads=[head_of(request, one, filterset.order) for one in columns],
        rows=rows,
        groups=grouped.grouped(request, grouping, by, every, lines, page.rows),
        caption=str(spec.caption),
        style=spec.style,
        count=count,
        count_text=_count_text(len(page.rows), count),
        total_text=amounts.count(count)
        if count <= COUNT_CAP
        else _("more than %(n)s") % {"n": amounts.count(COUNT_CAP)},
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


def _kept(request: HttpRequest, spec: ListSpec, errors: Errors) -> list[Kept]:
    """Parameters in force that the form has no field for. Wrong ones are not kept."""
    own = {field.name for field in spec.fields} | {"cursor", "format"}
    titles = {column.order: str(column.title) for column in spec.there()}
    return [
        Kept(name, value, state_url(request, **{name: None}), kept_text(name, value, titles, spec.words))
        for name, values in request.GET.lists()
        if name not in own and name[:64] not in errors
        for value in values
        if value
    ]
