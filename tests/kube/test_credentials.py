"""Each form of credential reaches the server, and none reaches a log or an error."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path

import pytest

from kube import client as client_module
from kube import configuration
from kube.client import ApiError, BadKubeconfig, Client
from tests.kube.certificates import Authority, base64_of
from tests.kube.scripted import ScriptedServer, ok, refusal
from tests.kube.words import client, config, write_config

Serve = Callable[..., ScriptedServer]
TOKEN = "s3cr3t-t0k3n-value"


def authorization(server: ScriptedServer) -> list[str | None]:
    return [asked.headers.get("Authorization") for asked in server.asked]


def test_a_token_is_sent(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}))
    client(tmp_path, server.url, {"token": TOKEN}).get("/version")
    assert authorization(server) == [f"Bearer {TOKEN}"]


def test_without_a_credential_none_is_sent(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}))
    client(tmp_path, server.url).get("/version")
    assert authorization(server) == [None]


def test_user_name_and_password_are_sent(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}))
    client(tmp_path, server.url, {"username": "me", "password": TOKEN}).get("/version")
    assert authorization(server) == ["Basic " + base64.b64encode(f"me:{TOKEN}".encode()).decode()]


def test_a_token_file_is_read_again_when_its_time_has_come(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, file = serve(ok({}), ok({}), ok({}), ok({})), tmp_path / "token"
    file.write_text("first\n")
    with_file = client(tmp_path, server.url, {"tokenFile": "token"})
    with_file.get("/version")
    file.write_text("second\n")
    with_file.get("/version")
    monkeypatch.setattr(client_module, "TOKEN_FILE_S", -1.0)
    with_file.get("/version")
    file.write_text("")  # just being written
    with_file.get("/version")
    assert authorization(server) == ["Bearer first", "Bearer first", "Bearer second", "Bearer second"]


def test_a_token_file_that_went_leaves_the_old_token(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server, file = serve(ok({})), tmp_path / "token"
    file.write_text("first")
    with_file = client(tmp_path, server.url, {"tokenFile": str(file)})
    file.unlink()
    monkeypatch.setattr(client_module, "TOKEN_FILE_S", -1.0)
    with_file.get("/version")
    assert authorization(server) == ["Bearer first"]


def test_after_a_401_the_credentials_are_read_anew(serve: Serve, tmp_path: Path) -> None:
    server = serve(refusal(401, "Unauthorized"), ok({}))
    changing = client(tmp_path, server.url, {"token": "old"})
    with pytest.raises(ApiError) as caught:
        changing.get("/version")
    write_config(tmp_path, config(server.url, {"token": "new"}))
    changing.renew_credentials()
    changing.get("/version")
    assert caught.value.status == 401
    assert authorization(server) == ["Bearer old", "Bearer new"]


def test_a_kubeconfig_that_went_says_so_when_it_is_read_anew(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}))
    kept = client(tmp_path, server.url, {"token": TOKEN})
    (tmp_path / "kubeconfig").unlink()
    with pytest.raises(BadKubeconfig, match="cannot be read"):
        kept.renew_credentials()
    kept.get("/version")
    assert authorization(server) == [f"Bearer {TOKEN}"]


@pytest.mark.parametrize("form", ["files", "data"])
def test_a_client_certificate_is_shown_to_the_server(
    serve: Serve, tmp_path: Path, authority: Authority, form: str
) -> None:
    certificate, key = authority.issue("watcher")
    server = serve(ok({}), tls=authority.server(ask_client=True))
    if form == "files":
        user = {"client-certificate": str(certificate), "client-key": str(key)}
        made = client(tmp_path, server.url, user, certificate_authority=str(authority.certificate))
    else:
        user = {"client-certificate-data": base64_of(certificate), "client-key-data": base64_of(key)}
        made = client(tmp_path, server.url, user, certificate_authority_data=base64_of(authority.certificate))
    made.get("/version")
    assert [asked.certificate for asked in server.asked] == ["watcher"]


def test_paths_are_relative_to_the_kubeconfig(serve: Serve, tmp_path: Path, authority: Authority) -> None:
    (tmp_path / "ca.pem").write_bytes(authority.certificate.read_bytes())
    server = serve(ok({}), tls=authority.server())
    client(tmp_path, server.url, certificate_authority="ca.pem").get("/version")
    assert len(server.asked) == 1


@pytest.fixture
def service_account(tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("pod-token\n")
    (folder / "ca.crt").write_bytes(authority.certificate.read_bytes())
    monkeypatch.setattr(configuration, "SERVICE_ACCOUNT", folder)
    return folder


def in_cluster(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> Client:
    host, port = server.url.removeprefix("https://").split(":")
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", host)
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", port)
    return Client()


def test_in_a_pod_the_service_account_is_used_and_its_new_token_after_a_401(
    serve: Serve, authority: Authority, service_account: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(ok({}), ok({}), tls=authority.server())
    pod_client = in_cluster(server, monkeypatch)
    pod_client.get("/version")
    (service_account / "token").write_text("rotated")
    pod_client.renew_credentials()
    pod_client.get("/version")
    assert [str(value).lower() for value in authorization(server)] == ["bearer pod-token", "bearer rotated"]


@pytest.mark.parametrize("missing", ["token", "ca.crt"])
def test_a_pod_without_a_service_account_says_so(
    service_account: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "1")
    (service_account / missing).unlink()
    with pytest.raises(BadKubeconfig, match="not a pod with a service account"):
        Client()


def test_outside_of_a_pod_without_a_kubeconfig_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(BadKubeconfig, match="no kubeconfig"):
        Client()


# Secrets.


@pytest.mark.parametrize("token", [f"{TOKEN}\nX-Other: 1", f"{TOKEN}’", f"{TOKEN}\x00{TOKEN}", f"{TOKEN}\r{TOKEN}"])
def test_a_token_that_no_header_can_carry_is_refused_and_not_repeated(
    serve: Serve, tmp_path: Path, caplog: pytest.LogCaptureFixture, token: str
) -> None:
    strange = client(tmp_path, serve().url, {"token": token})
    with pytest.raises(BadKubeconfig) as caught:
        strange.get("/version")
    assert TOKEN not in f"{caught.value!r} {caught.value.__cause__!r} {caplog.text}"
    assert "the token contains" in str(caught.value)


def test_no_secret_is_in_a_repr_an_error_or_a_log(
    serve: Serve, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    server = serve(refusal(403, "Forbidden", "pods is forbidden"), refusal(500, "Boom"), ok({}))
    made = client(tmp_path, server.url, {"token": TOKEN})
    texts = [repr(made), str(made)]
    for _ in range(2):
        with pytest.raises(ApiError) as caught:
            made.get("/api/v1/pods")
        texts += [str(caught.value), repr(caught.value), repr(vars(caught.value))]
    server.close()
    with pytest.raises(ApiError) as unreachable:
        client(tmp_path, "http://127.0.0.1:1", {"username": "me", "password": TOKEN}).get("/version")
    texts += [repr(unreachable.value), caplog.text]
    encoded = base64.b64encode(f"me:{TOKEN}".encode()).decode()
    assert not any(TOKEN in text or encoded in text for text in texts)
