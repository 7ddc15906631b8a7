"""Takes JSON apart that the decoder refuses as a whole: one object that is nested too deeply or holds half a surrogate pair must
not hide its neighbours on the page.

Works on bytes, without recursion, in time linear in their length, and never raises. It must not know what the objects are.
"""

from __future__ import annotations

import json
import re

#: A string that is cut off is a token up to the end, and nothing is tried twice: else each quote in it would be read to the end.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)
_COMMA, _COLON = ord(","), ord(":")
_OPEN, _CLOSE = frozenset(b"[{"), frozenset(b"]}")


#: Members or elements of one value; a page has a tenth of it at most.
MOST = 100_000


def children(raw: bytes) -> list[tuple[str, bytes]] | None:
    """Members (key, value) of a JSON object, or elements ("", value) of an array.

    None when it is neither, is cut off, or has more than MOST.
    """
    if not raw.lstrip().startswith((b"[", b"{")):
        return None
    found: list[tuple[str, bytes]] = []
    depth, start, key = 0, 0, ""
    for token in _TOKEN.finditer(raw):
        mark = raw[token.start()]
        if mark in _OPEN:
            depth += 1
            start = token.end() if depth == 1 else start
        elif depth == 1 and mark == _COLON:
            key, start = text(raw[start : token.start()]), token.end()
        elif depth == 1 and (mark == _COMMA or mark in _CLOSE):
            if value := raw[start : token.start()].strip():
                found.append((key, value))
                if len(found) > MOST:
                    return None
            key, start = "", token.end()
        if mark in _CLOSE:
            depth -= 1
            if depth <= 0:
                return found if depth == 0 and not raw[token.end() :].strip() else None
    return None


def member(raw: bytes, *path: str) -> bytes:
    """The value at a path of keys; b"" when it is not there. Of a key that is there twice, the last counts."""
    for key in path:
        raw = dict(children(raw) or ()).get(key, b"")
    return raw


def text(raw: bytes) -> str:
    """A JSON string as text that can be stored and shown; anything else as it is written; "" for null."""
    written = raw.decode("utf-8", "replace").strip()
    if not written.startswith('"'):
        return "" if written == "null" else written
    try:
        value = json.loads(written, strict=False)
    except ValueError:
        value = written.strip('"')
    return str(value).encode("utf-8", "replace").decode()
