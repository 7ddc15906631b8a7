"""One e-mail: what the server takes, refuses and leaves open."""

from __future__ import annotations

import ssl
import time
from typing import Any

import msgspec
import pytest

from notifications.channels import BY_NAME
from notifications.channels.engine import Mail
from notifications.sending import smtp
from notifications.sending.addresses import Allowed, parse_allowed
from notifications.sending.errors import MayHaveBeenSent, NotPossible, NotSent
from tests.notifications.channels.messages import MESSAGES, NOW, SETTINGS
from tests.notifications.smtp_server import SmtpServer
from tests.services import free_port

LOOPBACK = parse_allowed(["localhost", "127.0.0.0/8"])


def mail(port: int, security: str = "none", **changed: Any) -> Mail:
    (made,) = BY_NAME["email"].requests(MESSAGES["one"], SETTINGS["email"], NOW)
    assert isinstance(made, Mail)
    usual = msgspec.structs.replace(made, host="localhost", port=port, security=security, user="", password="")
    return msgspec.structs.replace(usual, **changed)


def test_a_mail_arrives_as_it_is() -> None:
    with SmtpServer() as server:
        made = mail(server.port, content=mail(1).content + b".\r\n..two\r\n")
        reply = smtp.deliver(made, LOOPBACK)
    (taken,) = server.taken
    assert (reply.status, reply.body) == (250, b"2.0.0 queued as 4F1Xy")
    assert (taken.sender, taken.recipients) == ("gpudash@example.org", ["ana@example.org", "team@example.org"])
    assert taken.content == made.content


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_tls_and_sign_in(tls: ssl.SSLContext, security: str) -> None:
    with SmtpServer(tls=tls, password="right-7", wrapped=security == "tls") as server:
        reply = smtp.deliver(mail(server.port, security, user="gpudash", password="right-7"), LOOPBACK)
    assert reply.status == 250
    assert (server.taken[0].secure, server.taken[0].user) == (True, "gpudash")


@pytest.mark.usefixtures("trusted")
@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_the_certificate_is_checked_by_the_name(tls: ssl.SSLContext, security: str) -> None:
    with SmtpServer(tls=tls, wrapped=security == "tls") as server, pytest.raises(NotPossible, match="certificate"):
        smtp.deliver(mail(server.port, security, host="127.0.0.1"), LOOPBACK)
    assert server.taken == []


@pytest.mark.usefixtures("trusted")
def test_a_wrong_password_is_refused(tls: ssl.SSLContext) -> None:
    with SmtpServer(tls=tls, password="right-7") as server:
        reply = smtp.deliver(mail(server.port, "starttls", user="gpudash", password="wrong-7"), LOOPBACK)
    assert reply.status == 535
    assert server.taken == []


def test_no_password_goes_over_a_line_without_encryption() -> None:
    with SmtpServer(password="right-7") as server, pytest.raises(NotPossible, match="needs encryption"):
        smtp.deliver(mail(server.port, user="gpudash", password="right-7"), LOOPBACK)


def test_a_server_without_starttls_gets_nothing() -> None:
    with SmtpServer() as server, pytest.raises(NotPossible, match="has no STARTTLS"):
        smtp.deliver(mail(server.port, "starttls"), LOOPBACK)
    assert server.taken == []


def test_a_server_without_sign_in_says_so() -> None:
    with SmtpServer() as server, pytest.raises(NotPossible, match="has no sign-in"):
        smtp.deliver(mail(server.port, user="gpudash"), LOOPBACK)


@pytest.mark.parametrize(
    ("replies", "code"),
    [
        ({"GREETING": "554 no service"}, 554),
        ({"MAIL": "451 greylisted"}, 451),
        ({"ana@example.org": "550 unknown", "team@example.org": "550 unknown"}, 550),
        ({"ana@example.org": "550 unknown", "team@example.org": "450 later"}, 450),
        ({"DATA": "554 no"}, 554),
        ({"CONTENT": "552 too large"}, 552),
        ({"CONTENT": "451 later"}, 451),
    ],
)
def test_a_refusal_keeps_its_code(replies: dict[str, str | None], code: int) -> None:
    with SmtpServer(replies) as server:
        assert smtp.deliver(mail(server.port), LOOPBACK).status == code


def test_recipients_that_were_refused_are_named() -> None:
    with SmtpServer({"ana@example.org": "550 unknown"}) as server:
        reply = smtp.deliver(mail(server.port), LOOPBACK)
    assert reply.status == 250
    assert reply.body.startswith(b"refused for ana@example.org (550); 2.0.0 queued")
    assert server.taken[0].recipients == ["team@example.org"]


@pytest.mark.parametrize("step", ["GREETING", "MAIL", "RCPT"])
def test_a_connection_that_ends_before_the_content_is_for_later(step: str) -> None:
    with SmtpServer({step: None}) as server, pytest.raises(NotSent):
        smtp.deliver(mail(server.port), LOOPBACK)


def test_a_connection_that_ends_after_the_content_may_have_brought_it() -> None:
    with SmtpServer({"CONTENT": None}) as server, pytest.raises(MayHaveBeenSent, match="without an answer"):
        smtp.deliver(mail(server.port), LOOPBACK)
    assert len(server.taken) == 1


@pytest.mark.parametrize(("step", "error"), [("GREETING", NotSent), ("MAIL", NotSent), ("CONTENT", MayHaveBeenSent)])
def test_a_server_that_hangs_ends_at_the_deadline(step: str, error: type[Exception]) -> None:
    with SmtpServer({step: "hang"}) as server:
        begun = time.monotonic()
        with pytest.raises(error, match="did not answer"):
            smtp.deliver(mail(server.port), LOOPBACK, 0.3)
        assert time.monotonic() - begun < 5


def test_a_lost_end_of_the_conversation_does_not_matter() -> None:
    with SmtpServer({"QUIT": None}) as server:
        assert smtp.deliver(mail(server.port), LOOPBACK).status == 250


def test_addresses_are_checked_here_too() -> None:
    with SmtpServer() as server, pytest.raises(NotPossible, match="GPUDASH_NOTIFY_ALLOW"):
        smtp.deliver(mail(server.port), Allowed())


def test_nobody_there_is_for_later() -> None:
    with pytest.raises(NotSent, match="connection refused"):
        smtp.deliver(mail(free_port()), LOOPBACK)
