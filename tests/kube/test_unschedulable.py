"""Messages of schedulers beside what is read of them. `GOLDEN=rewrite` writes the expected files anew; the diff is then read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube.unschedulable import MOST_REASONS, Reason, Unschedulable, read

GOLDEN = Path(__file__).parent / "golden" / "unschedulable"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.txt"))


def plain(found: Unschedulable) -> Any:
    return json.loads(msgspec.json.encode(found))


@pytest.mark.parametrize("name", NAMES)
def test_a_message_is_taken_apart_as_recorded(name: str) -> None:
    found = plain(read((GOLDEN / f"{name}.txt").read_text()))
    expected = GOLDEN / f"{name}.json"
    if os.environ.get("GOLDEN") == "rewrite":
        expected.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    assert found == json.loads(expected.read_text())


def test_a_comma_of_a_reason_is_not_the_end_of_it() -> None:
    found = read("0/2 nodes are available: 1 The node a is not for GPU share, need skip, 1 Insufficient cpu.")
    assert found.reasons == (Reason("The node a is not for GPU share, need skip", 1), Reason("Insufficient cpu", 1))


def test_what_has_another_form_is_kept_as_it_is() -> None:
    assert read("pod group is not ready") == Unschedulable(rest="pod group is not ready")


def test_more_reasons_than_anybody_reads_are_kept_as_text() -> None:
    many = ", ".join(f"1 reason-{number}" for number in range(MOST_REASONS + 7))
    found = read(f"0/9 nodes are available: {many}.")
    assert len(found.reasons) == MOST_REASONS
    assert found.rest.startswith(f"1 reason-{MOST_REASONS}, ")
    assert f"reason-{MOST_REASONS + 6}" in found.rest


@given(st.text(max_size=300), st.lists(st.tuples(st.integers(0, 10**9), st.text(max_size=40)), max_size=8))
def test_no_text_breaks_it_and_none_of_it_is_made_up(text: str, reasons: list[tuple[int, str]]) -> None:
    listed = ", ".join(f"{count} {one}" for count, one in reasons)
    for message in (text, f"0/3 nodes are available: {text}", f"0/3 nodes are available: {listed}. preemption: {text}"):
        found = read(message)
        for one in (*found.reasons, *found.preemption):
            assert one.text in message
