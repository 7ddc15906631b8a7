"""What a finding states: the part of its text that is the same for all findings with the same cause.

It is found in the form that is stored beside a text (`wording.said`): the first thing that the text says, without its source, its
detail, since when and how often. A text of one sentence, as stacks have them, states what its code does. Pure.
"""

from __future__ import annotations

from typing import Any

from wording import said

#: Characters of a text, and of the part of it that is its cause.
TEXT, CAUSE = 4000, 200


def columns(text: str) -> dict[str, Any]:
    """text, wording and cause of a finding with this text."""
    form = said.stored(text, TEXT)
    return {"text": _plain(text)[:TEXT], "wording": form, "cause": cause_of(form)}


def cause_of(form: object) -> str:
    """What a stored form states, in English; "" where the code says it."""
    return _plain(said.worded(stated(form), str, {}).rstrip("."))[:CAUSE]


def stated(form: object) -> said.Stored | None:
    """The form of what a stored form states; None where the code says it."""
    found = _first(form)
    if found is not None and "parts" in found:
        found = _first(found)
    # Around what a source states of health stand its detail, its name, and since when.
    while found is not None and (inner := _inner(found)) is not None:
        found = inner
    return found


def remedy_of(form: object) -> said.Stored | None:
    """The form of what is to be done first, where the text says so: of a report of health its action, of a component its remedy."""
    parts = form.get("parts") if isinstance(form, dict) else None
    for one in parts if isinstance(parts, list) else ():
        arguments = one.get("arguments") if isinstance(one, dict) else None
        found = (arguments.get(name) for name in ("action", "remedy")) if isinstance(arguments, dict) else ()
        for remedy in found:
            if isinstance(remedy, dict):
                return remedy
    return None


def _first(form: object) -> said.Stored | None:
    parts = form.get("parts") if isinstance(form, dict) else None
    return parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], dict) else None


def _inner(form: said.Stored) -> said.Stored | None:
    arguments = form.get("arguments")
    if not isinstance(arguments, dict):
        return None
    return next((arguments[name] for name in ("statement", "what") if isinstance(arguments.get(name), dict)), None)


def _plain(text: str) -> str:
    """Without NUL characters, which PostgreSQL does not take."""
    return text.replace("\0", "")
