"""DingTalk group robot: Markdown, signed in the query. It answers 200 to a refusal; `errcode` decides.

Source: open.dingtalk.com (custom robots); numbers of errors are from practice, not from a live service.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import datetime
from urllib.parse import quote

from notifications.channels import checks
from notifications.channels.answers import by_code
from notifications.channels.engine import Answer, Call, Kind, Line, Message, Setting
from notifications.channels.lines import JSON, TITLE, fitted, head, json_body, more, opens, told
from notifications.channels.text import inert, markdown_link
from wording.said import gettext_noop

#: DingTalk takes 20,000 bytes.
_MOST_BYTES = 18_000
#: One line feed makes no line there.
PARAGRAPH = "\n\n"
#: Too many messages: the robot is silent for 10 min. -1: the service has too much to do.
_LATER = {130_101: 600.0, -1: 60.0}
_HINTS = {310_000: gettext_noop("Check the robot's signing secret, keyword and IP list.")}


def requests(message: Message, settings: Mapping[str, str], now: datetime) -> Sequence[Call]:
    """One request. now: of the signature, which holds for an hour."""
    keyword = settings.get("keyword", "")

    def build(fits: Message) -> bytes:
        text = _text(fits)
        text += "" if keyword in text else f"\n\n{keyword}"
        markdown = {"title": inert(message.title, TITLE), "text": text}
        return json_body({"msgtype": "markdown", "markdown": markdown, "at": {"atMobiles": [], "isAtAll": False}})

    url = settings["url"] + signed(settings.get("secret", ""), now)
    return [Call(url=url, body=fitted(message, _MOST_BYTES, build), headers=JSON)]


def signed(secret: str, now: datetime) -> str:
    """What is added to the address; "" for a robot without a secret."""
    if not secret:
        return ""
    stamp = str(int(now.timestamp() * 1000))
    sign = hmac.digest(secret.encode(), f"{stamp}\n{secret}".encode(), hashlib.sha256)
    return f"&timestamp={stamp}&sign={quote(base64.b64encode(sign), safe='')}"


def _text(message: Message) -> str:
    title = f"#### {markdown_link(inert(message.title, TITLE), message.link)}"
    return PARAGRAPH.join(filter(None, (title, *(_line(message, line) for line in message.lines), more(message))))


def _line(message: Message, line: Line) -> str:
    link = f" · {markdown_link(opens(message), line.link)}" if line.link else ""
    return f"**{head(message, line)}:** {told(message, line, inert, PARAGRAPH)}{link}"


def judge(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """`errcode` decides."""
    return by_code("errcode", status, headers, body, _LATER, _HINTS)


KIND = Kind(
    name="dingtalk",
    title=gettext_noop("DingTalk"),
    settings=(
        Setting(
            name="url",
            title=gettext_noop("Webhook address"),
            help=gettext_noop("DingTalk group › Group settings › Robots › Custom."),
            secret=True,
            check=checks.query_has("access_token", checks.https_address(("oapi.dingtalk.com",), "/robot/send")),
        ),
        Setting(
            name="secret",
            title=gettext_noop("Signing secret"),
            help=gettext_noop("Starts with SEC. Empty if the robot does not check signatures."),
            secret=True,
            required=False,
            check=checks.pattern(r"SEC[A-Za-z0-9]{3,200}", "SEC1a2b…"),
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
    per_minute=18,
)
