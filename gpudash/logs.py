"""How log records become lines. Text of others (a node's name, a path, an error of a cluster) makes no line and colours none.

No query string is written: a link that signs in, or a token that somebody put there by mistake, would stay in the log.
"""

from __future__ import annotations

import logging

from inventory.printable import one_line, visible


class NoRequestFilter(logging.Filter):
    """Django hands its request to the record; printed, it has the whole address with the query string."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.__dict__.pop("request", None)
        return True


class LineFormatter(logging.Formatter):
    """One line for a record. A traceback follows indented, so that no line of it reads as a record."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = one_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        # Another handler may have made the text of the traceback already.
        record.exc_text = None
        return super().format(record)

    def formatException(self, ei: object) -> str:
        return _indented(super().formatException(ei))  # type: ignore[arg-type]

    def formatStack(self, stack_info: str) -> str:
        return _indented(super().formatStack(stack_info))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in visible(text).split("\n"))
