"""Requests that make no sense, and things that are not there: pages in the style of the house that say what to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import ParamSpec

from django.core.exceptions import BadRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _

P = ParamSpec("P")
Errors = Mapping[str, Sequence[str]]


class BadParameter(BadRequest):
    """Parameters of a page that make no sense. errors: parameter → what is wrong with it.

    back: (title, url) of where to go on, for a page that is nothing without its parameters.
    """

    def __init__(self, errors: Errors, back: tuple[str, str] | None = None) -> None:
        super().__init__("; ".join(f"{name}: {' '.join(texts)}" for name, texts in errors.items()))
        self.errors, self.back = errors, back


class NotThere(Http404):
    """A thing that is not there. what: the words for it; close: (title, url) of what was perhaps meant."""

    def __init__(self, what: str, why: str = "", close: Sequence[tuple[str, str]] = ()) -> None:
        super().__init__(what)
        self.what, self.why, self.close = what, why, close


def answered(view: Callable[P, HttpResponseBase]) -> Callable[P, HttpResponseBase]:
    """The view, its refusals turned into pages of status 400 and 404."""

    @wraps(view)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        request = args[0]
        assert isinstance(request, HttpRequest)
        try:
            return view(*args, **kwargs)
        except BadParameter as error:
            return _bad_request(request, error)
        except NotThere as error:
            return _not_there(request, error)

    return wrapped


def _bad_request(request: HttpRequest, error: BadParameter) -> HttpResponse:
    title, url = error.back or (_("Remove filters"), request.path)
    context = {
        "errors": [(name, " ".join(texts)) for name, texts in error.errors.items()],
        "heading": _("Invalid filter") if error.back is None else _("Invalid address"),
        "title": title,
        "url": url,
    }
    return render(request, "400.html", context, status=400)


def _not_there(request: HttpRequest, error: NotThere) -> HttpResponse:
    return render(request, "404.html", {"what": error.what, "why": error.why, "close": error.close}, status=404)
