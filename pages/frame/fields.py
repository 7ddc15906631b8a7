"""The fields of a list's filter form, and what stands in them. Knows requests, no particular list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from pages.frame.links import state_url
from pages.frame.refusals import Errors
from pages.frame.table import Text
from pages.frame.worded import named

_ALL = gettext_lazy("All")


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
class Entry:
    """A field of the form with its value. shown: the value as people read it. url: the list without it."""

    name: str
    label: str
    value: str
    options: list[tuple[str, str]]
    placeholder: str
    wide: bool
    rest: str
    #: What is wrong with the value; "" when nothing is.
    error: str
    shown: str = ""
    url: str = ""


def entries_of(request: HttpRequest, fields: Sequence[Field], errors: Errors) -> list[Entry]:
    """The form's fields; a select whose only choice is what there is anyway is left out."""
    made = [(field, _entry(request, field, " ".join(errors.get(field.name, ())))) for field in fields]
    return [one for field, one in made if one.value or not callable(field.options) or len(one.options) > 1]


def _entry(request: HttpRequest, field: Field, error: str) -> Entry:
    offered = field.options() if callable(field.options) else field.options
    options = [(value, str(title)) for value, title in offered]
    value = request.GET.get(field.name, "")
    if options and value and value not in dict(options):
        options.append((value, value))  # a wrong one too: what was asked stands in the form
    titles = dict(options)
    shown = ", ".join(titles.get(one, one) for one in request.GET.getlist(field.name) if one)
    return Entry(
        name=field.name,
        label=str(field.label),
        value=value,
        options=options,
        placeholder=str(field.placeholder),
        wide=field.wide,
        rest=str(field.rest),
        error=error,
        shown=shown if options else named(shown),
        url=state_url(request, **{field.name: None}),
    )
