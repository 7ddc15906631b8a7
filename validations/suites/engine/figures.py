"""Numbers and short texts out of logs, which are hostile until read: what is no plain number becomes None, never 0."""

from __future__ import annotations

import math
import re

#: What ASCII C and C++ programs print for a number; `nan`, `inf` and `-nan(ind)` are not.
_NUMBER = re.compile(r"[+-]?(?:\d{1,40}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,4})?", re.ASCII)
#: Above this a float in JSON loses whole numbers.
_LARGEST = 2**53
_LONGEST_NAME = 200


def number(text: str) -> float | None:
    """A finite number, or None."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def duration(text: str) -> float | None:
    """A measured time: a finite number above zero, or None."""
    value = number(text)
    return value if value is not None and value > 0 else None


def count(text: str) -> int | None:
    """A whole number from 0 to 2**53, or None."""
    if not (text.isascii() and text.isdecimal() and len(text) <= 16):
        return None
    value = int(text)
    return value if value <= _LARGEST else None


def rounded(value: float) -> float:
    """Six significant digits: what the programs print, so a quotient of two shows no more than that."""
    return float(f"{value:.6g}")


def name(text: str) -> str:
    """A name for a fact: trimmed, printable, bounded."""
    return "".join(letter for letter in text.strip()[:_LONGEST_NAME] if letter.isprintable())
