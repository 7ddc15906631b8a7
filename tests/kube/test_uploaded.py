"""An uploaded kubeconfig: one context is kept, and nothing that names a program or a file; refusals name the part, no secret."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from kube.client import BadKubeconfig, Client
from kube.uploaded import MOST, Context, Upload
from tests.kube.certificates import Authority
from tests.kube.test_kubeconfig import bomb
from tests.kube.words import config

SERVER = "https://10.0.0.1:6443"
SECRET = "s3cr3t-v4lue"
TOKEN = {"token": SECRET}
PLUGIN = {"apiVersion": "client.authentication.k8s.io/v1", "command": "aws"}


def upload(content: Any) -> Upload:
    return Upload(content if isinstance(content, bytes) else json.dumps(content).encode())


def encoded(text: str | bytes) -> str:
    return base64.b64encode(text.encode() if isinstance(text, str) else text).decode()


def many(*names: str) -> dict[str, Any]:
    """A kubeconfig with these contexts, each of a cluster and a user of its own."""
    return {
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}} for name in names],
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}.example:6443"}} for name in names],
        "users": [{"name": name, "user": {"token": f"token-of-{name}"}} for name in names],
        "current-context": names[0],
    }


def test_the_kept_file_has_the_chosen_context_and_nothing_else(tmp_path: Path) -> None:
    found = upload(many("one", "two") | {"extensions": [{"name": "x"}], "preferences": {"colors": True}})
    assert found.contexts == (Context("one", "one.example:6443"), Context("two", "two.example:6443"))
    assert found.current == "one"
    kept = found.only("two")
    assert yaml.safe_load(kept) == {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "two",
        "contexts": [{"name": "two", "context": {"cluster": "cluster", "user": "user"}}],
        "clusters": [{"name": "cluster", "cluster": {"server": "https://two.example:6443"}}],
        "users": [{"name": "user", "user": {"token": "token-of-two"}}],
    }
    (tmp_path / "kept").write_bytes(kept)
    client = Client(str(tmp_path / "kept"))
    assert client.server == "https://two.example:6443"
    assert client._headers(client._credentials()[1])["Authorization"] == "Bearer token-of-two"


def test_authority_certificate_proxy_and_name_of_the_server_are_kept(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "ca", "ca")
    certificate, key = authority.issue("me")
    user = {
        "client-certificate-data": encoded(certificate.read_bytes()),
        "client-key-data": encoded(key.read_bytes()) + "\n",
        "client-certificate": "/ignored/where/the/data/are/there",
    }
    cluster = {
        "certificate_authority_data": encoded(authority.certificate.read_bytes()),
        "proxy_url": "http://me:word@proxy.example:3128",
        "tls_server_name": "kube.example",
    }
    kept = yaml.safe_load(upload(config(SERVER, user, **cluster)).only("x"))
    assert kept["clusters"][0]["cluster"].keys() == {
        "server",
        "certificate-authority-data",
        "proxy-url",
        "tls-server-name",
    }
    assert kept["users"][0]["user"].keys() == {"client-certificate-data", "client-key-data"}
    (tmp_path / "kept").write_text(yaml.safe_dump(kept))
    assert Client(str(tmp_path / "kept")).server == SERVER


@pytest.mark.parametrize(
    ("content", "current"),
    [
        (many("one", "two") | {"current-context": ""}, ""),
        (many("one", "two") | {"current-context": "three"}, ""),
        (many("one") | {"current-context": {"a": 1}}, "one"),
    ],
)
def test_the_current_context_is_one_of_those_that_there_are(content: Any, current: str) -> None:
    assert upload(content).current == current


def test_of_two_contexts_of_one_name_the_first_counts() -> None:
    content = many("one", "two")
    content["contexts"][1]["name"] = "one"
    found = upload(content)
    assert found.contexts == (Context("one", "one.example:6443"),)
    assert b"token-of-one" in found.only("one")


def test_names_that_no_table_takes_cannot_be_chosen_and_an_address_shows_no_password() -> None:
    content = many("good", "x" * 254, "turned\u202eround", "two\nlines")
    content["clusters"][0]["cluster"]["server"] = f"https://me:{SECRET}@a.example/path"
    assert upload(content).contexts == (Context("good", "a.example"),)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_file_of_any_editor_is_read(encoding: str) -> None:
    text = yaml.safe_dump(many("ü"), allow_unicode=True).replace("\n", "\r\n")
    assert [one.name for one in upload(text.encode(encoding)).contexts] == ["ü"]


NO_KUBECONFIG: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "the file is empty"),
    "binary": (b"\x7fELF\x02\x01\x01\x00\x00\xff\xfe", "not YAML"),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "not YAML"),
    "half of a character": (b"contexts: [\xc3", "not YAML"),
    "a list": (b"- a\n- b", "not a kubeconfig"),
    "an object of Python": (b"!!python/object/apply:os.system ['true']", "not YAML"),
    "two documents": (b"a: 1\n---\na: 2", "not YAML"),
    "no contexts": (b"apiVersion: v1", "it has no contexts"),
    "contexts that are text": (b"contexts: x", "it has no contexts"),
    "aliases": (b"a: &a [x]\ncontexts: *a", "YAML aliases are not accepted"),
    "a bomb": (bomb().encode() + b"contexts: *a39", "YAML aliases are not accepted"),
    "a bomb of merges": (
        b"a0: &a0 {k: v}\n" + b"".join(b"a%d: &a%d {<<: [*a%d, *a%d]}\n" % (n, n, n - 1, n - 1) for n in range(1, 60)),
        "YAML aliases are not accepted",
    ),
    "nested without end": (b"[" * 100_000, "too many parts"),
    "nested mappings": (b"{a: " * 5_000, "too many parts"),
    "too many parts": (b"contexts: [" + b"a," * 100_000 + b"]", "too many parts"),
    "half a mebibyte and a byte": (b"#" * (MOST + 1), "larger than 512 KiB"),
    "2 MiB": (b"a: b\n" * (400 << 10), "larger than 512 KiB"),
}


@pytest.mark.parametrize(("content", "said"), NO_KUBECONFIG.values(), ids=NO_KUBECONFIG.keys())
def test_what_is_no_kubeconfig_is_said_within_a_second(content: bytes, said: str) -> None:
    started = time.perf_counter()
    with pytest.raises(BadKubeconfig) as caught:
        Upload(content)
    assert str(caught.value).startswith("kubeconfig: ")
    assert said in str(caught.value)
    assert time.perf_counter() - started < 1


REFUSED: dict[str, tuple[Any, str]] = {
    "a plugin": (config(SERVER, {"exec": PLUGIN}), "users[u].user.exec: gpudash runs no program"),
    "a plugin beside a token": (config(SERVER, TOKEN | {"exec": PLUGIN}), "users[u].user.exec"),
    "a plugin that is text": (config(SERVER, {"exec": SECRET}), "users[u].user.exec"),
    "an auth provider": (config(SERVER, {"auth-provider": {"name": "gcp"}}), "users[u].user.auth-provider"),
    "a token file": (config(SERVER, {"tokenFile": "/etc/passwd"}), "users[u].user.tokenFile: names a file"),
    "a token file beside a token": (config(SERVER, TOKEN | {"tokenFile": "/etc/shadow"}), "tokenFile: names a file"),
    "a certificate file": (config(SERVER, {"client-certificate": "a", "client-key": "b"}), "client-certificate: names"),
    "a key file": (config(SERVER, {"client-certificate-data": "YQ==", "client-key": "b"}), "client-key: names a file"),
    "a CA file": (
        config(SERVER, TOKEN, certificate_authority="/etc/ssl/cert.pem"),
        "clusters[c].cluster.certificate-authority: names a file",
    ),
    "a server that is not verified": (
        config(SERVER, TOKEN, insecure_skip_tls_verify=True),
        "clusters[c].cluster.insecure-skip-tls-verify: the server would not be verified",
    ),
    "the same as text": (config(SERVER, TOKEN, insecure_skip_tls_verify="true"), "insecure-skip-tls-verify"),
    "another user's rights": (config(SERVER, TOKEN | {"as": "root"}), "users[u].user.as: impersonation"),
    "other groups": (config(SERVER, TOKEN | {"as-groups": ["system:masters"]}), "as-groups: impersonation"),
    "a server without TLS": (config("http://10.0.0.1", TOKEN), "http:// is accepted for this host only"),
    "a name that looks like this host": (config("http://localhost.example", TOKEN), "http:// is accepted for this"),
    "a server of another scheme": (config("file:///etc/passwd", TOKEN), "server: must be a URL"),
    "a server with a query": (config("https://a.example/x?y=", TOKEN), "must not have a query"),
    "a server with a fragment": (config("https://a.example/x#y", TOKEN), "must not have a query"),
    "a server of two lines": (config("https://a.example\n.evil.example", TOKEN), "cluster.server: must be text"),
    "a password in the server": (config(f"https://me:{SECRET}@a", TOKEN), "must not contain a user name or password"),
    "a proxy of another scheme": (config(SERVER, TOKEN, proxy_url=f"ftp://me:{SECRET}@p"), "proxy-url: must be a URL"),
    "no credentials": (config(SERVER), "no token and no client certificate"),
    "a password": (config(SERVER, {"username": "me", "password": SECRET}), "no token and no client certificate"),
    "a token of two lines": (config(SERVER, {"token": f"{SECRET}\nX-Header: 1"}), "user.token: must be text"),
    "a token in other letters": (config(SERVER, {"token": f"{SECRET}é"}), "user.token: must be text"),
    "a token that is a list": (config(SERVER, {"token": [SECRET]}), "user.token: must be text"),
    "a CA that is not base64": (config(SERVER, TOKEN, certificate_authority_data="*"), "must be base64"),
    "a CA that is no certificate": (
        config(SERVER, TOKEN, certificate_authority_data=encoded(SECRET)),
        "certificate-authority-data: no certificate found",
    ),
    "a certificate without key": (config(SERVER, {"client-certificate-data": "YQ=="}), "client-key is missing"),
    "a certificate that is none": (
        config(SERVER, {"client-certificate-data": encoded(SECRET), "client-key-data": encoded(SECRET)}),
        "client-certificate-data: no certificate found",
    ),
    "no cluster": (config(SERVER, TOKEN) | {"clusters": []}, "clusters has no 'c'"),
    "no user": (config(SERVER, TOKEN) | {"users": None}, "users has no 'u'"),
    "a name of half a mebibyte": (
        config(SERVER, TOKEN)
        | {"contexts": [{"name": "x", "context": {"cluster": "c" * 400_000, "user": "u"}}], "users": []},
        "clusters has no 'cccc",
    ),
}


@pytest.mark.parametrize(("content", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_accepted_is_named_without_a_secret(content: Any, said: str) -> None:
    found = upload(content)
    with pytest.raises(BadKubeconfig) as caught:
        found.only("x")
    text = str(caught.value)
    assert text.startswith("kubeconfig: ")
    assert said in text
    assert SECRET not in text + repr(caught.value) + repr(found)
    assert len(text) < 400


@pytest.mark.parametrize("server", ["http://127.0.0.1:8001", "http://localhost:8001", "http://[::1]:8001"])
def test_a_proxy_of_this_host_needs_neither_tls_nor_credentials(server: str) -> None:
    assert server in upload(config(server)).only("x").decode()


def test_a_key_of_another_certificate_and_an_encrypted_one_are_named(tmp_path: Path) -> None:
    authority = Authority(tmp_path / "ca", "ca")
    (certificate, _), (_, key) = authority.issue("one"), authority.issue("two")
    locked = (
        key.read_text().replace("BEGIN PRIVATE", "BEGIN ENCRYPTED PRIVATE").replace("END PRIV", "END ENCRYPTED PRIV")
    )
    for text in (key.read_text(), locked):
        user = {"client-certificate-data": encoded(certificate.read_bytes()), "client-key-data": encoded(text)}
        with pytest.raises(BadKubeconfig, match="not a certificate with its key"):
            upload(config(SERVER, user)).only("x")


def test_another_context_than_those_that_there_are_is_refused() -> None:
    with pytest.raises(BadKubeconfig, match="contexts has no 'three'; available: one, two"):
        upload(many("one", "two")).only("three")
