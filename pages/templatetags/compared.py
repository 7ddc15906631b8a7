"""One of two values side by side."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from pages.frame.worded import middle, named
from pages.sections.beside import Side
from pages.templatetags.units import copy, sign_alone

register = template.Library()

#: Longer names without a blank, such as digests, are cut in the middle.
LONGEST = 40


@register.simple_tag
def side(value: Side) -> SafeString:
    """A state with its sign; a long id without its middle, and a button that copies it whole."""
    if not value.text:
        return format_html('<span class="quiet">{}</span>', "–")
    if value.level:
        return format_html("{} {}", sign_alone(value.level), value.text)
    if value.words:
        return format_html("{}", value.text)
    if len(value.text) <= LONGEST or " " in value.text:
        return named(value.text)
    shown = middle(value.text, LONGEST)
    return format_html('<span translate="no" title="{}">{}</span>{}', value.text, shown, copy(value.text))
