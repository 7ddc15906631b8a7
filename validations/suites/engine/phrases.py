"""A text that programs print and what it means: rows of the tables in which suites look failures up."""

from __future__ import annotations

from typing import NamedTuple

from validations.suites.engine.verdict import Verdict


class Phrase(NamedTuple):
    """words: part of the printed line, as the table's reader compares it. code: a reason code. meaning: what it usually means.

    severity: "failed" for a "no" of hardware, driver or adapter, "errored" for a test that could not be carried out.
    """

    words: str
    code: str
    meaning: str
    severity: Verdict = "failed"
