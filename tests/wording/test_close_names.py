"""Names for "did you mean": the close ones, the closest first, in time that no name can stretch."""

from __future__ import annotations

import time

import pytest

from wording.close_names import close_names


@pytest.mark.parametrize(
    ("name", "names", "close"),
    [
        ("gpu-0012", ["gpu-00012", "cpu-node", "gpu-00011"], ["gpu-00012", "gpu-00011"]),
        ("prd", ["lab", "prod"], ["prod"]),
        ("a100-10", ["a100-01", "dgx"], ["a100-01"]),
        ("GPU-A", ["gpu-a"], ["gpu-a"]),
        ("", ["a", "node"], []),
        ("x", [], []),
        ("训练", ["训练-1", "推理"], ["训练-1"]),
    ],
)
def test_what_is_close(name: str, names: list[str], close: list[str]) -> None:
    assert close_names(name, names) == close


def test_of_equals_the_first_by_name_and_no_more_than_asked_for() -> None:
    assert close_names("node", ["node-3", "node-1", "node-2"], 2) == ["node-1", "node-2"]


def test_the_time_is_linear_whatever_the_names_hold() -> None:
    """difflib takes minutes for these."""
    names = [f"{'ab' * 123}-{number:05}" for number in range(5_000)]
    began = time.process_time()
    assert close_names("ab" * 5_000_000, names)[0] == names[0]
    assert time.process_time() - began < 2
