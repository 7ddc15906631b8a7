"""Texts of suites for translation. Suites are pure and know no languages: pages and templates translate what they print."""

from __future__ import annotations


def gettext_noop(text: str) -> str:
    """The text itself, marked: `makemessages` finds it by the name of this function."""
    return text
