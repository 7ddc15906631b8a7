"""Each message at each kind. `GOLDEN=rewrite pytest tests/notifications/channels/test_golden.py` writes the requests anew."""

from __future__ import annotations

import json
import os
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest

from notifications.channels import BY_NAME, KINDS
from notifications.channels.engine import Call, Kind, Mail
from tests.notifications.channels.golden_case import path, requests_of, shown
from tests.notifications.channels.messages import MESSAGES, NOW, SETTINGS


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_messages_become_exactly_these_requests(kind: Kind) -> None:
    if os.environ.get("GOLDEN") == "rewrite":
        path(kind).write_text(json.dumps(requests_of(kind), indent=2, ensure_ascii=False) + "\n")
    assert requests_of(kind) == json.loads(path(kind).read_text())


def test_every_kind_is_named_once_and_has_settings_of_the_tests() -> None:
    names = [kind.name for kind in KINDS]
    assert [BY_NAME[name] for name in names] == list(KINDS)
    assert sorted(names) == sorted(SETTINGS)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_same_message_at_the_same_moment_is_the_same_bytes(kind: Kind) -> None:
    once, again = (
        [shown(request) for request in kind.requests(MESSAGES["several"], SETTINGS[kind.name], NOW)] for _ in range(2)
    )
    assert once == again


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_settings_that_are_not_required_may_be_missing(kind: Kind) -> None:
    needed = {one.name: SETTINGS[kind.name][one.name] for one in kind.settings if one.required}
    assert kind.requests(MESSAGES["one"], needed, NOW)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_settings_of_the_tests_pass_their_own_checks(kind: Kind) -> None:
    for setting in kind.settings:
        value = SETTINGS[kind.name].get(setting.name, setting.default)
        if value and setting.check is not None:
            setting.check(value)
        assert not setting.choices or value in setting.choices


def test_a_mail_is_read_as_text_and_html_of_one_thread() -> None:
    (mail,) = BY_NAME["email"].requests(MESSAGES["one"], SETTINGS["email"], NOW)
    assert isinstance(mail, Mail)
    assert b"\n" not in mail.content.replace(b"\r\n", b"")
    read = message_from_bytes(mail.content, policy=default)
    assert isinstance(read, EmailMessage)
    assert read["Auto-Submitted"] == "auto-generated"
    assert read["References"].startswith("<topic.")
    text, html = read.get_body(("plain",)), read.get_body(("html",))
    assert text is not None
    assert html is not None
    assert "Error: prod/dgx-01 · since 2026-11-26 09:25 UTC" in text.get_content()
    assert '<a href="https://gpudash.example.com/findings/17">Open</a>' in html.get_content()


def test_lark_is_the_same_robot_at_another_host() -> None:
    lark = {**SETTINGS["feishu"], "url": "https://open.larksuite.com/open-apis/bot/v2/hook/x"}
    (call,) = BY_NAME["feishu"].requests(MESSAGES["one"], lark, NOW)
    assert isinstance(call, Call)
    assert call.url == lark["url"]
