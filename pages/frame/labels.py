"""Labels of the words that columns hold."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext as _


def label_of(kind: type[models.TextChoices], value: str) -> str:
    """The label in the language of the request; a value of an older version, which has none any more, stands for itself."""
    return str(kind(value).label) if value in kind.values else value


def pool_parts(pool: str) -> list[tuple[str, bool]]:
    """What a pool is called, in the language of the request: its parts, and whether each is a name. It is stored in English."""
    words = {"not understood": _("unsupported resource"), "model not known": _("model unknown")}
    return [(words.get(part, part), part not in words) for part in pool.split(" · ")]


def pool_words(pool: str) -> str:
    """The same as one text."""
    return " · ".join(text for text, _named in pool_parts(pool))
