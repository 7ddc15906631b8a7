"""A kubeconfig, or the service account of a pod → the client library's configuration. Talks to nobody and runs no plugin."""

from __future__ import annotations

import os
import ssl
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from kube.deadline import socket_options
from kube.errors import plain
from kube.kubeconfig import BadKubeconfig, Read, check_certificates, read
from kube.plugin import Credential, Spec, cluster_info
from wording.said import sentence

if TYPE_CHECKING:
    from kube.library import Configuration

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


#: What tells one version of a file from another: when it was written, its size and its inode; None where there is none.
Stamp = tuple[int, int, int] | None
_CLUSTER_FILES, _USER_FILES = ("certificate-authority",), ("client-certificate", "client-key")


def stamp(path: str) -> Stamp:
    """Of the file as it is now."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class Loaded(msgspec.Struct):
    """token_file: path, "" when the token is not in one. plugin: what gives the credential; the configuration has none yet.

    stamps: of the files that were read, by path.
    """

    configuration: Configuration
    token_file: str = ""
    plugin: Spec | None = None
    stamps: dict[str, Stamp] = {}


def load(kubeconfig: str, context: str, credential: Credential | None = None) -> Loaded:
    """kubeconfig "": the service account of the pod. credential: of the plugin that the file names. Raises BadKubeconfig."""
    from kube.library import ConfigException, Configuration, KubeConfigLoader

    configuration = Configuration()
    configuration.retries = False
    configuration.connection_pool_maxsize = 8
    configuration.socket_options = socket_options()
    if not kubeconfig:
        return _of_pod(configuration)
    path = Path(kubeconfig)
    stamps = {kubeconfig: stamp(kubeconfig)}  # before each file is read: what changes meanwhile is seen
    found = read(path, context)
    stamps |= {file: stamp(file) for file in _files(path, found)}
    plugin = _plugin(path, found)
    config = _without_plugin(found, credential) if plugin else found.config
    try:
        loader = KubeConfigLoader(  # type: ignore[no-untyped-call]
            config_dict=config, active_context=context or None, config_base_path=str(path.absolute().parent)
        )
        loader.load_and_set(configuration)  # type: ignore[no-untyped-call]
    except (ConfigException, OSError, ValueError, TypeError, KeyError, AttributeError, ssl.SSLError) as error:
        raise BadKubeconfig(sentence("{path}: {error}", path=str(path), error=plain(error))) from None
    check_certificates(kubeconfig, configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file)
    token_file = str(found.user.get("tokenFile") or "")
    if token_file and not os.path.isabs(token_file):
        token_file = str(path.absolute().parent / token_file)
    return Loaded(configuration, token_file, plugin, stamps)


def _files(path: Path, found: Read) -> list[str]:
    """The files that it names, but the one of the token, which is read again and again."""
    folder = path.absolute().parent
    named = [(found.cluster, key) for key in _CLUSTER_FILES] + [(found.user, key) for key in _USER_FILES]
    return [str(folder / str(section[key])) for section, key in named if section.get(key)]


def _of_pod(configuration: Configuration) -> Loaded:
    from kube.library import ConfigException, InClusterConfigLoader

    authority = str(SERVICE_ACCOUNT / "ca.crt")
    stamps = {authority: stamp(authority)}
    try:
        InClusterConfigLoader(  # type: ignore[no-untyped-call]
            token_filename=str(SERVICE_ACCOUNT / "token"), cert_filename=authority
        ).load_and_set(configuration)
    except (ConfigException, OSError, UnicodeDecodeError) as error:
        raise BadKubeconfig(
            sentence("no kubeconfig, and this is not a pod with a service account ({error})", error=plain(error))
        ) from None
    return Loaded(configuration, stamps=stamps)


def _plugin(path: Path, found: Read) -> Spec | None:
    """What is asked of a plugin; None where a token stands in the file too, which then counts, or an older way does."""
    section = found.user.get("exec")
    if section is None or found.user.get("auth-provider") or found.user.get("token") or found.user.get("tokenFile"):
        return None
    folder = path.absolute().parent
    try:
        cluster = cluster_info(found.cluster, folder) if section.get("provideClusterInfo") else None
    except (OSError, ValueError) as error:
        raise BadKubeconfig(
            sentence("{path}: provideClusterInfo: {error}", path=str(path), error=plain(error))
        ) from None
    return Spec(section, cluster, str(folder))


def _without_plugin(found: Read, credential: Credential | None) -> dict[str, Any]:
    """The file's config whose user holds, in place of the plugin, what it answered."""
    user = {name: value for name, value in found.user.items() if name != "exec"}
    if credential is not None and credential.token:
        user["token"] = credential.token
    if credential is not None and credential.certificate:
        user["client-certificate-data"] = b64encode(credential.certificate.encode()).decode()
        user["client-key-data"] = b64encode(credential.key.encode()).decode()
    others = [row for row in found.config["users"] if row is not found.user_row]
    return found.config | {"users": [*others, {"name": found.user_row["name"], "user": user}]}
