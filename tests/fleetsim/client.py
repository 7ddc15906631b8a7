"""A plain client of the embedded API server, as a test needs it: JSON in, JSON out, and the lines of a watch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import urllib3

from fleetsim.server import Server


class Client:
    """urllib3, as the product's watchers use it. No retries: a refusal must be seen."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.pool = urllib3.PoolManager(retries=False, maxsize=8, timeout=10)

    def request(
        self,
        method: str,
        path: str,
        body: object = None,
        token: str | None = None,
        content_type: str = "application/json",
    ) -> urllib3.BaseHTTPResponse:
        headers = {
            "Authorization": f"Bearer {self.server.token if token is None else token}",
            "Content-Type": content_type,
        }
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        return self.pool.request(method, self.server.url + path, body=data, headers=headers)

    def get(self, path: str, status: int = 200) -> dict[str, Any]:
        return self._json(self.request("GET", path), status)

    def post(self, path: str, body: object, status: int = 201) -> dict[str, Any]:
        return self._json(self.request("POST", path, body), status)

    def patch(self, path: str, body: object, status: int = 200) -> dict[str, Any]:
        return self._json(self.request("PATCH", path, body, content_type="application/merge-patch+json"), status)

    def delete(self, path: str, body: object = None, status: int = 200) -> dict[str, Any]:
        return self._json(self.request("DELETE", path, body), status)

    def text(self, path: str) -> str:
        answer = self.request("GET", path)
        assert answer.status == 200, answer.data
        return answer.data.decode()

    def _json(self, answer: urllib3.BaseHTTPResponse, status: int) -> dict[str, Any]:
        assert answer.status == status, (answer.status, answer.data[:500])
        found: dict[str, Any] = json.loads(answer.data)
        return found

    def pages(
        self, path: str, limit: int, between: Callable[[], None] = lambda: None
    ) -> tuple[list[dict[str, Any]], str]:
        """All items of a list in pages and its resource version; `between` is called after each page."""
        items: list[dict[str, Any]] = []
        token = ""
        while True:
            page = self.get(f"{path}{'&' if '?' in path else '?'}limit={limit}&continue={token}")
            items += page["items"]
            token = page["metadata"].get("continue", "")
            if not token:
                return items, page["metadata"]["resourceVersion"]
            between()

    def watch(self, path: str) -> Stream:
        """An open watch. The stream lasts until the server or `close` ends it."""
        headers = {"Authorization": f"Bearer {self.server.token}"}
        answer = self.pool.request("GET", self.server.url + path, headers=headers, preload_content=False)
        assert answer.status == 200, answer.read()
        return Stream(answer)


class Stream:
    """The events of one watch, one by one."""

    def __init__(self, answer: urllib3.BaseHTTPResponse) -> None:
        self.answer = answer
        self._lines = self._read()

    def _read(self) -> Iterator[dict[str, Any]]:
        rest = b""
        for chunk in self.answer.stream():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                yield json.loads(line)
        assert rest == b"", "the stream ended in the middle of a line"

    def next(self) -> dict[str, Any]:
        return next(self._lines)

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
        """Events up to and with the first that is wanted."""
        events = []
        for event in self._lines:
            events.append(event)
            if wanted(event):
                return events
        raise AssertionError(f"the stream ended after {len(events)} events without the wanted one")

    def rest(self) -> list[dict[str, Any]]:
        """All events to the end of the stream."""
        return list(self._lines)

    def close(self) -> None:
        self.answer.close()
        self.answer.release_conn()


def version_of(event: dict[str, Any]) -> int:
    return int(event["object"]["metadata"]["resourceVersion"])


def name_of(event: dict[str, Any]) -> str:
    return str(event["object"]["metadata"]["name"])
