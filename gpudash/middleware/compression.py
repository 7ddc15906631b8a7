"""Text is compressed for who takes it so (gzip): pages, REST, CSV, metrics, and files that `collectstatic` has not compressed.

Secrets: the one that every page has is the CSRF token, masked anew in each answer, and shared pages put it in an uncompressed block
of its own. A page that shows another one (a new token, the secret of an app) says `no-transform`: neither this nor a proxy compresses
it, so that its length does not tell how much of the secret somebody guessed (BREACH).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers
from django.utils.regex_helper import _lazy_re_compile

#: Half the work of the usual 6, for a tenth more bytes.
LEVEL = 4
LEAST_BYTES = 500
#: A stream whose length is known and not above this is compressed as a whole.
MOST_AT_ONCE = 2**20
_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_END = b"\x03\x00"
_BLOCK = 0xFFFF
_TAKES = _lazy_re_compile(r"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
_TEXT = ("text/", "application/json", "application/problem+json", "application/vnd.oai.openapi", "image/svg")


def takes_gzip(request: HttpRequest) -> bool:
    return bool(_TAKES.search(request.headers.get("Accept-Encoding", "")))


def deflated(text: bytes) -> bytes:
    """Blocks of a deflate stream that any others may stand before and behind."""
    made = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    return made.compress(text) + made.flush(zlib.Z_FULL_FLUSH)


def plain_block(text: bytes) -> bytes:
    """The same, not compressed."""
    parts = (text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK))
    return b"".join(struct.pack("<BHH", 0, len(part), len(part) ^ 0xFFFF) + part for part in parts)


def gzipped(blocks: Iterable[bytes], plain: bytes) -> bytes:
    """A whole gzip file of such blocks. plain: what they hold."""
    return b"".join((_HEAD, *blocks, _END, struct.pack("<II", zlib.crc32(plain), len(plain) & 0xFFFFFFFF)))


def _streamed(parts: Iterable[bytes]) -> Iterator[bytes]:
    made = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS | 16)
    for part in parts:
        if done := made.compress(part):
            yield done
    yield made.flush()


class CompressionMiddleware:
    """Compresses what no view has compressed, streams as they are read."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response: Any = self.get_response(request)
        if not _worth_it(response):
            return response  # type: ignore[no-any-return]
        patch_vary_headers(response, ("Accept-Encoding",))
        if takes_gzip(request):
            _compress(response)
        return response  # type: ignore[no-any-return]


def _worth_it(response: Any) -> bool:
    if response.has_header("Content-Encoding") or not response.headers.get("Content-Type", "").startswith(_TEXT):
        return False
    # Parts of a file (206) are of the file as it is; 304 has none.
    if response.status_code in (206, 304) or "no-transform" in response.headers.get("Cache-Control", ""):
        return False
    return response.streaming or len(response.content) >= LEAST_BYTES


def _compress(response: Any) -> None:
    length = int(response.headers.get("Content-Length", 0))
    if response.streaming and 0 < length <= MOST_AT_ONCE:
        # A file: its length stays known, which keeps the connection.
        plain = b"".join(response.streaming_content)
        response.streaming_content = packed = [gzipped([deflated(plain)], plain)]
        response.headers["Content-Length"] = str(len(packed[0]))
    elif response.streaming:
        response.streaming_content = _streamed(response.streaming_content)
        del response.headers["Content-Length"]
    else:
        plain = response.content
        response.content = gzipped([deflated(plain)], plain)
        response.headers["Content-Length"] = str(len(response.content))
    response.headers["Content-Encoding"] = "gzip"
    if etag := response.headers.get("ETag", ""):
        response.headers["ETag"] = etag if etag.startswith("W/") else f"W/{etag}"
