"""Which answers an operation has besides its success, as its view and its address say: nothing else is answered.

Components of the OpenAPI document, one for each status. A mistake of the service (500) is a problem document too, and no part of
what is promised. A method that an address has not (405) is of no operation.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

import msgspec
from drf_spectacular.openapi import AutoSchema

from api.frame.problems import CONTENT_TYPE, Problem

_SCHEMA = "#/components/schemas/{name}"
_RESPONSE = "#/components/responses/{status}"
_WAIT = {"Retry-After": {"description": "seconds until the next attempt", "schema": {"type": "integer"}}}
_SIGN_IN = {"WWW-Authenticate": {"description": "how to authenticate", "schema": {"type": "string"}}}
_ETAG = {"ETag": {"description": "entity tag of the current list", "schema": {"type": "string"}}}
#: Status → why, as docs/rest.md says it.
WHY = {
    400: "Invalid field, filter, parameter or cursor. `errors` names it.",
    401: "Missing, wrong, expired or revoked token.",
    403: "The role has no permission, or a session request has no CSRF token.",
    404: "Not found, or outside the scope. The text names alternatives.",
    406: "The format in `Accept` is not available.",
    409: "Conflict. The text names the cause.",
    413: "The body is too large.",
    415: "Unsupported content type. Use JSON.",
    422: "The Idempotency-Key was used for another request.",
    429: "Too many requests from one address or with one token.",
    503: "The database does not respond.",
}
_HEADERS: dict[int, dict[str, Any]] = {401: _SIGN_IN, 429: _WAIT, 503: _WAIT}
_ALWAYS = (400, 401, 403, 406, 429, 503)


class Operations(AutoSchema):
    """DEFAULT_SCHEMA_CLASS. A view names what only it refuses with, as `409: Problem`."""

    def get_description(self) -> str:  # type: ignore[override]
        """What the method says, else what the view says itself: what its base says is for those who write views."""
        method = getattr(self.view, self.method.lower(), None)
        own = [getattr(method, "__doc__", None), type(self.view).__dict__.get("__doc__")]
        return next((inspect.cleandoc(one) for one in own if one), "")

    def get_operation(self, *args: Any, **kwargs: Any) -> Any:
        operation = super().get_operation(*args, **kwargs)
        if operation is None:
            return None
        answers = operation["responses"]
        own = {int(status) for status in answers if int(status) >= HTTPStatus.BAD_REQUEST}
        if self.method == "GET" and getattr(self.view, "shareable", False):
            answers["304"] = {"description": "Not modified: the list matches `If-None-Match`.", "headers": _ETAG}
        for status in sorted(own | set(_refused(self.method, self.path, operation))):
            answers[str(status)] = {"$ref": _RESPONSE.format(status=status)}
        operation["responses"] = dict(sorted(answers.items()))
        return operation


def _refused(method: str, path: str, operation: dict[str, Any]) -> Iterator[int]:
    yield from _ALWAYS
    if "{" in path:
        yield 404
    if method != "GET":
        yield 413
    if "requestBody" in operation:
        yield 415


def add_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """POSTPROCESSING_HOOKS: the answers that operations point to; whatever is refused is a problem document (RFC 9457)."""
    components = result["components"]
    components["schemas"].update(msgspec.json.schema_components([Problem], ref_template=_SCHEMA)[1])
    content = {CONTENT_TYPE: {"schema": {"$ref": _SCHEMA.format(name="Problem")}}}
    components["responses"] = {str(status): _answer(status, content) for status in WHY}
    return result


def _answer(status: int, content: dict[str, Any]) -> dict[str, Any]:
    headers = {name: {"required": True, **one} for name, one in _HEADERS.get(status, {}).items()}
    return {"description": WHY[status], "content": content} | ({"headers": headers} if headers else {})
