"""What a finding states: the part of its text that is the same for all findings with the same cause."""

from __future__ import annotations

import pytest

from inventory.stated import CAUSE, TEXT, cause_of, columns, stated
from wording.said import known, quote, restored, sentence, series, stored

FALLEN = known("The card has fallen off the bus")
REPORT = sentence(
    "{statement}, {since}.{lost} {action}",
    statement=sentence(
        "{source}: {what}", source="dcgm", what=sentence("{statement} ({text})", statement=FALLEN, text="79")
    ),
    since=sentence("since {since}", since="2026-07-01"),
    lost="",
    action=known("Reset the card."),
)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (series([REPORT, REPORT]), "The card has fallen off the bus"),
        (series([series([REPORT], " ")]), "The card has fallen off the bus"),
        (series([sentence("{statement}, {since}.", statement=FALLEN, since="now")]), "The card has fallen off the bus"),
        (
            series([sentence("{component} is {state}.", component="driver", state="missing"), "why"]),
            "driver is missing",
        ),
        (series([quote("as another system said it."), "more"]), "as another system said it"),
        (sentence("Card {key}: {x} of {y} GiB allocated", key=1, x=2, y=3), ""),
        (series(["no sentence of ours", REPORT]), ""),
        ("no sentence of ours", ""),
    ],
)
def test_the_cause_is_the_first_statement_without_source_detail_and_time(text: str, cause: str) -> None:
    made = columns(text)
    assert (made["text"], made["wording"], made["cause"]) == (str(text), stored(text), cause)
    assert (stated(made["wording"]) is None) == (cause == "")


def test_a_hostile_text_is_cut_and_has_no_nul() -> None:
    made = columns(series([quote("a\0" * 5000)]))
    assert (len(made["text"]), made["wording"]) == (TEXT, None)
    short = columns(series([quote("a\0" * 400), "b"]))
    assert short["cause"] == "a" * CAUSE
    assert "\0" not in short["text"]


@pytest.mark.parametrize(
    "form",
    [None, 1, "text", [], {}, {"parts": []}, {"parts": "x"}, {"parts": [None]}, {"parts": [{"arguments": None}]}, {"parts": [[]]},
     {"parts": [{"template": "{statement}", "arguments": {"statement": {"arguments": {"what": 3}}}}]}],
)  # fmt: skip
def test_a_form_that_somebody_wrote_by_hand_raises_nothing(form: object) -> None:
    assert isinstance(cause_of(form), str)
    assert restored("text", form) == "text"
