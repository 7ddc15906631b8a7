"""Where a number is known from: `{{ row.memory_source|source_words }}`."""

from __future__ import annotations

from django import template

from pages.sources import source_in_words

register = template.Library()


@register.filter
def source_words(source: str) -> str:
    """A stored source in the reader's language."""
    return source_in_words(source or "")
