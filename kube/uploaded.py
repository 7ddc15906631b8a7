"""A kubeconfig that somebody uploads → a file with one of its contexts and nothing else.

Stricter than `kubeconfig`: here it is not the owner of the process who chooses what its credentials are. So it names no program and
no file, and the server that gets the credentials has to prove who it is. What is not known is left out of the file.

Reads no file and opens no connection. No secret of the upload appears in an error or a repr.
Source: as `kubeconfig`; `yaml.parse` of PyYAML, whose events cost as much as the text is long, whatever aliases make of it.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

import yaml
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from kube.kubeconfig import LOADER, BadKubeconfig, find, mapping, named, word
from wording.said import cut, sentence

#: A hundred contexts with their certificates. Half of what any request may have.
MOST = 512 << 10
#: Of YAML: no kubeconfig is nested deeper, or has as many parts.
_DEEPEST, _MOST_PARTS = 24, 50_000
#: Longest name of a context: what the table of clusters takes.
_LONGEST = 253
#: What errors call the upload.
_PATH = Path("kubeconfig")
_CLUSTER_KEYS = ("server", "certificate-authority-data", "tls-server-name", "proxy-url")
_USER_KEYS = ("token", "client-certificate-data", "client-key-data")
_IMPERSONATION = ("as", "as-uid", "as-groups", "as-user-extra")


class Context(NamedTuple):
    """One to choose. address: host and port of its server, without whatever else stands in the URL; "" where there is none."""

    name: str
    address: str


class Upload:
    """What was uploaded. contexts: those that can be chosen, in their order. current: name of one of them, or ""."""

    def __init__(self, text: bytes) -> None:
        """Raises BadKubeconfig where it is no kubeconfig at all."""
        _check_parts(text)
        self._config = mapping(_PATH, text, MOST)
        found: dict[str, Context] = {}
        for one in _contexts(self._config):
            found.setdefault(one.name, one)  # of one name the first counts, as in `kubeconfig`
        self.contexts, names = tuple(found.values()), list(found)
        if not names:
            raise BadKubeconfig(sentence("{path}: it has no contexts", path=str(_PATH)))
        current = word(self._config.get("current-context"))
        self.current = current if current in names else names[0] if len(names) == 1 else ""

    def __repr__(self) -> str:
        return f"<Upload of {len(self.contexts)} contexts>"

    def only(self, context: str) -> bytes:
        """The file that is kept: this context, its cluster and its user. Raises BadKubeconfig, which names the part."""
        _refuse(self._config, context)
        found = find(_PATH, self._config, context)
        cluster, user = _texts(found.cluster, _CLUSTER_KEYS, "cluster"), _texts(found.user, _USER_KEYS, "user")
        _check_server(cluster, user)
        _check_certificates(cluster, user)
        kept = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": context,
            "contexts": [{"name": context, "context": {"cluster": "cluster", "user": "user"}}],
            "clusters": [{"name": "cluster", "cluster": cluster}],
            "users": [{"name": "user", "user": user}],
        }
        return yaml.safe_dump(kept, sort_keys=False, allow_unicode=True).encode()


def _check_parts(text: bytes) -> None:
    """That it is no bomb, before anything is made of it; whether it is too large, or no YAML at all, `mapping` says."""
    if len(text) > MOST:
        return
    depth = parts = 0
    try:
        for event in yaml.parse(text, LOADER):
            parts += 1
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent):
                raise BadKubeconfig(sentence("{path}: YAML aliases are not accepted", path=str(_PATH)))
            if depth > _DEEPEST or parts > _MOST_PARTS:
                raise BadKubeconfig(sentence("{path}: too many parts for a kubeconfig", path=str(_PATH)))
    except (yaml.YAMLError, ValueError):
        return


def _contexts(config: dict[str, Any]) -> Iterator[Context]:
    rows = config.get("contexts")
    for row in rows if isinstance(rows, list) else []:
        name = word(row.get("name")) if isinstance(row, dict) else ""
        if name and len(name) <= _LONGEST and name.isprintable() and isinstance(row.get("context"), dict):
            yield Context(name, _address(config, word(row["context"].get("cluster"))))


def _address(config: dict[str, Any], cluster: str) -> str:
    try:
        server = word(named(_PATH, config, "clusters", cluster, "cluster")["cluster"].get("server"))
        url = urlsplit(server)
        shown = f"{url.hostname or ''}{f':{url.port}' if url.port else ''}"
    except (BadKubeconfig, ValueError):
        return ""
    return shown if shown.isprintable() else ""


def _refuse(config: dict[str, Any], context: str) -> None:
    """What a file on the host would be accepted for. Raises BadKubeconfig, with the way to do without."""
    chosen = named(_PATH, config, "contexts", context, "context")["context"]
    cluster, owner = word(chosen.get("cluster")), word(chosen.get("user"))
    _refuse_cluster(
        named(_PATH, config, "clusters", cluster, "cluster")["cluster"], f"clusters[{cut(cluster, 60)}].cluster"
    )
    if owner:
        _refuse_user(named(_PATH, config, "users", owner, "user")["user"], f"users[{cut(owner, 60)}].user")


def _refuse_cluster(section: dict[str, Any], where: str) -> None:
    if section.get("insecure-skip-tls-verify"):
        raise BadKubeconfig(
            sentence(
                "{path}: {where}: the server would not be verified; use certificate-authority-data",
                path=str(_PATH),
                where=f"{where}.insecure-skip-tls-verify",
            )
        )
    if section.get("certificate-authority") and not section.get("certificate-authority-data"):
        raise _names_a_file(f"{where}.certificate-authority")


def _refuse_user(section: dict[str, Any], where: str) -> None:
    for key in ("exec", "auth-provider"):
        if section.get(key) is not None:
            raise BadKubeconfig(
                sentence(
                    "{path}: {where}: gpudash runs no program that an uploaded file names; use a token or a client "
                    "certificate, or add the cluster on the command line",
                    path=str(_PATH),
                    where=f"{where}.{key}",
                )
            )
    for key in ("tokenFile", "client-certificate", "client-key"):
        if section.get(key) and not section.get(f"{key}-data"):
            raise _names_a_file(f"{where}.{key}")
    for key in _IMPERSONATION:
        if section.get(key):
            raise BadKubeconfig(
                sentence("{path}: {where}: impersonation is not supported", path=str(_PATH), where=f"{where}.{key}")
            )


def _names_a_file(where: str) -> BadKubeconfig:
    return BadKubeconfig(
        sentence(
            "{path}: {where}: names a file, which is not part of the upload; `kubectl config view --raw --flatten` includes it",
            path=str(_PATH),
            where=where,
        )
    )


def _texts(section: dict[str, Any], keys: tuple[str, ...], what: str) -> dict[str, str]:
    """These keys of it, all of them text in one line of printable characters. Raises BadKubeconfig."""
    found = {key: section[key] for key in keys if section.get(key) not in (None, "")}
    for key, value in found.items():
        text = "".join(value.split()) if isinstance(value, str) and key.endswith("-data") else value
        if not (isinstance(text, str) and text.isprintable()):
            raise BadKubeconfig(
                sentence("{path}: {where}: must be text in one line", path=str(_PATH), where=f"{what}.{key}"),
            )
        found[key] = text
    return found


def _check_server(cluster: dict[str, str], user: dict[str, str]) -> None:
    """Without TLS anybody on the way could read the credentials: only this machine is asked so. Raises BadKubeconfig."""
    url = urlsplit(cluster["server"])
    if url.scheme != "https" and not _is_here(url):
        raise BadKubeconfig(
            sentence("{path}: cluster.server: http:// is accepted for this host only; use https://", path=str(_PATH))
        )
    if url.query or url.fragment:
        raise BadKubeconfig(sentence("{path}: cluster.server: must not have a query", path=str(_PATH)))
    if url.scheme == "https" and not user:
        raise BadKubeconfig(sentence("{path}: the user has no token and no client certificate", path=str(_PATH)))
    if not user.get("token", "").isascii():
        raise BadKubeconfig(sentence("{path}: {where}: must be text in one line", path=str(_PATH), where="user.token"))


def _is_here(url: SplitResult) -> bool:
    try:
        return url.hostname == "localhost" or ip_address(url.hostname or "").is_loopback
    except ValueError:
        return False


def _check_certificates(cluster: dict[str, str], user: dict[str, str]) -> None:
    """Raises BadKubeconfig."""
    if authority := cluster.get("certificate-authority-data"):
        _certificate(authority, "cluster.certificate-authority-data")
    if "client-certificate-data" in user:
        certificate = _certificate(user["client-certificate-data"], "user.client-certificate-data")
        key = _decoded(user["client-key-data"], "user.client-key-data")
        try:
            same = load_pem_private_key(key, None).public_key() == certificate.public_key()
        except (ValueError, TypeError, UnsupportedAlgorithm):
            same = False
        if not same:
            raise BadKubeconfig(
                sentence(
                    "{path}: client-certificate and client-key: not a certificate with its key (must be unencrypted PEM)",
                    path=str(_PATH),
                )
            )


def _certificate(text: str, where: str) -> x509.Certificate:
    """The first of them. Raises BadKubeconfig."""
    try:
        return x509.load_pem_x509_certificates(_decoded(text, where))[0]
    except (ValueError, UnsupportedAlgorithm, IndexError):
        raise BadKubeconfig(
            sentence("{path}: {where}: no certificate found (must be PEM)", path=str(_PATH), where=where)
        ) from None


def _decoded(text: str, where: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadKubeconfig(sentence("{path}: {where}: must be base64", path=str(_PATH), where=where)) from None


__all__ = ["MOST", "Context", "Upload"]
