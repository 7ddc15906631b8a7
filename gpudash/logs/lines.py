"""How log records become lines. Text of others (a node's name, a path, an error of a cluster) makes no line and colours none.

What must not be in a record at all is taken out before, by `gpudash.logs.secrets`.
"""

from __future__ import annotations

import logging

from wording.printable import one_line, visible


class LineFormatter(logging.Formatter):
    """One line for a record. A traceback follows indented, so that no line of it reads as a record."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = one_line(record.message)
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        if record.exc_info:
            record.exc_text = None  # another formatter may have made it already
        elif record.exc_text:
            record.exc_text = _indented(record.exc_text)  # without its secrets, from `log_secrets`
        return super().format(record)

    def formatException(self, ei: object) -> str:
        return _indented(super().formatException(ei))  # type: ignore[arg-type]

    def formatStack(self, stack_info: str) -> str:
        return _indented(super().formatStack(stack_info))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in visible(text).split("\n"))
