"""How the texts of a run's row were made, which are no reasons: kept beside them in one column, by the name of the text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from validations.models import Run
from validations.models.run import TEXTS
from wording.said import stored


def wordings(run: Run, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The column `wordings` after these columns were written; {} where it does not change."""
    told = {name: _form(columns[name]) for name in TEXTS if name in columns}
    before = run.wordings or {}
    made = {name: form for name, form in (before | told).items() if form is not None}
    return {"wordings": made or None} if told and made != before else {}


def _form(text: Any) -> dict[str, Any] | None:
    """Of an ending the text is the second of a pair."""
    said = text[1] if isinstance(text, list) and len(text) == 2 else text
    return stored(said) if isinstance(said, str) else None
