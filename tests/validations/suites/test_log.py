"""Container logs in every shape that Windows and Linux write become the same numbered lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from validations.suites.engine.log import ELLIPSIS, LONGEST_LINE, read_log, stored_text

PLAIN = "first\nsecond line ü\n\nfourth\n"
EXPECTED = [(1, "first"), (2, "second line ü"), (3, ""), (4, "fourth")]


@pytest.mark.parametrize(
    "raw",
    [
        PLAIN.encode(),
        PLAIN.replace("\n", "\r\n").encode(),
        PLAIN.replace("\n", "\r\r\n").encode(),
        b"\xef\xbb\xbf" + PLAIN.encode(),
        PLAIN.encode("utf-16"),
        PLAIN.encode("utf-16-le"),
        b"\xfe\xff" + PLAIN.encode("utf-16-be"),
        PLAIN.replace("first", "\x1b[1;31mfir\x1b[0mst").encode(),
        PLAIN.replace("first", "\x1b]0;a title\x07first").encode(),
        PLAIN.replace("first", "fi\0rst").encode(),
        "".join(f"2026-03-04T05:06:07.123456789Z {line}\n" for line in PLAIN.splitlines()).encode(),
        "".join(f"2026-03-04T05:06:07+08:00 stdout F {line}\n" for line in PLAIN.splitlines()).encode(),
    ],
)
def test_every_encoding_gives_the_same_lines(raw: bytes) -> None:
    assert list(read_log(raw)) == EXPECTED


def test_progress_with_carriage_returns_keeps_the_number_of_its_line() -> None:
    assert list(read_log(b"a\n1%\r2%\r3%\nb\n")) == [(1, "a"), (2, "1%"), (2, "2%"), (2, "3%"), (3, "b")]


def test_cursor_moves_of_a_windows_console_are_spaces_and_new_parts() -> None:
    assert list(read_log(b"a\x1b[3Cb\x1b[2;1Hc\x1b[K\n")) == [(1, "a   b"), (1, "c")]


def test_invalid_bytes_are_replaced_not_lost() -> None:
    assert list(read_log(b"a\xffb\n")) == [(1, "a\ufffdb")]


def test_an_empty_log_has_no_lines() -> None:
    assert list(read_log(b"")) == []


def test_other_line_separators_do_not_shift_the_numbers() -> None:
    raw = "a\x0bb\x0cc\u2028d\x85e\nlast\n"
    assert [number for number, _ in read_log(raw.encode())] == [1, 2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_a_log_that_was_cut_says_so_and_the_lines_beside_are_not_whole(encoding: str) -> None:
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    head, tail = mark + "one\ntwo".encode(encoding), "three\nfour\n".encode(encoding)
    lines = read_log(head + b"\n[gpudash: 1234 bytes left out]\n" + tail)
    assert lines.left_out == 1234
    texts = [text for _, text in lines]
    assert texts == ["one", "two" + ELLIPSIS, "[gpudash: 1234 bytes left out]", ELLIPSIS + "three", "four"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le"])
def test_marks_do_not_shift_the_numbers_that_a_page_counts(encoding: str) -> None:
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    parts = [mark + "one\n".encode(encoding), "two\n".encode(encoding), "three\nfour\n".encode(encoding)]
    raw = b"\n[gpudash: 7 bytes left out]\n".join(parts)
    assert stored_text(raw).count("\n") == raw.count(b"\n")
    assert [text.strip(ELLIPSIS) for text in read_log(raw).texts if text.strip(ELLIPSIS)] == [
        "one", "[gpudash: 7 bytes left out]", "two", "[gpudash: 7 bytes left out]", "three", "four",
    ]  # fmt: skip
    assert read_log(raw).left_out == 14


def test_a_rotated_log_is_a_cut_of_unknown_size() -> None:
    lines = read_log(b"a\n[gpudash: the node rotated the log; an unknown number of bytes is missing here]\nb\n")
    assert lines.cut
    assert lines.left_out is None


def test_a_mark_inside_a_line_makes_no_whole_line_of_it() -> None:
    lines = read_log(b"Test PASSED[gpudash: 9 bytes left out]\n")
    assert lines.cut
    assert lines.texts == [ELLIPSIS + "Test PASSED[gpudash: 9 bytes left out]" + ELLIPSIS]


def test_a_line_that_is_too_long_never_reads_as_a_whole_one() -> None:
    lines = read_log(b"Test PASSED" + b" " * LONGEST_LINE + b"not\n")
    assert lines.texts[0].strip() != "Test PASSED"
    assert len(lines.texts[0]) == LONGEST_LINE + 1


@given(st.binary(max_size=3000))
def test_numbers_are_those_of_the_stored_text(raw: bytes) -> None:
    shown = stored_text(raw).split("\n")
    numbers = list(read_log(raw).numbers)
    assert numbers == sorted(numbers)
    assert not numbers or 1 <= numbers[0] <= numbers[-1] <= len(shown)
