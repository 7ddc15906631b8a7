"""Tags and filters that every template has: bytes, ages, signs, what is not known. Knows no tables and no requests."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html import unescape

from django import template
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from pages.frame import amounts, times
from pages.frame.holders import hue as hue_of
from pages.usage import percent
from runtime.spans import span

register = template.Library()
_CODE = re.compile(r"<code[^>]*>([^<]*)</code>")

_SIGNS = {"good": "✓", "error": "✕", "warning": "!", "info": "i", "none": "·"}


#: Each is translated when it is printed: a large table has hundreds of signs.
_SIGN_WORDS = {
    "good": gettext_lazy("good"),
    "error": gettext_lazy("error"),
    "warning": gettext_lazy("warning"),
    "info": gettext_lazy("info"),
    "none": gettext_lazy("no status"),
}


@register.simple_tag
def not_known(why: str = "") -> SafeString:
    """The mark of unknown: hatched, in words, with the reason as its title."""
    return format_html(
        '<span class="not-known" title="{}"><em>{}</em></span>', why or _("No source has it."), _("unknown")
    )


@register.filter
def gib(amount: int | None) -> str:
    """Bytes as text with unit; None as the mark of what is not known."""
    return not_known() if amount is None else amounts.gib(amount)


@register.filter
def gib_number(amount: int | None) -> str:
    """Bytes in GiB, without unit; None as the mark of what is not known."""
    return not_known() if amount is None else amounts.gib_number(amount)


@register.filter
def percent_of_one(ratio: float | None) -> str:
    """0.37 as 37 %; None as the mark of what is not known."""
    return not_known() if ratio is None else percent(ratio)


@register.filter
def counted(number: int | None) -> str:
    """A count with separators; None as the mark of what is not known."""
    return not_known() if number is None else amounts.count(number)


@register.filter
def hue(name: str) -> str:
    """Classes of the hue that a holder has."""
    return str(hue_of(name))


@register.filter
def sign(level: str) -> SafeString:
    """The sign of a severity or state, with its word for those who do not see it."""
    return format_html('{}<span class="unseen">{}</span>', sign_alone(level), sign_word(level))


@register.filter("bare_sign")
def sign_alone(level: str) -> SafeString:
    """The sign, where its word stands elsewhere."""
    known = level if level in _SIGNS else "none"
    return format_html('<span class="sign {}" aria-hidden="true">{}</span>', known, _SIGNS[known])


def sign_word(level: str) -> str:
    return str(_SIGN_WORDS.get(level, _SIGN_WORDS["none"]))


@register.simple_tag
def copy(text: str, what: str = "") -> SafeString:
    """A button that copies a name or command (static/js/forms.js); it stands beside the text. what: of a long text, what it is."""
    return format_html(
        '<button type="button" class="copy" data-copy="{}" data-done="{}" aria-label="{}" title="{}"></button>',
        text,
        _("Copied"),
        _("Copy: %(what)s") % {"what": what} if what else _("Copy “%(text)s”") % {"text": text},
        _("Copy"),
    )


@register.filter
def with_copies(text: str) -> SafeString:
    """A sentence, as HTML of ours, with a button beside each command in it. Not within a link or a summary."""
    html = conditional_escape(text)
    return mark_safe(_CODE.sub(lambda found: found[0] + copy(unescape(found[1])), html))  # noqa: S308 (escaped, or ours)


@register.filter
def moment(at: datetime | None, form: str = "") -> SafeString:
    """A moment in the reader's zone, with UTC in its tooltip. form: "s" to the second, "t" without the day, "z" with the zone."""
    if at is None:
        return mark_safe("–")
    text = times.with_zone(at) if form == "z" else times.text(at, seconds=form in ("s", "t"))
    if form == "t":
        text = text.partition(" ")[2]
    return format_html('<time datetime="{}" title="{}">{}</time>', _utc(at), times.tooltip(at), text)


@register.filter
def moment_text(at: datetime | None) -> str:
    """The same for an attribute: in the reader's zone, and in UTC."""
    return "" if at is None else times.tooltip(at)


@register.filter
def ago(moment: datetime | None) -> SafeString:
    """How long ago, as a time element that the browser keeps fresh."""
    return _time(moment, "ago")


@register.filter
def since(moment: datetime | None) -> SafeString:
    """For how long already, without "ago"."""
    return _time(moment, "span")


def _time(moment: datetime | None, form: str) -> SafeString:
    if moment is None:
        return not_known()
    text = span((timezone.now() - moment).total_seconds())
    if form == "ago":
        text = _("%(span)s ago") % {"span": text}
    return format_html(
        '<time datetime="{}" data-form="{}" title="{}">{}</time>', _utc(moment), form, times.tooltip(moment), text
    )


def _utc(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@register.simple_tag
def span_words() -> SafeString:
    """The words of ages as data attributes, and the server's time: what the script that keeps ages fresh needs."""
    pairs = {"s": _("%(n)d s"), "min": _("%(n)d min"), "h": _("%(n)d h"), "d": _("%(n)d d"), "ago": _("%(span)s ago")}
    texts = [
        format_html('data-{}="{}"', name, text.replace("%(n)d", "{}").replace("%(span)s", "{}"))
        for name, text in pairs.items()
    ]
    texts.append(format_html('data-now="{}"', _utc(datetime.now(UTC))))
    return mark_safe(" ".join(texts))  # noqa: S308 - each part is escaped above
