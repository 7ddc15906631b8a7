"""What the endpoints have in common: bodies read strictly, refusals as problem details, the idempotency key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeVar

import msgspec
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.request import Request

from validations.campaigns import WrongState
from validations.planning import Refused
from validations.reparse import NotEnded
from validations.requests import Busy, KeyReused

Draft = TypeVar("Draft", bound=msgspec.Struct)
#: The header of an answer that tells of something made.
MADE_AT = OpenApiParameter(
    "Location",
    str,
    OpenApiParameter.HEADER,
    required=True,
    response=[200, 201],
    description="The address of what was made.",
)


class Conflict(APIException):
    """409: something else stands in the way; the detail names it."""

    status_code = 409


class Unprocessable(APIException):
    """422: the idempotency key belongs to another request."""

    status_code = 422


@contextmanager
def problems() -> Iterator[None]:
    """What the services refuse, as answers of REST."""
    try:
        yield
    except Refused as error:
        raise ValidationError(dict(error.problems)) from None
    except (Busy, NotEnded, WrongState) as error:
        raise Conflict(str(error)) from None
    except KeyReused as error:
        raise Unprocessable(str(error)) from None


def body_of(request: Request, kind: type[Draft]) -> Draft:
    """The body as a struct; 400 names the field that is wrong or not known."""
    data = request.data
    if not isinstance(data, dict):
        raise ValidationError({"body": ["A JSON object is wanted."]})
    unknown = sorted(str(name)[:64] for name in set(data) - set(kind.__struct_fields__))
    if unknown:
        known = ", ".join(kind.__struct_fields__)
        raise ValidationError({name: [f"There is no such field; there are: {known}."] for name in unknown})
    try:
        return msgspec.convert(data, kind)
    except msgspec.ValidationError as error:
        text, _, path = str(error).partition(" - at `$.")
        raise ValidationError({path.rstrip("`") or _missing(text): [f"{text}."]}) from None


def _missing(text: str) -> str:
    """The field in "Object missing required field `suite`"."""
    return text.split("`")[1] if "`" in text else "body"


def check_text(**fields: str) -> None:
    """No name in a cluster has a null character, and a database refuses to look for one."""
    wrong = {name: ["A null character is not taken."] for name, text in fields.items() if "\x00" in text}
    if wrong:
        raise ValidationError(wrong)


def key_of(request: Request) -> str:
    """The header Idempotency-Key, "" without one."""
    return str(request.headers.get("Idempotency-Key", ""))


def no_such(what: str, name: str) -> NotFound:
    return NotFound(f"There is no {what} {name[:64]!r}. /api/v1/{what}s lists them.")
