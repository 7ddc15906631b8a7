"""A log is shown in windows of lines, as text and nothing else, with the numbers that the reasons name."""

from __future__ import annotations

import pytest

from pages.sections.logwindow import MOST_CHARACTERS, MOST_LINES, Log
from validations.suites.engine.base import read_log


def numbered(count: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(1, count + 1))


def test_a_short_log_is_one_window() -> None:
    window = Log(b"one\ntwo\n").starting(1)
    assert [(line.number, line.text) for line in window.lines] == [(1, "one"), (2, "two")]
    assert (window.before, window.after, window.last) == (False, False, 2)


def test_an_empty_log_has_no_lines() -> None:
    log = Log(b"")
    assert log.last == 0
    for window in (log.starting(1), log.ending(0), log.around(7), log.evidence(), log.search("x")):
        assert window.lines == []


def test_a_long_log_is_cut_into_windows_that_meet() -> None:
    log = Log(numbered(MOST_LINES * 2 + 10))
    first = log.starting(1)
    second = log.starting(first.end + 1)
    assert (first.begin, first.end, first.before, first.after) == (1, MOST_LINES, False, True)
    assert (second.begin, second.before, second.after) == (MOST_LINES + 1, True, True)
    assert log.ending(log.last).end == log.last
    assert log.starting(10**9).lines == []


def test_a_window_around_a_line_holds_it_even_at_the_ends() -> None:
    log = Log(numbered(MOST_LINES * 3))
    for number in (1, 2, MOST_LINES, log.last):
        assert number in {line.number for line in log.around(number).lines}


def test_huge_lines_make_a_window_short_not_large() -> None:
    raw = b"\n".join(b"x" * 100_000 for _ in range(600))
    window = Log(raw).starting(1)
    assert window.after
    assert sum(len(line.text) for line in window.lines) <= MOST_CHARACTERS + 5_000


def test_evidence_is_the_lines_of_the_reasons_with_some_around_and_gaps_between() -> None:
    log = Log(numbered(100))
    log.mark({10, 50, 999})
    window = log.evidence()
    assert [line.number for line in window.lines] == [*range(7, 14), *range(47, 54)]
    assert [line.number for line in window.lines if line.evidence] == [10, 50]
    assert [line.number for line in window.lines if line.gap] == [7, 47]


def test_search_finds_whatever_the_case_and_counts_all() -> None:
    raw = b"".join(b"Error %d\nfine\n" % number for number in range(MOST_LINES + 5))
    window = Log(raw).search("eRROR")
    assert window.matches == MOST_LINES + 5
    assert len(window.lines) == MOST_LINES
    assert Log(raw).search("nowhere").lines == []


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[31mred\x1b[0m\n", "red"),
        (b"bell\x07\n", "bell␇"),
        ("abc\u202egnp.exe\n".encode(), "abc⟨202E⟩gnp.exe"),
        (b"<script>alert(1)</script>\n", "<script>alert(1)</script>"),
        (b"a\tb\n", "a\tb"),
        (b"\xff\xfe\x00", "�"),
    ],
)
def test_what_a_terminal_would_do_is_shown_or_gone(raw: bytes, shown: str) -> None:
    lines = Log(raw).starting(1).lines
    assert [line.text for line in lines] == [shown]


def test_parts_of_a_progress_line_share_one_number() -> None:
    lines = Log(b"10%\r20%\r30%\ndone\n").starting(1).lines
    assert [(line.number, line.first) for line in lines] == [(1, True), (1, False), (1, False), (2, True)]


def test_the_place_where_the_log_was_cut_is_marked() -> None:
    raw = b"head\n[gpudash: 1234 bytes left out]\ntail\n"
    assert [line.cut for line in Log(raw).starting(1).lines] == [False, True, False]


@pytest.mark.parametrize(
    ("raw", "offset", "line"),
    [
        (b"", 0, 0),
        (b"one", 0, 0),
        (b"one\ntw", 4, 1),
        (b"one\ntwo\n", 8, 2),
        (b"one\n\x00", 4, 1),
        ("eins\nzwei\nd".encode("utf-16-le"), 20, 2),
        ("eins\nzwei\n".encode("utf-16-be")[:-1], 10, 1),
        ("\ufeffeins\nzwei\n显".encode("utf-16-le")[:-1], 22, 2),
    ],
)
def test_a_log_goes_on_after_its_last_whole_line(raw: bytes, offset: int, line: int) -> None:
    place = Log(raw, growing=True).next
    assert (place.offset, place.line) == (offset, line)
    assert Log(raw[:offset], growing=True).next.offset == offset


def test_a_part_of_a_log_reads_as_it_does_in_the_whole() -> None:
    raw = "2024-05-01T10:00:00Z one\r\ntwo\n2024-05-01T10:00:01Z 10%\r20%\nfour".encode("utf-16")
    whole = Log(raw)
    begin = Log(raw[:-36], growing=True).next
    rest = Log(raw[begin.offset :], begin).starting(1)
    assert rest.lines == whole.starting(begin.line + 1).lines
    assert (begin.line, rest.last) == (2, whole.last)


def test_numbers_are_those_that_parsers_give() -> None:
    raw = "first\r\nsecond\r\n\r\nfourth\n".encode("utf-16")
    assert [line.number for line in Log(raw).starting(1).lines] == list(read_log(raw).numbers)
