"""Slack incoming webhook. The body must be exactly "ok"; {"ok": false, "error"} comes with status 200.

Names are `text` elements of rich text, which Slack shows as they are: no mrkdwn, no mention, no link is read in them. Only the line
that notifications show (`text`) has a syntax, of which & < > are the marks; mrkdwn is off for it.
Source: docs.slack.dev (sending messages using incoming webhooks, rich text block), Alertmanager's slack.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any

from notifications.channels import checks
from notifications.channels.answers import answer, by_status, decides, fields, spoken
from notifications.channels.engine import Answer, Call, Kind, Line, Message, Outcome, Setting
from notifications.channels.lines import JSON, TITLE, fitted, head, json_body, more, opens, told
from notifications.channels.text import address, plain
from wording.said import gettext_noop, sentence

#: Blocks of one message: Slack takes 50; one has the title, one the count of hidden topics.
_MOST_LINES = 40
#: Slack cuts texts of 40,000 characters.
_MOST_BYTES = 30_000
#: Statuses of a hook that was removed, or whose channel or app was.
_REMOVED = frozenset({403, 404, 410})
_LATER = frozenset({"rate_limited", "ratelimited", "internal_error", "fatal_error", "service_unavailable"})


def requests(message: Message, settings: Mapping[str, str], now: datetime) -> Sequence[Call]:
    """One request."""
    return [Call(url=settings["url"], body=fitted(message, _MOST_BYTES, _body, _MOST_LINES), headers=JSON)]


def _body(message: Message) -> bytes:
    title = plain(message.title, TITLE)
    blocks = [_block(_link(message.link, title, bold=True)), *(_line(message, line) for line in message.lines)]
    if message.hidden:
        blocks.append(_block(_link(message.link, more(message))))
    return json_body({"text": escape(title, quote=False), "mrkdwn": False, "blocks": blocks})


def _line(message: Message, line: Line) -> Mapping[str, Any]:
    link = (_text(" · "), _link(line.link, opens(message))) if line.link else ()
    return _block(_text(f"{head(message, line)}:", bold=True), _text(f" {told(message, line)}"), *link)


def _block(*elements: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": list(elements)}]}


def _text(text: str, bold: bool = False) -> Mapping[str, Any]:
    return {"type": "text", "text": text} | ({"style": {"bold": True}} if bold else {})


def _link(url: str, text: str, bold: bool = False) -> Mapping[str, Any]:
    if not (target := address(url)):
        return _text(text, bold)
    return {"type": "link", "url": target, "text": text} | ({"style": {"bold": True}} if bold else {})


def judge(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """The body decides; 403, 404 and 410 are of a hook that was removed."""
    if status in _REMOVED:
        return answer(Outcome.GONE, sentence("HTTP {status}: Slack removed this webhook.", status=status))
    if decides(status):
        return by_status(status, headers, body)
    if status == 200 and body == b"ok":
        return answer(Outcome.DELIVERED, sentence("HTTP {status}", status=status))
    error = fields(body).get("error")
    if isinstance(error, str):
        text = sentence("HTTP {status}: {words}", status=status, words=spoken(error))
        return answer(Outcome.LATER if error in _LATER else Outcome.REFUSED, text)
    if not 200 <= status < 300:
        return by_status(status, headers, body)
    return answer(Outcome.REFUSED, sentence("HTTP {status} without “ok”: the answer is not from Slack.", status=status))


KIND = Kind(
    name="slack",
    title=gettext_noop("Slack"),
    settings=(
        Setting(
            name="url",
            title=gettext_noop("Webhook address"),
            help=gettext_noop("Slack app › Incoming Webhooks › Webhook URL."),
            secret=True,
            check=checks.https_address(("hooks.slack.com", "hooks.slack-gov.com"), "/services/"),
        ),
    ),
    requests=requests,
    judge=judge,
    per_minute=30,
    most_lines=_MOST_LINES,
)
