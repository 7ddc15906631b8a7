"""A sentence that knows how it was made: English text everywhere, with the template and the arguments it came from.

A `Said` is a `str`: logs, REST, CSV and comparisons take it as the English text that it is. What stores it keeps `stored` beside the
text; what shows it in another language puts the arguments into the translation of the template. An argument is a name, an amount or
what a foreign system said, which stays as it is, or another sentence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

Argument: TypeAlias = "str | int | float | None"
#: JSON: {"template", "arguments"}, or {"parts", "between"} of several sentences.
Stored: TypeAlias = dict[str, Any]

_FIELD = re.compile(r"\{(\w+)\}")
#: Sentences in sentences; what is nested deeper was not made here.
_DEEPEST = 8


class Said(str):
    """template: English, with arguments as {name}; "" for several sentences, whose arguments are `parts` and `between`."""

    __slots__ = ("arguments", "template")
    template: str
    arguments: Mapping[str, Any]

    def __add__(self, other: str) -> str:
        return series((self, other), "") if other else self

    def __radd__(self, other: str) -> str:
        return series((other, self), "") if other else self


def sentence(template: str, /, **arguments: Argument) -> Said:
    """The sentence of a template; the template is marked for translation by this call."""
    made = Said(template.format(**arguments))
    made.template, made.arguments = template, arguments
    return made


def gettext_noop(text: str) -> str:
    """The text as it is; the call marks it for translation where Django may not be imported."""
    return text


def known(template: str, /, **arguments: Argument) -> Said:
    """The sentence of a template of a table of ours, which is marked for translation there."""
    made = Said(template.format(**arguments) if arguments else template)
    made.template, made.arguments = template, arguments
    return made


def series(parts: Iterable[str], between: str = " ") -> Said:
    """Several sentences, one after the other, or a list of them; those that are none stay as they are."""
    several = tuple(parts)
    made = Said(between.join(several))
    made.template, made.arguments = "", {"parts": several, "between": between}
    return made


def quote(text: str) -> Said:
    """What another system said, as a text of its own: it is shown as it is, and marked as somebody else's words."""
    made = Said(text)
    made.template, made.arguments = "{said}", {"said": str(text)}
    return made


def of_error(error: BaseException) -> Said:
    """The text of an error: the sentence that it was made of, and else what another system or a library said."""
    first = error.args[0] if error.args else None
    text = str(error)
    return first if isinstance(first, Said) and first == text else quote(text)


def capitalised(text: str) -> str:
    """With a large first letter, as it begins a sentence; of a sentence its template, which is marked in both forms."""
    if not isinstance(text, Said) or not text.template:
        return text[:1].upper() + text[1:]
    made = Said(text[:1].upper() + text[1:])
    made.template, made.arguments = text.template[:1].upper() + text.template[1:], text.arguments
    return made


def cut(text: str, most: int) -> str:
    """So many characters at most; what is shorter stays the sentence that it is."""
    return text if len(text) <= most else str(text)[:most]


def stored(text: str, most: int = 4000) -> Stored | None:
    """The form that is stored beside the text. None for a text that is no sentence of ours, or is cut off at `most` characters."""
    return _form(text) if isinstance(text, Said) and len(text) <= most else None


def _form(text: Said) -> Stored:
    if not text.template and "parts" in text.arguments:
        return {"parts": [_kept(one) for one in text.arguments["parts"]], "between": text.arguments["between"]}
    return {"template": text.template, "arguments": {name: _kept(one) for name, one in text.arguments.items()}}


def _kept(value: Argument) -> Any:
    """JSON without NUL characters, which PostgreSQL does not take."""
    if isinstance(value, Said):
        return _form(value)
    return value.replace("\0", "") if isinstance(value, str) else str(value) if value is None else value


def restored(text: str, form: object) -> str:
    """The sentence as it was stored; the text alone where nothing was stored with it."""
    made = _of(form, 0)
    if not isinstance(made, Said) or made != text:
        return text
    return made


def _of(form: object, depth: int) -> Argument:
    if isinstance(form, str | int | float):
        return form
    if not isinstance(form, dict) or depth > _DEEPEST:
        return None
    if isinstance(parts := form.get("parts"), list):
        several = [_of(one, depth + 1) for one in parts]
        return None if None in several else series(map(str_of, several), str(form.get("between", " ")))
    template, arguments = form.get("template"), form.get("arguments")
    if not isinstance(template, str) or not isinstance(arguments, dict):
        return None
    known = {name: _of(one, depth + 1) for name, one in arguments.items()}
    made = Said(_FIELD.sub(lambda match: str(known.get(match[1])), template))
    made.template, made.arguments = template, known
    return made


def str_of(value: Argument) -> str:
    """A sentence as itself, anything else as text."""
    return value if isinstance(value, str) else str(value)


def worded(
    form: object, translate: Callable[[str], str], between: Mapping[str, str], shown: Callable[[str], str] = str
) -> str:
    """A stored form in another language. translate: of a template. between: English between sentences → that of the language.

    shown: of an argument that is no sentence, which is what somebody else said, a name or an amount.
    What is no form, or is nested too deep, is "": the caller then has the text.
    """
    return _Language(translate, between, shown).worded(form, 0)


class _Language(NamedTuple):
    translate: Callable[[str], str]
    between: Mapping[str, str]
    shown: Callable[[str], str]

    def worded(self, form: object, depth: int) -> str:
        if not isinstance(form, dict):
            return self.shown(str(form)) if isinstance(form, str | int | float) else ""
        if depth > _DEEPEST:
            return ""
        if isinstance(parts := form.get("parts"), list):
            here = str(form.get("between", " "))
            return self.between.get(here, here).join(self.worded(one, depth + 1) for one in parts)
        template, arguments = form.get("template"), form.get("arguments")
        if not isinstance(template, str) or not template or not isinstance(arguments, dict):
            return ""
        told = {name: self.worded(one, depth + 1) for name, one in arguments.items()}
        return _FIELD.sub(lambda match: told.get(match[1], match[0]), self.translate(template))
