"""One e-mail to a checked address of an SMTP server, with TLS by its name.

The reply is that to the message; where only some recipients were taken it names the others. A server's text is for the kind to read.
"""

from __future__ import annotations

import smtplib
import socket
from contextlib import suppress
from typing import Any

from kube.deadline import Deadline
from notifications.channels.engine import Mail
from notifications.sending.addresses import Allowed
from notifications.sending.connection import connected, secured
from notifications.sending.errors import MayHaveBeenSent, NotPossible, NotSent, Reply
from wording.said import sentence

#: From the look-up of the name to the last reply.
TOTAL_S = 30.0


class _Refused(Exception):
    """The server's reply ends the mail."""

    def __init__(self, code: int, text: bytes) -> None:
        super().__init__(code)
        self.reply = Reply(code, {}, text)


class _Client(smtplib.SMTP):
    """On a socket of ours."""

    def __init__(self, ready: socket.socket, name: str) -> None:
        self._ready = ready
        super().__init__("", local_hostname=name)

    def take(self) -> None:
        """The server's greeting. Raises _Refused."""
        self.sock, self.file = self._ready, None
        code, text = self.getreply()
        if code != 220:
            raise _Refused(code, text)

    def secure(self, host: str, deadline: Deadline) -> None:
        """STARTTLS; what was said before it counts no more."""
        code, text = self.docmd("STARTTLS")
        if code != 220:
            raise _Refused(code, text)
        assert self.sock is not None
        self.sock, self.file = secured(self.sock, host, deadline), None
        self.helo_resp = self.ehlo_resp = None
        self.esmtp_features: dict[str, str] = {}
        self.does_esmtp = False


def deliver(mail: Mail, allowed: Allowed, seconds: float = TOTAL_S) -> Reply:
    """What the server answered. Raises NotSent, NotPossible and MayHaveBeenSent."""
    if mail.security == "none" and mail.password:
        raise NotPossible(sentence("A password needs encryption: choose starttls or tls."))
    deadline = Deadline(seconds)
    try:
        plain = connected(mail.host, mail.port, allowed, deadline)
        try:
            return _deliver(mail, plain, deadline)
        finally:
            plain.close()
    finally:
        deadline.end()


def _deliver(mail: Mail, plain: socket.socket, deadline: Deadline) -> Reply:
    ready = secured(plain, mail.host, deadline) if mail.security == "tls" else plain
    client = _Client(ready, mail.sender.rpartition("@")[2])
    try:
        client.take()
        _greet(client, mail, deadline)
        refused = _envelope(client, mail)
        code, text = _content(client, mail, deadline)
        return Reply(code, {}, _told(text, refused) if code == 250 else text)
    except _Refused as refusal:
        return refusal.reply
    except smtplib.SMTPResponseException as error:
        return Reply(error.smtp_code, {}, _bytes(error.smtp_error))
    except smtplib.SMTPNotSupportedError:
        raise NotPossible(sentence("{host} has no sign-in. Remove user and password.", host=mail.host)) from None
    except (smtplib.SMTPException, OSError, ValueError):
        raise NotSent(_lost(mail.host, deadline)) from None
    finally:
        _end(client)


def _greet(client: _Client, mail: Mail, deadline: Deadline) -> None:
    client.ehlo_or_helo_if_needed()
    if mail.security == "starttls":
        if not client.has_extn("starttls"):
            text = sentence(
                "{host} has no STARTTLS on port {port}. Choose tls and port 465, or another server.",
                host=mail.host,
                port=mail.port,
            )
            raise NotPossible(text)
        client.secure(mail.host, deadline)
        client.ehlo_or_helo_if_needed()
    if mail.user:
        client.login(mail.user, mail.password)


def _envelope(client: _Client, mail: Mail) -> dict[str, tuple[int, bytes]]:
    """The recipients that were refused. Raises _Refused when all were."""
    code, text = client.mail(mail.sender)
    if code != 250:
        raise _Refused(code, text)
    replies = {recipient: client.rcpt(recipient) for recipient in mail.recipients}
    refused = {recipient: reply for recipient, reply in replies.items() if reply[0] not in (250, 251)}
    if len(refused) == len(replies):
        # One that may be taken later is worth another try.
        raise _Refused(*min(refused.values()))
    return refused


def _content(client: _Client, mail: Mail, deadline: Deadline) -> tuple[int, bytes]:
    try:
        code, text = client.data(mail.content)
    except smtplib.SMTPDataError:
        raise
    except (smtplib.SMTPException, OSError):
        raise MayHaveBeenSent(_lost(mail.host, deadline)) from None
    return code, _bytes(text)


def _told(text: bytes, refused: dict[str, tuple[int, bytes]]) -> bytes:
    if not refused:
        return text
    named = ", ".join(f"{recipient} ({code})" for recipient, (code, _text) in refused.items())
    return f"refused for {named}; ".encode() + text


def _bytes(text: Any) -> bytes:
    return text if isinstance(text, bytes) else str(text).encode(errors="replace")


def _end(client: _Client) -> None:
    with suppress(smtplib.SMTPException, OSError, ValueError):  # the reply that counts was read
        client.docmd("QUIT")
    client.close()


def _lost(host: str, deadline: Deadline) -> str:
    if deadline.due:
        return sentence("{host} did not answer in {seconds} s.", host=host, seconds=round(deadline.seconds))
    return sentence("{host} closed the connection without an answer.", host=host)
