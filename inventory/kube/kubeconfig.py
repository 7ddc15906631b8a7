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

import yaml

#: Hundreds of clusters with their certificates fit; what is larger is another file.
MAX_KUBECONFIG = 4 << 20
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class BadKubeconfig(Exception):
    """The kubeconfig cannot work. The text says which part."""


def read(path: Path, context: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The kubeconfig as a dict and the user of the context ("": the current one). Raises BadKubeconfig."""
    config = _mapping(path)
    name = context or _word(config.get("current-context"))
    if not name:
        known = _names(config, "contexts")
        raise BadKubeconfig(f"{path}: current-context is empty; name one of {known} with --context")
    chosen = _named(path, config, "contexts", name, "context")
    _check_cluster(path, config, _word(chosen.get("cluster")))
    user: dict[str, Any] = {}
    if owner := _word(chosen.get("user")):
        user = _named(path, config, "users", owner, "user")
        _check_user(path, user, f"users[{owner}].user")
    return config, user


def _mapping(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(MAX_KUBECONFIG + 1)
    except OSError as error:
        raise BadKubeconfig(f"{path}: cannot be read ({error.strerror})") from None
    if len(text) > MAX_KUBECONFIG:
        raise BadKubeconfig(f"{path}: larger than {MAX_KUBECONFIG >> 20} MiB; that is no kubeconfig")
    try:
        config = yaml.load(text, _Loader)  # noqa: S506 (both loaders are safe ones)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        raise BadKubeconfig(f"{path}: not YAML" + (f" (line {mark.line + 1})" if mark else "")) from None
    if not isinstance(config, dict):
        what = "the file is empty" if not text.strip() else "not a kubeconfig"
        raise BadKubeconfig(f"{path}: {what} (a mapping with clusters, users and contexts is wanted)")
    return config


def _check_cluster(path: Path, config: dict[str, Any], name: str) -> None:
    cluster, where = _named(path, config, "clusters", name, "cluster"), f"clusters[{name}].cluster"
    _check_url(path, f"{where}.server", cluster.get("server"), ("https", "http"), secrets=False)
    if cluster.get("proxy-url"):
        _check_url(path, f"{where}.proxy-url", cluster["proxy-url"], ("https", "http", "socks5"), secrets=True)
    _check_file(path, cluster, where, "certificate-authority")


def _check_url(path: Path, where: str, value: object, schemes: tuple[str, ...], secrets: bool) -> None:
    """secrets: whether user name and password may be in it; the server's URL is shown on pages."""
    try:
        url = urlsplit(_word(value))
        ok = url.scheme in schemes and bool(url.hostname) and url.port != 0
    except ValueError:
        ok = False
    if not ok:
        raise BadKubeconfig(f"{path}: {where}: a URL is wanted ({', '.join(f'{scheme}://…' for scheme in schemes)})")
    if not secrets and (url.username or url.password):
        raise BadKubeconfig(f"{path}: {where}: must hold no user name or password; they belong to users")


def _check_user(path: Path, user: dict[str, Any], where: str) -> None:
    for key in ("client-certificate", "client-key", "tokenFile"):
        _check_file(path, user, where, key)
    there = [part for part in ("client-certificate", "client-key") if user.get(part) or user.get(f"{part}-data")]
    if len(there) == 1:
        missing = "client-key" if there == ["client-certificate"] else "client-certificate"
        raise BadKubeconfig(f"{path}: {where}: {missing} is missing; certificate and key are needed both")
    plugin = user.get("exec")
    if plugin is not None and not (isinstance(plugin, dict) and _word(plugin.get("command"))):
        raise BadKubeconfig(f"{path}: {where}.exec: names no command")


def _check_file(path: Path, section: dict[str, Any], where: str, key: str) -> None:
    if section.get(key) and not section.get(f"{key}-data"):
        file = path.absolute().parent / _word(section[key])
        if file.is_dir() or not os.access(file, os.R_OK):
            raise BadKubeconfig(f"{path}: {where}.{key}: the file {file} cannot be read")


def check_certificates(path: str, authority: str | None, certificate: str | None, key: str | None) -> None:
    """Whether the files hold what TLS needs: without it, each request would fail later. Raises BadKubeconfig."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if authority:
        try:
            tls.load_verify_locations(authority)
        except (OSError, ValueError):
            raise BadKubeconfig(f"{path}: certificate-authority: holds no certificate (PEM is wanted)") from None
    if certificate:
        try:
            tls.load_cert_chain(certificate, key, password=lambda: "")
        except (OSError, ValueError):
            raise BadKubeconfig(
                f"{path}: client-certificate and client-key: not a certificate and its key (PEM, not encrypted, is wanted)"
            ) from None


def _word(value: object) -> str:
    """Text of a scalar; "" for anything else (a structure of aliases may be endless when printed)."""
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""


def _names(config: dict[str, Any], part: str) -> str:
    rows = config.get(part)
    names = [_word(row.get("name")) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return ", ".join(names[:20]) or "(none there)"


def _named(path: Path, config: dict[str, Any], part: str, name: str, inner: str) -> dict[str, Any]:
    rows = config.get(part)
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and _word(row.get("name")) == name and isinstance(row.get(inner), dict):
            return cast(dict[str, Any], row[inner])
    raise BadKubeconfig(f"{path}: {part} has no {name!r}; there are: {_names(config, part)}")
