"""PagerDuty Events API v2: one incident for each topic, opened by its beginning and closed by its end.

Severities have the same names there, and keep them: error, warning, info. What is *critical* for a team is a rule of its service.
Source: developer.pagerduty.com (Events API v2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from notifications.channels import checks
from notifications.channels.answers import by_status
from notifications.channels.engine import Answer, Call, Change, Kind, Line, Message, Setting
from notifications.channels.lines import JSON, NAME, PLACES, json_body, rfc3339
from notifications.channels.text import address, key, plain
from wording.said import gettext_noop

#: Region of the service → where it takes events.
HOSTS = {"us": "https://events.pagerduty.com", "eu": "https://events.eu.pagerduty.com"}
_KEY, _SUMMARY = 255, 1_024


def requests(message: Message, settings: Mapping[str, str], now: datetime) -> Sequence[Call]:
    """One request for each line. A test opens an incident and closes it."""
    url = f"{HOSTS[settings.get('region') or 'us']}/v2/enqueue"
    events = _test(message) if message.test else [_event(message, line) for line in message.lines]
    return [
        Call(url=url, body=json_body({"routing_key": settings["routing_key"], **event}), headers=JSON)
        for event in events
    ]


def _event(message: Message, line: Line) -> Mapping[str, Any]:
    dedup = key(line.topic, _KEY)
    if line.change is Change.ENDED:
        return {"event_action": "resolve", "dedup_key": dedup}
    places = [plain(place, 2 * NAME) for place in line.places]
    payload = {
        "summary": plain(line.text, _SUMMARY),
        "source": plain(line.cluster, NAME) or message.source,
        "severity": line.severity,
        "timestamp": rfc3339(line.since),
        "class": plain(line.code, NAME),
        "custom_details": {"affected": line.count, "new": line.new, "places": places},
    }
    payload |= {"component": ", ".join(places[:PLACES])} if places else {}
    payload |= {"group": plain(line.cluster, NAME)} if line.cluster else {}
    return _trigger(message, dedup, payload, line.link)


def _trigger(message: Message, dedup: str, payload: Mapping[str, Any], link: str) -> Mapping[str, Any]:
    event: dict[str, Any] = {"event_action": "trigger", "dedup_key": dedup, "payload": payload, "client": "gpudash"}
    event |= {"client_url": source} if (source := address(message.source)) else {}
    return event | ({"links": [{"href": href, "text": "gpudash"}]} if (href := address(link)) else {})


def _test(message: Message) -> Sequence[Mapping[str, Any]]:
    dedup = key(f"test:{message.id}", _KEY)
    payload = {"summary": plain(message.title, _SUMMARY), "source": message.source, "severity": "info"}
    return [_trigger(message, dedup, payload, message.link), {"event_action": "resolve", "dedup_key": dedup}]


def judge(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """The status decides: 202 is delivered, 400 final, 429 too many."""
    return by_status(status, headers, body)


KIND = Kind(
    name="pagerduty",
    title=gettext_noop("PagerDuty"),
    settings=(
        Setting(
            name="routing_key",
            title=gettext_noop("Integration key"),
            help=gettext_noop("PagerDuty service › Integrations › Events API V2."),
            secret=True,
            check=checks.pattern(r"[A-Za-z0-9]{32}", "0123456789abcdef0123456789abcdef"),
        ),
        Setting(name="region", title=gettext_noop("Region"), default="us", choices=("us", "eu")),
    ),
    requests=requests,
    judge=judge,
    per_topic=True,
    repeatable=True,
    per_minute=100,
    most_lines=1,
)
