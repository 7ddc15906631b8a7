"""What the chart holds of deploy/'s other files is what these say now: a chart reads no file outside of itself."""

from __future__ import annotations

from tools import manifests


def test_the_charts_copies_are_up_to_date() -> None:
    wanted = manifests.copies()
    assert {path: path.read_text(encoding="utf-8") for path in wanted if path.exists()} == wanted, "run: make manifests"
    folder = next(iter(wanted)).parent
    assert set(folder.iterdir()) == set(wanted)
