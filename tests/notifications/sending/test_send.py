"""Each kind, end to end, against a receiver that answers as the real one: taken, refused, too many, gone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from notifications.channels import BY_NAME, pagerduty
from notifications.channels.engine import Answer, Change, Message, Outcome
from notifications.sending import http, smtp
from notifications.sending.addresses import Allowed, parse_allowed
from notifications.sending.send import MayHaveBeenSent, send
from tests.notifications import receivers
from tests.notifications.channels.messages import MESSAGES, NOW, SECRET, SETTINGS, line, message
from tests.notifications.receiving import Receiver, Response, Vendor, answers, bomb
from tests.notifications.smtp_server import SmtpServer
from tests.services import free_port

LOOPBACK = parse_allowed(["127.0.0.0/8", "localhost"])
DELIVERED, REFUSED, LATER, GONE = Outcome.DELIVERED, Outcome.REFUSED, Outcome.LATER, Outcome.GONE
TOKEN = "T0k3nOfTheTest"


def clock() -> float:
    return NOW.timestamp()


def late() -> float:
    return NOW.timestamp() + 3 * 3600


class Case(msgspec.Struct):
    """A kind, its receiver, and settings that lead there. path: of the address, with the token."""

    kind: str
    vendor: Vendor
    path: str
    settings: dict[str, str] = {}

    def send(self, made: Message, receiver: Receiver, **changed: str) -> Answer:
        settings = {"url": f"{receiver.url}{self.path}", **self.settings, **changed}
        return send(BY_NAME[self.kind], made, settings, NOW, LOOPBACK)


INCIDENTS: dict[str, str] = {}
_HOOK = f"/open-apis/bot/v2/hook/{TOKEN}"
_ROBOT = f"/robot/send?access_token={TOKEN}"
CASES = {
    "webhook": Case("webhook", receivers.standard_webhooks(SECRET, clock), "/in", {"secrets": SECRET}),
    "slack": Case("slack", receivers.slack(f"/services/{TOKEN}"), f"/services/{TOKEN}"),
    "teams": Case("teams", receivers.teams(TOKEN), f"/workflows/x?sig={TOKEN}"),
    "dingtalk": Case(
        "dingtalk", receivers.dingtalk(TOKEN, clock, "SECabc", "告警"), _ROBOT, {"secret": "SECabc", "keyword": "告警"}
    ),
    "feishu": Case("feishu", receivers.feishu(TOKEN, clock, "SECabc"), _HOOK, {"secret": "SECabc"}),
    "wecom": Case("wecom", receivers.wecom(TOKEN), f"/cgi-bin/webhook/send?key={TOKEN}"),
}


@pytest.mark.parametrize("name", MESSAGES)
@pytest.mark.parametrize("kind", CASES)
def test_every_message_is_taken(kind: str, name: str) -> None:
    with Receiver(CASES[kind].vendor) as receiver:
        answer = CASES[kind].send(MESSAGES[name], receiver)
    assert answer.outcome is DELIVERED, answer.text
    assert len(receiver.taken) == 1


REFUSALS = [
    (
        Case("webhook", receivers.standard_webhooks(SECRET, late), "/in", {"secrets": SECRET}),
        REFUSED,
        "timestamp too old",
    ),
    (
        Case("webhook", receivers.standard_webhooks("whsec_" + "B" * 32, clock), "/in", {"secrets": SECRET}),
        REFUSED,
        "No matching",
    ),
    (Case("slack", receivers.slack("/services/other"), f"/services/{TOKEN}"), GONE, "removed"),
    (Case("teams", receivers.teams("other"), f"/workflows/x?sig={TOKEN}"), REFUSED, "HTTP 401"),
    (Case("dingtalk", receivers.dingtalk("other", clock), _ROBOT), REFUSED, "errcode 300001: token is not exist"),
    (
        Case("dingtalk", receivers.dingtalk(TOKEN, clock, "SECother"), _ROBOT, {"secret": "SECabc"}),
        REFUSED,
        "sign not match",
    ),
    (
        Case("dingtalk", receivers.dingtalk(TOKEN, late, "SECabc"), _ROBOT, {"secret": "SECabc"}),
        REFUSED,
        "invalid timestamp",
    ),
    (Case("dingtalk", receivers.dingtalk(TOKEN, clock, keyword="告警"), _ROBOT), REFUSED, "关键词不匹配"),
    (Case("feishu", receivers.feishu("other", clock), _HOOK), REFUSED, "code 19001: param invalid"),
    (
        Case("feishu", receivers.feishu(TOKEN, clock, "SECother"), _HOOK, {"secret": "SECabc"}),
        REFUSED,
        "code 19021: sign match",
    ),
    (Case("feishu", receivers.feishu(TOKEN, late, "SECabc"), _HOOK, {"secret": "SECabc"}), REFUSED, "within one hour"),
    (Case("feishu", receivers.feishu(TOKEN, clock, keyword="告警"), _HOOK), REFUSED, "code 19024: Key Words Not Found"),
    (
        Case("wecom", receivers.wecom("other"), f"/cgi-bin/webhook/send?key={TOKEN}"),
        REFUSED,
        "errcode 93000: invalid webhook url",
    ),
]


@pytest.mark.parametrize(("case", "outcome", "text"), REFUSALS)
def test_refusals_are_told_with_the_reason_and_without_the_secret(case: Case, outcome: Outcome, text: str) -> None:
    with Receiver(case.vendor) as receiver:
        answer = case.send(MESSAGES["one"], receiver)
    assert (answer.outcome, text in answer.text) == (outcome, True), answer.text
    assert TOKEN not in answer.text
    assert answer.text.isprintable()


@pytest.mark.parametrize("kind", ["dingtalk", "wecom"])
def test_a_robot_that_has_had_enough_is_for_later(kind: str) -> None:
    vendor = {"dingtalk": receivers.dingtalk(TOKEN, clock), "wecom": receivers.wecom(TOKEN)}[kind]
    case = Case(kind, vendor, CASES[kind].path)
    with Receiver(case.vendor) as receiver:
        outcomes = [case.send(MESSAGES["one"], receiver) for _ in range(21)]
    assert [one.outcome for one in outcomes] == [DELIVERED] * 20 + [LATER]
    assert outcomes[-1].after_s == {"dingtalk": 600.0, "wecom": 60.0}[kind]


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize(
    ("response", "outcome"),
    [
        (Response(429, b"", {"retry-after": "33"}), LATER),
        (Response(503, b"<html>"), LATER),
        (Response(302, b"", {"location": "http://169.254.169.254/"}), REFUSED),
        (Response(410), GONE),
    ],
    ids=["429", "503", "302", "410"],
)
def test_what_http_says_of_every_kind(kind: str, response: Response, outcome: Outcome) -> None:
    with Receiver(answers(response)) as receiver:
        answer = CASES[kind].send(MESSAGES["one"], receiver)
    assert answer.outcome is outcome
    assert answer.after_s == (33.0 if response.status == 429 else None)


@pytest.mark.parametrize("kind", ["slack", "dingtalk", "feishu", "wecom"])
@pytest.mark.parametrize("response", [bomb(), Response(body=b"x" * 200_000), Response(body=b"<html>Sign in</html>")])
def test_a_200_without_the_vendors_words_is_no_delivery(kind: str, response: Response) -> None:
    with Receiver(answers(response)) as receiver:
        assert CASES[kind].send(MESSAGES["one"], receiver).outcome is REFUSED


def _half() -> Iterator[bytes]:
    yield b"o"


def test_a_200_whose_body_ended_early_may_have_been_sent_where_the_body_decides() -> None:
    for kind, delivered in (("slack", False), ("webhook", True)):
        with Receiver(answers(Response(200, _half(), {"content-length": "2"}))) as receiver:
            if delivered:
                assert CASES[kind].send(MESSAGES["one"], receiver).outcome is DELIVERED
            else:
                with pytest.raises(MayHaveBeenSent, match="HTTP 200, but the answer ended early"):
                    CASES[kind].send(MESSAGES["one"], receiver)


def test_no_answer_may_have_been_sent() -> None:
    with Receiver(answers(Response(closes=True))) as receiver, pytest.raises(MayHaveBeenSent):
        CASES["slack"].send(MESSAGES["one"], receiver)


def test_an_address_that_is_not_allowed_names_the_setting() -> None:
    with Receiver(answers(Response())) as receiver:
        settings = {"url": f"{receiver.url}/in", "secrets": SECRET}
        answer = send(BY_NAME["webhook"], MESSAGES["one"], settings, NOW, Allowed())
    assert answer.outcome is REFUSED
    assert "GPUDASH_NOTIFY_ALLOW" in answer.text
    assert receiver.taken == []


def test_a_name_that_is_nowhere_and_a_port_that_is_closed_are_for_later() -> None:
    for url, text in (
        (f"http://127.0.0.1:{free_port()}/", "connection refused"),
        ("http://nowhere.invalid/", "resolved"),
    ):
        answer = send(BY_NAME["webhook"], MESSAGES["one"], {"url": url, "secrets": SECRET}, NOW, LOOPBACK)
        assert (answer.outcome, text in answer.text) == (LATER, True), answer.text


def test_a_certificate_that_is_not_trusted_is_refused_with_what_to_do(tls: Any) -> None:
    with Receiver(answers(Response()), tls) as receiver:
        settings = {"url": f"https://localhost:{receiver.port}/", "secrets": SECRET}
        answer = send(BY_NAME["webhook"], MESSAGES["one"], settings, NOW, LOOPBACK)
    assert (answer.outcome, "SSL_CERT_FILE" in answer.text) == (REFUSED, True)
    assert receiver.taken == []


@pytest.mark.parametrize("url", ["http://[::1", "http://127.0.0.1:x/", "http://127.0.0.1:1/\n"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    answer = send(BY_NAME["webhook"], MESSAGES["one"], {"url": url, "secrets": SECRET}, NOW, LOOPBACK)
    assert answer.outcome in (REFUSED, LATER)


def test_the_same_webhook_again_is_the_same_id() -> None:
    with Receiver(receivers.standard_webhooks(SECRET, clock)) as receiver:
        texts = [CASES["webhook"].send(MESSAGES["one"], receiver).text for _ in range(2)]
    assert texts == ["HTTP 204", "HTTP 200"], "the second one is dropped by its id"


@pytest.mark.parametrize(
    "words", [f"no {TOKEN}", f"/services/{TOKEN}", f"{TOKEN}?x", "http://127.0.0.1/services/" + TOKEN]
)
def test_a_secret_that_is_repeated_is_taken_out(words: str) -> None:
    bodies = (words.encode(), json.dumps({"ok": False, "error": words}).encode())
    for body in bodies:
        with Receiver(answers(Response(400, body))) as receiver:
            assert TOKEN not in CASES["slack"].send(MESSAGES["one"], receiver).text


def test_pagerduty_opens_and_closes_one_incident(monkeypatch: pytest.MonkeyPatch) -> None:
    key, incidents = SETTINGS["pagerduty"]["routing_key"], {}
    with Receiver(receivers.pagerduty(key, incidents)) as receiver:
        monkeypatch.setitem(pagerduty.HOSTS, "eu", receiver.url)

        def tell(made: Message, routing_key: str = key) -> Answer:
            return send(BY_NAME["pagerduty"], made, {"routing_key": routing_key, "region": "eu"}, NOW, LOOPBACK)

        began = line()
        assert [tell(message(began)).outcome for _ in range(2)] == [DELIVERED] * 2
        assert list(incidents) == [began.topic]
        assert tell(message(msgspec.structs.replace(began, change=Change.ENDED, until=NOW))).outcome is DELIVERED
        assert tell(MESSAGES["test"]).outcome is DELIVERED
        assert tell(MESSAGES["hostile"]).outcome is DELIVERED
        refused = tell(message(began), "short")
    assert len(incidents) == 1, "only the hostile one is open"
    assert refused.outcome is REFUSED
    assert "Length of 'routing_key' is incorrect" in refused.text


def _alertmanager(urls: str, made: Message, **settings: str) -> Answer:
    return send(BY_NAME["alertmanager"], made, {"urls": urls, **settings}, NOW, LOOPBACK)


def test_alertmanager_is_told_at_every_replica_and_keeps_one_alert() -> None:
    kept: list[dict[str, Any]] = [{}, {}]
    ended = msgspec.structs.replace(line(), change=Change.ENDED, until=NOW)
    with Receiver(receivers.alertmanager(kept[0])) as first, Receiver(receivers.alertmanager(kept[1])) as second:
        urls = f"{first.url} {second.url}/"
        for made in (message(line()), message(line()), message(ended), MESSAGES["hostile"], MESSAGES["test"]):
            answer = _alertmanager(urls, made)
            assert (answer.outcome, answer.text) == (DELIVERED, "HTTP 200")
    assert kept[0] == kept[1]
    assert len(kept[0]) == 3
    assert [one["endsAt"] for one in kept[0].values() if one["labels"]["alertname"] == "GpudashXid79"] == [
        "2026-11-26T09:30:00Z"
    ]


def test_one_replica_is_enough_and_the_other_is_named() -> None:
    away = f"http://127.0.0.1:{free_port()}"
    with Receiver(receivers.alertmanager({})) as replica, Receiver(answers(Response(closes=True))) as lost:
        answer = _alertmanager(f"{away} {replica.url} {lost.url}", MESSAGES["one"])
    assert answer.outcome is DELIVERED
    assert answer.text.startswith("Delivered to 1 of 3 replicas, not to 127.0.0.1:")
    assert "connection refused" in answer.text
    assert str(lost.port) in answer.text


def test_no_replica_is_for_later_when_one_may_come_back() -> None:
    away = f"http://127.0.0.1:{free_port()}"
    with Receiver(receivers.alertmanager({}, "Bearer right")) as refusing:
        assert _alertmanager(refusing.url, MESSAGES["one"], secret="right").outcome is DELIVERED
        assert _alertmanager(refusing.url, MESSAGES["one"], secret="wrong").outcome is REFUSED
        assert _alertmanager(f"{refusing.url} {away}", MESSAGES["one"], secret="wrong").outcome is LATER


def _mail(server: SmtpServer, made: Message, **changed: str) -> Answer:
    usual = {
        **SETTINGS["email"],
        "host": "localhost",
        "port": str(server.port),
        "security": "none",
        "user": "",
        "password": "",
    }
    return send(BY_NAME["email"], made, {**usual, **changed}, NOW, LOOPBACK)


@pytest.mark.parametrize("name", MESSAGES)
def test_every_mail_is_taken(name: str) -> None:
    with SmtpServer() as server:
        answer = _mail(server, MESSAGES[name])
    assert (answer.outcome, answer.text) == (DELIVERED, "SMTP 250: 2.0.0 queued as 4F1Xy")
    (taken,) = server.taken
    assert taken.mail["Message-ID"] == "<0199f3c27a5e7c3d@example.org>"
    assert taken.recipients == ["ana@example.org", "team@example.org"]
    assert all(len(one) <= 998 and one.isascii() for one in taken.content.splitlines())


@pytest.mark.parametrize(
    ("replies", "outcome", "text"),
    [
        ({"MAIL": "451 4.7.1 greylisted"}, LATER, "SMTP 451: 4.7.1 greylisted"),
        ({"CONTENT": "552 5.3.4 too large"}, REFUSED, "SMTP 552: 5.3.4 too large"),
        ({"team@example.org": "550 unknown"}, DELIVERED, "SMTP 250: refused for team@example.org (550); 2.0.0 queued"),
    ],
)
def test_a_mail_that_is_refused(replies: dict[str, str | None], outcome: Outcome, text: str) -> None:
    with SmtpServer(replies) as server:
        answer = _mail(server, MESSAGES["one"])
    assert (answer.outcome, text in answer.text) == (outcome, True), answer.text


@pytest.mark.usefixtures("trusted")
def test_a_password_that_the_server_repeats_is_taken_out(tls: Any) -> None:
    with SmtpServer({"AUTH": "535 wrong password pässw0rd, hunter-2, hunter-2x"}, tls=tls, password="other") as server:
        answer = _mail(server, MESSAGES["one"], security="starttls", user="gpudash", password="hunter-2")
    assert (answer.outcome, answer.text.startswith("SMTP 535")) == (REFUSED, True)
    assert "hunter-2" not in answer.text


def test_times_are_those_that_the_documents_name() -> None:
    assert (http.TOTAL_S, smtp.TOTAL_S, http.MOST_BYTES) == (15.0, 30.0, 65_536)


def test_text_of_answers_has_at_most_300_characters() -> None:
    away = " ".join(f"http://127.0.0.{number}:{free_port()}" for number in range(1, 7))
    with Receiver(receivers.alertmanager({})) as replica:
        answer = _alertmanager(f"{replica.url} {away}", MESSAGES["one"])
    assert answer.outcome is DELIVERED
    assert len(answer.text) <= 300
    assert re.match(r"Delivered to 1 of 7 replicas", answer.text)
