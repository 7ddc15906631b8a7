"""What a verb tells: the answer of the server, and the same as lines for a person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .text import Json, Table


class Told(NamedTuple):
    """answer: for `-o json`. notes: for standard error, also beside JSON. code: the exit code."""

    answer: Json
    lines: Sequence[str | Table]
    notes: Sequence[str] = ()
    code: int = 0


def cut_note(answer: Json) -> list[str]:
    """What is said of a list that goes on."""
    return [f"Cut after {len(answer['results'])} rows. More: --limit N"] if answer.get("next") else []
