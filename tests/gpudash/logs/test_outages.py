"""One line a minute about a database that is away; every other error in full."""

from __future__ import annotations

import logging

import pytest
from django.db import DatabaseError, IntegrityError, OperationalError

from gpudash.logs import outages as log_outages
from gpudash.logs.outages import EVERY_S, OutagesFilter


def record(error: BaseException, message: str = "the work failed") -> logging.LogRecord:
    return logging.LogRecord("x", logging.ERROR, "f.py", 1, message, (), (type(error), error, None))


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(log_outages, "time", made)
    return made


def test_of_a_thousand_one_is_told_and_after_a_minute_how_many_more(clock: Clock) -> None:
    told = OutagesFilter()
    away = OperationalError("connection refused\nIs the server running?")
    first = record(away)
    assert told.filter(first)
    assert (first.getMessage(), first.exc_info) == ("the work failed: OperationalError: connection refused", None)
    assert not any(told.filter(record(away)) for _ in range(999))
    clock.now += EVERY_S
    second = record(away)
    assert told.filter(second)
    assert "(999 more in the last minutes)" in second.getMessage()


def test_an_error_that_came_from_one_counts(clock: Clock) -> None:
    told = OutagesFilter()
    try:
        try:
            raise OperationalError("gone")
        except OperationalError as error:
            raise RuntimeError("a view failed") from error
    except RuntimeError as error:
        wrapped = error
    assert told.filter(record(wrapped))
    assert not told.filter(record(wrapped))


@pytest.mark.parametrize(
    "error", [IntegrityError("twice"), DatabaseError("wrong SQL"), OperationalError("no such column: x")]
)
def test_other_errors_are_told_each_time_with_their_tracebacks(clock: Clock, error: Exception) -> None:
    told = OutagesFilter()
    for _ in range(2):
        one = record(error)
        assert told.filter(one)
        assert one.exc_info is not None


def test_the_end_of_a_process_is_always_told(clock: Clock) -> None:
    told = OutagesFilter()
    assert told.filter(record(OperationalError("gone")))
    last = record(OperationalError("gone"))
    last.levelno = logging.CRITICAL
    assert told.filter(last)
    assert last.exc_info is not None


def test_a_record_without_an_error_passes(clock: Clock) -> None:
    assert OutagesFilter().filter(logging.LogRecord("x", logging.INFO, "f.py", 1, "%s", ("words",), None))
