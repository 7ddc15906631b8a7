"""A kind of channel for the tests of what stands around channels: nothing is sent by it."""

from __future__ import annotations

import pytest

from notifications import manage
from notifications.channels import BY_NAME
from notifications.channels.engine import Answer, Kind, Outcome, Setting
from notifications.manage import ChannelDraft, RuleDraft
from notifications.models import Channel, Rule

SECRET = "https://bell.invalid/s3cr3t-of-the-bell"


def _address(value: str) -> None:
    if not value.startswith("https://"):
        raise ValueError("Enter an address that starts with https://.")


BELL = Kind(
    name="bell",
    title="Bell",
    settings=(
        Setting(name="url", title="Address", help="From the settings of the bell.", secret=True, check=_address),
        Setting(name="room", title="Room", required=False),
        Setting(name="tone", title="Tone", choices=("low", "high"), default="low"),
    ),
    requests=lambda _message, _settings, _now: (),
    judge=lambda _status, _headers, _body: Answer(Outcome.DELIVERED, "rang"),
)


@pytest.fixture
def bell(monkeypatch: pytest.MonkeyPatch) -> Kind:
    monkeypatch.setitem(BY_NAME, BELL.name, BELL)
    return BELL


def make_channel(name: str = "On call", **settings: str) -> Channel:
    return manage.create_channel(ChannelDraft(name=name, kind="bell", settings={"url": SECRET, **settings}))


def make_rule(name: str = "Errors", channel: str = "On call", about: tuple[str, ...] = ("finding",)) -> Rule:
    return manage.create_rule(RuleDraft(name=name, channel=channel, about=list(about)))
