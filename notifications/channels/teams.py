"""Microsoft Teams: a workflow that posts an adaptive card. 202 means that the flow took it; whether it posted is not reported.

Names are `TextRun`s, which have no Markdown; a mention needs an entity beside the text, and there is none.
Source: Alertmanager's msteamsv2, learn.microsoft.com (format cards in Teams), adaptivecards.io (RichTextBlock, since 1.2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from notifications.channels import checks
from notifications.channels.answers import by_status
from notifications.channels.engine import Answer, Call, Kind, Line, Message, Setting, Severity
from notifications.channels.lines import JSON, TITLE, fitted, head, json_body, more, opens, severity_of, told
from notifications.channels.text import address, plain
from wording.said import gettext_noop

#: Teams takes 28 KB.
_MOST_BYTES = 28_000
_COLOURS = {Severity.ERROR: "Attention", Severity.WARNING: "Warning", Severity.INFO: "Accent", None: "Good"}


def requests(message: Message, settings: Mapping[str, str], now: datetime) -> Sequence[Call]:
    """One request."""
    return [Call(url=settings["url"], body=fitted(message, _MOST_BYTES, _body), headers=JSON)]


def _body(message: Message) -> bytes:
    colour = _COLOURS[severity_of(message)] if message.lines else "Default"
    title = _run(plain(message.title, TITLE), weight="Bolder", size="Medium", color=colour)
    rows = [_row(title), *(_line(message, line) for line in message.lines)]
    if message.hidden:
        rows.append(_row(_run(more(message), isSubtle=True)))
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.2",
        "body": rows,
        "actions": [_open(message.link, "gpudash")] if address(message.link) else [],
        "msteams": {"width": "full"},
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return json_body({"type": "message", "attachments": [attachment]})


def _line(message: Message, line: Line) -> Mapping[str, Any]:
    runs = [_run(f"{head(message, line)}:", weight="Bolder"), _run(f" {told(message, line, between=' · ')}")]
    if address(line.link):
        runs += [_run(" · "), _run(opens(message), selectAction=_open(line.link, opens(message)))]
    return _row(*runs)


def _row(*runs: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "RichTextBlock", "inlines": list(runs)}


def _run(text: str, **look: object) -> Mapping[str, Any]:
    return {"type": "TextRun", "text": text, **look}


def _open(url: str, title: str) -> Mapping[str, Any]:
    return {"type": "Action.OpenUrl", "title": title, "url": address(url)}


def judge(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """The status decides: 202, or what a flow with an answer of its own gives."""
    return by_status(status, headers, body)


KIND = Kind(
    name="teams",
    title=gettext_noop("Microsoft Teams"),
    settings=(
        Setting(
            name="url",
            title=gettext_noop("Workflow address"),
            help=gettext_noop("Teams › channel › Workflows › “Send webhook alerts to a channel”."),
            secret=True,
            check=checks.query_has(
                "sig", checks.https_address(("*.logic.azure.com", "*.environment.api.powerplatform.com"), "/")
            ),
        ),
    ),
    requests=requests,
    judge=judge,
    per_minute=60,
)
