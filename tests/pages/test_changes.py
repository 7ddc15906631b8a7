"""Changes of a text: whatever happened to it, following them gives the new one."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pages.frame.changes import changed, changes

_ROWS = st.lists(st.sampled_from(["<tr>", "<td>1", "<td>2", "</tr>\n", "<b>", "a", "", "<", "é𝄞"]), max_size=40)


def _table(rows: list[str]) -> str:
    return "<table>" + "".join(f'<tr data-key="{row}"><td>{row}</td><td>same</td></tr>' for row in rows) + "</table>"


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_ROWS, _ROWS)
def test_following_the_changes_gives_the_new_text(old: list[str], new: list[str]) -> None:
    assert changed("".join(old), changes("".join(old), "".join(new))) == "".join(new)


@pytest.mark.parametrize(
    "rows",
    [["a", "b", "new", "c", "d"], ["a", "d"], ["d", "c", "b", "a"], ["c", "a", "b", "d"], ["new", "a", "b", "c", "d"]],
    ids=["inserted", "removed", "reversed", "moved", "first"],
)
def test_rows_that_stay_are_not_sent_again(rows: list[str]) -> None:
    made = changes(_table(["a", "b", "c", "d"]), _table(rows))
    sent = [one for one in made if isinstance(one, str) and one.startswith(("tr", "td>")) and "same" not in one]
    assert sent == (['tr data-key="new">', "td>new"] if "new" in rows else [])
    assert changed(_table(["a", "b", "c", "d"]), made) == _table(rows)


def test_one_value_costs_its_own_length() -> None:
    old = _table([f"row{number}" for number in range(200)])
    assert changes(old, old.replace("<td>row77<", "<td>31 %<")) == [465, "td>31 %", 737]


def test_nothing_changed_is_one_instruction() -> None:
    assert changes("<p>a</p>", "<p>a</p>") == [3]
