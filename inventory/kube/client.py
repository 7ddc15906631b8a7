"""The seam to the Kubernetes API: configuration, authentication, TLS, proxies and raw requests. The only importer of `kubernetes`.

Credentials come from a kubeconfig (token, token file, client certificate, exec plugin, auth provider; own CA; proxy) or from the
service account of the pod. No credential appears in an error, a log or a repr.
"""

from __future__ import annotations

import json
import math
import os
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import urllib3
from kubernetes.client import ApiClient, Configuration
from kubernetes.config.config_exception import ConfigException
from kubernetes.config.incluster_config import InClusterConfigLoader
from kubernetes.config.kube_config import KubeConfigLoader

from inventory.kube.kubeconfig import BadKubeconfig, check_certificates, read

__all__ = ["ApiError", "BadKubeconfig", "Client", "Stream", "current_context"]

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CONNECT_S = 10.0
#: A token file is rotated by the kubelet about hourly, an hour ahead of its end: reading it each minute is in good time.
TOKEN_FILE_S = 60.0
#: A single answer that is not a stream: a page of 500 pods of 4 KB is 2 MB, a large one with huge annotations 100 times that.
MAX_ANSWER = 512 << 20


class ApiError(Exception):
    """The API server refused or failed. `status` is the HTTP status (0: it was not reached); `retry_after_s` what it asked for.

    call: verb and resource, as in "list pods", where the caller says what it wanted.
    """

    call = ""

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
        except (OSError, ValueError, ImportError, urllib3.exceptions.HTTPError) as error:
            raise BadKubeconfig(f"proxy, certificate or key cannot be used: {_plain(error)}") from None

    @property
    def server(self) -> str:
        return self._configuration.host

    def close(self) -> None:
        self._api.rest_client.pool_manager.clear()

    def _headers(self) -> dict[str, str]:
        with self._lock:
            if self._token_file and time.monotonic() - self._token_read_at > TOKEN_FILE_S:
                self._read_token_file()
            try:
                bearer = (self._configuration.get_api_key_with_prefix("BearerToken") or "").strip()
            except (ConfigException, OSError, ValueError) as error:
                raise BadKubeconfig(f"the token cannot be read again: {_plain(error)}") from None
        if not (bearer.isascii() and bearer.isprintable()):
            # The library's own error would repeat the token.
            raise BadKubeconfig("the token holds a line break or a character that no header can carry")
        headers = {"Accept": "application/json", "User-Agent": "gpudash"}
        if bearer:
            headers["Authorization"] = bearer
        return headers

    def _read_token_file(self) -> None:
        self._token_read_at = time.monotonic()
        try:
            token = Path(self._token_file).read_text().strip()
        except (OSError, UnicodeDecodeError):
            return  # the old token may still be good; a 401 says when it is not
        if not token:
            return  # just being written
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
        accept: str = "",
    ) -> urllib3.BaseHTTPResponse:
        url = f"{self.server}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = self._headers()
        if accept:
            headers["Accept"] = accept
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

    def get(self, path: str, query: dict[str, Any] | None = None, timeout_s: float = 60.0, accept: str = "") -> bytes:
        """The whole answer. accept: its form, JSON unless told. Raises ApiError."""
        response = self._open("GET", path, query or {}, None, timeout_s, accept=accept)
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
        except (ConfigException, OSError, UnicodeDecodeError) as error:
            raise BadKubeconfig(
                f"no kubeconfig was given and this is not a pod with a service account ({_plain(error)})"
            ) from None
        return configuration, ""
    path = Path(kubeconfig)
    config, user = read(path, context)
    try:
        loader = KubeConfigLoader(
            config_dict=config, active_context=context or None, config_base_path=str(path.absolute().parent)
        )
        loader.load_and_set(configuration)
    except (ConfigException, OSError, ValueError, TypeError, KeyError, AttributeError, ssl.SSLError) as error:
        raise BadKubeconfig(f"{path}: {_plain(error)}") from None
    bearer = str(configuration.api_key.get("BearerToken", "")).removeprefix("Bearer").strip()
    if "exec" in user and not bearer and not configuration.cert_file:
        command = str(user["exec"]["command"])
        raise BadKubeconfig(
            f"{path}: users[].user.exec: the plugin {command!r} gave no credential; run it by hand to see why"
        )
    check_certificates(kubeconfig, configuration.ssl_ca_cert, configuration.cert_file, configuration.key_file)
    token_file = str(user.get("tokenFile") or "")
    if token_file and not os.path.isabs(token_file):
        token_file = str(path.absolute().parent / token_file)
    return configuration, token_file


def current_context(kubeconfig: str) -> str:
    """Name of the current context. Raises BadKubeconfig when the file cannot work."""
    config, _ = read(Path(kubeconfig), "")
    return str(config["current-context"])


def _retry_after(value: str | None) -> float | None:
    """Seconds; an HTTP date or nonsense counts as not given. Capped at five minutes."""
    try:
        seconds = float(value or "")
    except ValueError:
        return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), 300.0)


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
