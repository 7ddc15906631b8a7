"""Channels, rules and deliveries on pages: for administrators."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from audit.models import Entry
from inventory.models import Cluster
from notifications import manage
from notifications.channels.engine import Kind
from notifications.compose import test_message as message_of_a_test
from notifications.models import Channel, Delivery, DeliveryState, Rule, Told
from notifications.tell import tell
from runtime.clock import database_now
from tests.factories import make_finding
from tests.notifications.bell import SECRET, bell, make_channel, make_rule
from tests.pages.reading import get, read

__all__ = ["bell"]
CHANNEL = {"name": "On call", "setting.url": SECRET, "setting.room": "ops", "setting.tone": "high", "language": "en"}
RULE = {
    "drawn": "1",
    "name": "Errors",
    "channel": "On call",
    "about": ["finding", "installation"],
    "least_severity": "error",
    "scope": "all",
    "digest": "daily",
    "digest_hour": "7",
    "time_zone": "Europe/Berlin",
}


def make_delivery(channel: Channel, state: str = "failed", **more: Any) -> Delivery:
    row = manage.test_channel(channel)
    tried = {"at": database_now().isoformat(), "outcome": "refused", "text": "403 no such room"}
    Delivery.objects.filter(pk=row.pk).update(
        state=state, tries=1, answers=[tried], answer="403 no such room", ended_at=database_now(), **more
    )
    row.refresh_from_db()
    return row


def test_without_a_channel_the_page_says_what_one_is(admin: Client, viewer: Client, bell: Kind) -> None:
    page = get(admin, "/notifications")
    assert "No channels yet" in page.text
    assert "Without rules nothing is sent." in page.text
    assert "/notifications/channels/new" in page.links
    assert "/notifications" in get(admin, "/").links
    assert "/notifications" not in get(viewer, "/").links
    assert viewer.get("/notifications").status_code == 403


def test_the_page_names_channels_rules_and_their_states(admin: Client, bell: Kind) -> None:
    at = database_now()
    for name in ("Good", "Bad", "Quiet", "Left"):
        make_channel(name)
    make_rule("Errors", "Good")
    Channel.objects.filter(name="Good").update(delivered_at=at)
    Channel.objects.filter(name="Bad").update(failing_since=at, answer="connection refused")
    Channel.objects.filter(name="Quiet").update(paused=True)
    Channel.objects.filter(name="Left").update(gone=True)
    page = get(admin, "/notifications")
    assert "2 channels are failing · ✓ good 1 channel ok · · no status 1 paused" in page.text
    states = {row[0]: row[2] for row in page.tables["Channels"]}
    assert states["Good"] == "✓ ok"
    assert states["Bad"].startswith("✕ failing since 20")
    assert "connection refused" in states["Bad"]
    assert states["Quiet"] == "‖ paused"
    assert states["Left"].startswith("✕ receiver removed")
    assert page.tables["Rules"] == [
        ["Errors", "Findings", "everything", "errors, warnings", "Good", "at once", "–"],
    ]


def test_a_channel_is_made_of_the_settings_of_its_type(admin: Client, bell: Kind) -> None:
    assert "/notifications/channels/new?kind=bell" in get(admin, "/notifications/channels/new").links
    form = get(admin, "/notifications/channels/new?kind=bell")
    assert "From the settings of the bell." in form.text
    answer = admin.post("/notifications/channels/new?kind=bell", CHANNEL)
    row = Channel.objects.get()
    assert answer.headers["Location"] == f"/notifications/channels/{row.pk}"
    page = get(admin, f"/notifications/channels/{row.pk}")
    assert "Address set, not shown Room ops Tone high" in page.text
    assert SECRET not in page.html


def test_an_empty_secret_stays_as_it_is(admin: Client, bell: Kind) -> None:
    row = make_channel(room="ops")
    page = get(admin, f"/notifications/channels/{row.pk}/edit")
    assert SECRET not in page.html
    assert 'placeholder="set; leave empty to keep"' in page.html
    admin.post(f"/notifications/channels/{row.pk}/edit", CHANNEL | {"setting.url": "", "setting.room": ""})
    row.refresh_from_db()
    assert manage.secrets_of(row) == {"url": SECRET}
    assert row.settings == {"tone": "high"}


def test_what_is_wrong_is_said_at_its_field(admin: Client, bell: Kind) -> None:
    wrong = CHANNEL | {"name": " ", "setting.url": "http://x"}
    page = read(admin.post("/notifications/channels/new?kind=bell", wrong))
    assert page.status == 400
    assert "Name This field is required." in page.text
    assert "Enter an address that starts with https://." in page.text
    assert not Channel.objects.exists()


def test_a_channel_is_tested_paused_and_deleted(admin: Client, bell: Kind) -> None:
    row = make_channel()
    make_rule()
    path = f"/notifications/channels/{row.pk}"
    sent = admin.post(f"{path}/test")
    delivery = Delivery.objects.get()
    assert sent.headers["Location"] == f"/notifications/deliveries/{delivery.pk}"
    assert "waiting · On call · test message" in get(admin, sent.headers["Location"]).text
    admin.post(f"{path}/pause")
    assert "paused" in get(admin, path).text
    admin.post(f"{path}/resume")
    assert not Channel.objects.get().paused
    assert "1 rule that sends to this channel is deleted. 1 delivery is deleted." in get(admin, f"{path}/remove").text
    assert Channel.objects.exists()
    admin.post(f"{path}/remove")
    assert not Channel.objects.exists()
    assert not Rule.objects.exists()
    assert {"channel-test", "channel-change", "channel-remove"} <= set(Entry.objects.values_list("action", flat=True))


def test_the_preview_lists_what_a_rule_would_tell_and_writes_nothing(
    admin: Client, bell: Kind, cluster: Cluster
) -> None:
    make_channel()
    for node in ("gpu-1", "gpu-2"):
        make_finding(cluster, node_name=node)
    make_finding(cluster, "row-remap-pending", "warning", "gpu-1")
    page = read(admin.post("/notifications/rules/new", RULE | {"preview": "1", "about": ["finding"]}))
    assert "Would report now: 1 topic · 2 findings, cards and nodes" in page.text
    page = read(
        admin.post("/notifications/rules/new", RULE | {"preview": "1", "least_severity": "info", "about": ["finding"]})
    )
    assert "Would report now: 2 topics · 3 findings, cards and nodes" in page.text
    assert not Rule.objects.exists()
    assert not Delivery.objects.exists()


def test_a_rule_is_made_changed_paused_and_deleted(admin: Client, bell: Kind, cluster: Cluster) -> None:
    make_channel()
    answer = admin.post("/notifications/rules/new", RULE)
    row = Rule.objects.get()
    path = f"/notifications/rules/{row.pk}"
    assert answer.headers["Location"] == path
    assert (row.about, row.digest_hour, row.places) == (["finding", "installation"], 7, "")
    assert "On call · daily, 7:00 Europe/Berlin" in get(admin, path).text
    form = get(admin, f"{path}/edit")
    assert 'value="installation" id="f-about_6" checked' in form.html or "checked" in form.html
    changed = RULE | {"scope": "some", "scope_clusters": ["prod"], "codes": ["card-over-committed"], "digest": ""}
    admin.post(f"{path}/edit", changed)
    row.refresh_from_db()
    assert (row.places, row.codes, row.digest) == ("prod", ["card-over-committed"], "")
    admin.post(f"{path}/pause")
    assert "· paused" in get(admin, path).text
    assert "This cannot be undone." in get(admin, f"{path}/remove").text
    admin.post(f"{path}/remove")
    assert not Rule.objects.exists()


def test_a_scope_without_a_place_is_never_everything(admin: Client, bell: Kind) -> None:
    make_channel()
    page = read(admin.post("/notifications/rules/new", RULE | {"scope": "some"}))
    assert page.status == 400
    assert "Choose a cluster or a namespace." in page.text
    assert not Rule.objects.exists()


def test_wrong_fields_of_a_rule_are_named(admin: Client, bell: Kind) -> None:
    make_channel()
    page = read(admin.post("/notifications/rules/new", RULE | {"about": [], "digest_hour": "x", "time_zone": "Mars"}))
    assert page.status == 400
    for text in ("Choose at least one.", "Enter an hour from 0 to 23.", "There is no time zone 'Mars'."):
        assert text in page.text


def test_a_rule_shows_what_it_has_told(admin: Client, bell: Kind, cluster: Cluster) -> None:
    make_channel()
    row = make_rule()
    make_finding(cluster, node_name="gpu-1")
    tell(row, database_now())
    page = get(admin, f"/notifications/rules/{row.pk}")
    [found] = page.tables["Active topics"]
    assert found[1:] == ["1", "prod/gpu-1", "not yet"]
    Told.objects.update(told_at=database_now())
    assert get(admin, f"/notifications/rules/{row.pk}").tables["Active topics"][0][3].endswith("ago")


def test_the_delivery_log_says_what_was_answered(admin: Client, bell: Kind) -> None:
    row = make_delivery(make_channel())
    [found] = get(admin, "/notifications/deliveries").rows
    assert found[1:] == [
        "On call",
        "Test message from gpudash test message",
        "✕ not delivered",
        "403 no such room",
        "1",
    ]
    assert get(admin, "/notifications/deliveries?state=delivered").rows == []
    assert len(get(admin, "/notifications/deliveries?channel=On+call&from=1h").rows) == 1
    page = get(admin, f"/notifications/deliveries/{row.pk}")
    assert page.tables["What was sent"][0][0].endswith("This is a test of the channel On call.")
    assert page.tables["Tries"][0][1:] == ["refused", "403 no such room"]
    assert get(admin, "/notifications").text.count("1 not delivered") == 1


def test_a_message_that_ended_is_sent_again_and_the_doubt_is_named(admin: Client, bell: Kind) -> None:
    row = make_delivery(make_channel(), DeliveryState.UNCERTAIN)
    path = f"/notifications/deliveries/{row.pk}"
    assert "The receiver did not respond and may have the message." in get(admin, path).text
    answer = admin.post(f"{path}/again")
    again = Delivery.objects.exclude(pk=row.pk).get()
    assert answer.headers["Location"] == f"/notifications/deliveries/{again.pk}"
    assert "Send again" not in get(admin, answer.headers["Location"]).text
    admin.post(f"/notifications/deliveries/{again.pk}/again")
    assert "The message is on its way." in get(admin, f"/notifications/deliveries/{again.pk}").text
    assert Delivery.objects.count() == 2


def test_a_message_of_an_older_version_still_has_its_page(admin: Client, bell: Kind) -> None:
    row = make_delivery(make_channel(), message={"what": "was"})
    assert "What was sent unknown" in get(admin, f"/notifications/deliveries/{row.pk}").text


def test_a_failing_channel_is_named_where_administrators_look(
    admin: Client, viewer: Client, bell: Kind, cluster: Cluster
) -> None:
    row = make_channel()
    Channel.objects.update(failing_since=database_now(), answer="connection refused")
    for path in ("/", "/installation"):
        page = get(admin, path)
        assert "Notification channel failing" in page.text
        assert f"/notifications/channels/{row.pk}" in page.links
    number = int(re.search(r"(\d+) problem", get(admin, "/installation").text)[1])
    assert "channel" not in get(viewer, "/").text
    Channel.objects.update(paused=True)
    assert "Notification channel failing" not in get(admin, "/").text + get(admin, "/installation").text
    assert f"{number - 1} problem" in get(admin, "/installation").text


def test_a_channel_of_a_type_that_is_no_more_is_shown(admin: Client, bell: Kind) -> None:
    row = make_channel()
    Channel.objects.update(kind="horn")
    page = get(admin, f"/notifications/channels/{row.pk}")
    assert "does not have this type of channel" in page.text
    assert get(admin, f"/notifications/channels/{row.pk}/edit", status=404)
    assert "horn" in get(admin, "/notifications").text


@pytest.mark.parametrize(
    "path", ["channels/nope", "rules/nope", "deliveries/nope", "channels/nope/edit", "rules/nope/remove"]
)
def test_what_is_not_there_is_said(admin: Client, path: str) -> None:
    assert get(admin, f"/notifications/{path}", status=404)


def test_pages_ask_as_often_for_many_as_for_few(admin: Client, bell: Kind, cluster: Cluster) -> None:
    channel = make_channel()
    rule = make_rule()

    def fill(start: int, number: int) -> None:
        for n in range(start, start + number):
            make_rule(f"rule {n}", make_channel(f"channel {n}").name)
            make_delivery(channel)
            Told.objects.create(
                rule=rule,
                topic=str(n),
                line={"key": str(n), "about": "finding", "code": "x", "severity": "error", "text": "x", "since": ""},
                began_at=database_now(),
            )

    paths = ["", f"/channels/{channel.pk}", f"/rules/{rule.pk}", "/deliveries", "/rules/new"]

    def asked() -> dict[str, int]:
        found = {}
        for path in paths:
            with CaptureQueriesContext(connection) as queries:
                get(admin, f"/notifications{path}")
            found[path] = len(queries)
        return found

    fill(0, 2)
    asked()
    few = asked()
    fill(2, 10)
    assert asked() == few
    assert max(few.values()) <= 20, few
    assert message_of_a_test("x", channel, bell, database_now()).test
