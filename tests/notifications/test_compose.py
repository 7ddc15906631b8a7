"""A message in the language of its channel, the worst first, with no more than the receiver takes."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from django.test import override_settings

from notifications.channels import BY_NAME
from notifications.channels.engine import Change
from notifications.compose import compose
from notifications.topics.topic import Topic, key_of, said
from tests.notifications.beds import KEPT, channel
from wording.said import sentence

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 26, 9, tzinfo=UTC)


def topic(number: int, severity: str = "warning", **more: object) -> Topic:
    text = sentence("Policy {policy} cannot be met: {why}", policy=f"p{number}", why="busy")
    return Topic(
        key=f"k{number}",
        about="policy",
        code="c",
        severity=severity,
        since=AT.isoformat(),
        link="/policies",
        **said(text),
        **more,
    )  # type: ignore[arg-type]


def test_the_worst_first_what_ended_last_and_the_rest_is_counted() -> None:
    told = [(topic(0), Change.ENDED, 3, AT), *((topic(n), Change.BEGAN, 0, None) for n in range(1, 30))]
    told.append((topic(99, "error"), Change.MORE, 2, None))
    message = compose("id", channel(), told, BY_NAME[KEPT], AT)
    assert (message.title, len(message.lines), message.hidden) == ("30 problems · 1 ended", 20, 11)
    assert [line.severity for line in message.lines[:2]] == ["error", "warning"]
    assert {line.change for line in message.lines[1:]} == {Change.BEGAN}


def test_links_are_absolute_where_the_address_is_known() -> None:
    one = [(topic(1), Change.BEGAN, 0, None)]
    with override_settings(PUBLIC_URL="https://gpudash.example"):
        message = compose("id", channel(), one, BY_NAME[KEPT], AT)
    assert (message.link, message.source) == ("https://gpudash.example/policies", "https://gpudash.example/")
    message = compose("id", channel("two"), one, BY_NAME[KEPT], AT)
    assert (message.link, message.source) == ("", "gpudash")


def test_in_the_language_of_the_channel() -> None:
    told = [(topic(1), Change.ENDED, 1, AT)]
    english, chinese = (
        compose("id", channel(language, language=language), told, BY_NAME[KEPT], AT).title
        for language in ("en", "zh-hans")
    )
    assert english == "Ended: Policy p1 cannot be met: busy"
    assert chinese != english
    assert "p1" in chinese


def test_a_long_key_stays_one_key() -> None:
    one, two = key_of("finding", "x" * 300, 1), key_of("finding", "x" * 300, 2)
    assert one != two
    assert max(len(one), len(two)) <= 200
