"""Labels of the words that columns hold."""

from __future__ import annotations

from django.db import models


def label_of(kind: type[models.TextChoices], value: str) -> str:
    """The label in the language of the request; a value of an older version, which has none any more, stands for itself."""
    return str(kind(value).label) if value in kind.values else value
