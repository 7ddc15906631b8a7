"""A sentence is its English text, and knows its template and its arguments: through storage, into another language."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

from wording.said import Said, capitalised, cut, known, of_error, quote, restored, sentence, series, stored, worded

WORDS = {
    "{pod} holds {number} cards: {why}.": "{pod} 占用 {number} 张卡：{why}。",
    "nobody asks": "没有人申请",
    "Look.": "请查看。",
}


def chinese(text: str) -> str:
    return worded(stored(text), lambda template: WORDS.get(template, template), {" ": "", "; ": "；"})


def held(pod: str = "team-a/train") -> Said:
    return sentence("{pod} holds {number} cards: {why}.", pod=pod, number=2, why=sentence("nobody asks"))


def again(text: str) -> str:
    """As a row has it: JSON beside the text."""
    return restored(str(text), json.loads(json.dumps(stored(text))))


def test_it_is_the_english_text_wherever_text_is_wanted() -> None:
    assert held() == "team-a/train holds 2 cards: nobody asks."
    assert json.dumps(held()) == '"team-a/train holds 2 cards: nobody asks."'
    assert isinstance(held()[:4000], str)
    assert not isinstance(held()[:4000], Said)
    assert {held(): 1}[str(held())] == 1
    assert pickle.loads(pickle.dumps(held())).arguments["number"] == 2


def test_it_is_stored_as_template_and_arguments() -> None:
    assert stored(held()) == {
        "template": "{pod} holds {number} cards: {why}.",
        "arguments": {"pod": "team-a/train", "number": 2, "why": {"template": "nobody asks", "arguments": {}}},
    }


def test_it_is_worded_in_another_language_after_it_was_stored() -> None:
    assert chinese(again(held())) == "team-a/train 占用 2 张卡：没有人申请。"


def test_several_are_worded_one_by_one_with_what_that_language_has_between_them() -> None:
    both = series([held(), "as they said", known("Look.")])
    assert both == "team-a/train holds 2 cards: nobody asks. as they said Look."
    assert chinese(again(both)) == "team-a/train 占用 2 张卡：没有人申请。as they said请查看。"
    assert chinese(series(["a", "b"], "; ")) == "a；b"
    assert chinese(sentence("Look.") + " (a)") == "请查看。 (a)"
    assert chinese("a: " + sentence("Look.")) == "a: 请查看。"


@pytest.mark.parametrize("hostile", ["{pod}", "{0.__class__}", "%s {number}", "<b>", "nobody asks", "a\0b", "{", "}}"])
def test_an_argument_stays_what_it_is(hostile: str) -> None:
    text = held(hostile)
    assert str(text).startswith(hostile)
    assert chinese(text) == f"{hostile} 占用 2 张卡：没有人申请。".replace("\0", "")


def test_a_text_that_is_none_of_ours_or_was_cut_is_stored_without_a_form() -> None:
    assert stored("as they said") is None
    assert stored(held("x" * 5000)) is None
    assert stored(cut(held("x" * 50), 40)) is None
    assert stored(cut(held(), 400)) is not None


@pytest.mark.parametrize(
    "form",
    [
        None,
        "text",
        7,
        [],
        {},
        {"template": "Other."},
        {"template": 1, "arguments": {}},
        {"template": "Other.", "arguments": {}},
        {"template": "{a}", "arguments": {"a": [1]}},
        {"parts": [None], "between": " "},
    ],
)
def test_a_form_that_does_not_give_the_text_is_left_aside(form: Any) -> None:
    assert restored("Look.", form) == "Look."
    assert not isinstance(restored("Look.", form), Said)


def test_a_form_that_is_nested_without_end_is_left_aside() -> None:
    form: Any = "x"
    for _ in range(100):
        form = {"template": "{a}", "arguments": {"a": form}}
    assert not isinstance(restored("x", form), Said)
    assert worded(form, str, {}) == ""


def test_the_beginning_of_a_sentence_has_a_template_of_its_own() -> None:
    assert capitalised(sentence("nobody asks")).template == "Nobody asks"  # type: ignore[attr-defined]
    assert capitalised("as they said") == "As they said"


def test_an_error_is_the_sentence_that_it_was_made_of() -> None:
    made = of_error(ValueError(held()))
    assert isinstance(made, Said)
    assert chinese(made) == "team-a/train 占用 2 张卡：没有人申请。"


@pytest.mark.parametrize("error", [ValueError("no such file"), ValueError(held(), 3), ValueError(), OSError(2, "gone")])
def test_the_text_of_any_other_error_is_what_somebody_else_said(error: Exception) -> None:
    made = of_error(error)
    assert made == str(error)
    assert stored(made) == {"template": "{said}", "arguments": {"said": str(error)}}


def test_what_others_said_is_shown_by_itself_and_in_a_sentence() -> None:
    def marked(text: str) -> str:
        return worded(stored(text), lambda template: WORDS.get(template, template), {}, lambda said: f"<{said}>")

    assert marked(quote("it is late")) == "<it is late>"
    assert (
        marked(sentence("{pod} holds {number} cards: {why}.", pod="a", number=2, why="no"))
        == "<a> 占用 <2> 张卡：<no>。"
    )
    assert again(quote("it is late")) == "it is late"
