"""Pages of exporters, in the text format and in OpenMetrics, good and bad."""

from __future__ import annotations

import math

import pytest

from exporters import ProblemCounts, Sample, page_names, read_page
from exporters.engine import pages
from exporters.engine.samples import LABEL_CHARS, MOST_LABELS

NAMES = frozenset(("a", "b:c", "a_total"))


def read(text: str | bytes, openmetrics: bool | None = None) -> tuple[list[Sample], dict[str, int]]:
    told = ProblemCounts()
    body = text.encode() if isinstance(text, str) else text
    found = list(read_page(body, NAMES, told, openmetrics=openmetrics))
    return found, {problem.code: problem.count for problem in told.problems()}


@pytest.mark.parametrize(
    ("line", "labels", "value", "at"),
    [
        ("a 5", {}, 5.0, None),
        ("a{} 5", {}, 5.0, None),
        ("a\t5\t1760000000123", {}, 5.0, 1760000000.123),
        ("b:c 5e-3 -1", {}, 0.005, -0.001),
        ('a{x="1"} 5', {"x": "1"}, 5.0, None),
        ('a{x="1",} 5', {"x": "1"}, 5.0, None),
        ('a { x = "1" , y="2" } 5 7', {"x": "1", "y": "2"}, 5.0, 0.007),
        ('a{x="a\\\\b\\"c\\nd\\te"} +5.', {"x": 'a\\b"c\nd\\te'}, 5.0, None),
        ('a{x="}{,= #"} .5', {"x": "}{,= #"}, 0.5, None),
        ('a{x="ü€"} 5', {"x": "ü€"}, 5.0, None),
        ('a{x=""} +Inf', {"x": ""}, math.inf, None),
        ("a -Inf", {}, -math.inf, None),
        ("a 1.8446744073709552e+19", {}, 2.0**64, None),
        (" a 5", {}, 5.0, None),
        ("a 5\r", {}, 5.0, None),
    ],
)
def test_lines_that_the_format_allows(line: str, labels: dict[str, str], value: float, at: float | None) -> None:
    found, told = read(f"# HELP a text\n# TYPE a gauge\n\n{line}\n")
    assert [(dict(sample.labels), sample.value, sample.timestamp_s) for sample in found] == [(labels, value, at)]
    assert told == {}


def test_nan_is_a_number_of_the_format() -> None:
    found, told = read("a NaN\na nan\n")
    assert [math.isnan(sample.value) for sample in found] == [True, True]
    assert told == {}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("a", "bad-line"),
        ('a 1{x="1"} 5', "bad-line"),
        ("a five", "bad-value"),
        ("a 0x10", "bad-value"),
        ("a 1_000", "bad-value"),
        ("a ١", "bad-value"),
        ("a 5 6 7", "bad-line"),
        ("a 5 soon", "bad-line"),
        ("a 5 # 2", "bad-line"),
        ('a 5 # {x="1"} 2', "bad-line"),
        ('a{x="1" 5', "bad-line"),
        ('a{x="1"', "bad-line"),
        ('a{x="1} 5', "bad-line"),
        ("a{x=1} 5", "bad-line"),
        ('a{="1"} 5', "bad-line"),
        ('a{x="1""y="2"} 5', "bad-line"),
        ('a{x="1",x="2"} 5', "bad-line"),
        ('a{x="1",,} 5', "bad-line"),
        ('a{1x="1"} 5', "bad-line"),
        ("<html>", "bad-line"),
        ("5 a", "bad-line"),
        (b'a{x="\xff"} 5', "not-utf8"),
        ('a{x="' + "y" * (LABEL_CHARS + 1) + '"} 5', "label-too-long"),
        ("a{" + ",".join(f'x{number}="1"' for number in range(MOST_LABELS + 1)) + "} 5", "too-many-labels"),
        ('a{x="' + "y" * (pages.LINE_BYTES) + '"} 5', "line-too-long"),
    ],
)
def test_lines_that_cannot_be_read_are_counted_and_leave_the_others(line: str | bytes, code: str) -> None:
    piece = line.encode() if isinstance(line, str) else line
    found, told = read(b"a 1\n" + piece + b"\na 2\n")
    assert [sample.value for sample in found] == [1.0, 2.0]
    assert told == {code: 1}


def test_metrics_that_are_not_asked_for_are_not_looked_at() -> None:
    found, told = read('z{x="1" broken\nz five\na_b 5\nab{} 5\na 1\n')
    assert [sample.value for sample in found] == [1.0]
    assert told == {}


def test_a_page_that_ends_in_the_middle_loses_its_last_line() -> None:
    """A number that was cut is another number."""
    found, told = read("a 12345\na 678")
    assert [sample.value for sample in found] == [12345.0]
    assert told == {"page-cut": 1}


def test_an_empty_page_is_whole() -> None:
    assert read("") == ([], {})
    assert read("\n") == ([], {})


def test_times_of_openmetrics_are_seconds_and_it_may_have_exemplars() -> None:
    text = (
        'a_total{x="1"} 5 1760000000.5 # {trace_id="}x"} 0.1 1760000000.4\n'
        'a_total{x="# {"} 6\n'
        'a_total 7 # {trace_id="x"} 0.1\n'
        "# EOF\n"
    )
    found, told = read(text)
    assert [(dict(sample.labels), sample.value, sample.timestamp_s) for sample in found] == [
        ({"x": "1"}, 5.0, 1760000000.5),
        ({"x": "# {"}, 6.0, None),
        ({}, 7.0, None),
    ]
    assert told == {}
    assert read(text[:-1])[0] == found


def test_an_openmetrics_page_without_its_end_was_cut() -> None:
    found, told = read("a 5 1760000000.5\n", openmetrics=True)
    assert [sample.timestamp_s for sample in found] == [1760000000.5]
    assert told == {"page-cut": 1}


def test_the_content_type_decides_over_the_look() -> None:
    assert [sample.timestamp_s for sample in read("a 5 1000\n# EOF\n", openmetrics=False)[0]] == [1.0]


def test_the_same_block_of_labels_is_one_object() -> None:
    found, _ = read('a{x="1"} 1\nb:c{x="1"} 2\na{x="2"} 3\n')
    assert found[0].labels is found[1].labels
    assert found[0].labels is not found[2].labels


def test_a_page_has_a_bounded_number_of_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MOST_SAMPLES", 3)
    found, told = read("a 1\n" * 10)
    assert len(found) == 3
    assert told == {"too-many-samples": 1}


def test_the_names_of_a_page() -> None:
    text = b'# HELP x y\n# TYPE x gauge\nx 1\nx{a="1"} 2\n<html>\n_y:z{broken\n\xff\n9 8\n\nlast'
    assert page_names(text) == {"x", "_y:z", "last"}
    assert len(page_names(b"".join(b"n%d 1\n" % number for number in range(100)), most=10)) == 10
    assert page_names(b"n" * 5000 + b" 1\n") == frozenset()


def test_a_line_of_many_escapes_takes_linear_time() -> None:
    """Patterns do not go back: a line that does not match is left at once."""
    told = ProblemCounts()
    hostile = b"".join(
        b'a{x="' + piece * (60_000 // len(piece)) + b"\n" for piece in (b"\\", b'",y="', b" ", b'\\"', b",")
    )
    assert list(read_page(hostile * 20, NAMES, told)) == []
    assert told.problems()[0].count == 100
