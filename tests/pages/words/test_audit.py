"""Details of an audited act in words."""

from __future__ import annotations

from audit.models import Entry
from pages.words.audit import details


def test_what_is_not_set_is_a_dash_and_no_word_of_the_program() -> None:
    told = details(Entry(detail={"card_minutes_per_day": None, "max_per_pool": 4}))
    assert next((name, str(value)) for name, value in told) == ("minutes per card in 24 h", "–")
    assert "None" not in str(told)
