"""Servers, certificates and reflectors for the ground floor."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.kube.certificates import Authority
from tests.kube.reading import Reading
from tests.kube.scripted import ScriptedServer
from tests.kube.words import client


@pytest.fixture(autouse=True)
def no_proxy_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """Start scripted servers: serve(*answers, tls=…)."""
    with ExitStack() as stack:
        yield lambda *answers, tls=None: stack.enter_context(ScriptedServer(*answers, tls=tls))


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls") / "own", "own authority")


@pytest.fixture(scope="session")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that signed nothing here."""
    return Authority(tmp_path_factory.mktemp("tls") / "other", "another authority")


@pytest.fixture
def read(tmp_path: Path) -> Iterator[Callable[..., Reading]]:
    """Start a reflector of a scripted server: read(server, …); it is stopped at the end."""
    readings: list[Reading] = []
    servers: list[ScriptedServer] = []

    def start(server: ScriptedServer, **options: Any) -> Reading:
        servers.append(server)
        readings.append(Reading(client(tmp_path, server.url), **options))
        return readings[-1]

    yield start
    for server in servers:
        server.closing.set()
    for reading in readings:
        reading.reflector.stop()
