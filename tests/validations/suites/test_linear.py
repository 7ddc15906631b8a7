"""Reading a log takes time in proportion to its length, whatever is in it: 80 kB of carriage returns held a process for 17 s."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.validations.suites.golden import cases
from validations.suites import registry
from validations.suites.engine.base import Outcome, Suite, read_log, stored_text
from validations.suites.engine.log import MOST_LINES

pytestmark = pytest.mark.sweep

SIZE = 40_000
#: What takes less than this is not looked at closer: a quadratic reader needs a minute for four times SIZE.
AT_ONCE_S = 0.25
#: A linear reader takes four times as long for four times as much, a quadratic one sixteen times.
MOST_RATIO = 9.0
#: Bytes that a reader may stumble over when they come again and again.
NASTY = [
    b"\r", b"a\r", b"\r\r\n", b"\n", b" \n", b"\x1b", b"\x1b[", b"\x1b[0;", b"\x1b]", b"\x1b ", b"\x1b[3C", b"\0", b"\xff",
    b"\xf0\x9f",    b" ", b"(", b"): ", b"9", b"[", b"{", b'{"a":', b'"', b"|", b"|\n", b"| a | Fail |\n", b"+--", b",",
    b"index,uuid,name\n",
    b"[gpudash: ", b"\n[gpudash: 1 bytes left out]\n", b"2026-01-01T00:00:00Z ", b"Binding (device\n", b"frame=", b"= ", b"> ",
    b"Test PASSED\n", b"Failed to ", b"GPU 0: ", b"# Rank 0 ", b"  Name:", b"Device[1]:\n", b"[Device 1 details]\n",
]  # fmt: skip
SUITES = list(registry().values())
#: The beginning of a whole log of each suite, so that a reader is in its middle when the repeats come.
HEADS = {case.suite.id: stored_text(case.raw)[:400].encode() for case in cases()}


def seconds(read: Callable[[], object]) -> float:
    started = time.process_time()
    read()
    return time.process_time() - started


def assert_linear(read: Callable[[int], object]) -> None:
    """read: takes a size. Asked twice, since another process may have slowed the first answer."""
    for _ in range(3):
        long = seconds(lambda: read(4 * SIZE))
        if long < AT_ONCE_S or long < MOST_RATIO * max(seconds(lambda: read(SIZE)), AT_ONCE_S / 16):
            return
    raise AssertionError(f"{long:.1f} s for {4 * SIZE} bytes")


@pytest.mark.parametrize("encoding", [b"", b"\xff\xfe"], ids=["utf-8", "utf-16"])
@pytest.mark.parametrize("atom", NASTY, ids=repr)
def test_lines_are_made_in_linear_time(atom: bytes, encoding: bytes) -> None:
    assert_linear(lambda size: read_log(encoding + atom * (size // len(atom))))


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
def test_a_suite_judges_in_linear_time(suite: Suite) -> None:
    for atom in NASTY:
        assert_linear(
            lambda size, atom=atom: suite.parse(  # type: ignore[misc]
                read_log(HEADS[suite.id] + b"\n" + atom * (size // len(atom))), Outcome(exit_code=0)
            )
        )


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.id)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(parts=st.lists(st.sampled_from(NASTY) | st.binary(min_size=1, max_size=8), min_size=1, max_size=4))
def test_no_mixture_of_hostile_bytes_takes_longer(suite: Suite, parts: list[bytes]) -> None:
    atom = b"".join(parts)
    assert_linear(lambda size: suite.parse(read_log(atom * (size // len(atom))), Outcome(exit_code=1)))


def test_a_diagnostic_of_many_tests_is_read_in_linear_time() -> None:
    """Each test looked for its line from the start."""
    suite = registry()["dcgm-diag"]

    def read(size: int) -> object:
        tests = ",\n".join(f'{{"name": "t\\u0000{number}", "results": []}}' for number in range(size // 40))
        body = f'{{"DCGM Diagnostic": {{"test_categories": [{{"tests": [\n{tests}\n]}}]}}}}'
        return suite.parse(read_log(body.encode()), Outcome(exit_code=0))

    assert_linear(read)


def test_of_too_many_lines_the_middle_is_left_out_and_the_numbers_stay() -> None:
    lines = read_log(b"a\n" * (MOST_LINES + 3) + b"last\n")
    assert len(lines.texts) == MOST_LINES
    assert (lines.cut, lines.left_out) == (True, None)
    assert (lines.numbers[0], lines.numbers[-1], lines.texts[-1]) == (1, MOST_LINES + 4, "last")
    assert len(read_log(b"a\n" * (MOST_LINES + 3), most=None).texts) == MOST_LINES + 3


@given(st.text(alphabet="\r\na", max_size=30))
def test_line_ends_of_windows_become_those_of_unix(text: str) -> None:
    shown = stored_text(text.encode())
    assert "\r\n" not in shown
    assert shown.count("\n") == text.count("\n")
    assert shown.replace("\r", "").split("\n") == text.replace("\r", "").split("\n")
