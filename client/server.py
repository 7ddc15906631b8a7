"""One gpudash over REST (docs/rest.md). Every failure is a `Failed` with one line for a person."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import parse_qs, quote, urlencode
from urllib.request import HTTPRedirectHandler, HTTPSHandler, OpenerDirector, Request, build_opener

from .failures import Failed, Misused, Unreachable
from .text import Json

TIMEOUT_S = 10.0
#: Larger than any answer of the verbs: ten thousand rows of 2 KB.
MOST_BYTES = 64 << 20
PAGE = 1000
_PIECE = 1 << 16
#: The server, or a proxy before it, cannot answer now.
_PASSING = frozenset((429, 502, 503, 504))


class _NoRedirect(HTTPRedirectHandler):
    """The token goes to the server that was named, and nowhere else."""

    def redirect_request(self, *args: Any, **options: Any) -> None:
        return None


class Server:
    """address: as of `access.server_address`. ca_file: PEM of the authorities to trust instead of the system's."""

    def __init__(self, address: str, token: str, ca_file: str | None = None, timeout_s: float = TIMEOUT_S) -> None:
        self.address, self._token, self._timeout_s = address, token, timeout_s
        self._opener = _opener(address, ca_file)

    def get(self, path: str, need: str, **parameters: object) -> Json:
        """need: a member that the answer has, if it is gpudash that answers. Parameters that are None, "" or [] are left out."""
        given = {name: value for name, value in parameters.items() if value not in (None, "", [])}
        return self._asked(f"{path}?{urlencode(given, doseq=True)}" if given else path, need)

    def post(self, path: str, need: str, body: Mapping[str, object]) -> Json:
        return self._asked(path, need, json.dumps(body).encode())

    def listed(self, path: str, limit: int, **parameters: object) -> Json:
        """The pages of a list as one, at most `limit` rows; `next` is null if these are all."""
        found: list[Any] = []
        cursor: str | None = None
        while True:
            size = min(PAGE, limit - len(found))
            page = self.get(path, "results", **parameters, page_size=size, cursor=cursor)
            rows, cursor = page["results"], _cursor(page.get("next"))
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise self._stranger("the list has no rows")
            found += rows
            if cursor is None or not rows or len(found) >= limit:
                return {**page, "previous": None, "results": found}

    def _asked(self, path: str, need: str, body: bytes | None = None) -> Json:
        status, data = self._answer(path, body)
        try:
            found = json.loads(data)
        except (ValueError, RecursionError):
            found = None
        if 200 <= status < 300 and isinstance(found, dict) and need in found:
            return found
        detail = found.get("detail") if isinstance(found, dict) else None
        if status < 400 or not isinstance(detail, str):
            raise self._stranger(f"status {status}", status)
        kind = Unreachable if status in _PASSING else Failed
        raise kind(f"{_MEANS.get(status, '')}{detail}")

    def _stranger(self, what: str, status: int = 0) -> Failed:
        """Something answered that is no gpudash, or a proxy before it."""
        if status in _PASSING:
            return Unreachable(f"{self.address} cannot answer now ({what})")
        if status in (401, 403):
            return Failed(f"{self.address} rejects the token ({what})")
        return Failed(f"{self.address} does not answer as gpudash does ({what}). Check --server or GPUDASH_SERVER")

    def _answer(self, path: str, body: bytes | None) -> tuple[int, bytes]:
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Accept": "application/json",
            "User-Agent": "kubectl-gpudash",
        }
        if body is not None:
            headers["Content-Type"] = "application/json"
        request = Request(f"{self.address}/api/v1/{path}", body, headers)  # noqa: S310 (http or https, see `access`)
        until = time.monotonic() + self._timeout_s
        try:
            try:
                answer: Any = self._opener.open(request, timeout=self._timeout_s)
            except HTTPError as error:
                answer = error
            with answer:
                return int(answer.status), self._body(answer, until)
        except URLError as error:
            raise self._unreachable(error.reason) from None
        except (OSError, HTTPException) as error:
            raise self._unreachable(error) from None

    def _body(self, answer: Any, until: float) -> bytes:
        data = b""
        while piece := answer.read1(_PIECE):
            data += piece
            if len(data) > MOST_BYTES:
                raise self._stranger("the answer is too large")
            if time.monotonic() > until:
                raise TimeoutError
        return data

    def _unreachable(self, error: object) -> Failed:
        if isinstance(error, TimeoutError):
            return Unreachable(f"{self.address} did not answer within {self._timeout_s:g} s")
        if isinstance(error, ssl.SSLCertVerificationError):
            told = f"the certificate of {self.address} is not trusted: {error.verify_message}"
            return Failed(f"{told}. --ca-file names the CA of your network")
        if isinstance(error, HTTPException):
            return self._stranger("no HTTP")
        told = (error.strerror if isinstance(error, OSError) else None) or str(error)
        return Unreachable(f"Cannot reach {self.address}: {told}")


_MEANS = {401: "The token is rejected: ", 403: "Not permitted: "}


def _opener(address: str, ca_file: str | None) -> OpenerDirector:
    if not address.startswith("https:"):
        return build_opener(_NoRedirect)
    try:
        trust = ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise Misused(f"{ca_file}: no CA certificates can be read ({error.strerror or error})") from None
    return build_opener(_NoRedirect, HTTPSHandler(context=trust))


def _cursor(link: object) -> str | None:
    """Of the address of the next page. The address itself is not used: its host is what a proxy told the server."""
    found = parse_qs(link.partition("?")[2]).get("cursor") if isinstance(link, str) else None
    return found[0] if found else None


def segment(name: str) -> str:
    """A name as a part of a path."""
    return quote(name, safe="")
