"""`kubectl gpudash` as somebody types it, before the product's own REST in this process: no socket, no second thread."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import NamedTuple
from urllib.request import Request

import pytest
from django.test import Client

from accounts.roles import Role
from client import server
from client.main import main
from tests.cast import make_token, make_user

ADDRESS = "http://testserver"


class Answer(io.BytesIO):
    """As urllib's, as far as the program reads it."""

    def __init__(self, status: int, data: bytes) -> None:
        super().__init__(data)
        self.status = status


class InProcess:
    """Opens requests by the product's middleware and views. asked: method and address of each."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def open(self, request: Request, timeout: float) -> Answer:
        path = request.full_url.removeprefix(ADDRESS)
        self.asked.append(f"{request.get_method()} {path}")
        answer = Client().generic(
            request.get_method(),
            path,
            request.data or b"",
            request.get_header("Content-type", ""),
            headers=dict(request.header_items()),
        )
        return Answer(answer.status_code, answer.content)


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Ask = Callable[..., Said]


@pytest.fixture
def rest(db: None, monkeypatch: pytest.MonkeyPatch) -> InProcess:
    # The first request of a process loads all views: that is no part of the seconds that the program waits.
    Client().get("/healthz")
    made = InProcess()
    monkeypatch.setattr(server, "_opener", lambda *_: made)
    return made


@pytest.fixture
def ask(db: None, rest: InProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """An operator at a shell, with a token in the environment."""
    monkeypatch.setenv("GPUDASH_SERVER", ADDRESS)
    monkeypatch.setenv("GPUDASH_TOKEN", make_token(make_user("olga", Role.OPERATOR), Role.OPERATOR))

    def ask(*words: str) -> Said:
        code = main(words)
        return Said(code, *capsys.readouterr())

    return ask
