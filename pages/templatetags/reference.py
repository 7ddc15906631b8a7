"""Words of the OpenAPI document in a page: code between backticks, types with links to their shapes."""

from __future__ import annotations

from collections.abc import Sequence

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from pages.openapi import Word

register = template.Library()


@register.filter
def coded(text: str) -> SafeString:
    """What stands between backticks is code; everything is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # one that is not closed: as it is written
        return format_html("{}", text)
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", part) if number % 2 else part,) for number, part in enumerate(parts))
    )


@register.simple_tag
def type_words(words: Sequence[Word]) -> SafeString:
    return format_html_join(
        "",
        "{}",
        ((format_html('<a href="#shape-{}">{}</a>', one.shape, one.text) if one.shape else one.text,) for one in words),
    )
