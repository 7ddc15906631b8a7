"""Servers that refuse, hang, lie or are something else: one plain line each, and the token goes nowhere else."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from client import server as client_server
from client.failures import Failed, Misused, Unreachable
from client.main import main
from client.server import Server
from tests import encrypted
from tests.http_server import Handler
from tests.http_server import Server as HttpServer
from tests.services import Missing, free_port, or_skip

NOT_GPUDASH = "does not answer as gpudash does"


class Script:
    """What the server answers to everything, and what it was asked. status 0: nothing, until `go`."""

    def __init__(self) -> None:
        self.status, self.body, self.headers = 200, b"", {"Content-Type": "application/json"}
        self.seen: list[tuple[str, str | None]] = []
        self.go = threading.Event()

    def problem(self, status: int, detail: object) -> None:
        self.status, self.body = status, json.dumps({"title": "x", "status": status, "detail": detail}).encode()


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")


@pytest.fixture
def script() -> Script:
    return Script()


def handler(script: Script) -> type[Handler]:
    class Scripted(Handler):
        def do_GET(self) -> None:
            script.seen.append((self.path, self.headers["Authorization"]))
            if script.status == 0:
                script.go.wait(30)
                return
            self.send_response(script.status)
            for name, value in script.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(script.body)

    return Scripted


@pytest.fixture
def server(script: Script) -> Iterator[Server]:
    with HttpServer(handler(script)) as served:
        yield Server(f"http://127.0.0.1:{served.port}", "gpd_1_x", timeout_s=0.3)
        script.go.set()


@pytest.mark.parametrize(
    ("status", "told", "kind"),
    [
        (400, "Say what.", Failed),
        (401, "The token is rejected: Say what.", Failed),
        (403, "Not permitted: Say what.", Failed),
        (404, "Say what.", Failed),
        (409, "Say what.", Failed),
        (429, "Say what.", Unreachable),
        (503, "Say what.", Unreachable),
    ],
)
def test_what_the_server_refuses_is_said_in_its_words(
    server: Server, script: Script, status: int, told: str, kind: type[Failed]
) -> None:
    script.problem(status, "Say what.")
    with pytest.raises(Failed) as failed:
        server.get("nodes", "results")
    assert (str(failed.value), type(failed.value)) == (told, kind)


@pytest.mark.parametrize(
    ("status", "body", "told"),
    [
        (200, b"<html>", NOT_GPUDASH),
        (200, b"[]", NOT_GPUDASH),
        (200, b'{"items": []}', NOT_GPUDASH),
        (200, b'{"results": [1]}', NOT_GPUDASH),
        (200, b'{"results": {"a": 1}}', NOT_GPUDASH),
        (200, b"[" * 100_000, NOT_GPUDASH),
        (200, b"\xff", NOT_GPUDASH),
        (404, b"<html>", f"{NOT_GPUDASH} (status 404)"),
        (404, b'{"detail": {"a": 1}}', f"{NOT_GPUDASH} (status 404)"),
        (401, b"<html>", "rejects the token (status 401)"),
        (403, b"", "rejects the token (status 403)"),
        (502, b"<html>", "cannot answer now (status 502)"),
        (500, b"<html>", f"{NOT_GPUDASH} (status 500)"),
    ],
)
def test_what_is_not_gpudash(server: Server, script: Script, status: int, body: bytes, told: str) -> None:
    script.status, script.body = status, body
    with pytest.raises(Failed, match=r"^http://127.0.0.1:\d+ ") as failed:
        server.listed("nodes", 10)
    assert told in str(failed.value)


def test_a_redirect_does_not_take_the_token_elsewhere(server: Server, script: Script) -> None:
    script.status, script.headers = 302, {"Location": f"{server.address.replace('127.0.0.1', 'localhost')}/sign-in"}
    with pytest.raises(Failed, match=r"does not answer as gpudash does \(status 302\)"):
        server.get("nodes", "results")
    assert script.seen == [("/api/v1/nodes", "Bearer gpd_1_x")]


def test_the_next_page_is_asked_of_the_same_server(server: Server, script: Script) -> None:
    script.body = b'{"results": [{"name": "a"}], "next": "http://evil.example.com/x?cursor=abc%3D&token=1"}'
    assert len(server.listed("nodes", 2, model="a b")["results"]) == 2
    assert [path for path, _ in script.seen] == [
        "/api/v1/nodes?model=a+b&page_size=2",
        "/api/v1/nodes?model=a+b&page_size=1&cursor=abc%3D",
    ]


def test_pages_without_rows_end(server: Server, script: Script) -> None:
    script.body = b'{"results": [], "next": "?cursor=abc"}'
    assert server.listed("nodes", 100)["results"] == []
    assert len(script.seen) == 1


def test_no_answer_in_time(server: Server, script: Script) -> None:
    script.status = 0
    with pytest.raises(Unreachable, match=r"did not answer within 0.3 s$"):
        server.get("nodes", "results")


def test_an_answer_that_trickles_or_is_too_large(
    server: Server, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.body = b" " * 5000
    monkeypatch.setattr(client_server, "MOST_BYTES", 1000)
    with pytest.raises(Failed, match="the answer is too large"):
        server.get("nodes", "results")
    monkeypatch.undo()
    monkeypatch.setenv("NO_PROXY", "*")
    clock = iter(range(0, 1000, 5))
    monkeypatch.setattr(client_server.time, "monotonic", lambda: next(clock))
    with pytest.raises(Unreachable, match="did not answer within"):
        server.get("nodes", "results")


def test_a_connection_that_is_refused_and_one_that_ends() -> None:
    with pytest.raises(Unreachable, match=r"^Cannot reach http://127.0.0.1:\d+: Connection refused$"):
        Server(f"http://127.0.0.1:{free_port()}", "x").get("nodes", "results")
    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=lambda: listening.accept()[0].sendall(b"220 mail ready\r\n"), daemon=True).start()
        with pytest.raises(Failed, match=NOT_GPUDASH):
            Server(f"http://127.0.0.1:{listening.getsockname()[1]}", "x").get("nodes", "results")


def test_certificates_are_checked(script: Script, tmp_path: Path) -> None:
    try:
        made = encrypted.certificates(tmp_path / "tls")
    except Missing as missing:
        or_skip(missing)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(made.certificate, made.key)
    script.body = b'{"results": []}'
    with HttpServer(handler(script), context) as served:
        address = f"https://localhost:{served.port}"
        assert Server(address, "x", str(made.ca)).get("nodes", "results") == {"results": []}
        for wrong, ca in ((address, None), (f"https://127.0.0.1:{served.port}", str(made.ca))):
            with pytest.raises(Failed, match=r"the certificate of \S+ is not trusted: .*\. --ca-file names the CA"):
                Server(wrong, "x", ca).get("nodes", "results")
    assert len(script.seen) == 1


def test_a_ca_file_without_certificates() -> None:
    with pytest.raises(Misused, match="/dev/null: no CA certificates can be read"):
        Server("https://x", "x", "/dev/null")


HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202egpu\r\nNODE\t\x9b31m"
NODE = {
    "name": HOSTILE,
    "cluster": HOSTILE,
    "model": HOSTILE,
    "cards_free": 1,
    "cards_total": 8,
    "stacks": [HOSTILE],
    "memory_free_bytes": 1 << 30,
    "unavailable_reason": HOSTILE,
    "health": HOSTILE,
    "driver_version": HOSTILE,
}


@pytest.mark.parametrize("form", ["table", "wide", "json"])
def test_text_of_a_cluster_cannot_write_on_the_terminal(
    server: Server, script: Script, form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GPUDASH_TOKEN", "gpd_1_x")
    script.body = json.dumps({"results": [NODE, {**NODE, "cluster": "b"}], "next": None, "previous": None}).encode()
    assert main(["free", "--server", server.address, "-o", form]) == 0
    out = capsys.readouterr().out
    assert all(one.isprintable() for one in out.splitlines())
    assert len(out.splitlines()) == (3 if form != "json" else len(json.dumps(json.loads(out), indent=2).splitlines()))
    if form == "json":
        assert json.loads(out)["results"][0] == NODE
    script.problem(404, HOSTILE)
    assert main(["free", "--server", server.address]) == 1
    assert capsys.readouterr().err.rstrip("\n").isprintable()


#: Verb → answers that are enough for it, by path.
ANSWERS: Mapping[str, tuple[list[str], list[dict[str, object]]]] = {
    "free": (["free", "-o", "wide"], [{"results": [{"name": "a", "stacks": ["b"]}]}]),
    "models": (["free", "--group-by", "model"], [{"pools": [{"model": "a", "totals": {"nodes": 1}}]}]),
    "fit": (
        ["fit", "2"],
        [{"nodes_fitting": 1, "fitting": [{"cards": [{"index": 1}], "notes": [{}]}], "reasons": [{"nodes": 1}]}],
    ),
    "who": (
        ["who", "a", "--cluster", "b", "-o", "wide"],
        [{"cards": [{"index": 0, "allocations": [{"memory_bytes": 1}]}]}],
    ),
    "components": (["components", "a", "--cluster", "b", "-o", "wide"], [{"cards": [], "components": [{"name": "a"}]}]),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.parametrize("wrong", [None, 1, "a", [1], {"a": 1}, [None], [[]]], ids=repr)
def test_an_answer_of_another_form_is_one_line(
    server: Server,
    script: Script,
    name: str,
    wrong: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each member of it in turn is something else."""
    monkeypatch.setenv("GPUDASH_TOKEN", "gpd_1_x")
    words, [answer] = ANSWERS[name]
    for changed in variants(answer, wrong):
        script.body = json.dumps(changed).encode()
        code = main([*words, "--server", server.address])
        out, err = capsys.readouterr()
        assert (code == 0 and out and not err) or (code == 1 and (out or err.count("\n") == 1))


def variants(value: object, wrong: object) -> Iterator[object]:
    """The value with one part replaced, for each part."""
    yield wrong
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ({**value, key: one} for one in variants(inner, wrong))
    if isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ([*value[:place], one, *value[place + 1 :]] for one in variants(inner, wrong))
