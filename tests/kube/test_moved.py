"""A kubeconfig that was written anew is read after any failure: the address moved, or another authority signs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kube.client import Client
from kube.messages import ListEnd, Trouble
from tests.kube.certificates import Authority, base64_of
from tests.kube.reading import Reading
from tests.kube.scripted import ScriptedServer, ok, refusal, stream
from tests.kube.words import config, line, page, pod, write_config

Serve = Callable[..., ScriptedServer]


@pytest.fixture
def follow() -> Iterator[Callable[[Client], Reading]]:
    readings: list[Reading] = []

    def start(client: Client) -> Reading:
        readings.append(Reading(client))
        return readings[-1]

    yield start
    for reading in readings:
        reading.reflector.stop()


def replaced(path: str, content: Any) -> None:
    """As `kubectl config` and a mounted Secret do it: another file takes its place."""
    folder = Path(path).parent / "new"
    folder.mkdir(exist_ok=True)
    os.replace(write_config(folder, content), path)


def is_mirrored(reading: Reading) -> None:
    reading.until_type(ListEnd)
    reading.until_name("b")


def good(serve: Serve, **tls: Any) -> ScriptedServer:
    return serve(page(pod("a")), stream(line("ADDED", pod("b", 11))), **tls)


def test_a_moved_address_is_found(serve: Serve, tmp_path: Path, follow: Callable[[Client], Reading]) -> None:
    gone = ScriptedServer()
    path = write_config(tmp_path, config(gone.url))
    gone.close()
    reading = follow(Client(path))
    assert "cannot reach" in reading.until_type(Trouble).reason
    replaced(path, config(good(serve).url))
    is_mirrored(reading)


def test_a_rotated_authority_in_the_file_is_found(
    serve: Serve, tmp_path: Path, follow: Callable[[Client], Reading], authority: Authority, stranger: Authority
) -> None:
    server = good(serve, tls=authority.server())
    path = write_config(tmp_path, config(server.url, certificate_authority_data=base64_of(stranger.certificate)))
    reading = follow(Client(path))
    assert "TLS" in reading.until_type(Trouble).reason
    replaced(path, config(server.url, certificate_authority_data=base64_of(authority.certificate)))
    is_mirrored(reading)


def test_a_rotated_authority_in_a_file_beside_it_is_found(
    serve: Serve, tmp_path: Path, follow: Callable[[Client], Reading], authority: Authority, stranger: Authority
) -> None:
    server, beside = good(serve, tls=authority.server()), tmp_path / "ca.pem"
    beside.write_bytes(stranger.certificate.read_bytes())
    reading = follow(Client(write_config(tmp_path, config(server.url, certificate_authority="ca.pem"))))
    reading.until_type(Trouble)
    beside.write_bytes(authority.certificate.read_bytes())
    is_mirrored(reading)


def test_an_address_that_another_server_took_is_left(
    serve: Serve, tmp_path: Path, follow: Callable[[Client], Reading]
) -> None:
    """It answers, but not as the cluster: a load balancer without a backend, say."""
    path = write_config(tmp_path, config(serve(*[refusal(503, "Unavailable")] * 50).url))
    reading = follow(Client(path))
    reading.until_type(Trouble)
    replaced(path, config(good(serve).url))
    is_mirrored(reading)


def test_a_file_that_stays_is_not_read_again(
    tmp_path: Path, follow: Callable[[Client], Reading], monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = ScriptedServer()
    gone.close()
    client = Client(write_config(tmp_path, config(gone.url)))
    asked: list[str] = []
    monkeypatch.setattr(client, "renew_credentials", lambda: asked.append("again"))
    follow(client).until_type(Trouble, 3)
    assert not asked


def test_a_file_that_cannot_work_changes_nothing(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}))
    path = write_config(tmp_path, config(server.url))
    client = Client(path)
    assert not client.changed
    replaced(path, "no kubeconfig")
    assert client.changed
    with pytest.raises(Exception, match="kubeconfig"):
        client.renew_credentials()
    client.get("/version")
    assert client.changed
