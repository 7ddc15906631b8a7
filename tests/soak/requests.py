"""Requests to gpudash through nginx, as a program or a browser makes them, and what came of each."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import urllib3

from tests.soak.servers import HOST

TIMEOUT_S = 90.0
#: The status of a request that was not answered, or not to its end.
BROKEN = 0


class Asked(NamedTuple):
    """One request. at: when it ended, of the monotonic clock. seconds: how long it took. note: Retry-After, or what broke."""

    kind: str
    at: float
    seconds: float
    status: int
    note: str
    target: str


class Answer(NamedTuple):
    status: int
    headers: Any
    body: bytes


class Site(NamedTuple):
    """Where nginx listens on the loopback, and the certificate that it shows."""

    port: int
    certificate: str


class Client:
    """One client: its headers and cookies. `asked` is told of each request."""

    def __init__(self, site: Site, asked: Callable[[Asked], None], token: str = "") -> None:
        self._pool = urllib3.HTTPSConnectionPool(
            "127.0.0.1", site.port, ca_certs=site.certificate, server_hostname=HOST, assert_hostname=HOST, retries=False
        )
        self._asked = asked
        self._base = f"https://{HOST}:{site.port}"
        self._headers = {"Host": f"{HOST}:{site.port}", "User-Agent": "soak"}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._cookies: dict[str, str] = {}

    def ask(
        self,
        kind: str,
        target: str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        body: bytes | None = None,
    ) -> Answer | None:
        """None: it broke."""
        given = self._headers | dict(headers or {})
        if self._cookies:
            given["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        started = time.monotonic()
        try:
            got = self._pool.request(
                method, target, body=body, headers=given, redirect=False, timeout=TIMEOUT_S, retries=False
            )
        except urllib3.exceptions.HTTPError as error:
            now = time.monotonic()
            self._asked(Asked(kind, now, now - started, BROKEN, f"{type(error).__name__}: {error}"[:200], target))
            return None
        now = time.monotonic()
        self._keep(got.headers)
        note = got.headers.get("Retry-After") or ("" if got.status < 400 else _words(got.data))
        self._asked(Asked(kind, now, now - started, got.status, note, target))
        return Answer(got.status, got.headers, got.data)

    def _keep(self, headers: Any) -> None:
        for cookie in headers.getlist("Set-Cookie"):
            name, _, value = cookie.split(";", 1)[0].partition("=")
            self._cookies[name] = value

    def post_json(self, kind: str, target: str, value: object, key: str) -> Answer | None:
        """key: of idempotency."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        return self.ask(kind, target, headers, "POST", json.dumps(value).encode())

    def sign_in(self, name: str, password: str) -> bool:
        """By the page, as a person does."""
        page = self.ask("sign-in page", "/sign-in")
        found = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page.body) if page else None
        if found is None:
            return False
        fields = {"csrfmiddlewaretoken": found[1].decode(), "username": name, "password": password, "next": "/"}
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": self._base}
        answer = self.ask("sign-in", "/sign-in", headers, "POST", urlencode(fields).encode())
        return answer is not None and answer.status == 302


def _words(body: bytes) -> str:
    """The text of an error page, in short."""
    text = re.sub(rb"<(style|script).*?</\1>|<[^>]+>", b" ", body, flags=re.DOTALL)
    return " ".join(text.decode(errors="replace").split())[:200]
