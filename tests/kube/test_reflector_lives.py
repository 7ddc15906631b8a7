"""The thread of a reflector outlives whatever goes wrong, and goes on when the credentials are good again."""

from __future__ import annotations

from pathlib import Path

import pytest

from kube import credentials
from kube.client import Client
from kube.messages import ListEnd, Trouble
from tests.kube.plugins import credential, exec_user, plugin
from tests.kube.reading import Reading
from tests.kube.scripted import Answer, Asked, Hang, ScriptedServer, refusal
from tests.kube.words import client, config, page, pod, write_config


class Guarded(ScriptedServer):
    """Lists pods for whoever brings the token `good`; 401 for others."""

    good = "Bearer good"

    def take(self, asked: Asked) -> Answer | type[Hang]:
        if asked.headers.get("Authorization") != self.good:
            self.asked.append(asked)
            return refusal(401, "Unauthorized")
        return super().take(asked)


class Broken(Client):
    """Fails in a way that nobody expects."""

    broken = 3

    def renew_credentials(self) -> None:
        if self.broken:
            self.broken -= 1
            raise RuntimeError("of another kind")
        super().renew_credentials()


def test_it_recovers_when_the_issuer_of_tokens_is_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RENEW_S", "FAILED_S"):
        monkeypatch.setattr(credentials, name, 0.05)
    user = exec_user(plugin(tmp_path, credential(token="expired")))
    with Guarded(page(pod("a"))) as server:
        reading = Reading(client(tmp_path, server.url, user))
        try:
            assert "401" in reading.until_type(Trouble).reason
            plugin(tmp_path, "sys.exit('the issuer is away')")
            reading.until(lambda message: isinstance(message, Trouble) and "issuer is away" in message.reason)
            plugin(tmp_path, credential(token="good"))
            reading.until_type(ListEnd)
        finally:
            server.closing.set()
            reading.reflector.stop()


def test_an_error_of_another_kind_does_not_end_it_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Guarded(page(pod("a"))) as server:
        path = write_config(tmp_path, config(server.url, {"token": "old"}))
        broken = Broken(path)
        write_config(tmp_path, config(server.url, {"token": "good"}))
        reading = Reading(broken)
        try:
            reading.until_type(ListEnd)
        finally:
            server.closing.set()
            reading.reflector.stop()
    assert broken.broken == 0
    assert caplog.text.count(": continuing") == 1
