"""What all filters of lists have in common.

A name that no filter has, a value that makes no sense, or one name given twice where one is meant, is an error that carries the
field's name; a list with such an error is empty, never unfiltered.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import django_filters as df
from django.db.models import F, OrderBy, QuerySet

from resources import moments
from resources.filter_fields import StrictForm
from resources.keyset import column
from resources.moments import Columns, Span


class StrictFilterSet(df.FilterSet):
    """A FilterSet that refuses what it does not know, and orders stably.

    orders: public name → column to sort by. default_order: names, each with "-" for descending. Every order ends with the
    id, so that two pages never show one row twice; rows without a value come last in both directions.
    """

    orders: ClassVar[dict[str, str]] = {}
    #: Column of `orders` that no table has → what it is made of; it may be null. Asked of the database where it is sorted by.
    computed: ClassVar[dict[str, Any]] = {}
    default_order: ClassVar[tuple[str, ...]] = ()
    #: From when to when a row was: the list can then be asked for a time (`moments`).
    period: ClassVar[Columns | None] = None
    #: The filter that chooses between what is and what was: while a time is asked for, it keeps both.
    whether_over: ClassVar[str] = ""
    #: Filters and orders that go by what is now, so that they cannot be asked together with a time.
    of_now: ClassVar[frozenset[str]] = frozenset()
    #: Parameters of a page or of REST that are no filters.
    other_names: ClassVar[frozenset[str]] = frozenset({"page_size", "cursor", "format"})

    class Meta:
        form = StrictForm

    def __init__(self, data: Any = None, queryset: Any = None, **options: Any) -> None:
        super().__init__({} if data is None else data, queryset, **options)

    @classmethod
    def get_filters(cls) -> Any:
        return super().get_filters() | (moments.filters() if cls.period else {})

    @property
    def form(self) -> Any:
        form = super().form
        form.of_now, form.whether_over = self.of_now, self.whether_over
        form.orders, form.other_names = tuple(self.orders), self.other_names
        return form

    @property
    def order(self) -> tuple[str, ...]:
        """The order in force, as names with "-" for descending; the default when none was asked for or it was refused."""
        asked: tuple[str, ...] = self.form.order if self.is_valid() else ()
        return asked or self.default_order

    @property
    def qs(self) -> Any:
        """Filtered, not ordered: see `ordered`. Empty when a filter was refused."""
        return super().qs if self.is_valid() else self.queryset.none()

    @cached_property
    def span(self) -> Span | None:
        """The time that is asked for; None for now."""
        return moments.span_of(self.form.cleaned_data) if self.period and self.is_valid() else None

    def filter_queryset(self, queryset: Any) -> Any:
        return super().filter_queryset(self.in_time(queryset))

    def in_time(self, rows: Any) -> Any:
        """The rows of what was at the time that is asked for."""
        return rows if self.span is None or self.period is None else rows.filter(self.span.during(self.period))

    def ordered(self, first: Sequence[str] = ()) -> Any:
        """first: columns that come before the order that is asked for."""
        return self.with_computed(self.qs, first).order_by(*self.order_by(first))

    def with_computed(self, rows: Any, first: Sequence[str] = ()) -> Any:
        """The rows with what they are sorted by and no table has."""
        wanted = {*first, *(self.orders[name.removeprefix("-")] for name in self.order)} & self.computed.keys()
        return rows.annotate(**{path: self.computed[path] for path in wanted}) if wanted else rows

    def order_by(self, first: Sequence[str] = ()) -> list[OrderBy]:
        """The order as expressions, nulls last, the id at the end. Within one cluster, ordering by cluster says nothing."""
        alone = len(self.form.cleaned_data.get("cluster") or ()) == 1 if self.is_valid() else False
        wanted = {self.orders[name.removeprefix("-")]: name.startswith("-") for name in self.order}
        paths = {path: wanted.get(path, False) for path in first} | wanted
        descending = bool(self.order) and self.order[-1].startswith("-")
        made = [self._order_term(path, down) for path, down in paths.items() if not (alone and path == "cluster_id")]
        return [*made, OrderBy(F("id"), descending=descending)]

    def _order_term(self, path: str, descending: bool) -> OrderBy:
        nullable = path in self.computed or _may_be_null(self.queryset, path)
        return OrderBy(F(path), descending=descending, nulls_last=nullable or None)


def _may_be_null(rows: QuerySet[Any], path: str) -> bool:
    """Whether a column of the rows can be null. An annotation of `querysets` never is."""
    return path not in rows.query.annotations and column(rows.model, path.removesuffix("_id"))[1]
