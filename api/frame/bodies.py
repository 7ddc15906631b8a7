"""Bodies read strictly into structs, and the answer where something else stands in the way."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request

Draft = TypeVar("Draft", bound=msgspec.Struct)


class Conflict(APIException):
    """409: something else stands in the way; the detail names it."""

    status_code = 409


def body_of(request: Request, kind: type[Draft]) -> Draft:
    """The body as a struct; 400 names the field that is wrong or not known."""
    data = request.data
    if not isinstance(data, dict):
        raise ValidationError({"body": ["Must be a JSON object."]})
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
