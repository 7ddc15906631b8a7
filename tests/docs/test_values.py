"""Values that the docs explain in tables are those of the code: none is missing, none is of an older version."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest

from accounts import sign_in_limit, two_factor
from accounts.sign_in_limit import Limit
from inventory.condition import State
from inventory.models.choices import Evidence, UnavailableReason
from inventory.models.cluster import Kind
from inventory.queries.pod_usage import Note
from runtime.cached import MOST_S
from tests.docs.reading import ROOT, table_rows

DOCS = ROOT / "docs"


def section(page: str, heading: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def coded(text: str) -> list[str]:
    """Values in the first cells of its tables, without their heads."""
    return [
        value
        for row in re.findall(r"^\| (`[a-z0-9-]+`(?:, `[a-z0-9-]+`)*) \|(?!.*\n\| ---)", text, re.MULTILINE)
        for value in re.findall(r"`([^`]+)`", row)
    ]


@pytest.mark.parametrize(
    ("page", "heading", "values"),
    [
        ("numbers.md", "Free and unavailable cards", UnavailableReason.values),
        ("numbers.md", "Card identification", Evidence.values),
        ("usage.md", "Memory used by pods", [note.value for note in Note]),
    ],
)
def test_a_table_has_each_value_and_no_other(page: str, heading: str, values: Iterable[str]) -> None:
    assert sorted(coded(section(page, heading))) == sorted(values)


def test_cards_are_identified_in_the_order_of_the_table() -> None:
    assert coded(section("numbers.md", "Card identification")) == Evidence.values


def test_the_states_and_kinds_of_watches_are_those_of_the_metrics() -> None:
    text = (DOCS / "metrics.md").read_text(encoding="utf-8")
    assert sorted(coded(text)) == sorted(State.values)
    kinds = re.search(r"^`kind` is (.*?)\.$", text, re.MULTILINE | re.DOTALL)
    assert kinds
    assert sorted(re.findall(r"`(\w+)`", kinds[1])) == sorted(Kind.values)


def test_the_limits_on_guessing_are_those_in_force() -> None:
    rows = {row[0]: (row[1], row[2]) for row in table_rows(DOCS / "access.md") if len(row) == 4}
    for text, limit in (
        ("one account at one address", sign_in_limit.PAIR),
        ("all names from one address", sign_in_limit.ADDRESS),
        ("one account from all addresses", sign_in_limit.ACCOUNT),
        ("one browser that has signed in", sign_in_limit.DEVICE),
        ("2FA codes of one account", two_factor.TRIES),
    ):
        assert rows[text] == (str(limit.tries), _span(limit)), text


def _span(limit: Limit) -> str:
    """As the table has it."""
    seconds = int(limit.step.total_seconds())
    return f"{seconds // 60} min" if seconds % 60 == 0 else f"{seconds} s"


def test_the_age_of_an_answer_is_that_of_the_cache() -> None:
    assert int(MOST_S) == 5
    assert "at most five seconds old" in section("rest.md", "Caching and request ids")
