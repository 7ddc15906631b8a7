"""Tables, amounts, spans; text of a cluster that is meant for the terminal."""

from __future__ import annotations

import io
import sys
from datetime import UTC, datetime

import pytest

from client import text
from client.text import Column, Look, Table, rendered
from wording import amounts, printable

TABLE = Table(
    [
        Column("NODE", lambda row: row[0]),
        Column("STATE", lambda row: row[1]),
        Column("MORE", lambda row: row[2], wide=True),
    ],
    [("gpu-1", "failed", "a"), ("节点", None, "b")],
)


def test_columns_are_as_wide_as_they_need_to_be() -> None:
    assert rendered(TABLE, Look()) == ["NODE   STATE", "gpu-1  failed", "节点   –"]
    assert rendered(TABLE, Look(wide=True)) == ["NODE   STATE   MORE", "gpu-1  failed  a", "节点   –       b"]


def test_on_a_terminal_the_widest_columns_are_cut() -> None:
    long = Table(
        [Column("A", lambda row: row[0]), Column("B", lambda row: row[1])], [("x" * 30, "节点" * 10), ("y", "z")]
    )
    lines = rendered(long, Look(width=30))
    assert lines[1] == "x" * 13 + "…  " + "节点节点节点…"
    assert max(map(text._width, lines)) <= 30
    assert rendered(long, Look(width=1)) == rendered(long, Look(width=10)), "a terminal of no width shows something"


def test_colour_does_not_move_columns() -> None:
    assert rendered(TABLE, Look(colour=True))[1] == "gpu-1  \x1b[31mfailed\x1b[0m"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "environment", "colour"),
    [
        (Terminal(), {}, True),
        (Terminal(), {"NO_COLOR": "1"}, False),
        (Terminal(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
    ],
)
def test_colour_is_for_terminals(
    stream: io.StringIO, environment: dict[str, str], colour: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "77")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert text.look_of(stream, False) == Look(77 if stream.isatty() else None, False, colour)
    assert text.look_of(stream, True).width is None


def test_controls_are_written_as_the_product_writes_them() -> None:
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert text.one_line(every) == printable.one_line(every).replace("\\n", "\\u000a").replace("\\t", "\\u0009")


def test_amounts_are_written_as_the_product_writes_them() -> None:
    for size in (0, 1 << 30, 15 << 30, 7_977_000_000, 123_456_789_012, -(1 << 30)):
        assert text.gib(size) == amounts.scaled(size, amounts.GIB).replace("−", "-")
    assert [text.gib(size) for size in (1, -1, None, "8Gi")] == ["0.01", "-0.01", "unknown", "unknown"]


@pytest.mark.parametrize(
    ("moment", "told"),
    [
        ("2026-11-26T11:59:20Z", "40 s"),
        ("2026-11-26T11:19:00Z", "41 min"),
        ("2026-11-25T10:00:00+00:00", "26 h"),
        ("2026-11-22T11:00:00Z", "4 d"),
        ("2026-11-26T13:00:00Z", "0 s"),
        ("2026-11-26T11:19:00", "unknown"),
        ("yesterday", "unknown"),
        (None, "unknown"),
    ],
)
def test_spans(moment: str | None, told: str) -> None:
    assert text.span(moment, datetime(2026, 11, 26, 12, tzinfo=UTC)) == told


def test_a_token_that_was_typed_is_not_repeated() -> None:
    assert (
        text.without_tokens("unrecognized arguments: --token gpd_1_a-B_c x")
        == "unrecognized arguments: --token gpd_… x"
    )
