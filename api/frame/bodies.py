"""Bodies read strictly into structs, and the answer where something else stands in the way."""

from __future__ import annotations

import re
from typing import TypeVar

import msgspec
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.request import Request

from kube.decoders import converted

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
        return converted(data, kind)
    except msgspec.ValidationError as error:
        field, text = in_words(str(error))
        raise ValidationError({field: [text]}) from None


#: What msgspec calls a type → what a person does.
_TYPES = {
    "str": "a string",
    "int": "an integer",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_TIME = "Must be a time such as 2026-01-31T12:00:00Z."


def in_words(error: str) -> tuple[str, str]:
    """(field, what is wrong) of a message of msgspec: "Expected `int`, got `str` - at `$.options[...]`"."""
    text, _, path = error.partition(" - at `$")
    field = path.removesuffix("`").removeprefix(".")
    if missing := re.fullmatch(r"Object missing required field `(.+)`", text):
        return f"{field}.{missing[1]}".removeprefix("."), "Required."
    return field or "body", _in_words(text)


def _in_words(text: str) -> str:
    if "datetime" in text:
        return _TIME
    if expected := re.fullmatch(r"Expected `([^`]+)`(?:, got `.+`)?", text):
        kinds = [_TYPES.get(kind, kind) for kind in expected[1].split(" | ")]
        return f"Must be {' or '.join(kinds)}."
    if limit := re.fullmatch(r"Expected `\w+` (.+)", text):
        return f"Must be {limit[1]}."
    return f"{text}."
