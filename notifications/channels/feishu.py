"""Feishu and Lark group robot: a card, signed in the body. It answers 200 to a refusal; `code` decides.

All names are `plain_text`, in which neither Markdown nor <at> is read. The host of the address decides between Feishu and Lark.
Source: open.feishu.cn (custom bots); numbers of errors are from practice, not from a live service.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from notifications.channels import checks
from notifications.channels.answers import answer, by_code, fields, words
from notifications.channels.engine import Answer, Call, Kind, Line, Message, Outcome, Setting, Severity
from notifications.channels.lines import JSON, TITLE, fitted, head, json_body, more, opens, severity_of, told
from notifications.channels.text import address, plain
from wording.said import gettext_noop

#: Feishu takes 20 KB.
_MOST_BYTES = 19_000
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "orange", Severity.INFO: "blue", None: "green"}
_LATER = {11_232: 60.0}
#: A bad request; some of them are too many.
_BAD = 9_499
_HINTS = {
    19_021: gettext_noop("Check the robot's signing secret and the clock of this host."),
    19_022: gettext_noop("Add the address of this host to the robot's IP list."),
    19_024: gettext_noop("Enter one of the robot's keywords."),
}


def requests(message: Message, settings: Mapping[str, str], now: datetime) -> Sequence[Call]:
    """One request. now: of the signature, which holds for an hour."""
    keyword, signature = settings.get("keyword", ""), signed(settings.get("secret", ""), now)

    def build(fits: Message) -> bytes:
        return json_body({**signature, "msg_type": "interactive", "card": _card(fits, keyword)})

    return [Call(url=settings["url"], body=fitted(message, _MOST_BYTES, build), headers=JSON)]


def signed(secret: str, now: datetime) -> Mapping[str, str]:
    """Fields of the body; none for a robot without a secret. The key is the text, and what is signed is empty."""
    if not secret:
        return {}
    stamp = str(int(now.timestamp()))
    sign = hmac.digest(f"{stamp}\n{secret}".encode(), b"", hashlib.sha256)
    return {"timestamp": stamp, "sign": base64.b64encode(sign).decode()}


def _card(message: Message, keyword: str) -> Mapping[str, Any]:
    colour = _COLOURS[severity_of(message)] if message.lines else "blue"
    elements = [_line(message, line) for line in message.lines]
    elements += [{"tag": "div", "text": _plain(text)} for text in (more(message), keyword) if text]
    if address(message.link):
        elements.append({"tag": "action", "actions": [_button("gpudash", message.link)]})
    return {
        "config": {"wide_screen_mode": True},
        "header": {"title": _plain(plain(message.title, TITLE)), "template": colour},
        "elements": elements,
    }


def _line(message: Message, line: Line) -> Mapping[str, Any]:
    text = f"{head(message, line)}: {told(message, line)}"
    link = {"extra": _button(opens(message), line.link)} if address(line.link) else {}
    return {"tag": "div", "text": _plain(text), **link}


def _plain(text: str) -> Mapping[str, Any]:
    return {"tag": "plain_text", "content": text}


def _button(text: str, url: str) -> Mapping[str, Any]:
    return {"tag": "button", "text": _plain(text), "type": "default", "url": address(url)}


def judge(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """`code` decides."""
    found = by_code("code", status, headers, body, _LATER, _HINTS)
    if found.outcome is Outcome.REFUSED and fields(body).get("code") == _BAD and _too_many(body):
        return answer(Outcome.LATER, found.text, 60.0)
    return found


def _too_many(body: bytes) -> bool:
    return "too many" in words(body).lower()


KIND = Kind(
    name="feishu",
    title=gettext_noop("Feishu or Lark"),
    settings=(
        Setting(
            name="url",
            title=gettext_noop("Webhook address"),
            help=gettext_noop("Feishu or Lark group › Settings › Bots › Custom bot."),
            secret=True,
            check=checks.https_address(("open.feishu.cn", "open.larksuite.com"), "/open-apis/bot/v2/hook/"),
        ),
        Setting(
            name="secret",
            title=gettext_noop("Signing secret"),
            help=gettext_noop("Empty if the robot does not check signatures."),
            secret=True,
            required=False,
            check=checks.pattern(r"[A-Za-z0-9_-]{4,200}", "1a2b3c…"),
        ),
        Setting(
            name="keyword",
            title=gettext_noop("Keyword"),
            help=gettext_noop("Added to each message. Empty if the robot does not check keywords."),
            required=False,
            check=checks.short_line,
        ),
    ),
    requests=requests,
    judge=judge,
    per_minute=60,
)
