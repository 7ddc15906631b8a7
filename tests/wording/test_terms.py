"""One word per thing, in everything that a user reads; no heading asks a question."""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby

import pytest

from tests.processes import ROOT
from tests.wording import texts
from tests.wording.terms import EXCEPTIONS, TERMS, Exceptional
from tests.wording.texts import Text

#: What stands in the heading of a page, a panel or a browser's tab.
_TITLE = re.compile(r"<(h[1-6]|title|caption|legend)\b[^>]*>(.*?)</\1>|{% block title %}(.*?){% endblock", re.DOTALL)
_TRANSLATED = re.compile(r"""{%\s*translate\s+(?:"([^"]+)"|'([^']+)')""")


def excepted(text: Text, word: str) -> Exceptional | None:
    for one in EXCEPTIONS:
        if word.lower() == one.word and re.search(one.pattern, f"{text.where} {text.text}", re.IGNORECASE):
            return one
    return None


def wrong(text: Text) -> list[str]:
    """Words of the text that are not ours, each with what to write instead."""
    found = []
    for term in TERMS:
        for match in term.pattern.finditer(text.text):
            if excepted(text, match[0]) is None:
                found.append(f"“{match[0]}”, instead: {term.use}")
    return found


@cache
def everything() -> list[Text]:
    return sorted(texts.everything())


KINDS = ("alert", "command", "dashboard", "doc", "heading", "metric", "rest", "string")


@pytest.mark.parametrize("kind", KINDS)
def test_texts_keep_to_the_terms(kind: str) -> None:
    own = [one for one in everything() if one.kind == kind]
    assert len(own) > 15
    assert [(one.where, words, one.text[:200]) for one in own if (words := wrong(one))] == []


def test_every_kind_is_looked_at() -> None:
    assert tuple(kind for kind, _ in groupby(everything(), key=lambda one: one.kind)) == KINDS


@pytest.mark.parametrize(
    "planted",
    [
        "Which pod holds the card?",
        "4 cards are kept apart",
        "Sharing system",
        "Never proven good",
        "No word from the cluster",
        "An exporter says nothing of it",
        "The cluster is listed anew",
        "One of {names} is wanted",
        "2 pods wait for a node",
        "It is not known which card it has",
        "1 card(s)",
    ],
)
def test_a_planted_word_is_found(planted: str) -> None:
    assert wrong(Text("string", "planted.html", planted))


def test_no_heading_is_a_question() -> None:
    questions = [one for one in everything() if one.kind == "heading" and one.text.rstrip().endswith("?")]
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for match in _TITLE.finditer(path.read_text()):
            inner = match[2] or match[3] or ""
            asked = [text for pair in _TRANSLATED.findall(inner) for text in pair if text.endswith("?")]
            questions += [Text("heading", path.name, text) for text in asked]
            if inner.rstrip().removesuffix("{% endblocktranslate %}").rstrip().endswith("?"):
                questions.append(Text("heading", path.name, inner.strip()))
    assert questions == []


def test_every_exception_is_needed() -> None:
    used = {
        found
        for one in everything()
        for term in TERMS
        for match in term.pattern.finditer(one.text)
        if (found := excepted(one, match[0]))
    }
    assert set(EXCEPTIONS) - used == set()
