"""The colours of the tokens: text can be read on what it is written on, in both themes."""

from __future__ import annotations

import re

import pytest

from tests.processes import ROOT

TOKENS = ROOT / "static" / "css" / "tokens.css"
_PAIR = re.compile(r"--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);")
COLOURS = {name: (light, dark) for name, light, dark in _PAIR.findall(TOKENS.read_text())}

GROUNDS = ("ground", "panel", "raised", "track")
WRITTEN = [(ink, ground) for ink in ("ink", "soft", "link") for ground in GROUNDS]
WRITTEN += [(ink, ground) for ink in ("bad", "warn", "good", "fill") for ground in ("panel", "raised")]
WRITTEN += [("ink", f"{state}-ground") for state in ("bad", "warn", "good", "info")]
WRITTEN += [("soft", f"{state}-ground") for state in ("bad", "warn", "info")]
WRITTEN += [("link", f"{state}-ground") for state in ("bad", "warn", "info")]
WRITTEN += [("bad", "bad-ground"), ("ink", "tile"), ("on-fill", "fill"), ("panel", "ink")]
WRITTEN += [("panel", sign) for sign in ("good", "bad", "warn", "other")]
WRITTEN += [("on-hue", f"hue{number}") for number in range(12)]
#: Lines that say something (borders of fields, of unknown things) need less than text: WCAG 1.4.11.
DRAWN = [("edge", "panel"), ("edge", "ground"), ("fill", "panel"), ("fill", "track")]


def _luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    bright, dim = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_black_on_white_is_twenty_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("ink", "ground"), WRITTEN)
def test_text_can_be_read(ink: str, ground: str, theme: int) -> None:
    assert contrast(COLOURS[ink][theme], COLOURS[ground][theme]) >= 4.5


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("line", "ground"), DRAWN)
def test_lines_that_mean_something_can_be_seen(line: str, ground: str, theme: int) -> None:
    assert contrast(COLOURS[line][theme], COLOURS[ground][theme]) >= 3


def test_every_colour_of_the_style_is_a_token() -> None:
    """So that this test sees all of them."""
    for sheet in TOKENS.parent.rglob("*.css"):
        if sheet != TOKENS:
            found = re.findall(r"#[0-9a-fA-F]{3,8}\b", sheet.read_text())
            assert set(found) <= {"#fff", "#999", "#live"}, sheet.name
