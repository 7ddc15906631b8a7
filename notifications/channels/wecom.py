"""WeCom group robot: Markdown of at most 4,096 bytes. It answers 200 to a refusal; `errcode` decides.

Source: developer.work.weixin.qq.com (group robots); numbers of errors are from practice, not from a live service.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from notifications.channels import checks
from notifications.channels.answers import by_code
from notifications.channels.engine import Answer, Call, Kind, Line, Message, Setting
from notifications.channels.lines import JSON, TITLE, fitted, head, json_body, more, opens, told
from notifications.channels.text import cut_bytes, inert, markdown_link
from wording.said import gettext_noop

#: Bytes of the content: a Chinese character has three.
_MOST_BYTES = 4_096
_LATER = {45_009: 60.0, -1: 60.0}
_HINTS = {93_000: gettext_noop("The robot's key is unknown. Copy the address again.")}


def requests(message: Message, settings: Mapping[str, str], now: datetime) -> Sequence[Call]:
    """One request."""
    content = fitted(message, _MOST_BYTES, lambda fits: _text(fits).encode()).decode()
    # Without any line it may still be too long by its link.
    markdown = {"content": cut_bytes(content, _MOST_BYTES)}
    return [Call(url=settings["url"], body=json_body({"msgtype": "markdown", "markdown": markdown}), headers=JSON)]


def _text(message: Message) -> str:
    title = f"**{markdown_link(inert(message.title, TITLE), message.link)}**"
    return "\n\n".join(filter(None, (title, *(_line(message, line) for line in message.lines), more(message))))


def _line(message: Message, line: Line) -> str:
    link = f" · {markdown_link(opens(message), line.link)}" if line.link else ""
    return f"**{head(message, line)}:** {told(message, line, inert)}{link}"


def judge(status: int, headers: Mapping[str, str], body: bytes) -> Answer:
    """`errcode` decides."""
    return by_code("errcode", status, headers, body, _LATER, _HINTS)


KIND = Kind(
    name="wecom",
    title=gettext_noop("WeCom"),
    settings=(
        Setting(
            name="url",
            title=gettext_noop("Webhook address"),
            help=gettext_noop("WeCom group › Group robots › Webhook address."),
            secret=True,
            check=checks.query_has("key", checks.https_address(("qyapi.weixin.qq.com",), "/cgi-bin/webhook/send")),
        ),
    ),
    requests=requests,
    judge=judge,
    per_minute=18,
)
