"""A kubeconfig file, checked part by part before it is used, so that an error names the part that cannot work.

Reads files, talks to nobody. No secret of the file appears in an error. It must not know how requests are made.
Source: "Organizing Cluster Access Using kubeconfig Files" and the Config v1 reference of Kubernetes 1.36.
"""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import msgspec
import yaml

from wording.said import sentence

#: Hundreds of clusters with their certificates fit; what is larger is another file.
MAX_KUBECONFIG = 4 << 20
#: Of a name in an error.
_SHOWN = 100
#: Of YAML, a safe one.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BadKubeconfig(Exception):
    """The kubeconfig cannot work. The text says which part."""


class Read(msgspec.Struct):
    """What was found: the whole file, and of the context the cluster's section, the user's, and the row that this is in."""

    config: dict[str, Any]
    cluster: dict[str, Any]
    user: dict[str, Any] = {}
    user_row: dict[str, Any] = {}


def read(path: Path, context: str) -> Read:
    """The kubeconfig and what the context names in it ("": the current one). Raises BadKubeconfig."""
    return find(path, mapping(path, _text(path), MAX_KUBECONFIG), context)


def find(path: Path, config: dict[str, Any], context: str) -> Read:
    """What the context names ("": the current one), each part checked. path: of what the texts speak. Raises BadKubeconfig."""
    name = context or word(config.get("current-context"))
    if not name:
        known = _names(config, "contexts")
        raise BadKubeconfig(
            sentence(
                "{path}: current-context is empty; choose one of {known} with --context", path=str(path), known=known
            )
        )
    chosen = named(path, config, "contexts", name, "context")["context"]
    found = Read(config, _check_cluster(path, config, word(chosen.get("cluster"))))
    if owner := word(chosen.get("user")):
        found.user_row = named(path, config, "users", owner, "user")
        found.user = found.user_row["user"]
        _check_user(path, found.user, f"users[{owner[:_SHOWN]}].user")
    return found


def _text(path: Path) -> bytes:
    """Of the file, and a byte more than is taken."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_KUBECONFIG + 1)
    except OSError as error:
        raise BadKubeconfig(
            sentence("{path}: cannot be read ({strerror})", path=str(path), strerror=error.strerror or "")
        ) from None


def mapping(path: Path, text: bytes, most: int) -> dict[str, Any]:
    """The YAML of a file of `most` bytes or less. Raises BadKubeconfig."""
    if len(text) > most:
        size = f"{most >> 20} MiB" if most >= 1 << 20 else f"{most >> 10} KiB"
        raise BadKubeconfig(sentence("{path}: larger than {size}; not a kubeconfig", path=str(path), size=size))
    try:
        config = yaml.load(text, LOADER)  # noqa: S506 (both loaders are safe ones)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        line = sentence(" (line {number})", number=mark.line + 1) if mark else ""
        raise BadKubeconfig(sentence("{path}: not YAML{line}", path=str(path), line=line)) from None
    if not isinstance(config, dict):
        what = sentence("the file is empty") if not text.strip() else sentence("not a kubeconfig")
        raise BadKubeconfig(
            sentence("{path}: {what} (must be a mapping with clusters, users and contexts)", path=str(path), what=what)
        )
    return config


def _check_cluster(path: Path, config: dict[str, Any], name: str) -> dict[str, Any]:
    cluster: dict[str, Any] = named(path, config, "clusters", name, "cluster")["cluster"]
    where = f"clusters[{name[:_SHOWN]}].cluster"
    _check_url(path, f"{where}.server", cluster.get("server"), ("https", "http"), secrets=False)
    if cluster.get("proxy-url"):
        _check_url(path, f"{where}.proxy-url", cluster["proxy-url"], ("https", "http", "socks5"), secrets=True)
    _check_file(path, cluster, where, "certificate-authority")
    return cluster


def _check_url(path: Path, where: str, value: object, schemes: tuple[str, ...], secrets: bool) -> None:
    """secrets: whether user name and password may be in it; the server's URL is shown on pages."""
    try:
        url = urlsplit(word(value))
        ok = url.scheme in schemes and bool(url.hostname) and url.port != 0
    except ValueError:
        ok = False
    if not ok:
        raise BadKubeconfig(
            sentence(
                "{path}: {where}: must be a URL ({schemes})",
                path=str(path),
                where=where,
                schemes=", ".join(f"{scheme}://…" for scheme in schemes),
            )
        )
    if not secrets and (url.username or url.password):
        raise BadKubeconfig(
            sentence(
                "{path}: {where}: must not contain a user name or password; put them under users",
                path=str(path),
                where=where,
            )
        )


def _check_user(path: Path, user: dict[str, Any], where: str) -> None:
    for key in ("client-certificate", "client-key", "tokenFile"):
        _check_file(path, user, where, key)
    there = [part for part in ("client-certificate", "client-key") if user.get(part) or user.get(f"{part}-data")]
    if len(there) == 1:
        missing = "client-key" if there == ["client-certificate"] else "client-certificate"
        raise BadKubeconfig(
            sentence(
                "{path}: {where}: {missing} is missing; both certificate and key are required",
                path=str(path),
                where=where,
                missing=missing,
            )
        )
    if user.get("exec") is not None:
        _check_plugin(path, user["exec"], f"{where}.exec")


def _check_plugin(path: Path, plugin: object, where: str) -> None:
    """That it can be run; what it answers is seen when it is."""
    if not isinstance(plugin, dict) or not word(plugin.get("command")):
        raise BadKubeconfig(sentence("{path}: {where}: no command", path=str(path), where=where))
    if not word(plugin.get("apiVersion")).startswith("client.authentication.k8s.io/"):
        raise BadKubeconfig(
            sentence(
                "{path}: {where}: apiVersion must be client.authentication.k8s.io/v1 (or v1beta1)",
                path=str(path),
                where=where,
            )
        )
    if plugin.get("interactiveMode") == "Always":
        raise BadKubeconfig(
            sentence(
                "{path}: {where}: interactiveMode must not be Always: gpudash cannot answer prompts of the plugin",
                path=str(path),
                where=where,
            )
        )
    args, env = plugin.get("args") or [], plugin.get("env") or []
    if not isinstance(args, list) or not all(_scalar(value) for value in args):
        raise BadKubeconfig(sentence("{path}: {where}.args: must be a list of strings", path=str(path), where=where))
    if not isinstance(env, list) or not all(isinstance(pair, dict) and _pair(pair) for pair in env):
        raise BadKubeconfig(
            sentence("{path}: {where}.env: must be a list of name and value", path=str(path), where=where)
        )


def _scalar(value: object) -> bool:
    return isinstance(value, str | int | float)


def _pair(pair: dict[str, Any]) -> bool:
    return bool(word(pair.get("name"))) and _scalar(pair.get("value", ""))


def _check_file(path: Path, section: dict[str, Any], where: str, key: str) -> None:
    if section.get(key) and not section.get(f"{key}-data"):
        file = path.absolute().parent / word(section[key])
        if file.is_dir() or not os.access(file, os.R_OK):
            raise BadKubeconfig(
                sentence(
                    "{path}: {where}.{key}: cannot read the file {file}",
                    path=str(path),
                    where=where,
                    key=key,
                    file=str(file),
                )
            )


def check_certificates(path: str, authority: str | None, certificate: str | None, key: str | None) -> None:
    """Whether the files hold what TLS needs: without it, each request would fail later. Raises BadKubeconfig."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if authority:
        try:
            tls.load_verify_locations(authority)
        except (OSError, ValueError):
            raise BadKubeconfig(
                sentence("{path}: certificate-authority: no certificate found (must be PEM)", path=str(path))
            ) from None
    if certificate:
        try:
            tls.load_cert_chain(certificate, key, password=lambda: "")
        except (OSError, ValueError):
            raise BadKubeconfig(
                sentence(
                    "{path}: client-certificate and client-key: not a certificate with its key (must be unencrypted PEM)",
                    path=str(path),
                )
            ) from None


def word(value: object) -> str:
    """Text of a scalar; "" for anything else (a structure of aliases may be endless when printed)."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _names(config: dict[str, Any], part: str) -> str:
    rows = config.get(part)
    names = [word(row.get("name"))[:_SHOWN] for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return ", ".join(names[:20]) or sentence("(none)")


def named(path: Path, config: dict[str, Any], part: str, name: str, inner: str) -> dict[str, Any]:
    """The row of this name, whose `inner` is a mapping."""
    rows = config.get(part)
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and word(row.get("name")) == name and isinstance(row.get(inner), dict):
            return cast(dict[str, Any], row)
    raise BadKubeconfig(
        sentence(
            "{path}: {part} has no {name}; available: {names}",
            path=str(path),
            part=part,
            name=f"{name[:_SHOWN]!r}",
            names=_names(config, part),
        )
    )
