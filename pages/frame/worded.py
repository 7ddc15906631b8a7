"""Stored sentences of ours in the reader's language, from the template and the arguments that are stored beside the English text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from html import unescape

from django.utils.html import conditional_escape, escape, format_html, format_html_join, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language, gettext

from wording import said

#: What stands between sentences and between the parts of a list, where a language has no blanks between sentences.
BETWEEN_IN_CHINESE = {" ": "", "; ": "；", ", ": "、", " and ": "和"}
_BETWEEN = {"zh-hans": BETWEEN_IN_CHINESE}
#: Names and amounts, one or several.
_NAMES = re.compile(r"\S+(?: [KMGT]iB)?(?:, \S+)*")
_CODE = re.compile(r"`([^`]+)`")
_OTHERS = re.compile(r'<span lang="en">(.*?)</span>', re.DOTALL)
_LATIN = re.compile(r"[A-Za-z]{2}")


def worded(text: str, form: object = None) -> str:
    """A stored text for a reader. form: what is stored beside it; a text without one, or of another form, stays in English.

    What a foreign system said stands in it as it was said, in quotation marks. It is no HTML: for attributes and for what is put
    together further.
    """
    language = get_language() or "en"
    sentence = said.restored(text, form) if form is not None else text
    if language.startswith("en") or not isinstance(sentence, said.Said):
        return text
    return said.worded(said.stored(sentence, len(sentence)), _translated, between(), _in_marks) or text


def told(text: str, form: object) -> str:
    """A stored text that is a sentence of ours where a form is stored with it, and else what another system said."""
    if isinstance(text, said.Said) or form is not None:
        return said.restored(text, form) if form is not None else text
    return said.quote(text) if text else ""


def worded_html(text: str, form: object = None) -> SafeString:
    """The same as HTML, where what somebody else said in it is marked as such.

    A text that is no sentence of ours is marked as one in English that was kept without its form: `quoted` is for what others said.
    """
    language = get_language() or "en"
    sentence = said.restored(text, form) if form is not None else text
    if isinstance(text, SafeString):
        return text
    if language.startswith("en"):
        return coded(text) if isinstance(sentence, said.Said) else conditional_escape(text)
    if not isinstance(sentence, said.Said):
        return (
            format_html('<span lang="en" data-said="unworded">{}</span>', text)
            if _LATIN.search(text)
            else conditional_escape(text)
        )
    made = said.worded(said.stored(sentence, len(sentence)), translated, between(), foreign)
    return mark_safe(made) if made else quoted(text)  # noqa: S308 (template and arguments are escaped)


def coded(text: str) -> SafeString:
    """A text of ours as HTML. What stands between backticks is code."""
    return mark_safe(_CODE.sub(r"<code>\1</code>", escape(text)))  # noqa: S308 (escaped)


def together(*texts: str) -> SafeString:
    """Several sentences, one after the other, as HTML."""
    return format_html_join(" ", "{}", ((text,) for text in texts if text))


def quoted(text: str) -> SafeString:
    """What another system said, in its own words: a reader of another language is told that they are English."""
    language = get_language() or "en"
    if language.startswith("en") or isinstance(text, SafeString) or not _LATIN.search(text):
        return conditional_escape(text)
    return format_html('<span lang="en">{}</span>', text)


def plain(html: str) -> str:
    """What this module made, as text for an attribute: what others said stands in quotation marks."""
    return unescape(strip_tags(_OTHERS.sub(r"“\1”", html)))


def named(text: str) -> SafeString:
    """A name: of a thing of the cluster, of a user, of a metric."""
    return format_html('<span translate="no">{}</span>', text) if text else SafeString()


def middle(text: str, most: int = 27) -> str:
    """A long name without its middle: beginning and end tell names of a cluster apart."""
    return text if len(text) <= most else f"{text[: most - 11]}…{text[-10:]}"


def short(text: str, most: int = 27) -> SafeString:
    """A name, cut in the middle, whole in its title."""
    return (
        named(text)
        if len(text) <= most
        else format_html('<span translate="no" title="{}">{}</span>', text, middle(text, most))
    )


def foreign(text: str) -> SafeString:
    """What is not ours: a name or an amount, or several, else what another system said."""
    if not _LATIN.search(text) or (get_language() or "en").startswith("en"):
        return conditional_escape(text)
    return named(text) if _NAMES.fullmatch(text) else quoted(text)


def _in_marks(text: str) -> str:
    return f"“{text}”" if _LATIN.search(text) and not _NAMES.fullmatch(text) else text


def between() -> Mapping[str, str]:
    """English between sentences → what stands there in the reader's language."""
    return _BETWEEN.get(get_language() or "en", {})


def translated(template: str) -> str:
    """A template in the reader's language, as HTML. What stands between backticks is code."""
    return coded(_translated(template))


def _translated(template: str) -> str:
    return gettext(template) if template else ""
