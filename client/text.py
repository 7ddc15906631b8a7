"""Text for a terminal.

Names and messages of a cluster may hold anything: what would move the cursor, colour or hide is written as its code.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple, TextIO
from unicodedata import combining, east_asian_width

Json = dict[str, Any]

#: C0 and C1 controls, DEL, marks that turn or isolate the direction of writing, line and paragraph separators, lone surrogates.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_TOKEN = re.compile(r"gpd_[0-9A-Za-z_-]+")
_GIB = 2**30
UNKNOWN, NONE = "unknown", "–"
#: A narrower column says nothing.
_NARROWEST = 8
_COLOURS = {
    **dict.fromkeys(("passed", "ready", "healthy"), "32"),
    **dict.fromkeys(("warning", "degraded", "waiting", "pending", "paused", "outdated", "not ready"), "33"),
    **dict.fromkeys(("failed", "errored", "unhealthy", "crash-looping", "missing"), "31"),
}


class Column(NamedTuple):
    """value: of a row. wide: only with `-o wide`."""

    head: str
    value: Callable[[Any], object]
    wide: bool = False


class Table(NamedTuple):
    columns: Sequence[Column]
    rows: Sequence[Any]


class Look(NamedTuple):
    """width: columns of the terminal, None where there is none. wide: all columns, none of them cut."""

    width: int | None = None
    wide: bool = False
    colour: bool = False


def look_of(stream: TextIO, wide: bool) -> Look:
    """Colour only on a terminal, and never with NO_COLOR (https://no-color.org)."""
    if not stream.isatty():
        return Look(wide=wide)
    # Loaded where it is needed: it loads compression, too.
    import shutil

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return Look(None if wide else shutil.get_terminal_size().columns, wide, not plain)


def one_line(text: str) -> str:
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text) if _CONTROL.search(text) else text


def without_tokens(text: str) -> str:
    """For messages that repeat what was typed: a token may be among it."""
    return _TOKEN.sub("gpd_…", text)


def gib(value: object) -> str:
    """Bytes in GiB, without the unit. A whole number is printed only where it is exact, and 0 only for 0."""
    if not isinstance(value, int):
        return UNKNOWN
    whole, rest = divmod(abs(value), _GIB)
    sign = "-" if value < 0 else ""
    if not rest:
        return f"{sign}{whole:,}"
    amount = abs(value) / _GIB
    return f"{sign}0.01" if amount < 0.01 else f"{sign}{amount:,.{2 if whole < 100 else 1}f}"


def of_whole(part: object, whole: object) -> str:
    """ "3 of 8"."""
    return f"{known(part)} of {known(whole)}"


def known(value: object) -> object:
    return UNKNOWN if value is None else value


def span(moment: object, now: datetime | None = None) -> str:
    """How long ago a time of REST (ISO 8601) was: 20 s, 41 min, 26 h, 4 d."""
    try:
        seconds = int(((now or datetime.now(UTC)) - datetime.fromisoformat(str(moment))).total_seconds())
    except (TypeError, ValueError):
        return UNKNOWN
    for length, unit, limit in ((1, "s", 60), (60, "min", 3600), (3600, "h", 48 * 3600)):
        if seconds < limit:
            return f"{max(seconds, 0) // length} {unit}"
    return f"{seconds // 86400} d"


def ago(moment: object) -> str:
    found = span(moment)
    return found if found == UNKNOWN else f"{found} ago"


def pairs(found: object) -> str:
    """ "nvidia.com/gpu: 2, example.com/x: 1"."""
    return ", ".join(f"{name}: {value}" for name, value in found.items()) if isinstance(found, Mapping) else ""


def rendered(table: Table, look: Look) -> list[str]:
    """Lines in columns. On a terminal the widest columns are cut until a line fits."""
    shown = [column for column in table.columns if look.wide or not column.wide]
    cells = [[_cell(column.value(row)) for column in shown] for row in table.rows]
    lines = [[column.head for column in shown], *cells]
    widths = _fitted([max(_width(line[place]) for line in lines) for place in range(len(shown))], look.width)
    return [_joined(line, widths, look.colour and number > 0) for number, line in enumerate(lines)]


def _cell(value: object) -> str:
    return one_line(str(NONE if value is None or value == "" else value))


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(one) else 2 if east_asian_width(one) in "WF" else 1 for one in text)


def _fitted(widths: list[int], most: int | None) -> list[int]:
    while most is not None and sum(widths) + 2 * (len(widths) - 1) > most and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _joined(line: Sequence[str], widths: Sequence[int], colour: bool) -> str:
    """The last cell is not padded."""
    parts = []
    for text, width in zip(line, widths, strict=True):
        cut = _cut(text, width)
        code = _COLOURS.get(text) if colour else None
        parts.append((f"\x1b[{code}m{cut}\x1b[0m" if code else cut) + " " * (width - _width(cut)))
    return "  ".join(parts).rstrip(" ")


def _cut(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    while _width(text) > width - 1:
        text = text[:-1]
    return f"{text}…"
