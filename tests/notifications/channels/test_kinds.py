"""Signatures against published and computed vectors, sizes, and what is peculiar to one kind."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import msgspec
import pytest

from notifications.channels import BY_NAME, KINDS, dingtalk, feishu, webhook
from notifications.channels.alertmanager import alert_name
from notifications.channels.engine import Call, Change, Kind, Mail, Message
from tests.notifications.channels.messages import MESSAGES, NOW, SETTINGS, line, message

MOMENT = datetime.fromtimestamp(1_700_000_000, UTC)
LONG = "显卡 3 掉线 " * 200


def calls(kind: str, made: Message, **settings: str) -> list[Call]:
    found = BY_NAME[kind].requests(made, {**SETTINGS[kind], **settings}, NOW)
    assert all(isinstance(one, Call) for one in found)
    return [one for one in found if isinstance(one, Call)]


def test_a_webhook_is_signed_as_the_published_vector() -> None:
    body, secret = b'{"test": 2432232314}', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    made = webhook.signatures(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", body)
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_each_secret_of_a_rotation_signs() -> None:
    other = "whsec_" + "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB"
    (call,) = calls("webhook", MESSAGES["one"], secrets=f"{other} {SETTINGS['webhook']['secrets']}")
    (old,) = calls("webhook", MESSAGES["one"])
    first, second = call.headers["webhook-signature"].split(" ")
    assert second == old.headers["webhook-signature"] != first


def test_another_try_has_the_same_id_and_body_and_its_own_time() -> None:
    kind = BY_NAME["webhook"]
    first, later = (
        kind.requests(MESSAGES["one"], SETTINGS["webhook"], at)[0] for at in (NOW, NOW + timedelta(hours=1))
    )
    assert isinstance(first, Call)
    assert isinstance(later, Call)
    assert first.body == later.body
    assert first.headers["webhook-id"] == later.headers["webhook-id"]
    assert int(later.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 3600


def test_dingtalk_and_feishu_sign_as_computed() -> None:
    made = dingtalk.signed("SECabc", MOMENT)
    assert made.startswith("&timestamp=1700000000000&sign=")
    assert unquote(made.rpartition("=")[2]) == "jcUpW0QmtKduN03n4JqQ0PBosVjqnM8gU7fIIvsDmCM="
    assert feishu.signed("SECabc", MOMENT) == {
        "timestamp": "1700000000",
        "sign": "XprR1de+0SSBnwWyU/4k6x2TL+Q2SJlM5NNEdAv7MWg=",
    }
    assert (dingtalk.signed("", MOMENT), feishu.signed("", MOMENT)) == ("", {})


LIMITS = {"webhook": 19_999, "teams": 28 * 1024, "dingtalk": 20_000, "feishu": 20 * 1024, "slack": 40_000}


@pytest.mark.parametrize("kind", LIMITS)
def test_what_does_not_fit_is_left_out_from_the_end_and_counted(kind: str) -> None:
    many = message(*(line(topic=f"t{number}", text=LONG, places=(LONG,) * 10) for number in range(200)), hidden=5)
    (call,) = calls(kind, many)
    assert len(call.body) < LIMITS[kind]
    assert call.body.decode().count("显卡") > 20
    if kind == "webhook":
        data = json.loads(call.body)["data"]
        assert len(data["lines"]) + data["hidden"] == 205
        assert [one["topic"] for one in data["lines"]] == [f"t{number}" for number in range(len(data["lines"]))]


def test_slack_has_at_most_50_blocks() -> None:
    (call,) = calls("slack", message(*(line(topic=f"t{number}", text="x") for number in range(200))))
    assert len(json.loads(call.body)["blocks"]) == 42


def test_wecom_counts_bytes() -> None:
    many = message(*(line(topic=f"t{number}", text=LONG) for number in range(20)))
    for made in (many, msgspec.structs.replace(many, link="https://gpudash.example.com/" + "显" * 2000)):
        (call,) = calls("wecom", made)
        content = json.loads(call.body)["markdown"]["content"]
        assert 1_000 < len(content.encode()) <= 4_096


def test_dingtalk_and_feishu_have_the_keyword() -> None:
    (call,) = calls("dingtalk", MESSAGES["one"], keyword="监控")
    assert json.loads(call.body)["markdown"]["text"].endswith("\n\n监控")
    (card,) = calls("feishu", MESSAGES["one"], keyword="监控")
    assert "监控" in card.body.decode()


def test_pagerduty_has_one_event_for_each_topic_and_ends_what_it_began() -> None:
    began = line(topic="x" * 300)
    ended = msgspec.structs.replace(began, change=Change.ENDED, until=NOW)
    events = [json.loads(call.body) for call in calls("pagerduty", message(began, ended))]
    assert [one["event_action"] for one in events] == ["trigger", "resolve"]
    assert events[0]["dedup_key"] == events[1]["dedup_key"]
    assert len(events[0]["dedup_key"]) <= 255
    assert events[0]["payload"]["severity"] == "error"


def test_pagerduty_is_called_in_its_region() -> None:
    assert calls("pagerduty", MESSAGES["one"], region="us")[0].url == "https://events.pagerduty.com/v2/enqueue"
    assert calls("pagerduty", MESSAGES["one"], region="eu")[0].url == "https://events.eu.pagerduty.com/v2/enqueue"


def test_a_test_at_pagerduty_leaves_no_incident_open() -> None:
    events = [json.loads(call.body) for call in calls("pagerduty", MESSAGES["test"])]
    assert [one["event_action"] for one in events] == ["trigger", "resolve"]
    assert len({one["dedup_key"] for one in events}) == 1


def test_alertmanager_keeps_the_labels_of_a_topic_to_its_end() -> None:
    began = line()
    changed = msgspec.structs.replace(began, change=Change.MORE, text="other", count=9, places=("prod/a", "prod/b"))
    ended = msgspec.structs.replace(changed, change=Change.ENDED, until=NOW + timedelta(hours=1))
    alerts = [
        json.loads(call.body)[0]
        for made in (began, changed, ended)
        for call in calls("alertmanager", message(made))[:1]
    ]
    assert alerts[0]["labels"] == alerts[1]["labels"] == alerts[2]["labels"]
    assert ["endsAt" in alert for alert in alerts] == [False, False, True]
    assert alerts[2]["endsAt"] == "2026-11-26T09:30:00Z", "an end in the future would still fire"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("xid-79", "GpudashXid79"),
        ("card_lost", "GpudashCardLost"),
        ("notReporting", "GpudashNotReporting"),
        ("!", "GpudashNotification"),
    ],
)
def test_alerts_have_names_of_their_code(code: str, name: str) -> None:
    assert alert_name(code) == name


def test_alertmanager_takes_a_token_or_a_password() -> None:
    assert calls("alertmanager", MESSAGES["one"], user="")[0].headers["authorization"] == "Bearer am-secret-9"
    assert "authorization" not in calls("alertmanager", MESSAGES["one"], user="", secret="")[0].headers


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_message_of_the_most_lines_is_taken(kind: Kind) -> None:
    many = message(*(line(topic=f"t{number}", text="x") for number in range(kind.most_lines)))
    made = kind.requests(many, SETTINGS[kind.name], NOW)
    assert all(one.content if isinstance(one, Mail) else one.body for one in made)
