"""Errors as problem details (RFC 9457): type, title, status, a detail that says what to do, and errors by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from django.http import Http404, HttpResponse
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.views import set_rollback

CONTENT_TYPE = "application/problem+json"


class FieldError(msgspec.Struct, frozen=True):
    """Problem with one field: a filter, a parameter or a member of the body."""

    field: str
    detail: str


class Problem(msgspec.Struct, frozen=True):
    """The body. `about:blank`: the title only repeats the status; see `detail`."""

    title: str
    status: int
    detail: str
    type: str = "about:blank"
    errors: tuple[FieldError, ...] = ()


def problem(status: int, detail: str, errors: Iterable[FieldError] = ()) -> HttpResponse:
    body = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, errors=tuple(errors))
    return HttpResponse(msgspec.json.encode(body, enc_hook=str), status=status, content_type=CONTENT_TYPE)


def problem_response(exception: Exception, context: Mapping[str, Any]) -> HttpResponse | None:
    """EXCEPTION_HANDLER of the REST framework. None lets an unexpected error through: it is logged and becomes a 500."""
    if isinstance(exception, Http404):
        exception = exceptions.NotFound(str(exception) or None)
    if not isinstance(exception, exceptions.APIException):
        return None
    set_rollback()
    errors = tuple(_field_errors(exception.detail)) if isinstance(exception, exceptions.ValidationError) else ()
    response = problem(exception.status_code, _detail(exception, errors), errors)
    if header := getattr(exception, "auth_header", None):
        response.headers["WWW-Authenticate"] = header
    if wait := getattr(exception, "wait", None):
        response.headers["Retry-After"] = str(int(wait))
    return response


def _detail(exception: exceptions.APIException, errors: tuple[FieldError, ...]) -> str:
    if errors:
        return " ".join(_sentence(f"{error.field}: {error.detail}") for error in errors)
    return str(exception.detail)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _field_errors(detail: Any, name: str = "") -> list[FieldError]:
    if isinstance(detail, Mapping):
        return [
            one for key, value in detail.items() for one in _field_errors(value, f"{name}.{key}" if name else str(key))
        ]
    if isinstance(detail, (list, tuple)):
        return [one for value in detail for one in _field_errors(value, name)]
    return [FieldError(name or "body", str(detail))]


def bad_fields(errors: Mapping[str, Iterable[str]]) -> exceptions.ValidationError:
    """A 400 that names the fields."""
    return exceptions.ValidationError({name: [str(text) for text in texts] for name, texts in errors.items()})


def only_known(request: Request, known: Iterable[str] = ()) -> None:
    """A 400 that names the parameters of the address that are none of these. `format` is DRF's own."""
    names = sorted({*known} - {"format"})
    there = f"There are: {', '.join(names)}." if names else "There are none."
    if unknown := sorted(request.query_params.keys() - {*names, "format"}):
        raise bad_fields({name[:64]: [f"There is no parameter of this name. {there}"] for name in unknown})


def must_be(words: Iterable[str]) -> str:
    """What is said of a value that is none of these."""
    first, *more = words
    return f"Must be one of: {', '.join((first, *more))}." if more else f"Must be {first}."
