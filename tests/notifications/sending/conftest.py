"""Certificates of a test's authority, and a loopback that may be called."""

from __future__ import annotations

import ssl

import pytest

from tests.encrypted import Certificates, certificates
from tests.services import Missing


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    try:
        return certificates(tmp_path_factory.mktemp("authority") / "tls")
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def tls(authority: Certificates) -> ssl.SSLContext:
    """Of a server with the name `localhost`, whose authority nobody knows yet."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.certificate, authority.key)
    return context


@pytest.fixture
def trusted(authority: Certificates, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's authorities have the test's."""
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca))
