"""Webhook: CloudEvents 1.0 as structured JSON, signed as Standard Webhooks says.

Sources: github.com/cloudevents/spec (1.0.2, JSON format, HTTP binding), github.com/standard-webhooks/standard-webhooks (spec).
A receiver checks the signature over `id.timestamp.body`, refuses timestamps that are 5 min off, and drops an id that it has.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from notifications.channels import checks
from notifications.channels.answers import by_status
from notifications.channels.engine import Answer, Call, Kind, Line, Message, Setting
from notifications.channels.lines import NAME, SENTENCE, TITLE, fitted, json_body, rfc3339
from notifications.channels.text import printable
from wording.said import gettext_noop

TYPE = "io.gpudash.notification.v1"
#: Standard Webhooks asks for less than 20 kB.
_MOST_BYTES = 19_999
_MOST_LINES = 50


def requests(message: Message, settings: Mapping[str, str], now: datetime) -> Sequence[Call]:
    """One signed request. now: of the attempt."""
    body = fitted(message, _MOST_BYTES, _event, _MOST_LINES)
    stamp = str(int(now.timestamp()))
    headers = {
        "content-type": "application/cloudevents+json; charset=utf-8",
        "webhook-id": message.id,
        "webhook-timestamp": stamp,
        "webhook-signature": signatures(settings["secrets"], message.id, stamp, body),
    }
    return [Call(url=settings["url"], body=body, headers=headers)]


def signatures(secrets: str, message_id: str, stamp: str, body: bytes) -> str:
    """One for each secret, with blanks between: a receiver takes the message when one of them is right."""
    signed = b".".join((message_id.encode(), stamp.encode(), body))
    return " ".join(_signature(checks.signing_key(secret), signed) for secret in checks.words(secrets))


def _signature(key: bytes, signed: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()


def _event(message: Message) -> bytes:
    event: dict[str, Any] = {
        "specversion": "1.0",
        "id": message.id,
        "source": message.source,
        "type": TYPE,
        "time": rfc3339(message.at),
        "datacontenttype": "application/json",
    }
    if len(message.lines) == 1 and not message.hidden:
        event["subject"] = printable(message.lines[0].topic, 200)
    data = {
        "title": printable(message.title, TITLE),
        "link": message.link,
        "test": message.test,
        "lines": [_line(line) for line in message.lines],
        "hidden": message.hidden,
    }
    return json_body(event | {"data": data})


def _line(line: Line) -> Mapping[str, Any]:
    return {
        "topic": printable(line.topic, 200),
        "change": line.change,
        "severity": line.severity,
        "code": printable(line.code, NAME),
        "text": printable(line.text, SENTENCE),
        "count": line.count,
        "new": line.new,
        "cluster": printable(line.cluster, NAME),
        "places": [printable(place, 2 * NAME) for place in line.places[:10]],
        "link": line.link,
        "since": rfc3339(line.since),
        "until": rfc3339(line.until) if line.until else None,
    }


def judge(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """The status decides: any 2xx is delivered, 410 ends the channel."""
    return by_status(status, headers, body)


KIND = Kind(
    name="webhook",
    title=gettext_noop("Webhook"),
    settings=(
        Setting(
            name="url",
            title=gettext_noop("Address"),
            help=gettext_noop("Receives CloudEvents 1.0 as JSON. Any 2xx status means delivered."),
            check=checks.any_address,
        ),
        Setting(
            name="secrets",
            title=gettext_noop("Signing secrets"),
            help=gettext_noop("Standard Webhooks: whsec_ and base64. Enter the new and the old one while you rotate."),
            secret=True,
            check=checks.each(checks.signing_secret, 4),
        ),
    ),
    requests=requests,
    judge=judge,
    repeatable=True,
    per_minute=60,
    most_lines=_MOST_LINES,
)
