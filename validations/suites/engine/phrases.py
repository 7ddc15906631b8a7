"""A text that programs print and what it means: rows of the tables of suites, and of docs/reference/verdicts.md."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from validations.suites.engine.verdict import Reading, Verdict


class Phrase(NamedTuple):
    """words: part of the printed line, as the table's reader compares it. code: a reason code. meaning: what it usually means.

    severity: "failed" for a "no" of hardware, driver or adapter, "errored" for a test that could not be carried out, "warning" for
    what ran and deserves a look. source: where the program prints it. example: whole lines with the words, where the words
    alone are not read as what they are.
    """

    words: str
    code: str
    meaning: str
    severity: Verdict = "failed"
    source: str = ""
    example: str = ""


def first(phrases: Iterable[Phrase], text: str) -> Phrase | None:
    """The first phrase whose words are in the text."""
    return next((phrase for phrase in phrases if phrase.words in text), None)


def tell(reading: Reading, phrase: Phrase, text: str, line: int | None) -> None:
    """Write what the phrase says into the reading. text: what is shown."""
    {"failed": reading.failed, "errored": reading.errored, "warning": reading.warning}[phrase.severity](
        phrase.code, text, line
    )
