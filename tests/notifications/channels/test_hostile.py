"""Names of a cluster that mean harm: at no kind do they call people, make links, forge headers or move a cursor."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from html.parser import HTMLParser
from typing import Any

import pytest

from notifications.channels import BY_NAME, KINDS
from notifications.channels.engine import Call, Kind, Mail
from notifications.channels.text import cut_bytes, inert, key, plain
from tests.notifications.channels.messages import HOME, HOSTILE, MESSAGES, NOW, SETTINGS, line, message
from tests.notifications.receivers import feishu_shows, markdown_shows, slack_shows

_HARMLESS = {f"{HOME}/findings", f"{HOME}/findings/17"}


def sent(kind: str) -> Any:
    call = BY_NAME[kind].requests(MESSAGES["hostile"], SETTINGS[kind], NOW)[0]
    assert isinstance(call, Call)
    return json.loads(call.body)


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(one)


SHOWN: dict[str, Callable[[], tuple[list[str], list[str]]]] = {
    "slack": lambda: slack_shows(sent("slack")),
    "dingtalk": lambda: markdown_shows(sent("dingtalk")["markdown"]["text"] + sent("dingtalk")["markdown"]["title"]),
    "wecom": lambda: markdown_shows(sent("wecom")["markdown"]["content"]),
    "feishu": lambda: feishu_shows(sent("feishu")),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_a_hostile_name_calls_nobody_and_links_nowhere(kind: str) -> None:
    mentions, links = SHOWN[kind]()
    assert mentions == []
    assert set(links) == _HARMLESS


def test_what_the_tests_see_with_would_see_a_mention() -> None:
    assert markdown_shows(HOSTILE)[0] != []
    assert len(markdown_shows(HOSTILE)[1]) > 3
    assert slack_shows({"text": "<!channel> <https://evil.example|x>", "blocks": []}) == (
        ["!channel"],
        ["https://evil.example|x"],
    )
    assert feishu_shows({"tag": "lark_md", "content": "<at id=all></at>"})[0] == ["<at id=all>"]


def test_teams_has_no_text_that_is_markdown_and_no_mention() -> None:
    content = sent("teams")["attachments"][0]["content"]
    assert {row["type"] for row in content["body"]} == {"RichTextBlock"}
    assert "entities" not in content["msteams"]
    assert set(re.findall(r'"url":"([^"]*)"', json.dumps(content, separators=(",", ":")))) == _HARMLESS


def test_alertmanager_gets_no_marks_for_its_templates() -> None:
    (alert,) = sent("alertmanager")
    for text in texts([alert["labels"], alert["annotations"]]):
        assert markdown_shows(text) == ([], [])
        assert not re.search(r"[<>&`*\[\]]", text)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.name != "email"], ids=lambda kind: kind.name)
def test_no_text_has_a_control_or_a_mark_that_turns_it(kind: Kind) -> None:
    for call in kind.requests(MESSAGES["hostile"], SETTINGS[kind.name], NOW):
        assert isinstance(call, Call)
        for text in texts(json.loads(call.body)):
            assert all(unicodedata.category(one)[0] != "C" or one == "\n" for one in text)


def test_pagerduty_and_mail_make_no_link_of_an_address_in_a_name() -> None:
    found = [text for text in texts(sent("pagerduty")) if "evil.example" in text]
    assert found
    assert not any("://evil" in text for text in found)


class _Html(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.links: set[str | None] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links |= {value for name, value in attrs if name == "href"}


def test_a_mail_gains_no_header_no_tag_and_no_recipient() -> None:
    (mail,) = BY_NAME["email"].requests(MESSAGES["hostile"], SETTINGS["email"], NOW)
    (usual,) = BY_NAME["email"].requests(MESSAGES["one"], SETTINGS["email"], NOW)
    assert isinstance(mail, Mail)
    assert isinstance(usual, Mail)
    read, plain_one = (message_from_bytes(one.content, policy=default) for one in (mail, usual))
    assert isinstance(read, EmailMessage)
    assert read.keys() == plain_one.keys()
    assert mail.recipients == ("ana@example.org", "team@example.org")
    assert "\n" not in read["Subject"]
    text, html = read.get_body(("plain",)), read.get_body(("html",))
    assert text is not None
    assert html is not None
    assert "://evil" not in text.get_content()
    seen = _Html()
    seen.feed(html.get_content())
    assert seen.tags == {"html", "body", "h3", "p", "b", "br", "a"}
    assert seen.links == {*_HARMLESS, f"{HOME}/"}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_link_with_blanks_and_brackets_ends_where_it_ends(kind: Kind) -> None:
    bad = line(link=f"{HOME}/nodes/a) [x](https://evil.example/?q=<b>\"'\r\nBcc: x")
    for call in kind.requests(message(bad), SETTINGS[kind.name], NOW):
        if isinstance(call, Call) and kind.name in ("dingtalk", "wecom"):
            assert not [
                one
                for one in markdown_shows(next(texts(list(json.loads(call.body)["markdown"].values())[::-1])))[1]
                if "evil" in one and ")" in one
            ]
        if isinstance(call, Mail):
            assert b"\r\nBcc" not in call.content


def test_names_that_mean_no_harm_stay_as_they_are() -> None:
    for name in (
        "dgx-a100-01.rack_7.example.com",
        "gpu_node_1",
        "NVIDIA A100-SXM4-80GB",
        "节点 1",
        "10.0.0.1:9400",
        "50 %",
    ):
        assert plain(name, 100) == inert(name, 100) == name


def test_texts_are_cut_between_characters() -> None:
    assert plain("abcdef", 4) == "abc…"
    for most in range(3, 40):
        assert len(cut_bytes("节点 1 报告 Xid 79", most).encode()) <= most
    assert cut_bytes("节点", 6) == "节点"


def test_a_key_of_a_topic_is_the_topic_or_a_digest() -> None:
    assert key("finding:prod/xid-79", 255) == "finding:prod/xid-79"
    assert len(key("x" * 256, 255)) == len(key("a\nb", 255)) == 64
    assert key("a\nb", 255) != key("a b", 255)
