"""Where a number is known from: `{{ row.memory_source|source_words }}`, as HTML `{{ row.memory_source|source_html }}`."""

from __future__ import annotations

from django import template
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from pages.frame.worded import foreign
from pages.words.sources import source_in_words

register = template.Library()


@register.filter
def source_words(source: str) -> str:
    """A stored source in the reader's language, for an attribute."""
    return source_in_words(source or "")


@register.filter
def source_html(source: str, most: int = 0) -> SafeString:
    """The same with its names marked. most: characters that are shown of it; 0 for all."""
    html = mark_safe(source_in_words(source or "", foreign, foreign))  # noqa: S308 (each part is escaped)
    return mark_safe(Truncator(html).chars(most, html=True)) if most else html  # noqa: S308 (elements stay whole)
