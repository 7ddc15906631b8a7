"""Golden requests: what each message becomes at each kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from notifications.channels.engine import Call, Kind, Mail
from tests.notifications.channels.messages import MESSAGES, NOW, SETTINGS

GOLDEN = Path(__file__).parent / "golden"


def requests_of(kind: Kind) -> Mapping[str, Any]:
    """By message. Bodies in JSON stand as what they are, mails as their lines."""
    return {
        name: [shown(request) for request in kind.requests(message, SETTINGS[kind.name], NOW)]
        for name, message in MESSAGES.items()
    }


def shown(request: Call | Mail) -> Mapping[str, Any]:
    if isinstance(request, Call):
        return {
            "url": request.url,
            "method": request.method,
            "headers": dict(request.headers),
            "json": json.loads(request.body),
        }
    fields = ("host", "port", "security", "user", "password", "sender", "recipients")
    envelope = {name: getattr(request, name) for name in fields}
    return {
        **envelope,
        "recipients": list(request.recipients),
        "content": request.content.decode("ascii").split("\r\n"),
    }


def path(kind: Kind) -> Path:
    return GOLDEN / f"{kind.name}.json"
