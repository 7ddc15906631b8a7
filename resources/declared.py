"""How a resource is declared: once, in a module of its own. REST, its document, CSV, orders and the table of a page are made from it.

A resource's fields are the annotations of a struct: that is its shape in REST. `fact` says of each where its value comes from,
what it means, and how it is sorted and headed. Which of them a CSV file and a table have is a tuple of names beside it.
Answers that are no lists are declared the same way, and `filled` from what they tell of.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from datetime import UTC
from functools import cache
from operator import attrgetter
from types import NoneType
from typing import Any, Generic, NamedTuple, TypeGuard, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from django.db.models import QuerySet
from django.db.models.manager import BaseManager
from django.utils.functional import Promise

from resources.field_types import TIME, bare, csv_unit, metas, table_kind, text_of
from resources.filter_sets import StrictFilterSet

#: What the documents say of a field that has the form of a text, see `wording.said`.
WORDING = (
    "Structure of `text`: English `template` and `arguments` by name, which may be such objects. For several "
    "sentences: `parts` and `between`. null: unknown."
)
#: Cluster id → name.
Names = Mapping[int, str]
S = TypeVar("S", bound=msgspec.Struct)


class Shape(msgspec.Struct):
    """Base of REST answers. null: unknown, not metered or absent, never 0."""


class Fact(msgspec.Struct, frozen=True):
    """What is known of a field besides its type.

    of: path of attributes from the row, the field's own name when "". by: what makes the value of that; None: its type does.
    order: (public name, column) that it is sorted by, ("", "") for none. title: heading of its column in tables. number:
    right-aligned, and largest first. term: the word of the glossary that its heading is explained by, "" for none.
    """

    of: str = ""
    by: Callable[[Any], Any] | None = None
    order: tuple[str, str] = ("", "")
    title: str | Promise = ""
    number: bool = False
    term: str = ""


def fact(
    text: str | None = None,
    *,
    of: str = "",
    by: Callable[[Any], Any] | None = None,
    order: bool | str | tuple[str, str] = False,
    title: str | Promise = "",
    number: bool = False,
    term: str = "",
) -> msgspec.Meta:
    """The annotation of a field. text: for the OpenAPI document. order: True (its own column), a column, or (name, column)."""
    named = order if isinstance(order, tuple) else ("" if order is False else "*", of if order is True else order or "")
    return msgspec.Meta(description=text, extra={"fact": Fact(of, by, named, title, number, term)})


def facts(shape: type[msgspec.Struct]) -> dict[str, Fact]:
    """Name → fact of all fields, in their order, with what is left out filled in."""
    hints = get_type_hints(shape, include_extras=True)
    return {name: _named(name, _fact_in(hints[name])) for name in shape.__struct_fields__}


def _fact_in(hint: Any) -> Fact:
    found = [one.extra["fact"] for one in metas(hint) if one.extra]
    return found[0] if found else Fact()


def _named(name: str, one: Fact) -> Fact:
    of, (order, column) = one.of or name, one.order
    full = (name if order == "*" else order, column or of) if order else ("", "")
    return msgspec.structs.replace(one, of=of, order=full)


def orders_of(shape: type[msgspec.Struct]) -> dict[str, str]:
    """Public name → column, of the fields that lists can be sorted by."""
    return dict(one.order for one in facts(shape).values() if one.order[0])


Convert = Callable[[Any, Names], Any]


def _converted(hint: Any) -> Convert | None:
    """What makes a stored value one of this type; None: it is one. "" of the tables (not known) becomes None."""
    hint = bare(hint)
    if _is_struct(hint):
        return Reader(hint)
    if get_origin(hint) is list:
        return _list_of(get_args(hint)[0])
    if get_origin(hint) is dict:
        return lambda value, _: dict(value)
    choices = get_args(hint)
    if (shape := next((one for one in choices if _is_struct(one)), None)) and NoneType in choices:
        return _optional(Reader(shape))
    if NoneType in choices and str in choices:
        return lambda value, _: value or None
    listed = next((one for one in choices if get_origin(one) is list), None)
    return _optional(_list_of(get_args(listed)[0])) if NoneType in choices and listed else None


def _is_struct(hint: Any) -> TypeGuard[type[msgspec.Struct]]:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def _optional(convert: Convert) -> Convert:
    return lambda value, names: None if value is None else convert(value, names)


def _list_of(item: Any) -> Convert:
    """Rows of another table, or objects of a JSON column: what one of these lacks is not known."""
    if not _is_struct(item):
        return lambda value, _: list(value)
    of_row, of_json = Reader(item), _of_json(item)

    def read(rows: Any, names: Names) -> list[msgspec.Struct]:
        found = rows.all() if isinstance(rows, BaseManager) else rows
        return [of_json(one, names) if isinstance(one, dict) else of_row(one, names) for one in found]

    return read


def _of_json(shape: type[msgspec.Struct]) -> Convert:
    """Makes the struct of an object whose names are those of its fields."""
    converts = [
        (name, _converted(hint) or _as_it_is) for name, hint in get_type_hints(shape, include_extras=True).items()
    ]
    return lambda found, names: shape(*[convert(found.get(name), names) for name, convert in converts])


def _as_it_is(value: Any, _: Names) -> Any:
    return value


class Reader(Generic[S]):
    """Makes the struct of a row: compiled once, since lists have a thousand rows.

    A field `cluster` of type str is the name of the row's cluster, from `names`, unless it says by what it is made.
    without: fields that are given with the row.
    """

    def __init__(self, shape: type[S], without: Collection[str] = ()) -> None:
        hints = get_type_hints(shape, include_extras=True)
        known = {name: one for name, one in facts(shape).items() if name not in without}
        self._make: Callable[..., S] = shape
        self._names = list(known)
        self._values = _Values(list(known.values()), [hints[name] for name in known])

    def __call__(self, row: Any, names: Names) -> S:
        return self._make(*self._values(row, names))

    def beside(self, row: Any, names: Names, given: Mapping[str, Any]) -> S:
        """The same with the fields that are given."""
        return self._make(**dict(zip(self._names, self._values(row, names), strict=True)), **given)


def part_of(shape: type[S], names: Sequence[str]) -> Callable[..., S]:
    """Makes structs that have these fields alone, from their values in this order: for lists too long to be read as rows."""
    hints = get_type_hints(shape, include_extras=True)
    made: Callable[..., Any] = msgspec.defstruct(shape.__name__, [(name, hints[name]) for name in names])
    return made


_reader = cache(Reader)


def filled(shape: type[S], row: Any, names: Names | None = None, **given: Any) -> S:
    """The struct of a row, or of what else has its attributes. given: fields that come from elsewhere."""
    reader: Reader[S] = _reader(shape, frozenset(given))
    return reader.beside(row, names or {}, given) if given else reader(row, names or {})


class _Values:
    """The values of a row by paths of attributes."""

    def __init__(self, fields: Sequence[Fact], hints: Sequence[Any]) -> None:
        paths = [f"{one.of}_id" if _is_cluster(one) else one.of for one in fields]
        # Of one path alone it would give the value, of none it refuses.
        self._get = attrgetter(*paths) if len(paths) > 1 else lambda row: [attrgetter(path)(row) for path in paths]
        found = [(place, _convert(one, hint)) for place, (one, hint) in enumerate(zip(fields, hints, strict=True))]
        self._converts = [(place, convert) for place, convert in found if convert is not None]

    def __call__(self, row: Any, names: Names) -> list[Any]:
        values = list(self._get(row))
        for place, convert in self._converts:
            values[place] = convert(values[place], names)
        return values


def _is_cluster(one: Fact) -> bool:
    return one.by is None and one.of.rpartition(".")[2] == "cluster"


def _convert(one: Fact, hint: Any) -> Convert | None:
    if (by := one.by) is not None:
        return lambda value, _: by(value)
    return (lambda value, names: names[value]) if _is_cluster(one) else _converted(hint)


class CsvColumn(NamedTuple):
    """A column of a CSV file: its head, the unit or kind of its cells, and what is said of it."""

    head: str
    unit: str
    text: str


class _CsvColumns:
    """Some columns of CSV. times: places of those that are times: each stands once more, as a spreadsheet takes it for one."""

    def __init__(self, heads: list[str], times: list[int], values: _Values) -> None:
        self.heads = heads + [f"{heads[place]}_utc" for place in times]
        self._times, self._values = times, values

    def values(self, row: Any, names: Names) -> list[Any]:
        """Of a row, already joined. Times that are repeated: in UTC, without an offset."""
        found = self._values(row, names)
        times = [found[place] for place in self._times]
        return [*found, *(time and time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") for time in times)]


class Resource(Generic[S]):
    """One resource: what its lists, in REST, CSV and on pages, have in common.

    name: as its address and its files have it. rows: of `querysets`. join: what a page of rows becomes before it is read.
    csv: names of fields, or (name, heading); CSV alone may have more, from `beside` (name → path of attributes).
    table: names of the fields that a page's table has a column for unless others are chosen, in its order; the first names the
    row, and is always there. Any field with a title can be chosen. as_csv: column → the fields that tell the same in CSV.
    related: rows to join in REST. groups: how the rows of its page can be put together: name → the columns that they then are
    sorted by first, and that the rows of one group have in common.
    """

    def __init__(
        self,
        name: str,
        shape: type[S],
        filterset: type[StrictFilterSet],
        rows: Callable[[], QuerySet[Any]],
        *,
        csv: Sequence[str | tuple[str, str]] = (),
        beside: Mapping[str, str] | None = None,
        table: Sequence[str] = (),
        as_csv: Mapping[str, Sequence[str]] | None = None,
        join: Callable[[list[Any]], list[Any]] = list,
        related: Sequence[str] = (),
        groups: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.name, self.shape, self.filterset, self.rows, self.join = name, shape, filterset, rows, join
        self.related, self.table, self.groups = tuple(related), tuple(table), dict(groups or {})
        self.facts = facts(shape) | {name: Fact(of=path) for name, path in (beside or {}).items()}
        self._reader = Reader(shape)
        self._hints = get_type_hints(shape, include_extras=True)
        self._csv = [(one, one) if isinstance(one, str) else one for one in csv]
        self._as_csv = dict(as_csv or {})
        self._whole = self._columns_of_csv(self._csv) if csv else None
        self.csv_heads = self._whole.heads if self._whole else []
        if unknown := set(table) - set(self.facts):
            raise TypeError(f"{name}: the table has columns that are no fields: {', '.join(sorted(unknown))}")

    def filtered(self, filterset: type[StrictFilterSet]) -> Resource[S]:
        """The same with other filters: of a page that shows more than the list."""
        other = copy(self)
        other.filterset = filterset
        return other

    @property
    def columns(self) -> list[str]:
        """Names of all fields that a table can have a column for: those of `table` first."""
        return [*self.table, *(name for name, one in self.facts.items() if one.title and name not in self.table)]

    def _columns_of_csv(self, columns: Sequence[tuple[str, str]]) -> _CsvColumns:
        values = _Values([self.facts[one] for one, _ in columns], [self._hints.get(one) for one, _ in columns])
        times = [place for place, (one, _) in enumerate(columns) if csv_unit(one, self._hints.get(one)) == TIME]
        return _CsvColumns([head for _, head in columns], times, values)

    def kind(self, name: str) -> str:
        """How a value of this field looks in a table: bytes, ratio, number, time, yes_no, list or text."""
        return table_kind(name, self._hints[name])

    def value(self, row: Any, name: str) -> Any:
        """The value of one field of a row (already joined), as its table shows it. A cluster is its row."""
        return attrgetter(self.facts[name].of)(row)

    def fill(self, rows: Iterable[Any], names: Names) -> list[S]:
        """One page of rows as REST has them."""
        return [self._reader(row, names) for row in self.join(list(rows))]

    def read(self, row: Any, names: Names) -> S:
        """One row, already joined, as REST has it."""
        return self._reader(row, names)

    def csv_of(self, columns: Sequence[str]) -> tuple[list[str], Callable[[list[Any], Names], list[list[Any]]]]:
        """(heads, what gives the values of some rows) of CSV with these columns of the table; one without a field is left out.

        The cluster comes first whether it is chosen or not: no other name says which row it is.
        """
        heads = dict(self._csv)
        wanted = [one for name in columns for one in self._as_csv.get(name, (name,))]
        first = [name for name in ("cluster",) if name in self.facts]
        names = [name for name in dict.fromkeys([*first, *wanted]) if name in self.facts]
        made = self._columns_of_csv([(name, heads.get(name, name)) for name in names])
        return made.heads, lambda rows, known: [made.values(row, known) for row in self.join(rows)]

    def csv_rows(self, rows: list[Any], names: Names) -> list[list[Any]]:
        """The values of some rows in the order of `csv_heads`. Raises TypeError when the resource has no CSV."""
        if self._whole is None:
            raise TypeError(f"{self.name} have no CSV")
        return [self._whole.values(row, names) for row in self.join(rows)]

    def csv_columns(self) -> list[CsvColumn]:
        """What each column of the CSV holds, for the docs; the times that stand there once more are left out."""
        hints = self._hints
        return [CsvColumn(head, csv_unit(one, hints.get(one)), text_of(hints.get(one))) for one, head in self._csv]
