"""One run of a credential plugin (users[].user.exec): a command that prints an ExecCredential, for a limited time.

It runs in a process group of its own, so that it ends with its children. What it prints is a secret: no error repeats it.
Source: "Client-go credential plugins" of Kubernetes 1.36 (client.authentication.k8s.io/v1 and v1beta1).
"""

from __future__ import annotations

import atexit
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from base64 import b64encode
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from wording.said import sentence

GROUP = "client.authentication.k8s.io/"
#: A cold cloud command line needs about twelve seconds; after this it hangs.
LIMIT_S = 60.0
#: Certificates of a long chain are some kB.
MAX_OUTPUT = 1 << 20
#: Values in what `provideClusterInfo` adds; what plugins ask for are a handful.
MAX_INFO = 1000
#: A word of an error message this long may be a secret.
MAX_WORD = 24
#: The process groups that run now: a process that ends takes them along.
_running: set[int] = set()


class PluginFailed(Exception):
    """The plugin gave no credential. The text says why, and holds none."""


class Spec(msgspec.Struct, frozen=True):
    """What is run. exec: the section of the kubeconfig. cluster: what `provideClusterInfo` gives it, or None. folder: of the file."""

    exec: dict[str, Any]
    cluster: dict[str, Any] | None
    folder: str

    def __repr__(self) -> str:
        return f"<Spec {self.command}>"

    @property
    def command(self) -> str:
        return str(self.exec["command"])

    @property
    def key(self) -> str:
        """Who have the same key share one answer."""
        section = [self.exec.get(name) for name in ("apiVersion", "command", "args", "env")]
        return json.dumps([section, self.cluster, self.folder], sort_keys=True, default=str)


class Credential(msgspec.Struct, frozen=True):
    """token, or certificate and key (PEM), or both. lasts_s: from now until it expires, None when it does not say."""

    token: str
    certificate: str
    key: str
    lasts_s: float | None

    def __repr__(self) -> str:
        return "<Credential>"


def run(spec: Spec, limit_s: float = LIMIT_S) -> Credential:
    """Raises PluginFailed."""
    terminal = bool(sys.stderr) and sys.stderr.isatty()  # who sits before it reads what the plugin asks to be done
    try:
        process = subprocess.Popen(  # noqa: S603 (the operator's kubeconfig names it)
            [spec.command, *map(str, spec.exec.get("args") or ())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if terminal else subprocess.PIPE,
            cwd=spec.folder,
            env=_environment(spec),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        raise PluginFailed(
            sentence("could not be started ({why})", why=getattr(error, "strerror", None) or type(error).__name__)
        ) from None
    _running.add(process.pid)
    try:
        out, told = _outputs(process, time.monotonic() + limit_s)
    finally:
        _end(process)
        _running.discard(process.pid)
    if out is None:
        raise PluginFailed(sentence("was stopped after {limit_s} s without a response", limit_s=f"{limit_s:.0f}"))
    if process.returncode:
        raise PluginFailed(_in_words(process.returncode, told, spec))
    return _credential(spec, out)


def _environment(spec: Spec) -> dict[str, str]:
    """gpudash's own settings hold secrets that are not the plugin's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GPUDASH_")}
    given = {str(pair["name"]): str(pair.get("value", "")) for pair in spec.exec.get("env") or ()}
    about: dict[str, Any] = {"interactive": False}
    if spec.cluster is not None:
        about["cluster"] = spec.cluster
    info = {"apiVersion": spec.exec["apiVersion"], "kind": "ExecCredential", "spec": about}
    return kept | given | {"KUBERNETES_EXEC_INFO": json.dumps(info)}


def _outputs(process: subprocess.Popen[bytes], until: float) -> tuple[bytes | None, bytes]:
    """(standard output, standard error) when both have ended; (None, …) when they have not in time, or never would."""
    taken = {stream: b"" for stream in (process.stdout, process.stderr) if stream is not None}
    with selectors.DefaultSelector() as waiting:
        for stream in taken:
            waiting.register(stream, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(max(until - time.monotonic(), 0))
            if not ready or any(len(text) > MAX_OUTPUT for text in taken.values()):
                return None, b""
            for key, _ in ready:
                data = os.read(key.fd, 1 << 16)
                taken[key.fileobj] += data  # type: ignore[index]
                if not data:
                    waiting.unregister(key.fileobj)
    try:
        process.wait(max(until - time.monotonic(), 0.1))
    except subprocess.TimeoutExpired:
        return None, b""
    return taken[process.stdout], taken.get(process.stderr, b"")  # type: ignore[index,arg-type]


def _end(process: subprocess.Popen[bytes]) -> None:
    """The group, unless it has ended; then its pipes, which a child that left the group may still hold."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with suppress(subprocess.TimeoutExpired):
            process.wait(5)
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


@atexit.register
def _end_all() -> None:
    for group in list(_running):
        with suppress(OSError):
            os.killpg(group, signal.SIGKILL)


def _in_words(code: int, told: bytes, spec: Spec) -> str:
    how = (
        sentence("was terminated by signal {number}", number=-code)
        if code < 0
        else sentence("exited with code {code}", code=code)
    )
    text = _without_secrets(told, spec)
    return sentence("{how}: {text}", how=how, text=text) if text else how


def _without_secrets(told: bytes, spec: Spec) -> str:
    """The last line of its standard error, without what the kubeconfig gave it and without long words."""
    lines = [line.strip() for line in told[-4000:].decode(errors="replace").splitlines() if line.strip()]
    line = "".join(char for char in lines[-1] if char.isprintable()) if lines else ""
    given = [str(pair.get("value", "")) for pair in spec.exec.get("env") or ()] + [
        *map(str, spec.exec.get("args") or ())
    ]
    for value in sorted(filter(None, given), key=len, reverse=True):
        line = line.replace(value, "…")
    if re.search(r"bearer|password|secret|token\s*[=:]|\bkey\s*[=:]", line, re.IGNORECASE):
        return ""
    return " ".join(word if len(word) <= MAX_WORD else "…" for word in line.split())[:200]


def _credential(spec: Spec, out: bytes) -> Credential:
    try:
        answer = json.loads(out)
        status = answer["status"]
        parts = {name: status.get(name) or "" for name in ("token", "clientCertificateData", "clientKeyData")}
        expires = status.get("expirationTimestamp")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise PluginFailed(sentence("printed no ExecCredential with a status")) from None
    if answer.get("apiVersion") != spec.exec["apiVersion"] or answer.get("kind") != "ExecCredential":
        raise PluginFailed(
            sentence(
                "printed no ExecCredential of {version}, which the kubeconfig requires",
                version=str(spec.exec["apiVersion"]),
            )
        )
    if not all(isinstance(part, str) for part in parts.values()):
        raise PluginFailed(sentence("printed a credential that is not text"))
    token, certificate, key = parts.values()
    if bool(certificate) != bool(key):
        raise PluginFailed(sentence("printed a certificate without its key, or a key without its certificate"))
    if not token and not certificate:
        raise PluginFailed(sentence("printed no token and no certificate"))
    return Credential(token, certificate, key, _lasts(expires))


def _lasts(expires: object) -> float | None:
    """The issuer's clock is compared with ours once; from here on only time that passes counts."""
    if not expires:
        return None
    try:
        end = datetime.fromisoformat(str(expires))
    except ValueError:
        raise PluginFailed(sentence("printed an invalid expirationTimestamp")) from None
    return (end if end.tzinfo else end.replace(tzinfo=UTC)).timestamp() - time.time()


def cluster_info(cluster: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What a plugin with `provideClusterInfo` is told of its cluster.

    Raises OSError when the authority's file cannot be read, ValueError when the extension for it is too large.
    """
    names = ("server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority-data", "proxy-url")
    info = {name: cluster[name] for name in names if cluster.get(name)}
    if cluster.get("certificate-authority") and "certificate-authority-data" not in info:
        info["certificate-authority-data"] = _base64(folder / str(cluster["certificate-authority"]))
    for extension in cluster.get("extensions") or ():
        if isinstance(extension, dict) and extension.get("name") == f"{GROUP}exec":
            info["config"] = _of_bounded_size(extension.get("extension"))
    return info


def _of_bounded_size(value: Any) -> Any:
    """YAML's aliases may make a small file endless when it is written out."""
    left, waiting = MAX_INFO, [value]
    while waiting:
        one = waiting.pop()
        left -= 1
        if left < 0:
            raise ValueError("the extension for the plugin is too large")
        waiting += [*one.values()] if isinstance(one, dict) else one if isinstance(one, list) else []
    return value


def _base64(file: Path) -> str:
    return b64encode(file.read_bytes()).decode()
