"""Quantities of the Kubernetes API as whole numbers."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kube.quantity import INT64_MAX, count, millis, parse, size


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("7", 7),
        (7, 7),
        ("16Gi", 16 * 2**30),
        ("1Ki", 1024),
        ("7Ei", 7 * 2**60),
        ("2k", 2000),
        ("1M", 10**6),
        ("3E", 3 * 10**18),
        ("1e3", 1000),
        ("1E3", 1000),
        ("12e-1", 2),
        ("1.5Gi", 3 * 2**29),
        ("0.03k", 30),
        (".5k", 500),
        ("5.", 5),
        ("+4", 4),
        ("2000m", 2),
        ("1500u", 1),
        ("1n", 1),
        ("007", 7),
        ("9223372036854775807", INT64_MAX),
        ("1e-400", 1),
        ("0e999999", 0),
    ],
)
def test_a_quantity_has_its_exact_value(text: str | int, value: int) -> None:
    assert parse(text) == value


@pytest.mark.parametrize("text", ["500m", "0.1", "1n", "1e-9"])
def test_a_fraction_rounds_up_as_the_api_does(text: str) -> None:
    assert count(text) == 1


@pytest.mark.parametrize(
    "text",
    [
        "", "abc", "1e400", "9" * 10_000, "9223372036854775808", "8Ei", "10E", "1 Gi", "Gi", ".", "-", "1KI", "1ki", "0x10",
        "1_000", "١٢", "²", "NaN", "inf", "1e", "1.2.3", "1Gi\n", "--1", None, True, 1.5, [], 10**30,
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_none(text: object) -> None:
    assert parse(text) is None  # type: ignore[arg-type]


def test_a_count_and_a_size_are_not_negative() -> None:
    assert parse("-3") == -3
    assert count("-3") is None
    assert size("-1Gi") is None
    assert size("1Gi") == 2**30


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(
            ("500m", 500),
            ("2", 2000),
            (2, 2000),
            ("0.1", 100),
            ("1500u", 2),
            ("1k", 10**6),
            ("1e-1", 100),
            ("1Ki", 1024000),
        ),
        *(("-1", None), ("", None), (None, None), (True, None), ("9223372036854775807", None), ("x", None)),
    ],
)
def test_cpu_is_counted_in_thousandths(text: object, value: int | None) -> None:
    assert millis(text) == value  # type: ignore[arg-type]


def test_long_and_extreme_text_costs_nothing() -> None:
    hostile = ["9" * 1_000_000, "1e" + "9" * 50, "1e-" + "9" * 50, "0." + "0" * 100_000 + "1", "1" * 63 + "E"]
    started = time.thread_time()
    for text in hostile:
        parse(text)
    assert time.thread_time() - started < 0.1


@given(st.integers(0, 10**12), st.integers(0, 9), st.sampled_from([("", 1), ("k", 10**3), ("Mi", 2**20), ("m", None)]))
def test_parse_agrees_with_fractions(whole: int, part: int, suffix: tuple[str, int | None]) -> None:
    name, factor = suffix
    exact = Fraction(whole * 10 + part, 10) * (Fraction(1, 1000) if factor is None else factor)
    expected = -(-exact.numerator // exact.denominator)
    assert parse(f"{whole}.{part}{name}") == (expected if expected <= INT64_MAX else None)


@given(st.text(max_size=80))
def test_no_text_raises(text: str) -> None:
    value = parse(text)
    assert value is None or -INT64_MAX <= value <= INT64_MAX
