"""Prometheus Alertmanager: what holds is sent to every replica each minute, and its end once.

An alert is known by its labels, so these hold nothing that changes from its beginning to its end. Without `endsAt` Alertmanager
resolves it after its `resolve_timeout` (5 min). Grouping, silences and repeats are Alertmanager's.
Source: Alertmanager's api/v2/openapi.yaml. Its own templates do not escape, so texts are inert for Slack and Markdown.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from notifications.channels import checks
from notifications.channels.answers import by_status
from notifications.channels.engine import Answer, Call, Change, Kind, Line, Message, Setting
from notifications.channels.lines import JSON, NAME, SENTENCE, TITLE, json_body, rfc3339
from notifications.channels.text import address, inert, key
from wording.said import gettext_noop

#: All that holds is in one message: what is hidden would be resolved.
_MOST_LINES = 1_000
#: Together they are waited for less than a delivery may take.
_MOST_REPLICAS = 6
#: A test's alert ends so.
_TEST = timedelta(minutes=1)


def requests(message: Message, settings: Mapping[str, str], now: datetime) -> Sequence[Call]:
    """The same request to each replica."""
    alerts = [_test(message, now)] if message.test else [_alert(line, now) for line in message.lines[:_MOST_LINES]]
    body, headers = json_body(alerts), {**JSON, **_authorization(settings)}
    return [
        Call(url=f"{replica.rstrip('/')}/api/v2/alerts", body=body, headers=headers)
        for replica in checks.words(settings["urls"])
    ]


def _authorization(settings: Mapping[str, str]) -> Mapping[str, str]:
    user, secret = settings.get("user", ""), settings.get("secret", "")
    if user:
        return {"authorization": "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()}
    return {"authorization": f"Bearer {secret}"} if secret else {}


def _alert(line: Line, now: datetime) -> Mapping[str, Any]:
    # In the future it would still fire, before its start it would be refused.
    ended = {"endsAt": rfc3339(max(min(line.until or now, now), line.since))} if line.change is Change.ENDED else {}
    labels = {
        "alertname": alert_name(line.code),
        "severity": str(line.severity),
        "cluster": inert(line.cluster, NAME),
        "code": inert(line.code, NAME),
        "topic": key(line.topic, 200),
    }
    annotations = {
        "summary": inert(line.text, SENTENCE),
        "affected": str(line.count),
        "places": ", ".join(inert(place, 2 * NAME) for place in line.places[:10]),
    }
    return {
        "labels": {name: value for name, value in labels.items() if value},
        "annotations": {name: value for name, value in annotations.items() if value},
        "startsAt": rfc3339(line.since),
        **ended,
        **_generator(line.link),
    }


def alert_name(code: str) -> str:
    """xid-79 → GpudashXid79."""
    parts = re.findall(r"[A-Za-z0-9]+", code[:NAME])
    return "Gpudash" + ("".join(part[:1].upper() + part[1:] for part in parts) or "Notification")


def _test(message: Message, now: datetime) -> Mapping[str, Any]:
    return {
        "labels": {"alertname": "GpudashTest", "severity": "info", "topic": key(f"test:{message.id}", 200)},
        "annotations": {"summary": inert(message.title, TITLE)},
        "startsAt": rfc3339(now),
        "endsAt": rfc3339(now + _TEST),
        **_generator(message.link),
    }


def _generator(link: str) -> Mapping[str, str]:
    return {"generatorURL": url} if (url := address(link)) else {}


def judge(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """The status decides."""
    return by_status(status, headers, body)


KIND = Kind(
    name="alertmanager",
    title=gettext_noop("Alertmanager"),
    settings=(
        Setting(
            name="urls",
            title=gettext_noop("Addresses of all replicas"),
            help=gettext_noop("Separated by blanks, each without /api/v2."),
            check=checks.each(checks.any_address, _MOST_REPLICAS),
        ),
        Setting(
            name="user",
            title=gettext_noop("User"),
            help=gettext_noop("For basic authentication."),
            required=False,
            check=checks.pattern(r"[!-9;-~]{1,100}", "gpudash"),
        ),
        Setting(
            name="secret",
            title=gettext_noop("Password or token"),
            help=gettext_noop("With a user: the password. Without: a bearer token."),
            secret=True,
            required=False,
            check=checks.header_text,
        ),
    ),
    requests=requests,
    judge=judge,
    repeatable=True,
    standing=True,
    per_minute=20,
    most_lines=_MOST_LINES,
)
