"""What is not accepted of an upload: named, and nothing is stored."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from fleetsim import Server
from inventory import clusters, connect
from inventory.models import Cluster
from tests.kube.scripted import Answer, ScriptedServer, ok, refusal
from tests.kube.test_kubeconfig import bomb
from tests.kube.words import config
from tests.pages.cluster_forms.sending import SECRET, everything, kubeconfig, modes, send

pytestmark = pytest.mark.django_db


REFUSED: dict[str, tuple[Any, str]] = {
    "nothing": (None, "Choose a file."),
    "an empty file": (b"", "The submitted file is empty."),
    "binary": (b"\x7fELF\x00\x01\xff", "not YAML"),
    "text": (b"just text", "not a kubeconfig"),
    "a bomb": (bomb().encode(), "YAML aliases are not accepted"),
    "600 KiB": (b"a: b\n" * (120 << 10), "larger than 512 KiB"),
    "a plugin": (config("https://a.example", {"exec": {"command": "id", "args": [SECRET]}}), "runs no program"),
    "an auth provider": (config("https://a.example", {"auth-provider": {"name": SECRET}}), "runs no program"),
    "a token file": (config("https://a.example", {"tokenFile": "/etc/passwd"}), "names a file"),
    "a CA file": (config("https://a.example", {"token": SECRET}, certificate_authority="ca.crt"), "names a file"),
    "no verification": (
        config("https://a.example", {"token": SECRET}, insecure_skip_tls_verify=True),
        "would not be verified",
    ),
    "a password in the address": (config(f"https://me:{SECRET}@a.example", {"token": SECRET}), "must not contain"),
    "a proxy of another kind": (
        config("https://a.example", {"token": SECRET}, proxy_url=f"gopher://me:{SECRET}@p"),
        "proxy-url: must be a URL",
    ),
    "a CA that is none": (
        config("https://a.example", {"token": SECRET}, certificate_authority_data="YQ=="),
        "no certificate found",
    ),
    "markup": (
        config("https://a.example", {"exec": {}}) | {"users": [{"name": "<b>u</b>", "user": {"exec": {}}}]},
        "users has no",
    ),
}


WAYS = [
    (name, way)
    for name, (content, _) in REFUSED.items()
    for way in ("file", "text")
    if way == "file" or isinstance(content, dict)
]


@pytest.mark.parametrize(("name", "way"), WAYS)
def test_what_is_not_accepted_is_named_and_nothing_is_stored(
    admin: Client, folder: Path, name: str, way: str, caplog: Any
) -> None:
    content, said = REFUSED[name]
    fields = {"text": json.dumps(content)} if way == "text" else {}
    with caplog.at_level(logging.DEBUG):
        page = send(admin, content=None if fields else content, name="lab", status=400, **fields)
    assert said in page.html
    assert SECRET not in page.html + caplog.text + everything()
    assert "<b>u</b>" not in page.html
    assert not folder.exists()
    assert not Cluster.objects.exists()


def test_two_mebibytes_are_refused_before_they_are_read(admin: Client, folder: Path) -> None:
    send(admin, content=b"a: b\n" * (400 << 10), status=413)
    assert not folder.exists()


def test_a_null_character_in_the_text_and_both_ways_at_once_are_refused(admin: Client, server: Server) -> None:
    assert "Null characters are not allowed" in send(admin, text="a\0b", status=400).html
    both = send(admin, content=kubeconfig(server), text="contexts: []", status=400)
    assert "not both" in both.html
    assert server.token not in both.html


@pytest.mark.parametrize("name", ["../lab", "a/b", "..", ".lab", "Lab", "a b", "-a", "a" * 64, "ü", "/etc/cron.d/x"])
def test_no_name_leads_out_of_the_folder(admin: Client, server: Server, tmp_path: Path, name: str) -> None:
    send(admin, content=kubeconfig(server), name=name, status=400)
    assert [path.name for path in tmp_path.rglob("*")] == ["data"]


def test_a_context_without_a_usable_name_gives_a_plain_one(admin: Client, server: Server, folder: Path) -> None:
    send(admin, content=kubeconfig(server, "../../etc/passwd"))
    assert (folder / "etc-passwd.yaml").exists()


def test_a_folder_that_is_a_link_is_not_written_to(admin: Client, server: Server, folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    folder.symlink_to(elsewhere)
    assert "cannot store the kubeconfig" in send(admin, content=kubeconfig(server), status=400).html
    assert list(elsewhere.iterdir()) == []
    assert not Cluster.objects.exists()


def test_a_link_in_the_place_of_the_file_is_replaced_not_followed(
    admin: Client, server: Server, folder: Path, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("untouched")
    folder.mkdir(mode=0o755)
    (folder / "lab.yaml").symlink_to(precious)
    send(admin, content=kubeconfig(server), name="lab")
    assert precious.read_text() == "untouched"
    assert modes(folder) == {"kubeconfigs": "0o700", "lab.yaml": "0o600"}


def test_a_server_that_answers_nonsense_or_repeats_the_token_is_not_shown(admin: Client, folder: Path) -> None:
    echo = Answer(
        json.dumps({"kind": "Status", "reason": SECRET, "message": f"bad token {SECRET}"}).encode(), status=401
    )
    for answer, said in (
        (echo, "The API server does not accept the credentials (401 Unauthorized)."),
        (refusal(403, SECRET), "The API server refused the check (403 Forbidden)."),
        (Answer(b"<html>" + SECRET.encode(), status=799), "The API server refused the check (799)."),
        (Answer(SECRET.encode()), "not as a Kubernetes API server"),
        (Answer(status=302, headers={"Location": f"/{SECRET}"}), "The API server refused the check (302 Found)."),
    ):
        with ScriptedServer(answer) as server:
            page = send(admin, content=config(server.url, {"token": SECRET}), status=400)
        assert said in page.html
        assert SECRET not in page.html
    assert list(folder.iterdir()) == []


def test_a_server_that_is_not_there_is_said_in_time(admin: Client, monkeypatch: Any) -> None:
    page = send(admin, content=config("https://127.0.0.1:1", {"token": SECRET}), status=400)
    assert "cannot reach https://127.0.0.1:1: connection refused or timed out" in page.html
    monkeypatch.setattr("inventory.checks.CHECK_S", 0.3)
    with ScriptedServer() as server:
        page = send(admin, content=config(server.url, {"token": SECRET}), status=400)
    assert "cannot reach" in page.html


def review(allowed: bool) -> Answer:
    return ok({"status": {"allowed": allowed, "reason": SECRET}})


def test_credentials_that_cannot_read_what_is_needed_are_not_added(admin: Client, folder: Path) -> None:
    answers = [ok({"gitVersion": "v1.36.0"}), review(True), review(False), review(False), review(True)]
    with ScriptedServer(*answers, ok({"metadata": {"uid": "1"}})) as server:
        page = send(admin, content=config(server.url, {"token": SECRET}), status=400)
    assert "The credentials have no permission to watch nodes, list pods. Apply deploy/watcher-role.yaml." in page.html
    assert SECRET not in page.html
    assert list(folder.iterdir()) == []


def test_one_cluster_is_not_added_under_two_names(admin: Client, server: Server) -> None:
    send(admin, content=kubeconfig(server), name="lab")
    uid = connect.identity_of(clusters.client_of(Cluster.objects.get())).uid
    Cluster.objects.update(uid=uid)
    page = send(admin, content=kubeconfig(server), name="again", status=400)
    assert "This is the cluster lab (same UID of kube-system)." in page.html
