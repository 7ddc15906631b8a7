"""Text of others for a terminal or a log line: what would move the cursor, colour, hide or turn it is shown as its code.

A node's name, a log line or an error of a cluster may hold anything. On a terminal an escape rewrites lines that were printed before;
in a log a line feed makes a line that nobody wrote. Pure; knows no terminal.
"""

from __future__ import annotations

import re

#: C0 and C1 controls, DEL, marks that turn or isolate the direction of writing, line and paragraph separators, lone surrogates.
#: Not the tab and the line feed.
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)

#: The same of ASCII. Deleting them from bytes is eight times as fast as the search, and most text is ASCII.
_ASCII_CONTROLS = bytes(code for code in range(0x80) if _CONTROL.match(chr(code)))


def visible(text: str) -> str:
    """For a terminal: lines and tabs stay, every other control is written as \\u001b, which is right inside JSON, too."""
    if text.isascii() and len(text.encode().translate(None, _ASCII_CONTROLS)) == len(text):
        return text
    return _CONTROL.sub(_code, text) if _CONTROL.search(text) else text


def one_line(text: str) -> str:
    """For a log line or a cell of a table: also line feeds and tabs are written as codes."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _code(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"
