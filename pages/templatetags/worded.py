"""Sentences of ours in the reader's language, what others said as their words: `{{ text|worded }}`, `{{ text|quoted }}`,
`{% worded_of run "card_note" %}`. Every template has them."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import Truncator

from pages.frame import worded as frame
from pages.frame.labels import pool_parts
from pages.words import names as name_words
from validations.models import Campaign, Run
from validations.models.run import said_of

register = template.Library()


@register.filter
def worded(text: str, most: int = 0) -> SafeString:
    """A sentence that was just made, or was restored. most: characters that are shown of it; 0 for all."""
    return _cut(frame.worded_html(text or ""), most)


@register.filter
def coded(text: object) -> SafeString:
    """A text of ours that is no stored sentence: what stands between backticks is code."""
    return frame.coded("" if text is None else str(text))


@register.filter
def quoted(text: object, most: int = 0) -> SafeString:
    """What another system said, which stays as it is."""
    return _cut(frame.quoted("" if text is None else str(text)), most)


@register.filter
def plain(html: str) -> str:
    """What these filters made, as text for an attribute."""
    return frame.plain(html)


@register.filter
def named(text: object) -> SafeString:
    """A name, which no program that translates the page is to translate."""
    return frame.named("" if text is None else str(text))


@register.filter
def short(text: object, most: int = 27) -> SafeString:
    """A name of one line: without its middle where it is long, whole in its title."""
    return frame.short("" if text is None else str(text), most)


@register.filter
def middle(text: object) -> str:
    """The same for the name of a link."""
    return frame.middle("" if text is None else str(text))


@register.filter
def option_words(name: str) -> str:
    """What an option of a suite is called."""
    return name_words.option(str(name))


@register.filter
def pool_words(pool: str) -> SafeString:
    """What a pool is called: its stack and the short name of its model, or that they are not known."""
    *stacks, (model, is_name) = pool_parts(pool or "")
    parts = [(frame.named(text) if named else text,) for text, named in stacks]
    return format_html_join(" · ", "{}", [*parts, (model_words(model) if is_name else model,)])


@register.filter
def model_words(model: str) -> SafeString:
    """A model as tables call it; its whole name is the title."""
    shown = name_words.short_model(model)
    if shown == model:
        return frame.named(model)
    return format_html('<span translate="no" title="{}">{}</span>', model, shown)


@register.simple_tag
def worded_of(run: Run, name: str, most: int = 0) -> SafeString:
    """A text of a run's row: what of it is not ours was said by the cluster."""
    return _cut(frame.worded_html(frame.told(getattr(run, name), said_of(run, name))), most)


@register.simple_tag
def said_of_campaign(campaign: Campaign) -> SafeString:
    """Why a campaign is in its state."""
    return frame.worded_html(campaign.state_reason, campaign.wording)


def _cut(html: SafeString, most: int) -> SafeString:
    if not most or len(html) <= most:
        return html
    return mark_safe(Truncator(html).chars(most, html=True))  # noqa: S308 (elements stay whole)
