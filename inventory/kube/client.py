"""The seam to the Kubernetes API: configuration, authentication, TLS, proxies and raw requests. The only importer of `kubernetes`.

Credentials come from a kubeconfig (token, token file, client certificate, exec plugin, auth provider; own CA; proxy) or from the
service account of the pod. No credential appears in an error, a log or a repr.
"""

from __future__ import annotations

import json
import os
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlencode

import urllib3
import yaml
from kubernetes.client import ApiClient, Configuration
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.config.kube_config import KubeConfigLoader

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CONNECT_S = 10.0
#: A token file is rotated by the kubelet about hourly, an hour ahead of its end: reading it each minute is in good time.
TOKEN_FILE_S = 60.0
#: A single answer that is not a stream: a page of 500 pods of 4 KB is 2 MB, a large one with huge annotations 100 times that.
MAX_ANSWER = 512 << 20


class BadKubeconfig(Exception):
    """The kubeconfig cannot work. The text says which part."""


class ApiError(Exception):
    """The API server refused or failed. `status` is the HTTP status (0: it was not reached); `retry_after_s` what it asked for."""

    def __init__(self, status: int, reason: str, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(f"{status} {reason}: {message}" if status else message)
        self.status, self.reason, self.message, self.retry_after_s = status, reason, message, retry_after_s


class Stream:
    """The lines of a watch or a log. `close` may be called from another thread and ends the iteration."""

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        self._response = response
        self._closed = threading.Event()

    def chunks(self) -> Iterator[bytes]:
        """Bytes as they arrive. Raises ApiError(0) on silence longer than the read time-out or a broken connection."""
        try:
            yield from self._response.stream(1 << 16)
        except (urllib3.exceptions.HTTPError, OSError, ValueError, AttributeError) as error:
            if not self._closed.is_set():
                raise ApiError(0, "Stream", f"the stream broke: {_plain(error)}") from None

    def close(self) -> None:
        self._closed.set()
        # shutdown wakes a reader that blocks in recv; close alone would not.
        with suppress(OSError, ValueError, RuntimeError, AttributeError):  # closed already
            self._response.shutdown()
        self._response.close()


class Client:
    """One cluster's API server. Thread-safe: urllib3's pool is, and credentials are refreshed under a lock.

    kubeconfig: path of the file, or "" for the service account of the pod. Raises BadKubeconfig at once when it cannot work.
    """

    def __init__(self, kubeconfig: str = "", context: str = "") -> None:
        self.kubeconfig, self.context = kubeconfig, context
        self._lock = threading.Lock()
        self._load()

    def __repr__(self) -> str:
        return f"<Client {self.server}>"

    def _load(self) -> None:
        self._configuration, self._token_file = load_configuration(self.kubeconfig, self.context)
        self._loaded_at = self._token_read_at = time.monotonic()
        try:
            self._api = ApiClient(self._configuration)
        except (OSError, ssl.SSLError, ValueError) as error:
            raise BadKubeconfig(f"certificate or key cannot be used: {_plain(error)}") from None

    @property
    def server(self) -> str:
        return self._configuration.host

    def close(self) -> None:
        self._api.rest_client.pool_manager.clear()

    def _headers(self) -> dict[str, str]:
        with self._lock:
            if self._token_file and time.monotonic() - self._token_read_at > TOKEN_FILE_S:
                self._read_token_file()
            bearer = self._configuration.get_api_key_with_prefix("BearerToken")
        headers = {"Accept": "application/json", "User-Agent": "gpudash"}
        if bearer:
            headers["Authorization"] = bearer
        return headers

    def _read_token_file(self) -> None:
        self._token_read_at = time.monotonic()
        try:
            token = Path(self._token_file).read_text().strip()
        except OSError:
            return  # the old token may still be good; a 401 says when it is not
        self._configuration.refresh_api_key_hook = None
        self._configuration.api_key["BearerToken"] = f"Bearer {token}"

    def renew_credentials(self) -> None:
        """After a 401: read the kubeconfig anew (a rotated token or certificate, an exec plugin's new answer).

        Raises BadKubeconfig when the file cannot be read any more.
        """
        with self._lock:
            old = self._api
            self._load()
        old.rest_client.pool_manager.clear()

    def _open(
        self,
        method: str,
        path: str,
        query: dict[str, Any],
        body: bytes | None,
        timeout_s: float,
        content_type: str = "",
    ) -> urllib3.BaseHTTPResponse:
        url = f"{self.server}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = self._headers()
        if body is not None:
            headers["Content-Type"] = content_type or "application/json"
        try:
            response: urllib3.BaseHTTPResponse = self._api.rest_client.pool_manager.request(
                method,
                url,
                headers=headers,
                body=body,
                preload_content=False,
                retries=False,
                redirect=False,
                timeout=urllib3.Timeout(connect=CONNECT_S, read=timeout_s),
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ApiError(0, "Unreachable", f"{self.server} was not reached: {_plain(error)}") from None
        if response.status >= 300:
            raise self._refusal(response)
        return response

    def _refusal(self, response: urllib3.BaseHTTPResponse) -> ApiError:
        try:
            body = response.read(64 << 10)
        except (urllib3.exceptions.HTTPError, OSError):
            body = b""
        response.close()
        reason, message = response.reason or "", ""
        try:
            status = json.loads(body)
            reason, message = str(status.get("reason") or reason), str(status.get("message") or "")
        except (ValueError, AttributeError):
            message = "the answer is not from a Kubernetes API server" if b"<html" in body[:2000].lower() else ""
        return ApiError(response.status, reason, message[:2000], _retry_after(response.headers.get("Retry-After")))

    def get(self, path: str, query: dict[str, Any] | None = None, timeout_s: float = 60.0) -> bytes:
        """The whole answer. Raises ApiError."""
        response = self._open("GET", path, query or {}, None, timeout_s)
        return self._whole(response)

    def send(
        self, method: str, path: str, body: bytes | None, query: dict[str, Any] | None = None, content_type: str = ""
    ) -> bytes:
        """POST, PUT, PATCH or DELETE. Raises ApiError."""
        return self._whole(self._open(method, path, query or {}, body, 60.0, content_type))

    def _whole(self, response: urllib3.BaseHTTPResponse) -> bytes:
        try:
            body = response.read(MAX_ANSWER)
            if len(body) == MAX_ANSWER:
                raise ApiError(0, "TooLarge", f"the answer is larger than {MAX_ANSWER >> 20} MiB")
            return body
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ApiError(0, "Broken", f"the answer broke off: {_plain(error)}") from None
        finally:
            response.release_conn()

    @contextmanager
    def stream(self, path: str, query: dict[str, Any], silence_s: float) -> Iterator[Stream]:
        """A watch or a followed log; ends with an ApiError after `silence_s` without a byte."""
        stream = Stream(self._open("GET", path, query, None, silence_s))
        try:
            yield stream
        finally:
            stream.close()


def load_configuration(kubeconfig: str, context: str) -> tuple[Configuration, str]:
    """The client's configuration and the path of a token file ("" when the token is not in one). Raises BadKubeconfig."""
    configuration = Configuration()
    configuration.retries = False
    configuration.connection_pool_maxsize = 8
    if not kubeconfig:
        try:
            InClusterConfigLoader(
                token_filename=str(_SERVICE_ACCOUNT / "token"), cert_filename=str(_SERVICE_ACCOUNT / "ca.crt")
            ).load_and_set(configuration)
        except ConfigException as error:
            raise BadKubeconfig(
                f"no kubeconfig was given and this is not a pod with a service account ({_plain(error)})"
            ) from None
        return configuration, ""
    path = Path(kubeconfig)
    config, user = _parsed(path, context)
    try:
        loader = KubeConfigLoader(
            config_dict=config, active_context=context or None, config_base_path=str(path.absolute().parent)
        )
        loader.load_and_set(configuration)
    except (ConfigException, OSError, ValueError, TypeError, KeyError, AttributeError, ssl.SSLError) as error:
        raise BadKubeconfig(f"{path}: {_plain(error)}") from None
    if "exec" in user and not configuration.api_key and not configuration.cert_file:
        command = str((user["exec"] or {}).get("command", ""))
        raise BadKubeconfig(
            f"{path}: users[].user.exec: the plugin {command!r} gave no credential; run it by hand to see why"
        )
    token_file = str(user.get("tokenFile") or "")
    if token_file and not os.path.isabs(token_file):
        token_file = str(path.absolute().parent / token_file)
    return configuration, token_file


def _parsed(path: Path, context: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The kubeconfig as a dict and the user of the context, each part checked so that an error names it."""
    try:
        config = yaml.safe_load(path.read_text())
    except OSError as error:
        raise BadKubeconfig(f"{path}: cannot be read ({error.strerror})") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        raise BadKubeconfig(f"{path}: not YAML" + (f" (line {mark.line + 1})" if mark else "")) from None
    if not isinstance(config, dict):
        raise BadKubeconfig(f"{path}: not a kubeconfig (a mapping with clusters, users and contexts is wanted)")
    name = context or config.get("current-context") or ""
    if not name:
        raise BadKubeconfig(
            f"{path}: current-context is empty; name one of {_names(config, 'contexts')} with --context"
        )
    chosen = _named(path, config, "contexts", str(name), "context")
    cluster = _named(path, config, "clusters", str(chosen.get("cluster") or ""), "cluster")
    server = str(cluster.get("server") or "")
    if not server.startswith(("https://", "http://")):
        raise BadKubeconfig(f"{path}: clusters[{chosen.get('cluster')}].server: an http(s) URL is wanted")
    for part in ("certificate-authority",):
        _readable(path, cluster, f"clusters[{chosen.get('cluster')}].{part}", part)
    user: dict[str, Any] = {}
    if chosen.get("user"):
        user = _named(path, config, "users", str(chosen["user"]), "user")
        for part in ("client-certificate", "client-key", "tokenFile"):
            _readable(path, user, f"users[{chosen['user']}].{part}", part)
    return config, user


def _names(config: dict[str, Any], part: str) -> str:
    rows = config.get(part)
    names = [str(row.get("name")) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return ", ".join(names) or "(none there)"


def _named(path: Path, config: dict[str, Any], part: str, name: str, inner: str) -> dict[str, Any]:
    rows = config.get(part)
    for row in rows if isinstance(rows, list) else []:
        if isinstance(row, dict) and row.get("name") == name and isinstance(row.get(inner), dict):
            return cast(dict[str, Any], row[inner])
    raise BadKubeconfig(f"{path}: {part} has no {name!r}; there are: {_names(config, part)}")


def _readable(path: Path, section: dict[str, Any], where: str, key: str) -> None:
    if section.get(key) and not section.get(f"{key}-data"):
        file = path.absolute().parent / str(section[key])
        if not os.access(file, os.R_OK):
            raise BadKubeconfig(f"{path}: {where}: the file {file} cannot be read")


def current_context(kubeconfig: str) -> str:
    """Name of the current context. Raises BadKubeconfig when the file cannot work."""
    config, _ = _parsed(Path(kubeconfig), "")
    return str(config["current-context"])


def _retry_after(value: str | None) -> float | None:
    """Seconds; an HTTP date or nonsense counts as not given. Capped at five minutes."""
    try:
        return min(max(float(value or ""), 0.0), 300.0)
    except ValueError:
        return None


def _plain(error: BaseException) -> str:
    """An error's text in one short line, without objects' addresses and without anything that may hold a credential."""
    if isinstance(error, urllib3.exceptions.NewConnectionError | urllib3.exceptions.ConnectTimeoutError):
        return "connection refused or timed out"
    if isinstance(error, urllib3.exceptions.ReadTimeoutError):
        return "nothing came within the time-out"
    if isinstance(error, urllib3.exceptions.SSLError | ssl.SSLError):
        return f"TLS: {str(error).split('] ')[-1][:200]}"
    if isinstance(error, urllib3.exceptions.ProxyError):
        return "the proxy refused or was not reached"
    text = str(error).split("\n", 1)[0]
    return (text[:300] if "earer" not in text else type(error).__name__) or type(error).__name__
