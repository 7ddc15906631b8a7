"""What the endpoints have in common: refusals as problem details, the idempotency key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import APIException, NotFound, PermissionDenied, ValidationError
from rest_framework.request import Request

from api.frame.bodies import Conflict
from validations.campaigns import WrongState
from validations.certificate.issue import NotIssued, OutOfScope
from validations.planning import Refused
from validations.reparse import NotEnded
from validations.requests import Busy, KeyReused

#: The header of an answer that tells of something made.
MADE_AT = OpenApiParameter(
    "Location",
    str,
    OpenApiParameter.HEADER,
    required=True,
    response=[200, 201],
    description="URL of the created object.",
)


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
    except OutOfScope as error:
        raise PermissionDenied(str(error)) from None
    except NotIssued as error:
        raise Conflict(str(error)) from None
    except KeyReused as error:
        raise Unprocessable(str(error)) from None


def check_text(**fields: str) -> None:
    """No name in a cluster has a null character, and a database refuses to look for one."""
    wrong = {name: ["Must not contain a null character."] for name, text in fields.items() if "\x00" in text}
    if wrong:
        raise ValidationError(wrong)


def key_of(request: Request) -> str:
    """The header Idempotency-Key, "" without one."""
    return str(request.headers.get("Idempotency-Key", ""))


def no_such(what: str, name: str) -> NotFound:
    return NotFound(f"There is no {what} {name[:64]!r}. /api/v1/{what}s lists them.")
