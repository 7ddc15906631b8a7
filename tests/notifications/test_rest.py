"""Channels, rules, deliveries and silences over REST."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.roles import Role
from audit.models import Entry
from inventory.models import Cluster, Finding
from notifications import silences
from notifications.channels.engine import Kind
from notifications.models import Channel, Delivery, DeliveryState, Rule, Silence
from notifications.silences import SilenceDraft
from runtime.clock import database_now
from tests.cast import bearer, make_token, make_user
from tests.factories import make_cluster, make_finding
from tests.notifications.bell import SECRET, bell, make_channel, make_rule
from tests.scopes.world import scoped_token

__all__ = ["bell"]
CHANNEL = {"name": "On call", "kind": "bell", "settings": {"url": SECRET, "room": "ops"}}
RULE = {"name": "Errors", "channel": "On call", "about": ["finding"], "least_severity": "error"}


def later(**span: float) -> str:
    return (database_now() + timedelta(**span)).isoformat()


@pytest.fixture
def root(db: None) -> Client:
    return bearer(make_token(make_user("ada", Role.ADMIN), Role.ADMIN))


@pytest.fixture
def operator(db: None) -> Client:
    return bearer(make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))


def send(client: Client, method: str, path: str, body: Any = None, status: int = 200) -> Any:
    content = json.dumps(body).encode() if body is not None else b""
    response = client.generic(method, f"/api/v1/{path}", content, content_type="application/json")
    assert response.status_code == status, response.content
    assert SECRET.encode() not in response.content
    return response.json() if response.content else None


def test_a_channel_is_made_changed_tested_and_deleted_and_its_secret_stays_hidden(root: Client, bell: Kind) -> None:
    made = send(root, "POST", "channels", CHANNEL, 201)
    assert (made["state"], made["settings"], made["secrets"]) == ("new", {"room": "ops", "tone": "low"}, ["url"])
    path = f"channels/{made['id']}"
    sealed = Channel.objects.get().sealed
    changed = send(root, "PATCH", path, {"settings": {"tone": "high"}, "paused": True})
    assert (changed["settings"], changed["state"]) == ({"room": "ops", "tone": "high"}, "paused")
    assert Channel.objects.get().sealed == sealed
    send(root, "PATCH", path, {"settings": {"url": SECRET + "2"}, "paused": False})
    assert Channel.objects.get().sealed != sealed
    assert send(root, "GET", "channels")["results"][0]["secrets"] == ["url"]
    tested = send(root, "POST", f"{path}/test", status=202)
    assert (tested["test"], tested["state"], tested["channel"]) == (True, "waiting", "On call")
    send(root, "DELETE", path, status=204)
    assert not Channel.objects.exists()
    actions = set(Entry.objects.values_list("action", flat=True))
    assert actions >= {"channel-create", "channel-change", "channel-test", "channel-remove"}
    assert not any(SECRET in json.dumps(one) for one in Entry.objects.values_list("detail", flat=True))


def test_what_is_wrong_with_a_channel_is_named(root: Client, bell: Kind) -> None:
    wrong = [
        ({"kind": "horn"}, "kind"),
        ({"name": ""}, "name"),
        ({"settings": {}}, "url"),
        ({"settings": {"url": "http://x"}}, "url"),
        ({"settings": {"url": SECRET, "colour": "red"}}, "colour"),
        ({"settings": {"url": SECRET, "tone": "loud"}}, "tone"),
        ({"language": "tlh"}, "language"),
    ]
    for change, field in wrong:
        answer = send(root, "POST", "channels", CHANNEL | change, 400)
        assert [one["field"] for one in answer["errors"]] == [field]
    assert not Channel.objects.exists()


def test_a_rule_is_previewed_made_changed_and_deleted(root: Client, bell: Kind, cluster: Cluster) -> None:
    make_channel()
    make_finding(cluster, node_name="gpu-1")
    make_finding(cluster, node_name="gpu-2")
    make_finding(cluster, "row-remap-pending", "warning", "gpu-1")
    found = send(root, "POST", "notification-rules/preview", RULE)
    assert (found["topics"], found["things"]) == (1, 2)
    assert (found["listed"][0]["code"], found["listed"][0]["count"]) == ("card-over-committed", 2)
    assert not Rule.objects.exists()
    made = send(root, "POST", "notification-rules", RULE, 201)
    assert (made["digest"], made["scope"], made["told_at"]) == (None, [], None)
    path = f"notification-rules/{made['id']}"
    changed = send(root, "PATCH", path, {"scope": ["prod"], "digest": "daily", "time_zone": "Europe/Berlin"})
    assert (changed["scope"], changed["digest"], changed["about"]) == (["prod"], "daily", ["finding"])
    assert send(root, "PATCH", path, {"digest": None, "paused": True})["digest"] is None
    assert send(root, "GET", "notification-rules?paused=true")["results"][0]["name"] == "Errors"
    for change, field in (
        ({"about": []}, "about"),
        ({"about": ["weather"]}, "about"),
        ({"channel": "x"}, "channel"),
        ({"codes": ["x"]}, "codes"),
        ({"digest_hour": 24}, "digest_hour"),
        ({"time_zone": "Mars"}, "time_zone"),
        ({"scope": ["nowhere/*/x"]}, "scope"),
    ):
        answer = send(root, "PATCH", path, change, 400)
        assert [one["field"] for one in answer["errors"]] == [field]
    send(root, "DELETE", path, status=204)


def test_a_delivery_that_ended_is_sent_again(root: Client, bell: Kind) -> None:
    made = send(root, "POST", f"channels/{make_channel().pk}/test", status=202)
    path = f"deliveries/{made['id']}"
    assert "on its way" in send(root, "POST", f"{path}/send-again", status=409)["detail"]
    tried = {"at": database_now().isoformat(), "outcome": "refused", "text": "no"}
    Delivery.objects.update(state=DeliveryState.FAILED, answer="no", tries=1, answers=[tried], ended_at=database_now())
    again = send(root, "POST", f"{path}/send-again", status=201)
    assert again["id"] != made["id"]
    [failed] = send(root, "GET", "deliveries?state=failed&channel=On+call")["results"]
    assert (failed["answer"], failed["answers"], failed["next_at"]) == (
        "no",
        [tried | {"at": failed["answers"][0]["at"]}],
        None,
    )
    assert send(root, "GET", path)["id"] == made["id"]
    send(root, "GET", "deliveries/nope", status=404)


def test_only_administrators_see_channels_rules_and_deliveries(operator: Client, api: Client, bell: Kind) -> None:
    make_channel()
    for client in (operator, api):
        for path in ("channels", "notification-rules", "deliveries", f"channels/{Channel.objects.get().pk}"):
            send(client, "GET", path, status=403)
        send(client, "POST", "notification-rules/preview", RULE, 403)


def test_a_finding_is_acknowledged_and_the_lists_say_so(operator: Client, api: Client, cluster: Cluster) -> None:
    one, other = make_finding(cluster, node_name="gpu-1"), make_finding(cluster, node_name="gpu-2")
    body = {"reason": "spare part ordered", "until": later(days=1)}
    send(api, "POST", f"findings/{one.pk}/acknowledge", body, 403)
    made = send(operator, "POST", f"findings/{one.pk}/acknowledge", body, 201)
    assert (made["finding"], made["node"], made["created_by"]) == (one.pk, "gpu-1", "olga")
    found = {row["id"]: row["silence"] for row in send(api, "GET", "findings")["results"]}
    assert found[other.pk] is None
    assert (found[one.pk]["acknowledged"], found[one.pk]["reason"]) == (True, "spare part ordered")
    assert [row["id"] for row in send(api, "GET", "findings?silenced=true")["results"]] == [one.pk]
    assert [row["id"] for row in send(api, "GET", "findings?silenced=false")["results"]] == [other.pk]
    Finding.objects.filter(pk=one.pk).update(ended_at=database_now())
    send(operator, "POST", f"findings/{one.pk}/acknowledge", body, 404)
    ended = {row["id"]: row["silence"] for row in send(api, "GET", "findings?ended=true")["results"]}
    assert ended == {one.pk: None}
    assert send(api, "GET", "findings?ended=true&silenced=true")["results"] == []


def test_a_silence_is_made_listed_and_ended(operator: Client, api: Client, cluster: Cluster) -> None:
    row = make_finding(cluster, node_name="gpu-1")
    body = {"cluster": "prod", "node": "gpu-1", "reason": "rack moves", "until": later(hours=1)}
    made = send(operator, "POST", "silences", body, 201)
    assert send(api, "GET", "silences")["results"] == [made]
    assert send(api, "GET", f"silences/{made['id']}") == made
    assert send(api, "GET", f"findings?node={row.node_name}")["results"][0]["silence"]["acknowledged"] is False
    send(api, "POST", f"silences/{made['id']}/end", status=403)
    assert send(operator, "POST", f"silences/{made['id']}/end")["ended_by"] == "olga"
    assert send(api, "GET", "silences")["results"] == []
    assert len(send(api, "GET", "silences?ended=true")["results"]) == 1
    for change, field in (
        ({"reason": " "}, "reason"),
        ({"until": later(hours=-1)}, "until"),
        ({"until": "2030-01-01T00:00:00"}, "until"),
        ({"cluster": "nowhere"}, "cluster"),
        ({"node": ""}, "code"),
        ({"code": "x" * 65}, "code"),
    ):
        answer = send(operator, "POST", "silences", body | change, 400)
        assert [one["field"] for one in answer["errors"]] == [field]


def test_an_operator_silences_within_the_scope_only(cluster: Cluster) -> None:
    other = make_cluster("other")
    far = make_finding(other, node_name="far")
    mine = bearer(scoped_token(make_user("oleg", Role.OPERATOR), "prod", role=Role.OPERATOR))
    body = {"node": "gpu-1", "reason": "x", "until": later(hours=1)}
    send(mine, "POST", "silences", body, 403)
    send(mine, "POST", "silences", body | {"cluster": "prod"}, 201)
    send(mine, "POST", f"findings/{far.pk}/acknowledge", {"reason": "x", "until": later(hours=1)}, 404)
    everywhere = silences.silence(SilenceDraft(node="gpu-1", reason="x", until=database_now() + timedelta(hours=1)))
    elsewhere = silences.acknowledge(far, "x", database_now() + timedelta(hours=1))
    send(mine, "POST", f"silences/{everywhere.pk}/end", status=403)
    send(mine, "POST", f"silences/{elsewhere.pk}/end", status=404)
    assert Silence.objects.filter(ended_at=None).count() == 3


@pytest.mark.parametrize("path", ["channels", "notification-rules", "deliveries", "silences", "findings"])
def test_lists_ask_as_often_for_many_as_for_few(root: Client, bell: Kind, cluster: Cluster, path: str) -> None:
    def fill(start: int, number: int) -> None:
        for n in range(start, start + number):
            channel = make_channel(f"channel {n}")
            rule = make_rule(f"rule {n}", channel.name)
            at = database_now()
            Delivery.objects.create(channel=channel, rule=rule, title="x", created_at=at, next_at=at)
            silences.acknowledge(make_finding(cluster, node_name=f"gpu-{n}"), "x", at + timedelta(hours=1))

    def asked() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            send(root, "GET", path)
        return len(queries)

    fill(0, 2)
    asked()
    few = asked()
    fill(2, 12)
    assert asked() == few


def test_as_many_silences_as_there_may_be_are_no_trouble(api: Client, cluster: Cluster) -> None:
    until = database_now() + timedelta(hours=1)
    row = make_finding(cluster, node_name="gpu-499")
    Silence.objects.bulk_create(
        Silence(cluster=cluster, node_name=f"gpu-{n}", code="card-over-committed", reason="x", until=until)
        for n in range(silences.MOST)
    )
    assert [one["id"] for one in send(api, "GET", "findings?silenced=true")["results"]] == [row.pk]
    assert send(api, "GET", "findings?silenced=false")["results"] == []
