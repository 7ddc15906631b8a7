"""Help on a word where it stands: a button that opens what it means. The texts are at the end of the page, outside what is refreshed,
so that a refresh closes none."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from pages.glossary import WORDS

register = template.Library()
_USED = "_terms_used"


@register.simple_tag(takes_context=True)
def term(context: Any, name: str, text: str = "") -> SafeString:
    """The word with its help. text: as it is written here, where that differs."""
    return format_html('<span class="term">{}{}</span>', text or WORDS[name].title, term_help(context, name))


@register.simple_tag(takes_context=True)
def term_help(context: Any, name: str) -> SafeString:
    """The button alone, beside a word that stands there; "" for no name."""
    if not name:
        return SafeString()
    request = context.get("request")
    if request is not None:
        # In their order, each once: `term_texts` writes them.
        request.__dict__.setdefault(_USED, {})[name] = True
    label = _("What “%(word)s” means") % {"word": WORDS[name].title}
    return format_html(
        '<button type="button" class="help" popovertarget="term-{}" aria-label="{}" data-term="{}"></button>',
        name,
        label,
        name,
    )


@register.simple_tag(takes_context=True)
def term_texts(context: Any) -> SafeString:
    """The texts of all words that the page has help on."""
    request = context.get("request")
    names = getattr(request, _USED, {}) if request is not None else {}
    if not names:
        return SafeString()
    more = _("More")
    texts = format_html_join(
        "\n",
        '<div class="term-text" popover id="term-{}" role="note"><b>{}</b><p>{}</p>'
        '<p class="more"><a href="{}#{}">{}</a></p></div>',
        ((name, WORDS[name].title, WORDS[name].text, reverse("words"), name, more) for name in names),
    )
    return format_html('<aside aria-label="{}">{}</aside>', _("What words mean"), texts)
