"""Asking the issuer: how often, and what a slow one may cost."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
import requests
from django.test import Client

from accounts import issuer as asking
from accounts.issuer import published
from tests.accounts.openid.asking import sign_in
from tests.accounts.openid.issuer import Issuer, new_key

pytestmark = pytest.mark.django_db


def test_what_the_issuer_publishes_is_asked_for_once(there: Issuer) -> None:
    for _ in range(5):
        sign_in(there)
    known = "/.well-known/openid-configuration"
    assert [there.paths.count(path) for path in (known, "/keys", "/token")] == [1, 1, 5]


def test_a_new_key_is_asked_for_when_a_token_names_it(there: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.openid.AGAIN_S", 0.0)
    assert sign_in(there).status_code == 302
    there.kid, there.key = "second", new_key()
    assert sign_in(there).status_code == 302
    assert there.paths.count("/keys") == 2


def test_a_slow_issuer_holds_few_threads_and_each_for_a_moment(there: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """It sends a byte now and then, for which no time-out of a socket is too short."""
    monkeypatch.setattr(asking, "DEADLINE_S", 0.5)
    monkeypatch.setattr(asking, "PLACE_S", 0.01)
    there.go.clear()
    answers: list[int] = []
    began = time.monotonic()

    def ask() -> None:
        answers.append(_asks(there.url))

    threads = [threading.Thread(target=ask) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert answers == [503] * 20
    assert time.monotonic() - began < 5
    assert len(there.paths) <= asking.AT_ONCE
    asked_before = len(there.paths)
    assert Client().get("/sign-in/oidc").status_code == 503
    assert len(there.paths) == asked_before, "what failed a moment ago is not asked again"
    there.go.set()


def _asks(url: str) -> int:
    try:
        published.get(f"{url}/.well-known/openid-configuration", _got)
    except requests.RequestException:
        return 503
    return 200


def _got(url: str) -> dict[str, Any]:
    with asking.Session() as session:
        return dict(session.get(url).json())


def test_who_is_given_up_holds_no_place(there: Issuer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection ends with the question, so an issuer that sends a byte now and then does not use the places up."""
    monkeypatch.setattr(asking, "DEADLINE_S", 0.2)
    there.go.clear()
    for _ in range(asking.AT_ONCE + 1):
        with pytest.raises(requests.Timeout, match="no response within"):
            _got(there.url)
