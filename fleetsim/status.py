"""Errors of the API as Status objects (meta/v1), with the codes and reasons that clients branch on."""

from __future__ import annotations

from typing import Any

import msgspec


class ApiError(Exception):
    """An answer that is not a success: HTTP code, `reason` and message of the Status object that the client gets."""

    def __init__(self, code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details or {}
        self.continue_token = ""

    def status(self) -> dict[str, Any]:
        """The Status object, version v1."""
        metadata = {"continue": self.continue_token} if self.continue_token else {}
        answer: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata,
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if self.details:
            answer["details"] = self.details
        return answer

    def body(self) -> bytes:
        return msgspec.json.encode(self.status())


def success(kind: str, name: str, uid: str) -> dict[str, Any]:
    """The Status object of a deletion that is done."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": {"name": name, "kind": kind, "uid": uid},
    }


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def not_found(plural: str, group: str, name: str) -> ApiError:
    qualified = f"{plural}.{group}" if group else plural
    details = {"name": name, "group": group, "kind": plural} if group else {"name": name, "kind": plural}
    return ApiError(404, "NotFound", f'{qualified} "{name}" not found', details)


def no_such_path() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def method_not_allowed() -> ApiError:
    return ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource")


def already_exists(plural: str, group: str, name: str) -> ApiError:
    qualified = f"{plural}.{group}" if group else plural
    return ApiError(409, "AlreadyExists", f'{qualified} "{name}" already exists', {"name": name, "kind": plural})


def conflict(plural: str, name: str, message: str) -> ApiError:
    return ApiError(409, "Conflict", f'Operation cannot be fulfilled on {plural} "{name}": {message}')


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def too_old(wanted: int, oldest: int) -> ApiError:
    return expired(f"too old resource version: {wanted} ({oldest})")


def too_large(wanted: int, current: int) -> ApiError:
    details = {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}
    return ApiError(504, "Timeout", f"Too large resource version: {wanted}, current: {current}", details)


def invalid(kind: str, group: str, name: str, causes: list[tuple[str, str, str]]) -> ApiError:
    """422: `causes` are (field, reason, message), one for each field that is wrong."""
    qualified = f"{kind}.{group}" if group else kind
    text = ", ".join(f"{field}: {message}" for field, _, message in causes)
    details = {
        "name": name,
        "group": group,
        "kind": kind,
        "causes": [{"reason": reason, "message": message, "field": field} for field, reason, message in causes],
    }
    return ApiError(422, "Invalid", f'{qualified} "{name}" is invalid: {text}', details)
