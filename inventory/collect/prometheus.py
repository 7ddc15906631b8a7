"""One Prometheus, or what answers as one (Thanos, Mimir, VictoriaMetrics, OpenShift's): its query API, read only.

Source: Prometheus' HTTP API, "Expression queries". Each answer has a total time and a largest size; a redirect is never followed,
since the token would go with it; no token and no header appears in an error, a log or a repr.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
import urllib3

from inventory.collect.body import Body, Damaged, TooLong
from inventory.collect.errors import AWAY, BUSY, QUESTION, REFUSED, STRANGE, TOO_LARGE, SourceError
from kube.deadline import CONNECT_S, Deadline, keep_deadlines, watching
from kube.decoders import decoder
from kube.errors import plain
from wording.said import sentence

#: Decompressed bytes of one answer: 40,000 rows with their labels are some 18 MB.
MAX_ANSWER = 64 << 20
#: One question, from its first byte to the last of its answer. Prometheus' own limit is two minutes.
ANSWER_S = 30.0
#: What Prometheus says of itself when it refuses is short.
MAX_REFUSAL = 64 << 10
#: A token is a line; what is longer is another file.
MAX_TOKEN = 64 << 10


class PrometheusError(SourceError):
    """A Prometheus did not answer as it should."""


class BadAddress(ValueError):
    """An address, a header or a file that cannot be used; says which and why."""


class _Refusal(msgspec.Struct):
    """The body of a refusal."""

    status: str = ""
    errorType: str = ""
    error: str = ""


def address(text: str) -> str:
    """The address without a slash at its end. Raises BadAddress."""
    bad = BadAddress(sentence("{text} must be an address such as http://prometheus.monitoring:9090", text=_shown(text)))
    try:
        parts = urlsplit(text.strip())
        port = parts.port
    except ValueError:
        raise bad from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise bad
    if parts.username is not None or parts.password is not None:
        raise BadAddress(
            sentence(
                "the address must not contain a user name or password. Put a token into a file and use --prometheus-token-file"
            )
        )
    if parts.query or parts.fragment:
        raise BadAddress(
            sentence("{text} must not have a part after ? or #. Use the address before /api/v1", text=_shown(text))
        )
    if re.search(r"[\x00-\x20\x7f]", text.strip()):
        raise BadAddress(sentence("the address must not contain blanks or control characters"))
    bare = text.strip().rstrip("/")
    return bare.removesuffix("/api/v1").rstrip("/")


def _shown(text: str) -> str:
    """Without what may be a password."""
    return re.sub(r"//[^/@]*@", "//…@", text.strip())[:200]


def header(text: str) -> tuple[str, str]:
    """Name and value: "X-Scope-OrgID: team". Raises BadAddress."""
    name, colon, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not re.fullmatch(r"[A-Za-z0-9-]{1,64}", name):
        raise BadAddress(sentence("a header must be 'Name: value', such as 'X-Scope-OrgID: team-a'"))
    if not value or not (value.isascii() and value.isprintable()):
        raise BadAddress(sentence("the header {name} has no value or an invalid value", name=name))
    if name.lower() in ("authorization", "host", "content-length", "content-type", "connection", "transfer-encoding"):
        raise BadAddress(sentence("the header {name} cannot be set here. Use a token file for a token", name=name))
    return name, value


class Prometheus:
    """Thread-safe: urllib3's pool is, and the token's file is read anew for each question (it rotates).

    token_file: a file with a bearer token; ca_file: the certificates to trust instead of the system's; "" for none of them.
    """

    def __init__(
        self, base: str, token_file: str = "", ca_file: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        self.base, self.token_file = address(base), token_file
        self._headers = dict(headers or {})
        options: dict[str, Any] = {"cert_reqs": "CERT_REQUIRED"}
        if ca_file:
            if not Path(ca_file).is_file():
                raise BadAddress(sentence("certificate file {ca_file} not found", ca_file=ca_file))
            options["ca_certs"] = ca_file
        self._pools = urllib3.PoolManager(maxsize=4, retries=False, **options)
        keep_deadlines(self._pools)

    def __repr__(self) -> str:
        return f"<Prometheus {self.base}>"

    def close(self) -> None:
        self._pools.clear()

    def query(self, expression: str, at_s: float | None = None, limit: int = MAX_ANSWER) -> bytearray:
        """The answer to one expression, at one moment (Unix seconds; None: now). Raises PrometheusError."""
        return self.ask(expression, at_s, limit).read()

    def ask(self, expression: str, at_s: float | None = None, limit: int = MAX_ANSWER) -> Body:
        """The same, for who reads it later. Raises PrometheusError."""
        asked = {"query": expression, "timeout": f"{ANSWER_S:.0f}s"}
        if at_s is not None:
            asked["time"] = f"{at_s:.3f}"
        return self._post("/api/v1/query", asked, limit)

    def query_range(
        self, expression: str, start_s: float, end_s: float, step_s: float, limit: int = MAX_ANSWER
    ) -> bytearray:
        """The same over time. Raises PrometheusError."""
        asked = {
            "query": expression,
            "start": f"{start_s:.3f}",
            "end": f"{end_s:.3f}",
            "step": f"{step_s:.3f}",
            "timeout": f"{ANSWER_S:.0f}s",
        }
        return self._post("/api/v1/query_range", asked, limit).read()

    def names(self, selector: str, start_s: float, end_s: float, limit: int = MAX_ANSWER) -> bytearray:
        """The names of the metrics that series of a selector have or had about that time. Raises PrometheusError.

        It is told from the index: of 800,000 series in a tenth of a second, where counting them by name takes six.
        """
        asked = {"match[]": selector, "start": f"{start_s:.3f}", "end": f"{end_s:.3f}"}
        return self._send("GET", f"/api/v1/label/__name__/values?{urlencode(asked)}", None, limit).read()

    def _post(self, path: str, asked: dict[str, str], limit: int) -> Body:
        return self._send("POST", path, urlencode(asked).encode(), limit)

    def _send(self, method: str, path: str, body: bytes | None, limit: int) -> Body:
        headers = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": "gpudash",
            **self._headers,
            **self._authorization(),
        }
        deadline = Deadline(ANSWER_S + CONNECT_S)
        try:
            with watching(deadline):
                response = self._pools.request(
                    method,
                    self.base + path,
                    body=body,
                    headers=headers,
                    preload_content=False,
                    retries=False,
                    redirect=False,
                    timeout=urllib3.Timeout(connect=CONNECT_S, read=ANSWER_S),
                )
                try:
                    if response.status != 200:
                        raise self._refusal(response)
                    return self._whole(response, limit)
                finally:
                    # Of an answer that was not read to its end the connection cannot be used again.
                    response.close()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            late = sentence("no complete response within {seconds} s", seconds=f"{ANSWER_S:.0f}")
            why = late if deadline.due else plain(error)
            raise PrometheusError(AWAY, sentence("cannot reach {base}: {why}", base=self.base, why=why)) from None
        finally:
            deadline.end()

    def _whole(self, response: urllib3.BaseHTTPResponse, limit: int) -> Body:
        coding = response.headers.get("Content-Encoding", "").strip().lower()
        body = Body(limit, packed=coding in ("gzip", "x-gzip", "deflate"))
        try:
            for chunk in response.stream(1 << 18, decode_content=False):
                body.add(chunk)
            body.end()
        except TooLong:
            raise PrometheusError(
                TOO_LARGE,
                sentence("{base}: a response is larger than {mebibytes} MiB", base=self.base, mebibytes=limit >> 20),
            ) from None
        except Damaged as error:
            raise PrometheusError(
                AWAY,
                sentence("{base}: cannot decompress the response: {error}", base=self.base, error=str(error)),
            ) from None
        if not body.begin.lstrip()[:1] == b"{":
            raise PrometheusError(
                STRANGE,
                sentence("{base}: {answer}", base=self.base, answer=_is_no_prometheus(body.begin)),
            )
        return body

    def _refusal(self, response: urllib3.BaseHTTPResponse) -> PrometheusError:
        status = response.status
        retry_after = _seconds(response.headers.get("Retry-After"))
        if 300 <= status < 400:
            where = _shown(response.headers.get("Location", ""))
            return PrometheusError(
                REFUSED,
                sentence(
                    "{base} redirects to {where}. If that address is yours, use it",
                    base=self.base,
                    where=where or sentence("another address"),
                ),
            )
        try:
            body = response.read(MAX_REFUSAL, decode_content=True)
        except (urllib3.exceptions.HTTPError, OSError):
            body = b""
        said = _said(body)
        if status in (401, 403):
            token = (
                sentence("token rejected")
                if self.token_file
                else sentence("token required, use --prometheus-token-file")
            )
            return PrometheusError(
                REFUSED,
                sentence(
                    "{base} returned {status}: {token}{message}",
                    base=self.base,
                    status=status,
                    token=token,
                    message=_after(said),
                ),
            )
        if status == 422:
            return PrometheusError(
                TOO_LARGE,
                sentence("{base} cannot execute the query: {message}", base=self.base, message=said or status),
            )
        if status in (429, 502, 503, 504):
            return PrometheusError(
                BUSY,
                sentence(
                    "{base} returned {status}{message}",
                    base=self.base,
                    status=status,
                    message=_after(said),
                ),
                retry_after,
            )
        if status == 400:
            return PrometheusError(
                QUESTION, sentence("{base} rejects the query: {message}", base=self.base, message=said or status)
            )
        what = said or _is_no_prometheus(body[:2000])
        return PrometheusError(
            STRANGE, sentence("{base} returned {status}: {what}", base=self.base, status=status, what=what), retry_after
        )

    def _authorization(self) -> dict[str, str]:
        if not self.token_file:
            return {}
        try:
            with open(self.token_file, "rb") as file:
                token = file.read(MAX_TOKEN + 1).decode().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise PrometheusError(
                REFUSED,
                sentence(
                    "cannot read the token file {token_file}: {error}",
                    token_file=self.token_file,
                    error=plain(error),
                ),
            ) from None
        if not token or len(token) > MAX_TOKEN or not (token.isascii() and token.isprintable()):
            raise PrometheusError(
                REFUSED,
                sentence("the token file {token_file} must contain one token on one line", token_file=self.token_file),
            )
        return {"Authorization": f"Bearer {token}"}


def _said(body: bytes) -> str:
    """What Prometheus says of a refusal, as one line; "" when the body is not its."""
    try:
        refusal = decoder(_Refusal).decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return ""
    return " ".join(f"{refusal.errorType} {refusal.error}".split())[:300]


def _after(said: str) -> str:
    """What Prometheus says of it, where it says something."""
    return sentence(": {message}", message=said) if said else ""


def _is_no_prometheus(body: bytes) -> str:
    if b"<html" in body.lower() or b"<!doctype" in body.lower():
        return sentence("web page instead of a Prometheus response, check for a sign-in page or a proxy")
    return sentence("unexpected response, not from Prometheus")


def _seconds(text: str | None) -> float | None:
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return min(seconds, 3600.0) if math.isfinite(seconds) and seconds >= 0 else None
