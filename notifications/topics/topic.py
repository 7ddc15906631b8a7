"""A topic: one thing to tell, for any number of cards. It begins, holds for more things, and ends."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

from wording.said import Said, stored

LONGEST_TEXT = 500


class Topic(msgspec.Struct, frozen=True, kw_only=True):
    """key: the same while it holds. about: its kind. text: a sentence; wording: its form (`wording.said`).

    count: things that it holds for; loud: those that are not silenced; new: a number that is larger for things that came later, the
    largest of the loud ones. since: of the first thing, ISO 8601. places: some of them. link: a path. once: it has no end.
    """

    key: str
    about: str
    code: str
    severity: str
    text: str
    wording: dict[str, Any] | None = None
    count: int = 1
    loud: int = 1
    newest: int = 0
    since: str
    places: tuple[str, ...] = ()
    cluster: str = ""
    link: str = ""
    once: bool = False


def said(text: Said | str) -> dict[str, Any]:
    """text and wording of a topic."""
    return {"text": str(text)[:LONGEST_TEXT], "wording": stored(text, LONGEST_TEXT)}


def key_of(*parts: object) -> str:
    """A key of these parts, at most 200 characters: what is longer ends with a digest."""
    whole = ":".join(str(part) for part in parts)
    if len(whole) <= 200:
        return whole
    return f"{whole[:150]}:{sha256(whole.encode()).hexdigest()[:40]}"
