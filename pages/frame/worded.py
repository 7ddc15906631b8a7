"""Stored sentences of ours in the reader's language, from the template and the arguments that are stored beside the English text."""

from __future__ import annotations

from django.utils.translation import get_language, gettext

from wording import said

#: What stands between sentences and between the parts of a list, where a language has no blanks between sentences.
BETWEEN_IN_CHINESE = {" ": "", "; ": "；", " and ": "和"}
_BETWEEN = {"zh-hans": BETWEEN_IN_CHINESE}


def worded(text: str, form: object = None) -> str:
    """A stored text for a reader. form: what is stored beside it; a text without one, or of another form, stays in English.

    What a foreign system said stands in it as it was said; it is no HTML.
    """
    language = get_language() or "en"
    sentence = said.restored(text, form) if form is not None else text
    if language.startswith("en") or not isinstance(sentence, said.Said):
        return text
    return said.worded(said.stored(sentence), _translated, _BETWEEN.get(language, {})) or text


def _translated(template: str) -> str:
    return gettext(template) if template else ""
