"""A kubeconfig that cannot work fails at once and says which part, without repeating a secret."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kube.client import BadKubeconfig, Client, current_context
from tests.kube.certificates import Authority
from tests.kube.scripted import ScriptedServer, ok
from tests.kube.words import client, config, write_config

SERVER = "https://127.0.0.1:1"
SECRET = "s3cr3t-v4lue"
PEM = "-----BEGIN CERTIFICATE-----\nbm90IGE=\n-----END CERTIFICATE-----\n"


def without(*path: str) -> dict[str, Any]:
    """A kubeconfig from which one thing is missing."""
    content = config(SERVER, {"token": SECRET})
    inner: Any = content
    for key in path[:-1]:
        inner = inner[int(key)] if isinstance(inner, list) else inner[key]
    del inner[path[-1]]
    return content


PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "command": "true"}
CANNOT_WORK: dict[str, tuple[Any, str]] = {
    "an empty file": ("", "the file is empty"),
    "blanks": ("\n  \n", "the file is empty"),
    "not YAML": ("a: [1\nb: }", "not YAML (line 2)"),
    "a tab": ("a:\n\t- b", "not YAML"),
    "an object of Python": ("!!python/object/apply:os.system ['true']", "not YAML"),
    "a day that does not exist": ("a: 2026-99-99", "not YAML"),
    "nested without end": ("[" * 5000, "not YAML"),
    "binary": ("\x00\x01\x02", "not YAML"),
    "a list": ([config(SERVER)], "not a kubeconfig"),
    "text": ("just text", "not a kubeconfig"),
    "a number": ("42", "not a kubeconfig"),
    "no current context": (without("current-context"), "current-context is empty; choose one of x"),
    "an empty current context": (config(SERVER) | {"current-context": ""}, "current-context is empty"),
    "a current context that is a mapping": (config(SERVER) | {"current-context": {"a": 1}}, "current-context is empty"),
    "an unknown current context": (config(SERVER) | {"current-context": "y"}, "contexts has no 'y'; available: x"),
    "no contexts": (without("contexts"), "contexts has no 'x'; available: (none)"),
    "contexts that are text": (config(SERVER) | {"contexts": "x"}, "contexts has no 'x'"),
    "contexts of nulls": (config(SERVER) | {"contexts": [None, 5, {"name": "x"}]}, "contexts has no 'x'"),
    "no clusters": (without("clusters"), "clusters has no 'c'"),
    "no users": (without("users"), "users has no 'u'"),
    "no server": (without("clusters", "0", "cluster", "server"), "clusters[c].cluster.server: must be a URL"),
    "a server without scheme": (config("127.0.0.1:6443"), "server: must be a URL"),
    "a server of another scheme": (config("ftp://127.0.0.1"), "server: must be a URL"),
    "a server without host": (config("https://"), "server: must be a URL"),
    "a server with a bad port": (config("https://a:99999"), "server: must be a URL"),
    "a server that is a list": (
        config("x") | {"clusters": [{"name": "c", "cluster": {"server": [1]}}]},
        "server: must be a URL",
    ),
    "a password in the server": (config(f"https://me:{SECRET}@a"), "must not contain a user name or password"),
    "a proxy of another scheme": (config(SERVER, proxy_url=f"ftp://me:{SECRET}@p"), "proxy-url: must be a URL"),
    "a CA file that is missing": (
        config(SERVER, certificate_authority="no.pem"),
        "certificate-authority: cannot read the file",
    ),
    "a CA file that is a folder": (
        config(SERVER, certificate_authority="."),
        "certificate-authority: cannot read the file",
    ),
    "a CA that is no certificate": (
        config(SERVER, certificate_authority_data="bm90IGE="),
        "certificate-authority: no certificate found",
    ),
    "a CA that is not base64": (config(SERVER, certificate_authority_data="*"), "kubeconfig: "),
    "a certificate file that is missing": (
        config(SERVER, {"client-certificate": "no.pem", "client-key": "no.key"}),
        "users[u].user.client-certificate: cannot read the file",
    ),
    "a certificate without key": (config(SERVER, {"client-certificate-data": "YQ=="}), "client-key is missing"),
    "a key without certificate": (config(SERVER, {"client-key-data": "YQ=="}), "client-certificate is missing"),
    "a token file that is missing": (
        config(SERVER, {"tokenFile": "none"}),
        "users[u].user.tokenFile: cannot read the file",
    ),
    "an exec plugin without command": (config(SERVER, {"exec": {"apiVersion": "v1"}}), "exec: no command"),
    "an exec plugin that is text": (config(SERVER, {"exec": SECRET}), "exec: no command"),
    "an exec plugin without version": (config(SERVER, {"exec": {"command": "true"}}), "exec: apiVersion"),
    "an exec plugin that wants an answer": (
        config(SERVER, {"exec": PLUGIN | {"interactiveMode": "Always"}}),
        "cannot answer prompts",
    ),
    "an exec plugin whose args are text": (
        config(SERVER, {"exec": PLUGIN | {"args": SECRET}}),
        "exec.args: must be a list",
    ),
    "an exec plugin whose args are lists": (
        config(SERVER, {"exec": PLUGIN | {"args": [[SECRET]]}}),
        "exec.args: must be a list",
    ),
    "an exec plugin whose env is a map": (
        config(SERVER, {"exec": PLUGIN | {"env": {"A": SECRET}}}),
        "exec.env: must be a list",
    ),
    "a user that is text": (config(SERVER) | {"users": [{"name": "u", "user": SECRET}]}, "users has no 'u'"),
}


@pytest.mark.parametrize(("content", "said"), CANNOT_WORK.values(), ids=CANNOT_WORK.keys())
def test_a_kubeconfig_that_cannot_work_says_which_part(tmp_path: Path, content: Any, said: str) -> None:
    file = write_config(tmp_path, content)
    with pytest.raises(BadKubeconfig) as caught:
        Client(file)
    assert said in str(caught.value)
    assert str(caught.value).startswith(file)
    assert SECRET not in repr(caught.value)
    assert len(str(caught.value)) < 600


def test_a_kubeconfig_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadKubeconfig, match=r"none: cannot be read \(No such file"):
        Client(str(tmp_path / "none"))


def test_a_folder_instead_of_a_kubeconfig_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadKubeconfig, match=r"cannot be read \(Is a directory\)"):
        Client(str(tmp_path))


def test_a_kubeconfig_of_ten_megabytes_is_refused_at_once(tmp_path: Path) -> None:
    file = write_config(tmp_path, "a: b\n" * 2_000_000)
    started = time.perf_counter()
    with pytest.raises(BadKubeconfig, match="larger than 4 MiB"):
        Client(file)
    assert time.perf_counter() - started < 1


def bomb() -> str:
    """Nine levels of nine aliases each: small in memory, endless when printed."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    for n in range(1, 40):
        lines.append(f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    "where",
    [
        "current-context: *a39",
        "current-context: x\ncontexts: *a39",
        "current-context: x\ncontexts: [{name: *a39, context: {}}]",
        "current-context: x\ncontexts: [{name: x, context: {cluster: *a39}}]",
        "current-context: x\ncontexts: [{name: x, context: {cluster: c}}]\nclusters: [{name: c, cluster: {server: *a39}}]",
    ],
)
def test_a_file_of_aliases_within_aliases_does_not_hang(tmp_path: Path, where: str) -> None:
    started = time.perf_counter()
    with pytest.raises(BadKubeconfig):
        Client(write_config(tmp_path, bomb() + where))
    assert time.perf_counter() - started < 1


def test_aliases_beside_what_is_used_do_no_harm(tmp_path: Path) -> None:
    text = bomb() + "---\n"[:0] + "\n".join(f"{key}: {json.dumps(value)}" for key, value in config(SERVER).items())
    assert Client(write_config(tmp_path, text)).server == SERVER


def test_a_client_key_of_another_certificate_is_named(tmp_path: Path, authority: Authority) -> None:
    certificate, _ = authority.issue("one")
    _, key = authority.issue("two")
    user = {"client-certificate": str(certificate), "client-key": str(key)}
    with pytest.raises(BadKubeconfig, match="client-certificate and client-key: not a certificate with its key"):
        client(tmp_path, SERVER, user)


def test_a_broken_certificate_is_named(tmp_path: Path, authority: Authority) -> None:
    _, key = authority.issue("three")
    (tmp_path / "broken.pem").write_text(PEM)
    with pytest.raises(BadKubeconfig, match="client-certificate and client-key"):
        client(tmp_path, SERVER, {"client-certificate": "broken.pem", "client-key": str(key)})
    with pytest.raises(BadKubeconfig, match="certificate-authority: no certificate found"):
        client(tmp_path, SERVER, certificate_authority="broken.pem")


def test_a_context_can_be_chosen(serve: Callable[..., ScriptedServer], tmp_path: Path) -> None:
    server, content = serve(ok({})), config(SERVER)
    content["clusters"].append({"name": "c2", "cluster": {"server": server.url}})
    content["users"].append({"name": "u2", "user": {"token": "second"}})
    content["contexts"].append({"name": "x2", "context": {"cluster": "c2", "user": "u2"}})
    file = write_config(tmp_path, content)
    Client(file, "x2").get("/version")
    assert server.asked[0].headers["Authorization"] == "Bearer second"
    with pytest.raises(BadKubeconfig, match="contexts has no 'x3'; available: x, x2"):
        Client(file, "x3")


def test_a_context_may_name_no_user(tmp_path: Path) -> None:
    content = config(SERVER) | {"contexts": [{"name": "x", "context": {"cluster": "c"}}]}
    assert Client(write_config(tmp_path, content)).server == SERVER


def test_the_current_context_is_told(tmp_path: Path) -> None:
    assert current_context(write_config(tmp_path, config(SERVER))) == "x"
    with pytest.raises(BadKubeconfig):
        current_context(write_config(tmp_path, without("current-context")))
