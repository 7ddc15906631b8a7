"""The seam to the Kubernetes API: authentication, TLS, proxies and raw requests, each with a total deadline and a largest size.

Credentials come from a kubeconfig (token, token file, client certificate, exec plugin, auth provider; own CA; proxy) or from the
service account of the pod. No credential appears in an error, a log or a repr. Only `library` imports `kubernetes`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import urllib3

from kube import configuration
from kube.bodies import MAX_ANSWER, late, packed_as, read_whole, refusal_of
from kube.configuration import stamp
from kube.credentials import PATIENCE_S, Answer, Source, source_of
from kube.deadline import CONNECT_S, Deadline, keep_deadlines, watching
from kube.errors import ApiError, plain
from kube.kubeconfig import BadKubeconfig, read
from kube.room import Room, answers
from kube.stream import Stream
from wording.said import sentence

if TYPE_CHECKING:
    from kube.library import ApiClient

__all__ = ["ApiError", "BadKubeconfig", "Client", "current_context"]

#: A token file is rotated by the kubelet about hourly, an hour ahead of its end: reading it each minute is in good time.
TOKEN_FILE_S = 60.0
#: A request that is not a stream, from its first byte to the last of its answer.
ANSWER_S = 60.0
#: A stream of any kind; the API server ends a watch after eight minutes at most, so that one that is older hangs.
STREAM_S = 600.0


class Client:
    """One cluster's API server. Thread-safe: urllib3's pool is, and credentials are changed under a lock.

    kubeconfig: path of the file, or "" for the service account of the pod. Raises BadKubeconfig at once when it cannot work; that
    reads the file only, and waits for nobody. A credential plugin runs beside the first request, which waits for it up to
    `patience_s` and then raises ApiError(0, "Credentials").
    """

    def __init__(self, kubeconfig: str = "", context: str = "", patience_s: float = PATIENCE_S) -> None:
        self.kubeconfig, self.context, self.patience_s = kubeconfig, context, patience_s
        self._lock = threading.Lock()
        self._load()

    def __repr__(self) -> str:
        return f"<Client {self.server}>"

    def _load(self, answer: Answer | None = None) -> None:
        from kube.library import ApiClient

        loaded = configuration.load(self.kubeconfig, self.context, answer.credential if answer else None)
        try:
            api = ApiClient(loaded.configuration)
        except (OSError, ValueError, ImportError, urllib3.exceptions.HTTPError) as error:
            raise BadKubeconfig(sentence("invalid proxy, certificate or key: {error}", error=plain(error))) from None
        keep_deadlines(api.rest_client.pool_manager)
        self._api, self._configuration, self._token_file = api, loaded.configuration, loaded.token_file
        self._plugin: Source | None = source_of(loaded.plugin) if loaded.plugin else None
        self._answer, self._stamps = answer, loaded.stamps
        self._token_read_at = time.monotonic()

    @property
    def server(self) -> str:
        return str(self._configuration.host)

    def close(self) -> None:
        self._api.rest_client.pool_manager.clear()

    def _credentials(self) -> tuple[ApiClient, str, Answer | None]:
        """The pools, the value of the header and the plugin's answer that the next request goes with."""
        from kube.library import ConfigException

        plugin = self._plugin
        answer = plugin.answer(self.patience_s) if plugin is not None else None
        with self._lock:
            if answer is not None and answer is not self._answer and plugin is self._plugin:
                self._adopt(answer)
            if self._token_file and time.monotonic() - self._token_read_at > TOKEN_FILE_S:
                self._read_token_file()
            try:
                bearer = (self._configuration.get_api_key_with_prefix("BearerToken") or "").strip()
            except (ConfigException, OSError, ValueError) as error:
                raise BadKubeconfig(sentence("cannot reread the token: {error}", error=plain(error))) from None
            return self._api, bearer, self._answer

    def _adopt(self, answer: Answer) -> None:
        """Another answer of the plugin: its token goes with the next request; a certificate needs connections of its own."""
        if self._answer is None or answer.credential.certificate or self._answer.credential.certificate:
            old = self._api
            self._load(answer)
            old.rest_client.pool_manager.clear()
        else:
            self._set_token(answer.credential.token)
            self._answer = answer

    def _headers(self, bearer: str) -> dict[str, str]:
        if not (bearer.isascii() and bearer.isprintable()):
            # The library's own error would repeat the token.
            raise BadKubeconfig(
                sentence("the token contains a line break or a character that is not allowed in a header")
            )
        headers = {"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "gpudash"}
        if bearer:
            headers["Authorization"] = bearer
        return headers

    def _read_token_file(self) -> None:
        self._token_read_at = time.monotonic()
        try:
            token = Path(self._token_file).read_text().strip()
        except (OSError, UnicodeDecodeError):
            return  # the old token may still be good; a 401 says when it is not
        if token:  # else it is just being written
            self._set_token(token)

    def _set_token(self, token: str) -> None:
        self._configuration.refresh_api_key_hook = None
        self._configuration.api_key["BearerToken"] = f"Bearer {token}"

    @property
    def changed(self) -> bool:
        """Whether the kubeconfig, or a file that it names, is another than the one that was read."""
        return any(stamp(path) != read for path, read in self._stamps.items())

    def renew_credentials(self) -> None:
        """Read the kubeconfig again: it may name another address, token, certificate or authority.

        Raises BadKubeconfig when the file cannot be read any more; what was read before stays then.
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
        silence_s: float,
        deadline: Deadline,
        content_type: str = "",
        accept: str = "",
    ) -> urllib3.BaseHTTPResponse:
        api, bearer, answer = self._credentials()
        url = f"{self.server}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = self._headers(bearer)
        if accept:
            headers["Accept"] = accept
        if body is not None:
            headers["Content-Type"] = content_type or "application/json"
        try:
            with watching(deadline):
                response: urllib3.BaseHTTPResponse = api.rest_client.pool_manager.request(
                    method,
                    url,
                    headers=headers,
                    body=body,
                    preload_content=False,
                    retries=False,
                    redirect=False,
                    timeout=urllib3.Timeout(connect=CONNECT_S, read=silence_s),
                )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            why = late(deadline) if deadline.due else plain(error)
            raise ApiError(
                0, "Unreachable", sentence("cannot reach {server}: {why}", server=self.server, why=why)
            ) from None
        packed = packed_as(response)
        if response.status >= 300:
            if response.status == 401 and answer is not None and self._plugin is not None:
                self._plugin.refused(answer)
            raise refusal_of(response, packed)
        if packed:
            response.close()
            raise ApiError(
                0,
                "Compressed",
                sentence("the response is compressed ({coding}), but compression was not requested", coding=packed),
            )
        return response

    def get(
        self,
        path: str,
        query: dict[str, Any] | None = None,
        timeout_s: float = ANSWER_S,
        accept: str = "",
        most: int = MAX_ANSWER,
        room: Room | None = None,
    ) -> bytes:
        """The whole answer, within timeout_s in total. Raises ApiError, and TooLarge.

        accept: its form, JSON unless told. most: bytes. room: that counts it for as long as the caller keeps it.
        """
        return self._whole("GET", path, query, None, timeout_s, accept=accept, most=most, room=room)

    def room(self) -> Room:
        """For what is kept of this cluster's answers."""
        return answers.room(self.server)

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None,
        query: dict[str, Any] | None = None,
        content_type: str = "",
        timeout_s: float = ANSWER_S,
    ) -> bytes:
        """POST, PUT, PATCH or DELETE, within timeout_s in total. Raises ApiError."""
        return self._whole(method, path, query, body, timeout_s, content_type)

    def _whole(
        self,
        method: str,
        path: str,
        query: dict[str, Any] | None,
        body: bytes | None,
        timeout_s: float,
        content_type: str = "",
        accept: str = "",
        most: int = MAX_ANSWER,
        room: Room | None = None,
    ) -> bytes:
        counted = room or self.room()
        with _deadline(timeout_s) as deadline:
            response = self._open(method, path, query or {}, body, timeout_s, deadline, content_type, accept)
            try:
                answer = read_whole(response, most, counted, deadline)
            except (urllib3.exceptions.HTTPError, OSError) as error:
                counted.give_back()
                why = late(deadline) if deadline.due else plain(error)
                raise ApiError(0, "Broken", sentence("the response was interrupted: {why}", why=why)) from None
            finally:
                deadline.end()  # before another request gets the connection
                response.release_conn()
                if room is None:
                    counted.give_back()
        if deadline.passed:
            raise ApiError(0, "Broken", sentence("the response was interrupted: {why}", why=late(deadline)))
        return answer

    @contextmanager
    def stream(self, path: str, query: dict[str, Any], silence_s: float, total_s: float = STREAM_S) -> Iterator[Stream]:
        """A watch or a followed log; ends with an ApiError after `silence_s` without a byte, and after `total_s`."""
        with _deadline(total_s) as deadline:
            stream = Stream(self._open("GET", path, query, None, silence_s, deadline), deadline, self.room)
            try:
                yield stream
            finally:
                stream.close()


@contextmanager
def _deadline(seconds: float) -> Iterator[Deadline]:
    deadline = Deadline(seconds)
    try:
        yield deadline
    finally:
        deadline.end()


def current_context(kubeconfig: str) -> str:
    """Name of the current context. Raises BadKubeconfig when the file cannot work."""
    return str(read(Path(kubeconfig), "").config["current-context"])
