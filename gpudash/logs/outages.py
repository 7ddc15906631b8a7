"""A database or broker that is away is told once a minute by each process, not with a traceback for each thread that met it."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator

from django.db import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError

#: Errors that say: the other end is away. Their text names the host, never a password.
AWAY = (OperationalError, InterfaceError, BrokerError, ConnectionError)
EVERY_S = 60.0


class OutagesFilter(logging.Filter):
    """Lets a record of such an error through once a minute, without its traceback and with how many were left out."""

    def __init__(self) -> None:
        super().__init__()
        self._told_at = float("-inf")
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if record.exc_info else None
        away = next((one for one in _causes(error) if is_away(one)), None)
        if away is None or record.levelno >= logging.CRITICAL:
            return True  # a process that ends because of it says why
        if time.monotonic() - self._told_at < EVERY_S:
            self._left_out += 1
            return False
        self._tell(record, away)
        return True

    def _tell(self, record: logging.LogRecord, away: BaseException) -> None:
        more = f" ({self._left_out} more in the last minutes)" if self._left_out else ""
        record.msg = f"{_first_line(record.getMessage())}: {type(away).__name__}: {_first_line(str(away))}{more}"
        record.args, record.exc_info, record.exc_text = (), None, None
        self._told_at, self._left_out = time.monotonic(), 0


def _first_line(text: str) -> str:
    return (text.splitlines() or [""])[0][:300]


def is_away(error: BaseException) -> bool:
    """SQLite calls a table that is not there the same as a file that is not there: that is a mistake, not an outage."""
    mistaken = str(error).startswith("no such ")
    return (isinstance(error, AWAY) and not mistaken) or getattr(error, "sqlstate", None) == "25006"  # read-only


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        yield error
        seen.add(id(error))
        error = error.__cause__ or error.__context__
