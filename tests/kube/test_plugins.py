"""Credential plugins: what they are given, what is made of their answers, and that a slow or silent one holds nobody up."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kube import credentials
from kube import plugin as plugin_module
from kube.client import ApiError, BadKubeconfig, Client
from tests.kube.certificates import Authority, base64_of
from tests.kube.plugins import credential, exec_user, plugin, runs
from tests.kube.scripted import ScriptedServer, ok, refusal
from tests.kube.words import client, config, write_config
from tests.services import wait_until

Serve = Callable[..., ScriptedServer]
TOKEN = "s3cr3t-t0k3n-value"
NUMBERED = """
n = os.path.getsize(os.path.join(os.path.dirname(__file__), "runs"))
status = {"token": f"token-{n}"}
"""
PRINT = """
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}))
"""


def authorization(server: ScriptedServer) -> list[str | None]:
    return [asked.headers.get("Authorization") for asked in server.asked]


def failure(made: Client) -> ApiError:
    with pytest.raises(ApiError) as caught:
        made.get("/version")
    assert (caught.value.status, caught.value.reason) == (0, "Credentials")
    return caught.value


def test_a_plugin_gives_a_token(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}))
    client(tmp_path, server.url, exec_user(plugin(tmp_path, credential(token=TOKEN)))).get("/version")
    assert authorization(server) == [f"Bearer {TOKEN}"]


def test_a_plugin_gives_a_client_certificate_and_later_another(
    serve: Serve, tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "RENEW_S", 0.0)
    server = serve(ok({}), refusal(401, "Unauthorized"), ok({}), tls=authority.server(ask_client=True))

    def answers(name: str) -> str:
        certificate, key = authority.issue(name)
        return credential(clientCertificateData=certificate.read_text(), clientKeyData=key.read_text())

    user = exec_user(plugin(tmp_path, answers("first")))
    made = client(tmp_path, server.url, user, certificate_authority=str(authority.certificate))
    made.get("/version")
    plugin(tmp_path, answers("second"))
    with pytest.raises(ApiError):
        made.get("/version")
    made.get("/version")
    assert [asked.certificate for asked in server.asked] == ["first", "first", "second"]


def test_it_is_told_of_its_cluster_and_nothing_of_gpudash(
    serve: Serve, tmp_path: Path, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPUDASH_SECRET_KEY", TOKEN)
    server, seen = serve(ok({}), tls=authority.server()), tmp_path / "seen"
    text = f"""
json.dump([sys.argv[1:], dict(os.environ), os.getcwd(), sys.stdin.read()], open({str(seen)!r}, "w"))
{credential(token="t")}
"""
    user = exec_user(
        plugin(tmp_path, text), args=["get-token", 7], env=[{"name": "WHERE", "value": "x"}], provideClusterInfo=True
    )
    extension = [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "a"}}]
    ca = str(authority.certificate)
    client(tmp_path, server.url, user, certificate_authority=ca, extensions=extension).get("/version")
    arguments, environment, folder, typed = json.loads(seen.read_text())
    assert (arguments, environment["WHERE"], folder, typed) == (["get-token", "7"], "x", str(tmp_path), "")
    assert json.loads(environment["KUBERNETES_EXEC_INFO"]) == {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "spec": {
            "interactive": False,
            "cluster": {
                "server": server.url,
                "certificate-authority-data": base64_of(authority.certificate),
                "config": {"audience": "a"},
            },
        },
    }
    assert not [name for name in environment if name.startswith("GPUDASH_")]


def test_an_extension_without_end_is_refused(tmp_path: Path) -> None:
    nested: Any = "x"
    for _ in range(4):
        nested = [nested] * 10
    extension = [{"name": "client.authentication.k8s.io/exec", "extension": nested}]
    with pytest.raises(BadKubeconfig, match=r"provideClusterInfo: .* too large"):
        client(tmp_path, "http://127.0.0.1:1", exec_user("true", provideClusterInfo=True), extensions=extension)


# Its answers, kept and renewed.


def test_all_clients_of_a_source_share_one_answer(serve: Serve, tmp_path: Path) -> None:
    server = serve(*[ok({})] * 6)
    path = write_config(tmp_path, config(server.url, exec_user(plugin(tmp_path, NUMBERED + "time.sleep(0.3)" + PRINT))))
    threads = [threading.Thread(target=lambda: Client(path).get("/version")) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert authorization(server) == ["Bearer token-1"] * 6
    assert runs(tmp_path) == 1


def test_a_token_is_renewed_ahead_of_its_end_and_used_meanwhile(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(credentials, "RENEW_S", 0.0)
    monkeypatch.setattr(credentials, "AHEAD_SHARE", 1.0)
    monkeypatch.setattr(credentials, "AHEAD_CAP_S", 1e12)
    server, gate = serve(*[ok({})] * 40), tmp_path / "gate"
    ends = 'status["expirationTimestamp"] = "2099-01-01T00:00:00Z"\n'
    waits = f"while n > 1 and not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    made = client(tmp_path, server.url, exec_user(plugin(tmp_path, NUMBERED + ends + waits + PRINT)))
    made.get("/version")
    made.get("/version")
    wait_until(lambda: runs(tmp_path) == 2, "it is asked again in the background")
    made.get("/version")
    assert authorization(server) == ["Bearer token-1"] * 3
    gate.touch()

    def renewed() -> bool:
        made.get("/version")
        return authorization(server)[-1] != "Bearer token-1"

    wait_until(renewed, "the new token is used")


def test_a_token_that_has_expired_when_it_comes_is_used_and_not_asked_for_in_a_loop(
    serve: Serve, tmp_path: Path
) -> None:
    server = serve(*[ok({})] * 3)
    ends = 'status["expirationTimestamp"] = "2020-01-01T00:00:00Z"\n'
    made = client(tmp_path, server.url, exec_user(plugin(tmp_path, NUMBERED + ends + PRINT)))
    for _ in range(3):
        made.get("/version")
    assert authorization(server) == ["Bearer token-1"] * 3
    assert runs(tmp_path) == 1


def test_a_401_asks_for_another_answer_but_not_in_a_loop(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(*[refusal(401, "Unauthorized")] * 3, ok({}))
    made = client(tmp_path, server.url, exec_user(plugin(tmp_path, NUMBERED + PRINT)))
    for _ in range(3):
        with pytest.raises(ApiError) as caught:
            made.get("/version")
        assert caught.value.status == 401
    assert authorization(server) == ["Bearer token-1"] * 3
    monkeypatch.setattr(made._plugin, "_not_before", 0.0)  # its time has come
    made.get("/version")
    assert authorization(server)[-1] == "Bearer token-2"


# Slow, silent and failing ones.


def test_one_that_hangs_holds_up_neither_the_constructor_nor_who_asks(tmp_path: Path) -> None:
    began = time.monotonic()
    command = plugin(tmp_path, "time.sleep(600)")
    made = Client(write_config(tmp_path, config("http://127.0.0.1:1", exec_user(command))), patience_s=0.5)
    first = failure(made)
    assert f"the credential plugin {command!r}" in first.message
    assert "has not responded for" in first.message
    failure(made)  # who comes later does not wait again
    assert time.monotonic() - began < 5


def test_one_that_is_slow_is_found_ready_at_the_next_try(serve: Serve, tmp_path: Path) -> None:
    server, gate = serve(ok({})), tmp_path / "gate"
    waits = f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    path = write_config(tmp_path, config(server.url, exec_user(plugin(tmp_path, NUMBERED + waits + PRINT))))
    failure(Client(path, patience_s=0.1))
    gate.touch()
    Client(path).get("/version")
    assert (authorization(server), runs(tmp_path)) == (["Bearer token-1"], 1)


def test_one_that_hangs_is_ended_with_its_children(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin_module, "LIMIT_S", 1.0)
    pids = tmp_path / "pids"
    text = f"""
child = os.fork()
open({str(pids)!r}, "a").write(f"{{os.getpid()}}\\n")
time.sleep(600)
"""
    made = client(tmp_path, "http://127.0.0.1:1", exec_user(plugin(tmp_path, text)))
    error = failure(made)
    assert "was stopped after 1 s without a response" in error.message
    for pid in map(int, pids.read_text().split()):
        wait_until(lambda pid=pid: _ended(pid), "the plugin and its child are gone")  # type: ignore[misc]


def _ended(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"


def test_a_failure_is_told_at_once_and_not_run_again_at_once(serve: Serve, tmp_path: Path) -> None:
    server = serve(ok({}))
    command = plugin(tmp_path, "sys.exit('the session is over; sign in first')")
    made = client(tmp_path, server.url, exec_user(command))
    for _ in range(3):
        assert "exited with code 1: the session is over; sign in first. Run it manually" in failure(made).message
    assert runs(tmp_path) == 1
    plugin(tmp_path, credential(token="good-again"))
    assert made._plugin is not None
    made._plugin._not_before = 0.0  # its time has come
    made.get("/version")
    assert authorization(server) == ["Bearer good-again"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("print('not json')", "printed no ExecCredential with a status"),
        ("print('{}')", "printed no ExecCredential with a status"),
        ("print('[]')", "printed no ExecCredential with a status"),
        ("print('[' * 100000)", "printed no ExecCredential with a status"),
        ("while True: print('x' * 10000)", "without a response"),
        (credential(token=""), "printed no token and no certificate"),
        (credential(clientCertificateData="only half"), "without its key"),
        (credential(token="x", expirationTimestamp="soon"), "invalid expirationTimestamp"),
        (
            "print(json.dumps({'apiVersion': 'other/v1', 'kind': 'ExecCredential', 'status': {'token': 'x'}}))",
            "of client.",
        ),
        (f"os.kill(os.getpid(), {int(signal.SIGSEGV)})", "was terminated by signal 11"),
    ],
)
def test_one_that_fails_is_named_with_the_reason(tmp_path: Path, text: str, why: str) -> None:
    command = plugin(tmp_path, text)
    error = failure(client(tmp_path, "https://127.0.0.1:1", exec_user(command)))
    assert f"the credential plugin {command!r} (users[].user.exec) returned no credential: it " in error.message
    assert why in error.message


def test_one_that_is_not_there_is_named(tmp_path: Path) -> None:
    error = failure(client(tmp_path, "https://127.0.0.1:1", exec_user("no-such-plugin")))
    assert (
        "'no-such-plugin' (users[].user.exec) returned no credential: it could not be started (No such file"
        in error.message
    )


@pytest.mark.parametrize(
    "text",
    [
        f"print({json.dumps({'status': {'token': TOKEN}})!r} + 'x')",
        f"sys.exit('refused: password={TOKEN}')",
        f"sys.exit('the answer was {TOKEN * 3}')",
        "sys.exit('no session for ' + os.environ['GIVEN'])",
        "sys.exit('no session for ' + sys.argv[1])",
    ],
)
def test_no_secret_of_it_is_in_an_error_a_log_or_a_repr(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    caplog.set_level("DEBUG")
    user = exec_user(plugin(tmp_path, text), env=[{"name": "GIVEN", "value": TOKEN}], args=[TOKEN])
    made = client(tmp_path, "https://127.0.0.1:1", user)
    error = failure(made)
    assert made._plugin is not None
    assert TOKEN not in f"{error!r} {caplog.text} {made!r} {made._plugin.spec!r}"


def test_other_clients_go_on_while_one_plugin_hangs(serve: Serve, tmp_path: Path) -> None:
    server, other = serve(ok({})), tmp_path / "other"
    other.mkdir()
    stuck = Client(
        write_config(tmp_path, config("http://127.0.0.1:1", exec_user(plugin(tmp_path, "time.sleep(600)")))),
        patience_s=30.0,
    )
    waiting = threading.Thread(target=failure, args=(stuck,), daemon=True)
    waiting.start()
    wait_until(lambda: runs(tmp_path) == 1, "the plugin runs")
    client(other, server.url, {"token": "t"}).get("/version")
    assert waiting.is_alive()
