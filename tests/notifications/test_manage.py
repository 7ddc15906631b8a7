"""Channels and rules: what is wrong is named, secrets stay, and each act is in the audit log without them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from audit.models import Entry
from inventory.models import Cluster
from notifications import manage
from notifications.deliver import settings_of
from notifications.manage import ChannelDraft, RuleDraft
from notifications.models import Channel, Delivery, Rule
from notifications.tell import tell
from runtime.clock import database_now
from tests.factories import make_finding
from tests.notifications.beds import KEPT, PAGER, channel, rule
from validations.planning import Refused

pytestmark = pytest.mark.django_db
URL = {"url": "https://chat.example/secret"}


@pytest.mark.parametrize(
    ("draft", "fields"),
    [
        ({"name": " "}, ["name"]),
        ({"name": "a\nb"}, ["name"]),
        ({"kind": "pigeon"}, ["kind"]),
        ({"settings": {}}, ["url"]),
        ({"settings": {**URL, "colour": "red"}}, ["colour"]),
        ({"settings": {**URL, "room": "x" * 2001}, "language": "tlh"}, ["language", "room"]),
    ],
)
def test_what_is_wrong_with_a_channel_is_named_and_nothing_is_kept(draft: dict[str, Any], fields: list[str]) -> None:
    with pytest.raises(Refused) as refused:
        manage.create_channel(ChannelDraft(**{"name": "ops", "kind": KEPT, "settings": URL, **draft}))
    assert sorted(refused.value.problems) == fields
    assert not Channel.objects.exists()


def test_a_name_is_there_once() -> None:
    channel()
    with pytest.raises(Refused, match="Channel ops already exists"):
        channel()


def test_a_secret_that_is_left_out_stays() -> None:
    row = channel()
    manage.change_channel(row, ChannelDraft(name="ops 2", kind=KEPT, settings={"url": "", "room": "gpu"}))
    assert settings_of(Channel.objects.get()) == {**URL, "room": "gpu"}
    with pytest.raises(Refused, match="type of a channel"):
        manage.change_channel(row, ChannelDraft(name="ops", kind=PAGER, settings=URL))


def test_the_audit_log_has_what_was_and_what_is_and_no_secret() -> None:
    row = manage.create_channel(
        ChannelDraft(name="ops", kind=KEPT, settings={**URL, "room": "gpu"}), User.objects.create(username="anna")
    )
    manage.change_channel(
        row, ChannelDraft(name="ops", kind=KEPT, settings={"url": "https://new.example/s", "room": "all"})
    )
    manage.pause_channel(row, True)
    manage.pause_channel(row, True)
    manage.test_channel(row)
    manage.remove_channel(row)
    entries = list(Entry.objects.order_by("pk"))
    assert [entry.action for entry in entries] == [
        *("channel-create", "channel-change", "channel-change", "channel-test", "channel-remove")
    ]
    assert entries[1].detail["room"] == "gpu → all"
    assert entries[1].detail["secrets"] == "changed"
    assert not [entry for entry in entries if ".example" in str(entry.detail) + entry.target]


def test_a_channel_of_a_kind_that_is_not_known_here_tells_nothing(cluster: Cluster) -> None:
    row = Channel.objects.create(name="ops", kind="pigeon")
    with pytest.raises(Refused) as refused:
        manage.test_channel(row)
    assert list(refused.value.problems) == ["kind"]
    make_finding(cluster)
    assert tell(Rule.objects.create(name="all", channel=row), database_now()) == []
    assert not Delivery.objects.exists()


def test_a_draft_shows_no_secret() -> None:
    assert "secret" not in repr(ChannelDraft(name="ops", kind=KEPT, settings=URL))


@pytest.mark.parametrize(
    ("draft", "field"),
    [
        ({"channel": "nobody"}, "channel"),
        ({"about": []}, "about"),
        ({"about": ["weather"]}, "about"),
        ({"codes": ["no-such-code"]}, "codes"),
        ({"least_severity": "fatal"}, "least_severity"),
        ({"places": "nowhere"}, "places"),
        ({"digest": "weekly"}, "digest"),
        ({"digest_hour": 24}, "digest_hour"),
        ({"time_zone": "Mars/Olympus"}, "time_zone"),
    ],
)
def test_what_is_wrong_with_a_rule_is_named(cluster: Cluster, draft: dict[str, Any], field: str) -> None:
    channel()
    with pytest.raises(Refused) as refused:
        manage.create_rule(RuleDraft(**{"name": "all", "channel": "ops", "about": ["finding"], **draft}))
    assert list(refused.value.problems) == [field]


def test_a_preview_tells_nobody(cluster: Cluster) -> None:
    channel()
    make_finding(cluster, node_name="gpu-1")
    found = manage.preview(RuleDraft(name="all", channel="ops", about=["finding"]))
    assert [(topic.code, topic.count) for topic in found] == [("card-over-committed", 1)]
    assert (Rule.objects.count(), Delivery.objects.count(), Entry.objects.exclude(action="channel-create").count()) == (
        0,
        0,
        0,
    )


def test_rules_go_with_their_channel() -> None:
    row = channel()
    rule(row)
    manage.remove_channel(row)
    assert not Rule.objects.exists()


def test_what_ended_is_sent_again_with_the_same_id() -> None:
    row = channel()
    first = manage.test_channel(row)
    with pytest.raises(Refused):
        manage.send_again(first)
    Delivery.objects.update(state="uncertain")
    again = manage.send_again(Delivery.objects.get())
    assert (again.message["id"], again.pk != first.pk, again.state) == (first.pk, True, "waiting")
