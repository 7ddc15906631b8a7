"""An SMTP server of a test, on loopback: takes mails, or refuses at the step that a test names."""

from __future__ import annotations

import base64
import socketserver
import ssl
import threading
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from types import TracebackType
from typing import Any, NamedTuple


class Taken(NamedTuple):
    """A mail with its envelope."""

    sender: str
    recipients: list[str]
    content: bytes
    secure: bool
    user: str

    @property
    def mail(self) -> EmailMessage:
        made = message_from_bytes(self.content, policy=default)
        assert isinstance(made, EmailMessage)
        return made


class SmtpServer:
    """replies: what is answered instead of "yes", by verb, or by recipient; None closes the connection there.

    tls: offers STARTTLS, or with `wrapped` speaks TLS from the first byte. password: of any user; "" offers no sign-in.
    """

    def __init__(
        self,
        replies: dict[str, str | None] | None = None,
        tls: ssl.SSLContext | None = None,
        password: str = "",
        wrapped: bool = False,
    ) -> None:
        self.taken: list[Taken] = []
        self.over = threading.Event()
        test = self

        class _Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                if tls is not None and wrapped:
                    self.request = tls.wrap_socket(self.request, server_side=True)
                try:
                    _Session(self.request, test, replies or {}, None if wrapped else tls, password, wrapped).run()
                except OSError:
                    pass  # a client that goes away is part of a test
                finally:
                    self.request.close()

        class _Server(socketserver.ThreadingTCPServer):
            daemon_threads, allow_reuse_address = True, True

            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # a client that refuses the certificate is part of a test

        self._server = _Server(("127.0.0.1", 0), _Handler)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def __enter__(self) -> SmtpServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.over.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Session:
    """One connection."""

    def __init__(
        self,
        connection: Any,
        server: SmtpServer,
        replies: dict[str, str | None],
        tls: ssl.SSLContext | None,
        password: str,
        secure: bool,
    ) -> None:
        self._connection, self._server, self._replies, self._tls = connection, server, replies, tls
        self._password, self._secure, self._user, self._sender = password, secure, "", ""
        self._recipients: list[str] = []
        self._lines = connection.makefile("rb")

    def run(self) -> None:
        going = self._say("GREETING", "220 mail.example.org ESMTP")
        while going and (line := self._lines.readline()):
            words = line.decode("ascii").strip()
            verb = words.split(" ")[0].upper()
            going = getattr(self, f"_{verb.lower()}", self._unknown)(words)

    def _say(self, name: str, usual: str) -> bool:
        reply = self._replies.get(name, usual)
        if reply == "hang":
            self._server.over.wait(30)
        if reply is None or reply == "hang":
            return False
        self._connection.sendall(f"{reply}\r\n".encode())
        return True

    def _unknown(self, words: str) -> bool:
        return self._say("", "500 unknown command")

    def _ehlo(self, words: str) -> bool:
        offers = ["mail.example.org", *(["STARTTLS"] if self._tls else [])]
        offers += ["AUTH PLAIN"] if self._password and (self._secure or not self._tls) else []
        lines = [f"250{'-' if number < len(offers) - 1 else ' '}{offer}" for number, offer in enumerate(offers)]
        return self._say("EHLO", "\r\n".join(lines))

    def _starttls(self, words: str) -> bool:
        if not self._say("STARTTLS", "220 go ahead") or "STARTTLS" in self._replies or self._tls is None:
            return "STARTTLS" in self._replies
        self._connection = self._tls.wrap_socket(self._connection, server_side=True)
        self._lines, self._tls, self._secure = self._connection.makefile("rb"), None, True
        return True

    def _auth(self, words: str) -> bool:
        _empty, user, password = base64.b64decode(words.split(" ")[2]).decode().split("\0")
        if password != self._password:
            return self._say("AUTH", f"535 5.7.8 wrong password {password} of {user}: {words.split(' ')[2]}")
        self._user = user
        return self._say("AUTH", "235 welcome")

    def _mail(self, words: str) -> bool:
        self._sender, self._recipients = words.partition("<")[2].partition(">")[0], []
        return self._say("MAIL", "250 ok")

    def _rcpt(self, words: str) -> bool:
        recipient = words.partition("<")[2].partition(">")[0]
        if recipient in self._replies:
            return self._say(recipient, "")
        self._recipients.append(recipient)
        return self._say("RCPT", "250 ok")

    def _data(self, words: str) -> bool:
        if not self._say("DATA", "354 end with a dot"):
            return False
        if "DATA" in self._replies:
            return True
        lines = iter(self._lines.readline, b".\r\n")
        content = b"".join(line[1:] if line.startswith(b"..") else line for line in lines)
        self._server.taken.append(Taken(self._sender, self._recipients, content, self._secure, self._user))
        return self._say("CONTENT", "250 2.0.0 queued as 4F1Xy")

    def _quit(self, words: str) -> bool:
        self._say("QUIT", "221 bye")
        return False
